/*
 * drop_log.h - the drops themselves, for the day a setting lets them in (table
 * kept_drop).
 *
 * What was dropped for a reason that a setting can lift is appended here, with
 * the page it came from, and judged again when that setting changes. The log
 * stands outside the exact set: it costs no memory, and a URL may stand in it
 * several times. Entries are packed into blocks of some kilobytes, which begin
 * with what they share with the entry before; a block names the reasons in it,
 * so that only those of a lifted reason are read.
 *
 * A drop is a URL that was never admitted, or (`id`) one that was, and was
 * passed over later: its row has the rest. Frontier thread only.
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
    uint64_t id;       /* its row; 0: it has none, and these hold: */
    uint64_t via;      /* the page it was found on, 0: none */
    uint32_t depth;    /* that of the page plus one, unless */
    bool on_its_level; /* it is that of the page: a redirect, a sitemap */
    uint16_t hops;
    uint8_t kind;
    uint8_t reason_of_row; /* with `id`: what its last fetch row says */
    /* of all */
    uint8_t reason;    /* below 64 */
    uint64_t place;    /* what a limit counts, if it was dropped for one: its
                          place on the page, or octets */
    struct bytes text; /* canonical URL; with `id` the media type, or nothing */
};

MUST_CHECK enum status drop_log_open(struct drop_log **out, struct db *d);
void drop_log_close(struct drop_log *l); /* NULL is fine */

/* Appends; in the table by the next drop_log_flush. Inside a transaction. */
MUST_CHECK enum status drop_log_add(struct drop_log *l,
                                    const struct kept_drop *k);
/* Before each commit. */
MUST_CHECK enum status drop_log_flush(struct drop_log *l);
/* The number of the last block, after a flush; 0: there is none. */
uint64_t drop_log_last(const struct drop_log *l);
/* Entries, and octets they take; what was added since the flush included. */
uint64_t drop_log_count(const struct drop_log *l);
uint64_t drop_log_bytes(const struct drop_log *l);
/* Bit r: there has been an entry of reason r, maybe one that is gone. */
uint64_t drop_log_reasons(const struct drop_log *l);

/* ---- reading, and taking out what was let in ---- */

/* A block as it was read; its entries live until the next one is read. */
struct drop_block {
    uint64_t number;  /* from 1 */
    uint64_t reasons; /* bit r: it has entries of reason r */
    struct kept_drop *at;
    size_t count;
};
/* The first block behind number `after`. Its entries are read only if it has
 * one of `reasons`. STATUS_NOT_FOUND: that was the last. STATUS_DAMAGED. */
MUST_CHECK enum status drop_log_next(struct drop_log *l, uint64_t after,
                                     uint64_t reasons, struct drop_block *out);
/* The block now holds those entries of it that are left, which may say other
 * reasons; without one it is gone. Inside a transaction. */
MUST_CHECK enum status drop_log_rewrite(struct drop_log *l, uint64_t number,
                                        const struct kept_drop *at,
                                        size_t count);

/* Every block can be read. STATUS_DAMAGED with a log line. */
MUST_CHECK enum status drop_log_verify(struct drop_log *l);

#endif
