/*
 * urlfrontier_url.h - reads URLs from messages and writes them; private to the
 * urlfrontier_*.c files.
 *
 * Metadata is stored encoded, so URLs are written directly: fields of a message
 * may come in any order, and a nested message is its length and its octets.
 */
#ifndef URLWEIR_SERVICE_URLFRONTIER_URLFRONTIER_URL_H
#define URLWEIR_SERVICE_URLFRONTIER_URLFRONTIER_URL_H

#include "base/arena.h"
#include "base/buf.h"
#include "service/calls/call.h"
#include "service/grpc/grpc_server.h"

struct Urlfrontier__URLInfo; /* service/urlfrontier.pb-c.h, made while building
                              */

/* Fills in crawl, key, url and metadata. They point into `info` and `a`.
 * STATUS_FORMAT: a string is not UTF-8. STATUS_LIMIT: no room in `a`. */
MUST_CHECK enum status urlfrontier_url_take(
    struct frontier_item *item, const struct Urlfrontier__URLInfo *info,
    struct arena *a);

/* Append a message of type URLInfo. */
void urlfrontier_url_as_info(struct buf *out, const struct frontier_url *u);
/* Append one of type URLItem, the `known` member set. */
void urlfrontier_url_as_item(struct buf *out, const struct frontier_url *u);

/* Sends the message in `out` as an answer, then clears `out`. */
void urlfrontier_url_answer(struct grpc_call *c, struct buf *out);

#endif
