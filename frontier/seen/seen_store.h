/*
 * seen_store.h - a store of URLs and the seen check over it, on disk as one.
 *
 * What every frontier that keeps its URLs in a directory stands on: the
 * database with its rows, the exact set, the filter in front of it, and the
 * files beside them (frontier.db, filter.ckpt, manifest). It opens them so
 * that they agree, owns the one transaction, and writes checkpoints. It does
 * not know what goes out next, or when: embedded/frontier.h schedules for our
 * own fetchers, served/served.h for other programs.
 *
 * Everything changes in one transaction: seen_store_touch opens it when none
 * is open, seen_store_commit ends it. After an error nothing but closing is
 * allowed. Frontier thread only; a checkpoint is written by a thread of its
 * own meanwhile.
 */
#ifndef URLWEIR_FRONTIER_SEEN_SEEN_STORE_H
#define URLWEIR_FRONTIER_SEEN_SEEN_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/histogram.h"
#include "base/status.h"
#include "filter/filter.h"
#include "frontier/seen/seen.h"
#include "storage/db/db.h"
#include "storage/db/manifest.h"
#include "storage/frontier_store.h"
#include "storage/index/exact_set.h"
#include "storage/rows/page_store.h"

struct seen_store_options {
    bool use_filter;
    const char *filter_kind; /* NULL: "scalable" */
    uint64_t expect; /* capacity of kinds that cannot grow; 0: what is there */
    const char *redis;    /* of kind redis: where (filter/redis/redis_url.h) */
    double fpr;           /* promised false-positive rate */
    uint64_t memory;      /* bytes the frontier may hold, and 64ths of it: */
    unsigned exact_share; /* for pages of the exact set; 0: 8 */
    unsigned db_share;    /* for pages of the database; 0: 4 */
    unsigned hot_share;   /* for the seen check's hot cache; 0: 4 */
    /* Called ahead of each commit, for what must be durable before the rows
     * that name it; its failure is the store's. NULL: nothing is. */
    enum status (*before_commit)(void *ctx);
    void *before_commit_ctx;
};

struct seen_store_job; /* a checkpoint under way */

struct seen_store {
    /* for the frontier that stands on it */
    struct db *db;
    struct frontier_store *store;
    struct page_store *pages;
    struct exact_set *exact;
    struct seen *seen;
    struct digest_key key;    /* of this crawl's digests */
    struct manifest manifest; /* the last one read or written */
    bool in_txn;              /* something is not committed */
    bool broken;              /* a write failed: only close is allowed */

    /* its own */
    struct seen_store_options o;
    char *dir;
    struct filter *filter;            /* NULL: none is used */
    bool filter_is_remote;            /* and has no file */
    struct filter_stats filter_stats; /* as it was with filter_stats_at URLs */
    uint64_t filter_stats_at;         /* UINT64_MAX: never asked */
    uint64_t generation;              /* of the last checkpoint begun */
    uint64_t admitted;                /* URLs since the last commit */
    uint64_t next_step; /* next url count at which a filter_step is noted */
    struct seen_counts counted; /* what the counters hold of seen's counts */
    uint64_t commits;
    struct histogram commit_times, checkpoint_times;
    uint64_t checkpoints_failed;
    struct seen_store_job *job; /* NULL: no checkpoint is being written */
};

/* In a directory that is there; *o is copied, its texts are borrowed. A new
 * store is committed, and has a manifest. STATUS_EXISTS: there is one. */
MUST_CHECK enum status seen_store_create(struct seen_store **out,
                                         const char *dir,
                                         const struct seen_store_options *o,
                                         int64_t wall_ms);
/* STATUS_NOT_FOUND: there is none. STATUS_DAMAGED: store and manifest do not
 * agree, or one cannot be read; a log line says which. STATUS_VERSION.
 * A filter file that does not verify is rebuilt, with one line. */
MUST_CHECK enum status seen_store_open(struct seen_store **out, const char *dir,
                                       const struct seen_store_options *o);
/* Commits nothing; waits for a checkpoint under way. NULL is fine. */
void seen_store_close(struct seen_store *s);
/* So many 64ths of o->memory, within bounds. */
uint64_t seen_store_share(const struct seen_store *s, unsigned parts_of_64,
                          uint64_t least, uint64_t most);

/* ---- changes ---- */

/* Starts the transaction when none is open. */
MUST_CHECK enum status seen_store_touch(struct seen_store *s);
/* Marks the store broken and passes `st` on, or what the database says.
 * STATUS_NOMEM ends the process (mem_out). */
enum status seen_store_broke(struct seen_store *s, enum status st);
/* `n` new URLs whose rows are written: the first has `first_id`, the others
 * the ids that follow. */
MUST_CHECK enum status seen_store_admit(struct seen_store *s,
                                        const struct digest *digests, size_t n,
                                        uint64_t first_id);
/* A URL that was admitted before has a new row. */
void seen_store_replace(struct seen_store *s, struct digest digest,
                        uint64_t id);
/* One transaction with all that was done since the last, and a bounded step of
 * upkeep. Does nothing if there is nothing to commit. */
MUST_CHECK enum status seen_store_commit(struct seen_store *s);

/* ---- checkpoints ---- */

struct seen_store_checkpoint {
    const char *state; /* for the manifest: "running", "stopped", "finished" */
    bool clean;        /* nothing is under way */
    bool wait;         /* it is written when seen_store_save returns */
};
/* A checkpoint is about a commit that its owner makes between these two: the
 * first puts into the transaction what belongs to it, the second writes filter
 * file and manifest. STATUS_AGAIN: the last one is still being written. */
MUST_CHECK enum status seen_store_prepare(
    struct seen_store *s, const struct seen_store_checkpoint *c);
MUST_CHECK enum status seen_store_save(struct seen_store *s,
                                       const struct seen_store_checkpoint *c,
                                       int64_t wall_ms);
/* Takes the outcome of one that has been written meanwhile. */
void seen_store_poll(struct seen_store *s);

/* ---- what it knows of itself ---- */

/* What the seen check has counted since the last commit wrote its counters. */
struct seen_counts seen_store_uncounted(const struct seen_store *s);
/* NULL: no filter. Not older than the last 64th of the URLs. */
const struct filter_stats *seen_store_filter_stats(struct seen_store *s);
/* Octets of the filter in this process; of none, or a remote one, 0. */
uint64_t seen_store_filter_memory(struct seen_store *s);
uint64_t seen_store_memory(struct seen_store *s); /* all of it */

#endif
