/*
 * robots_store.h - the robots.txt files in force.
 *
 * One row an origin, which a newer file replaces. Used through page_store.h.
 */
#ifndef URLWEIR_STORAGE_ROWS_ROBOTS_STORE_H
#define URLWEIR_STORAGE_ROWS_ROBOTS_STORE_H

#include "base/buf.h"
#include "storage/db/db.h"

struct robots_store;

struct robots_row {
    struct bytes origin; /* scheme://host[:port] */
    int64_t fetched_at_ms, expires_at_ms;
    int64_t unreachable_since_ms; /* 0: it responded */
    uint16_t http_status;         /* 0: no response */
    struct bytes body;            /* at most 500 KiB */
};

MUST_CHECK enum status robots_store_open(struct robots_store **out,
                                         struct db *d);
void robots_store_close(struct robots_store *s); /* NULL is fine */
/* STATUS_LIMIT: the body is too long. */
MUST_CHECK enum status robots_store_set(struct robots_store *s,
                                        const struct robots_row *row);
/* STATUS_NOT_FOUND. `text` holds what *row points to. */
MUST_CHECK enum status robots_store_get(struct robots_store *s,
                                        struct bytes origin,
                                        struct robots_row *row,
                                        struct buf *text);

#endif
