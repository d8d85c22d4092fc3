/*
 * near_index.h - finds fingerprints that differ from a given one in few bits.
 *
 * Of two 64-bit fingerprints that differ in at most 3 bits, at least one of
 * their four 16-bit blocks is equal (Manku, Jain and Das Sarma, WWW 2007,
 * section 3). So each fingerprint stands in four tables, each in order of one
 * block, and a search compares those that share a block: exact, some 600 of 10
 * million if they are random.
 *
 * All four tables are one exact set (exact_set.h) with a table of its
 * own (nearpart); memory and disk are as there, with 80 octets a
 * fingerprint on disk. After opening, the owner adds again what is newer than
 * the pages, from the fetch rows. A fingerprint whose row was removed
 * (rows/history.h) is not known any more. Owned by the frontier thread.
 */
#ifndef URLWEIR_STORAGE_INDEX_NEAR_INDEX_H
#define URLWEIR_STORAGE_INDEX_NEAR_INDEX_H

#include <stdint.h>

#include "storage/db/db.h"
#include "storage/index/exact_set.h"

#define NEAR_INDEX_BITS 3 /* that near fingerprints differ in, at most */

struct near_index;

/* `memory`: octets for entries newer than the pages, within 2.5 and 80 MiB.
 * `rows`: which fetch rows there are; NULL: all
 * that were added. */
MUST_CHECK enum status near_index_open(struct near_index **out, struct db *d,
                                       uint64_t memory,
                                       const struct exact_set_rows *rows);
void near_index_close(struct near_index *x); /* NULL is fine */

/* `last`: the last fetch row. See exact_set_check_upto. */
MUST_CHECK enum status near_index_check_upto(const struct near_index *x,
                                             uint64_t last);
/* Rows up to this seq are in the pages. */
uint64_t near_index_upto(const struct near_index *x);

/* *seq: the lowest seq with a fingerprint that differs in at most
 * NEAR_INDEX_BITS bits; 0: there is none. */
MUST_CHECK enum status near_index_find(struct near_index *x, uint64_t print,
                                       uint64_t *seq);
/* Adds a fingerprint unless it is there already, with a lower seq; seqs rise
 * from call to call. */
MUST_CHECK enum status near_index_add(struct near_index *x, uint64_t print,
                                      uint64_t seq);
/* Inside a transaction, before its commit: one bounded step of merging. */
MUST_CHECK enum status near_index_step(struct near_index *x);

uint64_t near_index_count(const struct near_index *x); /* fingerprints */
uint64_t near_index_memory(const struct near_index *x);
/* See exact_set_verify_upto. */
MUST_CHECK enum status near_index_verify(struct near_index *x, uint64_t last);

#endif
