/*
 * body_index.h - bodies seen, by digest, to the first fetch that had them.
 *
 * An exact set (exact_set.h) over the digests of bodies, in tables of its own
 * (bodypart, bodypage): on disk, whatever their number, 20 octets a distinct
 * body, and no more memory than is asked for. What is newer than its pages is
 * put in again by the owner after opening, from the fetch rows. Owned by the
 * frontier thread.
 */
#ifndef URLWEIR_STORAGE_INDEX_BODY_INDEX_H
#define URLWEIR_STORAGE_INDEX_BODY_INDEX_H

#include <stdint.h>

#include "base/digest.h"
#include "storage/db/db.h"

struct body_index;

/* `memory`: octets for pages kept; some 10 MB more at most are for what is
 * newer than the pages. */
MUST_CHECK enum status body_index_open(struct body_index **out, struct db *d,
                                       uint64_t memory);
void body_index_close(struct body_index *x); /* NULL is fine */

/* Rows up to this seq are in the pages. */
/* exact_set_check_upto: `last` is the last fetch row there is. */
MUST_CHECK enum status body_index_check_upto(const struct body_index *x,
                                             uint64_t last);
uint64_t body_index_upto(const struct body_index *x);
/* *seq 0: not known. */
MUST_CHECK enum status body_index_find(struct body_index *x, struct digest d,
                                       uint64_t *seq);
/* It is not known; seqs rise from call to call. */
void body_index_add(struct body_index *x, struct digest d, uint64_t seq);
/* Inside a transaction, before its commit: one bounded step of merging. */
MUST_CHECK enum status body_index_step(struct body_index *x);

uint64_t body_index_count(const struct body_index *x);
uint64_t body_index_memory(const struct body_index *x);
/* See exact_set_verify. */
MUST_CHECK enum status body_index_verify(struct body_index *x);

#endif
