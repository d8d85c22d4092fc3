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

/* "status, title": what has changed; `text` has 64 octets. */
void diff_what_text(unsigned what, const char *between, char *text);

#endif
