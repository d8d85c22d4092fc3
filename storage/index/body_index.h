/*
 * body_index.h - maps the digest of a body to the first fetch that had it.
 *
 * An exact set (exact_set.h) over the digests of bodies, in a table of its own
 * (bodypart): on disk it takes 20 octets a distinct body, and no more
 * memory than asked for, whatever their number. After opening, the owner adds
 * again what is newer than the pages, from the fetch rows. A body whose row was
 * removed (rows/history.h) is not known any more, and can be added anew. Owned
 * by the frontier thread.
 */
#ifndef URLWEIR_STORAGE_INDEX_BODY_INDEX_H
#define URLWEIR_STORAGE_INDEX_BODY_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/digest.h"
#include "storage/db/db.h"
#include "storage/index/exact_set.h"

struct body_index;

/* `memory`: octets for cached pages; entries newer than the pages take some 10
 * MB more at most. `rows`: which fetch rows there are; NULL: all
 * that were added. */
MUST_CHECK enum status body_index_open(struct body_index **out, struct db *d,
                                       uint64_t memory,
                                       const struct exact_set_rows *rows);
void body_index_close(struct body_index *x); /* NULL is fine */

/* Rows up to this seq are in the pages. */
/* exact_set_check_upto: `last` is the last fetch row there is. */
MUST_CHECK enum status body_index_check_upto(const struct body_index *x,
                                             uint64_t last);
uint64_t body_index_upto(const struct body_index *x);
/* *seq is 0 if the body is not known. */
MUST_CHECK enum status body_index_find(struct body_index *x, struct digest d,
                                       uint64_t *seq);
/* Adds a body that is not known yet; seqs rise from call to call. */
MUST_CHECK enum status body_index_add(struct body_index *x, struct digest d,
                                      uint64_t seq);
/* The same after opening, for rows past body_index_upto() of which each named
 * no earlier row when it was added. `removed`: rows may have been removed. If
 * none was, nothing is read. */
MUST_CHECK enum status body_index_replay(struct body_index *x, struct digest d,
                                         uint64_t seq, bool removed);
/* Inside a transaction, before its commit: one bounded step of merging. */
MUST_CHECK enum status body_index_step(struct body_index *x);

uint64_t body_index_count(const struct body_index *x);
uint64_t body_index_memory(const struct body_index *x);
/* See exact_set_verify. */
MUST_CHECK enum status body_index_verify(struct body_index *x);

#endif
