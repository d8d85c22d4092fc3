/*
 * urlfrontier_api.h - the calls of the URLFrontier API, from gRPC to the
 * frontier and back.
 *
 * Messages come from grpc_server on the loop's thread, become calls of
 * call.h, and are answered on the loop's thread when the frontier
 * thread has handed them back. What each call means is call.h's
 * affair; here are the messages, their limits and their status codes.
 *
 * Memory: a stream of puts may have so many URLs and octets on their way and
 * no more; then it is not read until its acknowledgements have been taken.
 * Lists are asked for part by part as the caller reads them.
 */
#ifndef URLWEIR_SERVICE_URLFRONTIER_URLFRONTIER_API_H
#define URLWEIR_SERVICE_URLFRONTIER_URLFRONTIER_API_H

#include "service/calls/frontier_service.h"
#include "service/calls/router.h"
#include "service/grpc/grpc_server.h"
#include "service/net/loop.h"

struct urlfrontier_api;

/* First, as the frontier's options need urlfrontier_api_room. */
struct urlfrontier_api *urlfrontier_api_new(struct loop *l);
/* Second: where calls go. */
void urlfrontier_api_connect(struct urlfrontier_api *a, struct router *router);
/* When no call is open and the frontier has been closed and the loop has run
 * what was posted. NULL is fine. */
void urlfrontier_api_free(struct urlfrontier_api *a);

/* For frontier_service_options.room; ctx is the struct urlfrontier_api. */
void urlfrontier_api_room(void *api);

/* Two tables, whose ctx is the struct urlfrontier_api: PutURLs and
 * PutDiscovered, and all others. */
extern const struct grpc_method urlfrontier_put_methods[];
extern const struct grpc_method urlfrontier_methods[];

#endif
