/*
 * export_drops.h - `urlweir export` of links that were dropped.
 *
 * The rows are those of docs/formats/export.md. Each returns STATUS_IO if
 * stdout is gone.
 */
#ifndef URLWEIR_CLI_EXPORT_EXPORT_DROPS_H
#define URLWEIR_CLI_EXPORT_EXPORT_DROPS_H

#include "base/record.h"
#include "base/status.h"
#include "frontier/reader.h"

/* Counts by reason and host. */
MUST_CHECK enum status export_drops(struct reader *r, struct record *out);
/* Some URLs of each reason. */
MUST_CHECK enum status export_drop_examples(struct reader *r,
                                            struct record *out);
/* Each drop that is kept (--keep-dropped). */
MUST_CHECK enum status export_dropped(struct reader *r, struct record *out);

#endif
