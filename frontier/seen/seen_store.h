/*
 * seen_store.h - a store of URLs and the seen check over it, on disk as one.
 *
 * Every frontier that keeps its URLs in a directory is built on this: the
 * database with its rows, the exact set, the filter in front of it, and the
 * files on disk (frontier.db, filter.ckpt, manifest). A seen store opens them
 * so that they agree, owns the one transaction, and writes checkpoints. It does
 * not decide which URL is leased next, or when: crawl/frontier_open.h does for
 * our own fetchers, served/served.h for other programs.
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
#include "storage/db/schema.h"
#include "storage/frontier_store.h"
#include "storage/index/exact_set.h"
#include "storage/rows/page_store.h"

/* How o->memory is divided, in octets. `hot` includes the filter, which may
 * use `filter` of it. What is left is for queues and hosts. */
struct seen_store_shares {
    uint64_t filter, hot, exact, delta, database;
    uint64_t queues; /* what the others leave: queues, hosts and indexes */
};

/* A row of table meta: the store is kept elsewhere as well
 * (cluster/shard_rows.h), and cannot be changed here alone: STATUS_REFUSED. */
#define SEEN_STORE_FOLLOWED "shard"

struct seen_store_options {
    bool use_filter;
    const char *filter_kind; /* NULL: "scalable" */
    uint64_t expect;   /* capacity of kinds that cannot grow; 0: URLs so far */
    const char *redis; /* for kind redis: its URL (redis_place.h) */
    double fpr;        /* promised false-positive rate */
    /* DIGEST_SEED_SIZE octets for a new store; NULL: random ones. */
    const unsigned char *digest_seed;
    uint64_t memory;      /* bytes the frontier may hold, and 64ths of it: */
    unsigned exact_share; /* for pages of the exact set; 0: 1 */
    unsigned db_share;    /* for pages of the database; 0: 4 */
    unsigned hot_share;   /* for the seen check's hot cache; 0: 42, less what
                             the filter uses */
    uint64_t filter_lag;  /* URLs after which the filter's file is due; 0: by
                             what it costs, 500,000 at least */
    /* Called before each commit, to make durable what the rows name; if it
     * fails, the commit fails. NULL: nothing to do. */
    enum status (*before_commit)(void *ctx);
    void *before_commit_ctx;
    const struct db_follower *follower; /* of the database; NULL: none, and the
                                           store is none that needs one */
};

struct seen_store_job; /* a checkpoint in progress */

struct seen_store {
    /* for the frontier that is built on it */
    struct db *db;
    struct frontier_store *store;
    struct page_store *pages;
    struct exact_set *exact;
    struct seen *seen;
    struct digest_key key;    /* of this crawl's digests */
    struct manifest found;    /* the one it was opened with */
    struct manifest manifest; /* the last one read or written */
    bool in_txn;              /* something is not committed */
    bool broken;              /* a write failed: only close is allowed */

    /* private */
    struct seen_store_options o;
    char *dir;
    struct filter *filter;            /* NULL: none is used */
    bool filter_is_remote;            /* it has no file */
    struct filter_stats filter_stats; /* as of filter_stats_at URLs */
    uint64_t filter_stats_at;         /* UINT64_MAX: never asked */
    uint64_t generation;              /* of the last checkpoint begun */
    uint64_t saved_upto;              /* URLs that the last one begun, or the
                                         filter's file, covers */
    uint64_t admitted;                /* URLs since the last commit */
    uint64_t next_step; /* next url count at which a filter_step is noted */
    uint64_t next_fit;  /* and at which the hot cache is fitted */
    uint64_t beyond;    /* octets of queues and hosts beyond their part */
    struct seen_counts counted; /* seen's counts that are in the counters */
    uint64_t commits;
    struct histogram commit_times, checkpoint_times;
    uint64_t checkpoints_failed;
    struct seen_store_job *job; /* NULL: no checkpoint is being written */
};

/* Creates a store in an existing directory and commits it, with a manifest; *o
 * is copied, its texts are borrowed. STATUS_EXISTS: there is a store
 * already. */
MUST_CHECK enum status seen_store_create(struct seen_store **out,
                                         const char *dir,
                                         const struct seen_store_options *o,
                                         int64_t wall_ms);
/* STATUS_NOT_FOUND: there is none. STATUS_DAMAGED: store and manifest do not
 * agree, or one cannot be read; a log line says which. STATUS_VERSION. A filter
 * file that does not verify is rebuilt, and logged. */
MUST_CHECK enum status seen_store_open(struct seen_store **out, const char *dir,
                                       const struct seen_store_options *o);
/* Commits nothing; waits for a checkpoint under way. NULL is fine. */
void seen_store_close(struct seen_store *s);
struct seen_store_shares seen_store_shares(const struct seen_store_options *o);
/* `parts_of_64` 64ths of o->memory, clamped to least .. most. */
uint64_t seen_store_share(const struct seen_store *s, unsigned parts_of_64,
                          uint64_t least, uint64_t most);

/* Queues and hosts hold `octets` in all. Not all of that can be bounded, so the
 * hot cache has less by what is beyond their part. */
void seen_store_note_queues(struct seen_store *s, uint64_t octets);

/* ---- changes ---- */

/* From here on what is on disk is not as the last clean stop has left it: the
 * manifest says so, or a kill before the first checkpoint would look like that
 * stop. Call it before a URL is asked for; the first change calls it. */
