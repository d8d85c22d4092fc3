/*
 * export_links.h - `urlweir export --what links`.
 */
#ifndef URLWEIR_CLI_EXPORT_EXPORT_LINKS_H
#define URLWEIR_CLI_EXPORT_EXPORT_LINKS_H

#include "base/record.h"
#include "frontier/reader.h"

/* Is there a link graph? Prints a message if it is incomplete or missing. */
bool export_has_links(const struct reader *r, int *code);
/* Writes it to stdout. STATUS_IO: stdout is gone; STATUS_DAMAGED: a link names
 * a URL that is not there. */
MUST_CHECK enum status export_links(struct reader *r, struct record *out);

#endif
