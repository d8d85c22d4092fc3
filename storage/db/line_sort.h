/*
 * line_sort.h - sorts more lines than fit into memory.
 *
 * Lines are added in any order. When the memory is full, they are sorted and
 * written to an unnamed file, and all such runs are merged as they are read.
 * The order is that of octets (LC_ALL=C). A line that comes twice comes out
 * twice. One thread.
 */
#ifndef URLWEIR_STORAGE_DB_LINE_SORT_H
#define URLWEIR_STORAGE_DB_LINE_SORT_H

#include <stddef.h>

#include "base/bytes.h"
#include "base/status.h"

struct line_sort;

/* Keeps at most `memory` bytes of lines in memory, and one line more. Files are
 * made in `dir`, whose name is copied. */
struct line_sort *line_sort_new(const char *dir, size_t memory);
void line_sort_free(struct line_sort *s); /* NULL is fine */

/* Adds a line, given without its LF; it must not contain one. */
MUST_CHECK enum status line_sort_add(struct line_sort *s, struct bytes line);
/* Adds every line of a file that is sorted already; a missing file is fine. */
MUST_CHECK enum status line_sort_add_sorted(struct line_sort *s,
                                            const char *path);
/* Passes all lines in order to `visit`, each with its LF. May be called once,
 * and nothing may be added after it. A status from `visit` other than STATUS_OK
 * ends the walk and is returned. */
MUST_CHECK enum status line_sort_each(struct line_sort *s,
                                      enum status (*visit)(void *ctx,
                                                           struct bytes line),
                                      void *ctx);

#endif
