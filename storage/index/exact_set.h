/*
 * exact_set.h - the exact set of admitted URLs, the second word on "maybe".
 *
 * Maps a 128-bit digest to the id of its row. There is no random-key B-tree:
 * sorted pages in SQLite (tables seenpart, seenpage) are merged in large
 * sorted steps, and what is newer stands in memory, from where it is rebuilt
 * after a crash by replaying the url rows past exact_set_upto(). See
 * docs/formats/frontier-db.md and the measurements it cites.
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

struct exact_set_options {
    bool bodies;               /* digests of bodies and seqs of fetch rows, in
                                  tables bodypart and bodypage: body_index.h */
    uint64_t page_cache_bytes; /* own cache of pages, before SQLite's */
    uint64_t delta_most;       /* digests in memory before merging; 0: 500k */
};

/* Tables are made when missing. */
MUST_CHECK enum status exact_set_open(struct exact_set **out, struct db *d,
                                      const struct exact_set_options *o);
void exact_set_close(struct exact_set *s);

/* Every id up to this one is in the pages; the caller replays later ones with
 * exact_set_add after opening. */
uint64_t exact_set_upto(const struct exact_set *s);

/* `digest` is not in the set; ids rise from call to call. The caller has
 * written its row in the same transaction, or is replaying it. */
void exact_set_add(struct exact_set *s, struct digest digest, uint64_t id);
/* As exact_set_add, but `digest` may be in the set, with a lower id, whose URL
 * was removed: from now on it is this one's. */
void exact_set_replace(struct exact_set *s, struct digest digest, uint64_t id);

/* ids[i] = the id of digests[i], 0 where it is absent. Sorts inside, so that a
 * page is read once for the whole batch. */
MUST_CHECK enum status exact_set_find(struct exact_set *s,
                                      const struct digest *digests, size_t n,
                                      uint64_t *ids);

/* Inside a transaction, after admitting `admitted` URLs since the last call:
 * one bounded merge step, so that commit times stay flat. */
MUST_CHECK enum status exact_set_step(struct exact_set *s, uint64_t admitted);
/* Undo what uncommitted steps did in memory, after a rollback: the set must be
 * closed and opened again; nothing else is promised then. */

/* The next `parts` of EXACT_SET_PARTS parts, now: all that stands in memory
 * goes into pages when all of them have had their turn. Inside a transaction.
 * For a caller that decides by itself how much may stand in memory; delta_most
 * holds for exact_set_step alone. */
#define EXACT_SET_PARTS 1024
MUST_CHECK enum status exact_set_merge(struct exact_set *s, unsigned parts);

/* Every digest with first <= hi <= last, each once, in no order. This is where
 * a filter segment is rebuilt from. */
MUST_CHECK enum status exact_set_each(
    struct exact_set *s, uint64_t first, uint64_t last,
    void (*visit)(void *ctx, struct digest digest, uint64_t id), void *ctx);

/* Is no part ahead of row `last`, the last one there is? What a part is said to
 * have already is not added to it. STATUS_DAMAGED with a log line. */
MUST_CHECK enum status exact_set_check_upto(const struct exact_set *s,
                                            uint64_t last);

struct exact_set_stats {
    uint64_t count;      /* digests in the set */
    uint64_t delta;      /* of them in memory only */
    uint64_t finds;      /* digests asked */
    uint64_t page_hits;  /* pages found in the own cache */
    uint64_t page_reads; /* pages read through SQLite */
    uint64_t memory;     /* bytes held */
};
struct exact_set_stats exact_set_stats(const struct exact_set *s);

/* Pages in order, fences true, counts right, ids distinct and in range.
 * STATUS_DAMAGED with one log line that names the first part that is not. */
MUST_CHECK enum status exact_set_verify(struct exact_set *s);
/* The same where the last id is known from elsewhere than the table of its
 * rows. */
MUST_CHECK enum status exact_set_verify_upto(struct exact_set *s,
                                             uint64_t last_id);

#endif
