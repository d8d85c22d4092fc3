/*
 * urlfrontier_call.h - one call to the frontier, between two threads; private
 * to the urlfrontier_*.c files.
 *
 *   loop's thread: api_submit() ──► router_submit
 *   frontier thread:                     done ──► loop_post
 *   loop's thread: answered() ◄───────────────────────┘
 *
 * A call that the frontier has no room for waits here, and so do later ones, so
 * that their order is kept.
 */
#ifndef URLWEIR_SERVICE_URLFRONTIER_URLFRONTIER_CALL_H
#define URLWEIR_SERVICE_URLFRONTIER_URLFRONTIER_CALL_H

#include <sys/queue.h>

#include "base/arena.h"
#include "base/buf.h"
#include "service/calls/call.h"
#include "service/grpc/grpc_server.h"
#include "service/net/loop.h"
#include "service/urlfrontier/urlfrontier_api.h"

struct api_call {
    struct frontier_call call;
    struct loop_post post;
    struct urlfrontier_api *api;
    struct grpc_call *grpc; /* held until api_call_fini */
    void (*answered)(struct api_call *a);
    STAILQ_ENTRY(api_call) waiting;
};

void api_call_init(struct api_call *a, struct grpc_call *c,
                   enum frontier_verb verb,
                   void (*answered)(struct api_call *a));
void api_call_fini(struct api_call *a);

/* Submits the call. `answered` is called in any case, also if the frontier
 * takes no more calls. */
void api_submit(struct api_call *a);

/* Octets of puts in progress, over all streams; see urlfrontier_stream.c. */
size_t *api_put_octets(struct urlfrontier_api *a);

/* If the frontier returned an error, ends the call with it and returns true. */
bool api_failed(struct api_call *a);

/* ---- the methods, by file ---- */

/* GetURLs, ListURLs. */
void urlfrontier_get_message(struct grpc_call *c, struct bytes m);
void urlfrontier_list_message(struct grpc_call *c, struct bytes m);
void urlfrontier_list_drained(struct grpc_call *c);
void urlfrontier_list_ended(struct grpc_call *c);

/* All methods with one answer; `spec` of the method says which. */
struct unary_spec;
extern const struct unary_spec urlfrontier_get_url_status, urlfrontier_count,
    urlfrontier_purge, urlfrontier_list_queues, urlfrontier_delete_queue,
    urlfrontier_block_queue, urlfrontier_set_delay, urlfrontier_set_limit,
    urlfrontier_get_stats, urlfrontier_list_crawls, urlfrontier_delete_crawl,
    urlfrontier_set_active, urlfrontier_get_active, urlfrontier_set_log_level,
    urlfrontier_list_nodes;

/* ---- reads URLs from messages and writes them ----
 *
 * Metadata is stored encoded, so URLs are written directly: fields of a message
 * may come in any order, and a nested message is its length and its octets.
 */

struct Urlfrontier__URLInfo; /* service/urlfrontier.pb-c.h, made while building
                              */

/* Fills in crawl, key, url and metadata. They point into `info` and `a`.
 * STATUS_FORMAT: a string is not UTF-8. STATUS_LIMIT: no room in `a`. */
MUST_CHECK enum status urlfrontier_url_take(
    struct frontier_item *item, const struct Urlfrontier__URLInfo *info,
    struct arena *a);

/* Append one of type URLItem, the `known` member set. */
void urlfrontier_url_as_item(struct buf *out, const struct frontier_url *u);

/* Sends the message in `out` as an answer, then clears `out`. */
void urlfrontier_url_answer(struct grpc_call *c, struct buf *out);

#endif
