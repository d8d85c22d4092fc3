/*
 * drop_log.h - dropped URLs, kept in case a changed setting lets them in (table
 * kept_drop).
 *
 * A URL that was dropped for a reason that a setting can lift is appended here
 * with its page, and judged again when that setting changes. The log is not
 * part of the exact set: it costs no memory and may hold a URL several times.
 * With a limit of depth so is a link that was sent to another shard, where a
 * shorter way to it counts.
 * Entries are packed into blocks of a few kilobytes, each without the prefix it
 * shares with the one before; a block lists its reasons, so that only blocks
 * with a lifted reason are read.
 *
 * A drop is a URL that was never admitted, or (with `id`) one that was admitted
 * and skipped later: its row has the rest. Frontier thread only.
 */
#ifndef URLWEIR_STORAGE_ROWS_DROP_LOG_H
#define URLWEIR_STORAGE_ROWS_DROP_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "storage/db/db.h"

struct drop_log;

struct kept_drop {
    uint64_t id;       /* its row; 0: no row, then these are set: */
    uint64_t via;      /* the page it was found on, 0: none */
    uint32_t depth;    /* the page's plus one, or if on_its_level: */
    bool on_its_level; /* the page's own: a redirect, a sitemap */
    bool sent;         /* not dropped: `depth` is what another shard knows */
    uint16_t hops;
    uint8_t kind;
    uint8_t reason_of_row; /* with `id`: that of its last fetch row */
    /* set in every entry */
    uint8_t reason;    /* below 64 */
    uint64_t place;    /* if a limit dropped it, the number that the limit
                          checks: its place on the page, or octets */
    struct bytes text; /* canonical URL; with `id` the media type, or nothing */
};

MUST_CHECK enum status drop_log_open(struct drop_log **out, struct db *d);
void drop_log_close(struct drop_log *l); /* NULL is fine */

/* Appends; the next drop_log_flush writes it to the table. Inside a
 * transaction. */
MUST_CHECK enum status drop_log_add(struct drop_log *l,
                                    const struct kept_drop *k);
/* Call it before each commit. */
MUST_CHECK enum status drop_log_flush(struct drop_log *l);
/* The number of the last block, after a flush; 0 if there is no block. */
uint64_t drop_log_last(const struct drop_log *l);
/* Entries and their octets, including those not flushed yet. */
uint64_t drop_log_count(const struct drop_log *l);
uint64_t drop_log_bytes(const struct drop_log *l);
/* Bit r: the log has or had an entry of reason r. */
uint64_t drop_log_reasons(const struct drop_log *l);

/* ---- reading, and removing admitted entries ---- */

/* A block that was read; its entries are valid until the next read. */
struct drop_block {
    uint64_t number;  /* from 1 */
    uint64_t reasons; /* bit r: it has entries of reason r */
    struct kept_drop *at;
    size_t count;
};
/* Reads the first block after number `after`, its entries only if it has one of
 * `reasons`. STATUS_NOT_FOUND: there are no more. STATUS_DAMAGED. */
MUST_CHECK enum status drop_log_next(struct drop_log *l, uint64_t after,
                                     uint64_t reasons, struct drop_block *out);
/* Replaces the block's entries by those that are left, whose reasons may have
 * changed; deletes the block if none are left. Inside a transaction. */
MUST_CHECK enum status drop_log_rewrite(struct drop_log *l, uint64_t number,
                                        const struct kept_drop *at,
                                        size_t count);

/* Checks that every block can be read. STATUS_DAMAGED with a log line. */
MUST_CHECK enum status drop_log_verify(struct drop_log *l);

#endif
