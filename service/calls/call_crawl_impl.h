/*
 * call_crawl_impl.h - the inside of call_crawl, shared by its files.
 *
 *   call_crawl.c      a call as a task of the crawl's thread; struct call_ops
 *   call_crawl_put.c  URLs that other programs found or fetched; metadata
 */
#ifndef URLWEIR_SERVICE_CALLS_CALL_CRAWL_IMPL_H
#define URLWEIR_SERVICE_CALLS_CALL_CRAWL_IMPL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "crawler/crawl.h"
#include "frontier/frontier.h"
#include "service/calls/call.h"
#include "service/calls/call_crawl.h"
#include "service/calls/call_ops.h"

struct call_crawl {
    struct crawl_task task; /* first */
    struct frontier_call *call;

    /* the crawl's frontier thread */
    struct crawl *crawl;
    struct frontier *frontier;
    int64_t now, wall_ms;   /* of this slice */
    bool begun, again;      /* again: another slice follows */
    size_t from;            /* of a PUT: items that are durable */
    struct url_list walk;   /* for STATS and SET_LIMIT */
    struct removal removal; /* for DELETE_QUEUE and PURGE_URLS */
    bool removing;          /* it has begun */
    size_t name_len;
    char name[]; /* of the crawl */
};

/* Entries of struct call_ops; `of` points to a struct call_crawl. */
MUST_CHECK enum status call_crawl_put(void *of,
                                      struct frontier_item *const *items,
                                      size_t n);

/* ---- metadata: encoded URLInfo messages (frontier_item.metadata) ---- */

/* Replaces the contents of `out` with what a program needs to know about a URL
 * before it fetches it; `via` may be empty. */
void call_metadata_make(struct buf *out, uint32_t depth, uint8_t kind,
                        struct bytes via);
/* StormCrawler's fetch.statusCode; 0 if it is missing. */
uint16_t call_metadata_http_status(struct bytes metadata, struct arena *a);

#endif
