/*
 * fetch_index.h - finds fetches by what they brought: a body, or a text.
 *
 * An index of bodies maps the digest of a body to the first fetch that had it.
 * An index of texts finds the first fetch whose 64-bit fingerprint differs from
 * a given one in at most 3 bits. Of two such fingerprints at least one of their
 * four 16-bit blocks is equal (Manku, Jain and Das Sarma, WWW 2007, section 3).
 * So each stands in four tables, each in order of one block, and a search
 * compares those that share a block: exact, some 600 of 10 million if they are
 * random.
 *
 * Both are an exact set (exact_set.h) in tables of its own, of 20 octets on
 * disk for a distinct body and 80 for a fingerprint. After opening, the owner
 * adds again what is newer than the pages, from the fetch rows. What a row that
 * was removed (rows/history.h) brought is not known any more, and can be added
 * anew. Owned by the frontier thread.
 */
#ifndef URLWEIR_STORAGE_INDEX_FETCH_INDEX_H
#define URLWEIR_STORAGE_INDEX_FETCH_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/digest.h"
#include "storage/db/db.h"
#include "storage/index/exact_set.h"

#define NEAR_INDEX_BITS 3 /* that near fingerprints differ in, at most */

enum fetch_index_kind { FETCH_BODIES, FETCH_TEXTS };
struct fetch_index;

/* `memory`: octets. Of bodies: for cached pages; entries newer than the pages
 * take some 10 MB more at most. Of texts: for entries newer than the pages,
 * within 2.5 and 80 MiB. `rows`: which fetch rows there are; NULL: all that
 * were added. */
MUST_CHECK enum status fetch_index_open(struct fetch_index **out, struct db *d,
                                        enum fetch_index_kind kind,
                                        uint64_t memory,
                                        const struct exact_set_rows *rows);
void fetch_index_close(struct fetch_index *x); /* NULL is fine */

/* `last`: the last fetch row there is. See exact_set_check_upto. */
MUST_CHECK enum status fetch_index_check_upto(const struct fetch_index *x,
                                              uint64_t last);
/* Rows up to this seq are in the pages. */
uint64_t fetch_index_upto(const struct fetch_index *x);
/* Inside a transaction, before its commit: one bounded step of merging. */
MUST_CHECK enum status fetch_index_step(struct fetch_index *x);
uint64_t fetch_index_count(const struct fetch_index *x); /* distinct ones */
uint64_t fetch_index_memory(const struct fetch_index *x);
/* See exact_set_verify_upto; `last`: the last fetch row. */
MUST_CHECK enum status fetch_index_verify(struct fetch_index *x, uint64_t last);

/* ---- of bodies ---- */

/* *seq is 0 if the body is not known. */
MUST_CHECK enum status body_index_find(struct fetch_index *x, struct digest d,
                                       uint64_t *seq);
/* Adds a body that is not known yet; seqs rise from call to call. */
MUST_CHECK enum status body_index_add(struct fetch_index *x, struct digest d,
                                      uint64_t seq);
/* The same after opening, for rows past fetch_index_upto() of which each named
 * no earlier row when it was added. `removed`: rows may have been removed. If
 * none was, nothing is read. */
MUST_CHECK enum status body_index_replay(struct fetch_index *x, struct digest d,
                                         uint64_t seq, bool removed);

/* ---- of texts ---- */

/* *seq: the lowest seq with a fingerprint that differs in at most
 * NEAR_INDEX_BITS bits; 0: there is none. */
MUST_CHECK enum status near_index_find(struct fetch_index *x, uint64_t print,
                                       uint64_t *seq);
/* Adds a fingerprint unless it is there already, with a lower seq; seqs rise
 * from call to call. */
MUST_CHECK enum status near_index_add(struct fetch_index *x, uint64_t print,
                                      uint64_t seq);

#endif
