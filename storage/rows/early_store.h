/*
 * early_store.h - URLs that go before their turn, by queue and class.
 *
 * Table early has a row for each URL whose class is above that of its queue's
 * order of arrival; a higher class goes first. The rows are hints: each URL
 * also stands in its queue (frontier_store.h), so that a row may be stale or
 * missing and no URL is lost. A URL has at most one row; class 0 keeps the
 * in-links of one that needs no class any more, for people.
 *
 * Rows are few, so they are a table with a key of its own and not segments:
 * 16 classes of segments would make every queue's reading and merging dearer.
 * Owned by the frontier thread; readers open the database read-only.
 */
#ifndef URLWEIR_STORAGE_ROWS_EARLY_STORE_H
#define URLWEIR_STORAGE_ROWS_EARLY_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "storage/db/db.h"

#define EARLY_CLASS_MOST 15
#define EARLY_NONE       UINT8_MAX /* it has no row */

struct early_store;

MUST_CHECK enum status early_store_open(struct early_store **out, struct db *d);
void early_store_close(struct early_store *s); /* NULL is fine */

/* Class and in-links of a URL. STATUS_NOT_FOUND. */
MUST_CHECK enum status early_store_get(struct early_store *s, uint32_t queue,
                                       uint64_t url, uint8_t *class_,
                                       uint32_t *links);
/* Sets them. `was`: its class until now, or EARLY_NONE. */
MUST_CHECK enum status early_store_put(struct early_store *s, uint32_t queue,
                                       uint64_t url, uint8_t was,
                                       uint8_t class_, uint32_t links);
/* Passes the URLs of one class to `visit`, in order of arrival, until it
 * returns false. `visit` must not change the store. */
MUST_CHECK enum status early_store_each(struct early_store *s, uint32_t queue,
                                        uint8_t class_,
                                        bool (*visit)(void *ctx, uint64_t url),
                                        void *ctx);
/* Every queue and class above 0 that has rows, at start. */
MUST_CHECK enum status early_store_each_queue(
    struct early_store *s,
    void (*visit)(void *ctx, uint32_t queue, uint8_t class_), void *ctx);

#endif
