/*
 * dedupe_impl.h - the inside of dedupe, for the dedupe*.c files alone.
 */
#ifndef URLWEIR_FRONTIER_DEDUPE_DEDUPE_IMPL_H
#define URLWEIR_FRONTIER_DEDUPE_DEDUPE_IMPL_H

#include "base/file/file.h"
#include "frontier/dedupe/dedupe.h"
#include "frontier/seen/seen.h"
#include "storage/db/manifest.h"

/* Where the set is; it only moves from memory to disk. */
enum dedupe_phase {
    DEDUPE_IN_MEMORY, /* every digest in the exact set's delta, no pages */
    DEDUPE_ON_DISK    /* pages, with caches and perhaps a filter before them */
};

/* How `memory` is shared out, in octets, or in digests of the delta. */
struct dedupe_shares {
    uint64_t sqlite;
    uint64_t hot[2], pages[2], delta[2]; /* by phase */
    uint64_t filter;
};

/* A set that is kept: files, lock, and what the next commit writes. */
struct dedupe_state {
    char *dir;
    struct file_lock *lock;
    struct manifest manifest;
    sqlite3_stmt *put_batch, *put_meta;
    uint64_t committed;  /* count at the last commit */
    uint64_t dropped;    /* log rows up to this digest are deleted */
    int64_t manifest_at; /* monotonic; when it was last written */
    bool running;        /* the manifest says "running" */
    bool keep_log;
    unsigned char row[DEDUPE_BATCH * sizeof(struct digest)];
};

struct dedupe {
    enum dedupe_identity identity;
    enum dedupe_phase phase;
    struct dedupe_shares shares;
    struct digest_key key;
    unsigned char seed[DIGEST_SEED_SIZE];
    struct db *db;
    struct exact_set *exact;
    struct filter *filter; /* NULL until it pays (filter_pays) */
    struct seen *seen;
    struct dedupe_state *state; /* NULL: a scratch database */
    uint64_t count, before;
    struct digest sum;          /* of all digests, each half modulo 2^64 */
    uint64_t unstepped;         /* fresh digests since exact_set_step */
    uint64_t page_reads_before; /* by exact sets closed since */
    bool in_txn;
    enum seen_answer answers[DEDUPE_BATCH];
    struct digest fresh[DEDUPE_BATCH];
};

static inline void dedupe_sum_add(struct digest *sum, struct digest d)
{
    sum->hi += d.hi;
    sum->lo += d.lo;
}

/* ---- dedupe.c ---- */

/* Opens exact set and seen check for the phase d->phase. */
MUST_CHECK enum status dedupe_start_phase(struct dedupe *d);
/* Inside a transaction: merge a little if the delta has grown so large. */
MUST_CHECK enum status dedupe_step(struct dedupe *d);
/* Outside a transaction: merges all of the delta into pages, in several
 * commits. */
MUST_CHECK enum status dedupe_merge_all(struct dedupe *d);

/* ---- dedupe_state.c ---- */

/* Opens or makes the set in `dir`; sets d->db, d->exact, d->seen and
 * d->state. */
MUST_CHECK enum status dedupe_state_open(struct dedupe *d, const char *dir,
                                         struct dedupe_refusal *why);
/* Inside a transaction: writes the row that recovery after a crash reads. */
MUST_CHECK enum status dedupe_state_log(struct dedupe *d,
                                        const struct digest *fresh, size_t n);
/* Ends the transaction. */
MUST_CHECK enum status dedupe_state_commit(struct dedupe *d);
/* Ends a run, while all is still open. `clean`: commits, and leaves little to
 * replay. */
MUST_CHECK enum status dedupe_state_end(struct dedupe *d, bool clean);
/* Closes d->db and releases the directory. *disk, if not NULL, gets the size of
 * its files. */
void dedupe_state_free(struct dedupe *d, uint64_t *disk);
uint64_t dedupe_state_disk(const struct dedupe_state *s);

#endif
