/*
 * manifest.h - generation and counts outside the database, which everything
 * else must agree with.
 *
 * A missing WAL, or a main file that was emptied, opens as a healthy empty
 * SQLite store. So a small text file beside it says what the store held at the
 * last checkpoint or clean stop; a store behind it is damage, one ahead of it
 * is normal. Format: docs/formats/manifest.md.
 */
#ifndef URLWEIR_STORAGE_DB_MANIFEST_H
#define URLWEIR_STORAGE_DB_MANIFEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"

#define MANIFEST_FORMAT 1

struct manifest {
    uint64_t generation; /* rises with each checkpoint */
    uint64_t urls;       /* last url id */
    uint64_t fetches;    /* last fetch seq */
    char store_id[33];   /* meta.store_id: 32 hex digits, made with the store */
    int64_t written_at_ms;
    bool clean;     /* written at a clean stop */
    char state[16]; /* "new", "running", "stopped", "finished" */
};

/* Writes the file whole or not at all, with a checksum line. STATUS_ARG:
 * store_id is not 32 hex digits in lower case, or state is not one of the
 * four. */
MUST_CHECK enum status manifest_save(const char *path,
                                     const struct manifest *m);
/* STATUS_NOT_FOUND; STATUS_FORMAT or STATUS_DAMAGED with a log line;
 * STATUS_VERSION: a newer format. */
MUST_CHECK enum status manifest_load(const char *path, struct manifest *m);

/* Text instead of a file. A text that parses is octet for octet what
 * manifest_format makes of its content. Statuses as for manifest_load; nothing
 * is logged. */
void manifest_format(const struct manifest *m, struct buf *out);
MUST_CHECK enum status manifest_parse(struct bytes text, struct manifest *m);

#endif
