/*
 * diff_print.h - differences as lines of JSON or CSV, and their counts as text.
 */
#ifndef URLWEIR_CLI_DIFF_DIFF_PRINT_H
#define URLWEIR_CLI_DIFF_DIFF_PRINT_H

#include <stdio.h>

#include "base/record.h"
#include "cli/diff/diff_join.h"

/* One row on stdout, as docs/formats/diff.md says. STATUS_LIMIT: it is too
 * long; STATUS_IO. */
MUST_CHECK enum status diff_print_row(struct record *out,
                                      const struct diff_row *row);
void diff_print_counts(FILE *out, const struct diff_counts *c);

/*
 * Differences as one HTML page: counts by host and path, and the
 * first rows. Memory is bounded: the page lists DIFF_HTML_ROWS of each.
 */

#define DIFF_HTML_ROWS 1000

struct diff_html;

struct diff_html *diff_html_new(void);
void diff_html_free(struct diff_html *h); /* NULL is fine */
/* Rows come in order of their URLs. */
void diff_html_add(struct diff_html *h, const struct diff_row *row);
/* Writes the page; `before` and `after` name the sides. */
MUST_CHECK enum status diff_html_write(struct diff_html *h, const char *path,
                                       const char *before, const char *after,
                                       const struct diff_counts *counts);

#endif
