/*
 * line_sort.h - sorts more lines than fit into memory.
 *
 * Lines go in in any order; what fills the memory is sorted and set aside in a
 * file without a name, and all runs are merged as they are read. Order is that
 * of octets (LC_ALL=C). A line that comes twice comes out twice. One thread.
 */
#ifndef URLWEIR_STORAGE_DB_LINE_SORT_H
#define URLWEIR_STORAGE_DB_LINE_SORT_H

#include <stddef.h>

#include "base/bytes.h"
#include "base/status.h"

struct line_sort;

/* Keeps at most `memory` bytes of lines, and one line more; files are made in
 * `dir`, copied. */
struct line_sort *line_sort_new(const char *dir, size_t memory);
void line_sort_free(struct line_sort *s); /* NULL is fine */

/* `line` without its end; it may hold no LF. */
MUST_CHECK enum status line_sort_add(struct line_sort *s, struct bytes line);
/* Every line of an already sorted file; none there is fine. */
MUST_CHECK enum status line_sort_add_sorted(struct line_sort *s,
                                            const char *path);
/* All lines in order, each with its LF, once; nothing is added after it.
 * `visit` may end it with a status of its own. */
MUST_CHECK enum status line_sort_each(struct line_sort *s,
                                      enum status (*visit)(void *ctx,
                                                           struct bytes line),
                                      void *ctx);

#endif
