/*
 * call_crawl_impl.h - the inside of call_crawl, shared by its files.
 *
 *   call_crawl.c       a call as a task of the crawl's thread; struct call_ops
 *   call_crawl_put.c   URLs that other programs found or fetched
 *   call_crawl_read.c  reads: one URL, lists, counts
 *   call_metadata.c    reads and writes their metadata
 */
#ifndef URLWEIR_SERVICE_CALLS_CALL_CRAWL_IMPL_H
#define URLWEIR_SERVICE_CALLS_CALL_CRAWL_IMPL_H

#include "base/buf.h"
#include "crawler/crawl.h"
#include "frontier/engine.h"
#include "service/calls/call_answer.h"
#include "service/calls/call_crawl.h"
#include "service/calls/call_metadata.h"
#include "service/calls/call_ops.h"

struct call_crawl {
    struct crawl_task task; /* first */
    struct frontier_call *call;

    /* the crawl's frontier thread */
    struct crawl *crawl;
    struct engine *engine;
    int64_t now, wall_ms;   /* of this slice */
    bool begun, again;      /* again: another slice follows */
    size_t from;            /* of a PUT: items that are durable */
    struct url_list walk;   /* for STATS and SET_LIMIT */
    struct removal removal; /* for DELETE_QUEUE and PURGE_URLS */
    bool removing;          /* it has begun */
    size_t name_len;
    char name[]; /* of the crawl */
};

/* The crawl ID that the engine uses for itself. */
struct bytes call_crawl_id(const struct call_crawl *c);

/* Entries of struct call_ops; `of` points to a struct call_crawl. */
MUST_CHECK enum status call_crawl_put(void *of,
                                      struct frontier_item *const *items,
                                      size_t n);
MUST_CHECK enum status call_crawl_find(void *of, struct bytes crawl,
                                       struct bytes key, struct bytes url,
                                       struct url_facts *facts, url_visit visit,
                                       void *ctx);
MUST_CHECK enum status call_crawl_list(void *of, struct url_list *l,
                                       url_visit visit, void *ctx, bool *more);
bool call_crawl_count(void *of, struct bytes crawl, struct bytes key,
                      uint64_t *n);
MUST_CHECK enum status call_crawl_stats(void *of, struct bytes crawl,
                                        struct bytes key,
                                        struct url_counts *out, bool *more);
uint64_t call_crawl_each_queue(void *of, struct bytes crawl, bool inactive,
                               uint64_t skip, uint64_t most,
                               void (*visit)(void *ctx, struct bytes key),
                               void *ctx);
MUST_CHECK enum status call_crawl_limit(void *of, struct bytes crawl,
                                        struct bytes key, uint32_t most,
                                        bool *more);

#endif
