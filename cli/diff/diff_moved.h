/*
 * diff_moved.h - of the pages that are gone and new, those that have moved.
 *
 * Takes differences in any order, and gives all in order of their URLs. Rows
 * wait on disk. For diff_join.c; one thread.
 */
#ifndef URLWEIR_CLI_DIFF_DIFF_MOVED_H
#define URLWEIR_CLI_DIFF_DIFF_MOVED_H

#include "cli/diff/diff_join.h"

struct diff_moved;

/* `memory`: octets, for all that is sorted at once. */
struct diff_moved *diff_moved_new(const char *dir, size_t memory);
void diff_moved_free(struct diff_moved *m); /* NULL is fine */

MUST_CHECK enum status diff_moved_add(struct diff_moved *m,
                                      const struct diff_row *row);
/* The new crawl was redirected from `from` to `to`, which is a page. */
MUST_CHECK enum status diff_moved_redirect(struct diff_moved *m,
                                           struct bytes from, struct bytes to);
/* All rows, once; counts them. */
MUST_CHECK enum status diff_moved_each(
    struct diff_moved *m, struct diff_counts *counts,
    enum status (*visit)(void *ctx, const struct diff_row *row), void *ctx);

#endif
