/*
 * service_export.h - `urlweir export` of a directory of `urlweir serve`.
 */
#ifndef URLWEIR_CLI_EXPORT_SERVICE_EXPORT_H
#define URLWEIR_CLI_EXPORT_SERVICE_EXPORT_H

#include <stdbool.h>

#include "base/record.h"
#include "frontier/reader.h"

/* Prints the service's URLs, or with `queues` its queues, as
 * docs/formats/export.md describes. Returns an enum exit_code. */
int service_export(struct reader *r, bool queues, enum record_format format);

#endif
