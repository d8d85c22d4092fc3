/*
 * exact_set.h - the exact set of admitted URLs, which decides after a filter's
 * "maybe".
 *
 * Maps a 128-bit digest to the id of its row. There is no B-tree with the digest
 * as its key: rows of 200 sorted entries (table seenpage) are merged in large
 * steps, first into a small run of each part of the digests, then into its large
 * one. Newer entries are in memory; after a crash they are restored by replaying
 * the url rows past exact_set_upto(). See docs/decisions/exact-set.md and
 * docs/formats/frontier-db.md.
 *
 * Owned by the frontier thread.
 */
#ifndef URLWEIR_STORAGE_INDEX_EXACT_SET_H
#define URLWEIR_STORAGE_INDEX_EXACT_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"
#include "storage/db/db.h"

struct exact_set;

/* Which rows there are still, for a set of rows that may be removed. NULL: all
 * that were added. */
struct exact_set_rows {
    bool (*has)(void *ctx, uint64_t id);
    void *ctx;
};

struct exact_set_options {
    const char *tables;         /* "body", "near": other digests, and seqs of
                                   fetch rows, in tables bodypart and
                                   bodypage: fetch_index.h; NULL: "seen" */
    bool one_run;               /* merge straight into the old runs: for a file
                                   that has no young ones, or where
                                   exact_set_each is what costs */
    struct exact_set_rows rows; /* a merge into the old runs leaves out the
                                   entries of rows that are gone; a find may
                                   still name them */
    uint64_t block_cache_bytes; /* our own cache, before the system's */
    uint64_t delta_most;        /* digests in memory before merging; 0: 500k */
};

/* Tables are made when missing. */
MUST_CHECK enum status exact_set_open(struct exact_set **out, struct db *d,
                                      const struct exact_set_options *o);
void exact_set_close(struct exact_set *s);

/* Every id up to this one is in the runs; the caller replays later ones with
 * exact_set_add after opening. */
uint64_t exact_set_upto(const struct exact_set *s);

/* Has the part that the digest belongs to been merged? */
bool exact_set_has_run(const struct exact_set *s, struct digest digest);

/* Is the row `id` in the runs? Then there is no need to replay it. */
bool exact_set_has_row(const struct exact_set *s, struct digest digest,
                       uint64_t id);

/* Adds a digest that is not in the set; ids rise from call to call. The caller
 * has written its row in the same transaction, or is replaying it. */
void exact_set_add(struct exact_set *s, struct digest digest, uint64_t id);
/* Fetches the memory that exact_set_add will touch. */
void exact_set_prefetch(const struct exact_set *s, struct digest digest);
/* As exact_set_add, but `digest` may be in the set with the lower id of a
 * removed row; from now on it has this id. */
void exact_set_replace(struct exact_set *s, struct digest digest, uint64_t id);

/* ids[i] = the id of digests[i], 0 where it is absent. Sorts inside, so that a
 * block is read once for the whole batch. */
MUST_CHECK enum status exact_set_find(struct exact_set *s,
                                      const struct digest *digests, size_t n,
                                      uint64_t *ids);

/* Inside a transaction, after admitting `admitted` URLs since the last call:
 * one bounded merge step, so that commit times stay flat. */
MUST_CHECK enum status exact_set_step(struct exact_set *s, uint64_t admitted);
/* After a rollback the set must be closed and opened again; memory still has
 * what the uncommitted steps did. */

/* Inside a transaction: merges the next `parts` of EXACT_SET_PARTS parts now.
 * Once all parts have had their turn, all entries that were in memory are in
 * pages, one run for each part. For a caller that limits memory itself;
 * delta_most applies to exact_set_step only. */
#define EXACT_SET_PARTS 1024
MUST_CHECK enum status exact_set_merge(struct exact_set *s, unsigned parts);

/* Passes every digest with first <= hi <= last to `visit` once, in no
 * particular order. Filter segments are rebuilt from this. */
MUST_CHECK enum status exact_set_each(
    struct exact_set *s, uint64_t first, uint64_t last,
    void (*visit)(void *ctx, struct digest digest, uint64_t id), void *ctx);

/* Checks that no part claims ids past `last`, the last row: such a part would
 * silently skip new ids. STATUS_DAMAGED with a log line. */
MUST_CHECK enum status exact_set_check_upto(const struct exact_set *s,
                                            uint64_t last);

struct exact_set_stats {
    uint64_t count;       /* digests in the set */
    uint64_t delta;       /* of them in memory only */
    uint64_t finds;       /* digests looked up */
    uint64_t block_hits;  /* blocks found in the own cache */
    uint64_t block_reads; /* blocks read from the disk */
    uint64_t memory;      /* bytes held */
};
struct exact_set_stats exact_set_stats(const struct exact_set *s);

/* Checks that blocks are in order, fences and counts correct, ids distinct and
 * in range. STATUS_DAMAGED with one log line that names the first bad part. */
MUST_CHECK enum status exact_set_verify(struct exact_set *s);
/* As exact_set_verify, for a caller that knows the last id from elsewhere than
 * the table of its rows. */
MUST_CHECK enum status exact_set_verify_upto(struct exact_set *s,
                                             uint64_t last_id);

#endif
