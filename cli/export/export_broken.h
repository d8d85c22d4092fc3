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
 * redirects, as docs/formats/export.md describes. Holds eight octets for each
 * URL of the crawl. STATUS_IO: stdout is gone. */
MUST_CHECK enum status export_broken(struct reader *r, struct record *out);

#endif
