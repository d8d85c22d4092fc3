/*
 * export_broken.h - `urlweir export --what broken`: links that lead nowhere.
 */
#ifndef URLWEIR_CLI_EXPORT_EXPORT_BROKEN_H
#define URLWEIR_CLI_EXPORT_EXPORT_BROKEN_H

#include <stdbool.h>

#include "base/record.h"
#include "base/status.h"
#include "frontier/reader.h"

/* Prints a row for each recorded link whose target failed, itself or behind
 * redirects, as docs/formats/export.md describes. `checked`, which may be NULL,
 * is another crawl, which says what came of targets of dropped links. Holds
 * eight octets for each URL of either crawl. STATUS_IO: stdout is gone. */
MUST_CHECK enum status export_broken(struct reader *r, struct reader *checked,
                                     struct record *out);

#endif
