/*
 * urlfrontier_api.h - the calls of the URLFrontier API, from gRPC to the
 * frontier and back.
 *
 * Messages come from grpc_server on the loop's thread, become calls of
 * call.h, and are answered on the loop's thread when the frontier thread has
 * handed them back. call.h defines what each call means; this module has the
 * messages, their limits and their status codes.
 *
 * Memory: the URLs and octets that a stream of puts has in progress are
 * limited; at the limit, the stream is not read until its acknowledgements have
 * been read. Lists are fetched part by part as the caller reads them.
 */
#ifndef URLWEIR_SERVICE_URLFRONTIER_URLFRONTIER_API_H
#define URLWEIR_SERVICE_URLFRONTIER_URLFRONTIER_API_H

#include "service/calls/frontier_service.h"
#include "service/calls/router.h"
#include "service/grpc/grpc_server.h"
#include "service/net/loop.h"

struct urlfrontier_api;

/* Made first, since the frontier's options need urlfrontier_api_room. */
struct urlfrontier_api *urlfrontier_api_new(struct loop *l);
/* Second: sets the router for calls. */
void urlfrontier_api_connect(struct urlfrontier_api *a, struct router *router);
/* Call it when no call is open, the frontier has been closed, and the loop has
 * run all posts. NULL is fine. */
void urlfrontier_api_free(struct urlfrontier_api *a);

/* For frontier_service_options.room; ctx is the struct urlfrontier_api. */
void urlfrontier_api_room(void *api);

/* Two tables, whose ctx is the struct urlfrontier_api: PutURLs and
 * PutDiscovered, and all others. */
extern const struct grpc_method urlfrontier_put_methods[];
extern const struct grpc_method urlfrontier_methods[];

#endif
