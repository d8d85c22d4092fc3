/*
 * whole_index.h - maps a URL to its newest whole fetch.
 *
 * A fetch is whole if it was final and its response complete and in order: the
 * page can be asked for again with its validators, and what was read from it is
 * known. In the table `whole` 800 URLs make a row, five octets each: the seq of
 * that fetch, or 0. A new fetch is not written at once, since its row says it
 * already: changes collect in memory and are written a few rows a commit, in
 * order of id; when a round is over, everything up to the fetch at which it
 * began is on disk (meta.whole_upto), and opening reads only later fetches.
 *
 * Memory: 13 to 27 octets a change, and at most `memory` where it writes. A
 * reader has those that the writer had not written yet. Owned by the frontier
 * thread.
 */
#ifndef URLWEIR_STORAGE_INDEX_WHOLE_INDEX_H
#define URLWEIR_STORAGE_INDEX_WHOLE_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "storage/db/db.h"

#define WHOLE_BLOCK 800 /* ids in a row: (block * 800, + 800] */

/* Of a fetch row: enum outcome_status and enum outcome_reason, which this layer
 * may not include; test_schema compares. */
#define WHOLE_STATUS    1  /* fetched */
#define WHOLE_UNCHANGED 41 /* unchanged; besides 0, the only reason */

static inline bool whole_index_takes(bool final, unsigned status,
                                     unsigned reason)
{
    return final && status == WHOLE_STATUS &&
           (reason == 0 || reason == WHOLE_UNCHANGED);
}

struct whole_index;

/* Reads the fetches that are not in the table. `memory`: see above; 0: this is
 * a reader. A writer that finds more than fits writes them here, in a
 * transaction of its own. */
MUST_CHECK enum status whole_index_open(struct whole_index **out, struct db *d,
                                        uint64_t memory);
void whole_index_close(struct whole_index *x); /* NULL is fine */

/* `seq` is the newest whole fetch of `url`; seqs rise from call to call. */
void whole_index_set(struct whole_index *x, uint64_t url, uint64_t seq);
/* *seq is 0 if there is none. */
MUST_CHECK enum status whole_index_find(struct whole_index *x, uint64_t url,
                                        uint64_t *seq);
/* Inside a transaction, before its commit: one bounded step of a round. */
MUST_CHECK enum status whole_index_step(struct whole_index *x);

/* Does it agree with all fetch rows? STATUS_DAMAGED with a log line. Needs
 * eight octets of memory a URL up to `last_id`; STATUS_NOMEM. */
MUST_CHECK enum status whole_index_verify(struct whole_index *x,
                                          uint64_t last_id);
uint64_t whole_index_memory(const struct whole_index *x);

#endif
