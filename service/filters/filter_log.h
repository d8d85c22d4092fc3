/*
 * filter_log.h - what was added to named filters and removed from them since
 * they were last saved.
 *
 *     file    0 "urlweirL"   8 version u32, 1   12 zero u32   16 records
 *
 *     record  0 "FREC"   4 its length u32, a multiple of 8   8 number u64
 *            16 1 added, 2 removed, u8   17 length of the name, u8
 *            18 zero   24 XXH3-64 from 32 on, seeded with that of 0..23
 *            32 name, zeros behind it to a multiple of 8   then keys, u64 each
 *
 * Numbers are little-endian and rise by one. A record that is cut short at the
 * end was never confirmed and is dropped. A damaged one before others is told
 * from that by the ones behind it, which still verify: then keys are missing.
 *
 * One thread at a time.
 */
#ifndef URLWEIR_SERVICE_FILTERS_FILTER_LOG_H
#define URLWEIR_SERVICE_FILTERS_FILTER_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"

enum filter_log_op { FILTER_LOG_ADDED = 1, FILTER_LOG_REMOVED = 2 };

struct filter_log_record {
    uint64_t number;
    enum filter_log_op op;
    struct bytes name;
    const uint64_t *keys;
    size_t n; /* at most FILTER_LOG_KEYS */
};
#define FILTER_LOG_KEYS 16384

struct filter_log;

/* Opens the log at `path`, made if missing, and hands each record to `visit`;
 * `number` is the last one, 0 if there is none. STATUS_DAMAGED: records are
 * missing; those that verify were visited, and *out is open. STATUS_FORMAT: it
 * is no log; STATUS_VERSION, STATUS_IO: nothing is open. Logged. */
MUST_CHECK enum status filter_log_open(
    struct filter_log **out, const char *path,
    void (*visit)(void *ctx, const struct filter_log_record *r), void *ctx,
    uint64_t *number);
void filter_log_close(struct filter_log *l); /* NULL is fine */

/* Appends a record in memory; filter_log_sync() makes it durable. */
void filter_log_append(struct filter_log *l, const struct filter_log_record *r);
/* Writes what was appended and waits for the disk. After a failure, which is
 * logged, every later call fails too. */
MUST_CHECK enum status filter_log_sync(struct filter_log *l);
/* Empties the log: all of it is in images that are on disk. */
MUST_CHECK enum status filter_log_clear(struct filter_log *l);
/* Octets of the file. */
uint64_t filter_log_size(const struct filter_log *l);

#endif