MUST_CHECK enum status seen_store_begin_run(struct seen_store *s);
/* Starts the transaction when none is open. */
MUST_CHECK enum status seen_store_touch(struct seen_store *s);
/* If `st` is a failure, marks the store broken. Returns `st`, or the database's
 * own status. STATUS_NOMEM ends the process (mem_out). */
enum status seen_store_broke(struct seen_store *s, enum status st);
/* Admits `n` new URLs whose rows are written: the first has id `first_id`, the
 * others the ids that follow. */
MUST_CHECK enum status seen_store_admit(struct seen_store *s,
                                        const struct digest *digests, size_t n,
                                        uint64_t first_id);
/* Gives a URL that was admitted before its new row. */
void seen_store_replace(struct seen_store *s, struct digest digest,
                        uint64_t id);
/* Commits all that was done since the last commit, and a bounded step of
 * upkeep. Does nothing if there is nothing to commit. */
MUST_CHECK enum status seen_store_commit(struct seen_store *s);

/* ---- checkpoints ---- */

struct seen_store_checkpoint {
    const char *state; /* for the manifest: "running", "stopped", "finished" */
    bool clean;        /* no lease is out */
    bool wait;         /* seen_store_save waits until it is written */
};
/* The owner commits between these two calls, and the checkpoint describes that
 * commit: the first adds to the transaction what the checkpoint needs, the
 * second writes filter file and manifest. STATUS_AGAIN: the last one is still
 * being written. */
MUST_CHECK enum status seen_store_prepare(
    struct seen_store *s, const struct seen_store_checkpoint *c);
MUST_CHECK enum status seen_store_save(struct seen_store *s,
                                       const struct seen_store_checkpoint *c,
                                       int64_t wall_ms);
/* Is a checkpoint due because of the URLs that came since the last one? A start
 * after a kill takes a microsecond or two for each of them. */
bool seen_store_is_due(const struct seen_store *s);
/* Takes the result of a checkpoint that has ended meanwhile. */
void seen_store_poll(struct seen_store *s);

/* ---- stats ---- */

/* What the seen check has counted since the last commit. */
struct seen_counts seen_store_uncounted(const struct seen_store *s);
/* NULL: no filter. At most a 64th of the URLs out of date. */
const struct filter_stats *seen_store_filter_stats(struct seen_store *s);
/* Octets of the filter in this process; 0 if there is none or it is remote. */
uint64_t seen_store_filter_memory(struct seen_store *s);
/* Lacks what the frontier itself holds. SQLite goes through all its statements
 * and pages for it, some 50 us: not for every turn. */
struct frontier_memory seen_store_memory(struct seen_store *s);

/*
 * The digest under which a crawl knows the URL of a row.
 *
 * It is the digest of the URL, unless another URL had it first
 * (--compare-text); then it is the first free salted one, and the row's flags
 * hold the salt.
 */
/* Of the store in `dir`. STATUS_DAMAGED with a log line: it has none. */
MUST_CHECK enum status row_digest_read_key(struct digest_key *out,
                                           struct frontier_store *store,
                                           const char *dir);

static inline struct digest row_digest(const struct digest_key *k,
                                       struct frontier_store *store,
                                       const struct url_row *row)
{
    struct bytes crawl, key;

    frontier_store_queue_name(store, row->queue, &crawl, &key);
    return digest_url_salted(k, crawl, key, row->url,
                             row->flags >> URL_ROW_SALT_SHIFT &
                                 URL_ROW_SALT_MOST);
}

/* Whether its digest may be that of an older row, which it replaces in the
 * exact set. */
static inline bool row_replaces(const struct url_row *row)
{
    return (row->kind == URL_KIND_SERVED && row->via != 0) ||
           (row->flags & URL_ROW_AGAIN) != 0;
}

/* Replays row `id`, whose digest may have been in memory only; `replaces`: see
 * row_replaces. */
static inline void row_to_exact_set(struct exact_set *set, struct digest d,
                                    uint64_t id, bool replaces)
{
    if (replaces)
        exact_set_replace(set, d, id);
    else
        exact_set_add(set, d, id);
}

/*
 * What the two files of a seen store call of each other:
 *
 *   seen_store.c         a new store, or one found on disk; changes, their
 *                        commit, filter file, manifest, stats
 *   seen_store_filter.c  its filter: made, loaded, brought up to date, and the
 *                        exact set made anew
 */
char *seen_store_path(const struct seen_store *s, const char *name);
/* Once the store is open: makes the exact set whole, and if there is to be a
 * filter, sets s->filter to one that knows every admitted URL, from its file,
 * from Redis, or made anew. */
MUST_CHECK enum status seen_store_bring_up(struct seen_store *s);
/* Before the commit of a checkpoint: writes the filter's state for readers of
 * the store, and the mark by which a filter in Redis is recognised. */
MUST_CHECK enum status seen_store_mark_filter(struct seen_store *s);

/*
 * Makes the exact set of a crawl anew from its rows.
 *
 * The exact set follows from the rows of URLs, so a crawl whose exact set is
 * damaged has lost nothing.
 */
/* Nobody else may write to `dir`. Empties the exact set, and fills it with the
 * digests of all URLs; *urls: how many rows there are. The indexes of
 * bodies and texts are filled again when the crawl goes on. Within some
 * `memory` octets, but for what a crawl needs for its hosts and two bits for
 * each URL. Killed at any moment, it leaves a store that a crawl opens. */
MUST_CHECK enum status reindex(const char *dir, uint64_t memory,
                               uint64_t *urls);

#endif
