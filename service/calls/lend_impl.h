/*
 * lend_impl.h - the inside of lend, shared by its files.
 *
 *   lend.c       a call as a task of the crawl's thread; get, settle, queues
 *   lend_put.c   URLs that other programs found or fetched
 *   lend_read.c  asking: one URL, lists, counts
 *   lend_url.c   what stands in their metadata
 *   lend_remove.c  queues deleted, old URLs purged
 */
#ifndef URLWEIR_SERVICE_CALLS_LEND_IMPL_H
#define URLWEIR_SERVICE_CALLS_LEND_IMPL_H

#include "base/arena.h"
#include "base/buf.h"
#include "crawler/crawl.h"
#include "frontier/embedded/lent.h"
#include "frontier/embedded/removal.h"
#include "service/calls/frontier_answer.h"
#include "service/calls/lend.h"

struct lend {
    struct crawl_task task; /* first */
    struct frontier_call *call;

    /* the crawl's frontier thread */
    struct crawl *crawl;
    struct engine *engine;
    int64_t now, wall_ms;   /* of this slice */
    bool begun, more;       /* more: another slice is to come */
    size_t from, to;        /* of a PUT: the items of this slice */
    struct removal removal; /* of DELETE_QUEUE and PURGE_URLS */
    bool removing;          /* it has begun */
    size_t name_len;
    char name[]; /* of the crawl */
};

struct bytes lend_name(const struct lend *l);
/* The crawl ID that the engine knows itself by. */
struct bytes lend_crawl(const struct lend *l);

/* One slice of the call each; what is wrong is call->status, or is answered
 * where it is the engine's. */
MUST_CHECK enum status lend_put(struct lend *l);
MUST_CHECK enum status lend_url_status(struct lend *l);
MUST_CHECK enum status lend_list(struct lend *l);
MUST_CHECK enum status lend_count(struct lend *l);
MUST_CHECK enum status lend_stats(struct lend *l);
MUST_CHECK enum status lend_list_queues(struct lend *l);
MUST_CHECK enum status lend_delete_queue(struct lend *l);
MUST_CHECK enum status lend_purge(struct lend *l);
MUST_CHECK enum status lend_limit(struct lend *l);

/* ---- lend_url.c ---- */

/* What a borrower needs to know of a URL, encoded in the call's memory; `via`
 * may be empty. */
struct bytes lend_metadata(struct frontier_call *call, uint32_t depth,
                           uint8_t kind, struct bytes via);
/* The first value of `name` as a number; false: there is none. */
bool lend_metadata_number(struct bytes metadata, const char *name,
                          struct arena *a, uint32_t *out);
/* What StormCrawler calls fetch.statusCode; 0: not said. */
uint16_t lend_http_status(struct bytes metadata, struct arena *a);

#endif
