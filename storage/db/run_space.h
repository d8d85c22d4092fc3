/*
 * run_space.h - which pages of a file of runs are free.
 *
 * A page that a transaction takes is free again if that is rolled back, and one
 * that it drops stays in use if it is. Even after the commit a dropped page is
 * not taken at once: a reader of an older snapshot may still need it, and so
 * may we after a power cut. run_space_reuse() says when that has ended. In
 * memory alone, a bit a page; used by run_file.c.
 */
#ifndef URLWEIR_STORAGE_DB_RUN_SPACE_H
#define URLWEIR_STORAGE_DB_RUN_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

#define RUN_SPACE_MOST UINT32_MAX /* pages of a file, 16 TiB */

struct run_space;

struct run_space *run_space_new(void);
void run_space_free(struct run_space *s); /* NULL is fine */

/* Pages from `size` on were never written. Call it once, before the others. */
void run_space_size(struct run_space *s, uint32_t size);
/* The page belongs to a run. Returns false if it does already, or is past the
 * end. */
bool run_space_claim(struct run_space *s, uint32_t page);
/* All claims are made: the other pages may be taken after the next
 * run_space_reuse(), since a reader may be older than this process. */
void run_space_claimed(struct run_space *s);

/* at[0..n) = free pages, rising where they are next to each other.
 * STATUS_LIMIT: the file would grow too large. */
MUST_CHECK enum status run_space_take(struct run_space *s, uint32_t *at,
                                      uint32_t n);
/* Frees pages, if the transaction is committed. */
void run_space_drop(struct run_space *s, const uint32_t *at, uint32_t n);

/* Returns how many there were, with run_space_claimed. */
uint64_t run_space_commit(struct run_space *s);
void run_space_roll_back(struct run_space *s);
/* Pages dropped by the first `commits` commits may be taken. */
void run_space_reuse(struct run_space *s, uint64_t commits);

uint32_t run_space_pages(const struct run_space *s); /* the file's length */
uint64_t run_space_memory(const struct run_space *s);

#endif
