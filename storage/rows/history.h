/*
 * history.h - how many fetches of each URL a crawl keeps.
 *
 * Without this module every fetch keeps its row for ever. With it, these stay:
 *
 *   - of each URL the last `keep` final fetches, with their tries, and all that
 *     it has if it is not done;
 *   - of each URL the newest whole fetch (whole_index.h), whose validators and
 *     links the next request goes by;
 *   - the rows that one of those names as the first with its body, or with a
 *     text near to its own (fetch.same, fetch.near), so that no name is ever
 *     without its row. Such a row alone names none (its `near` is taken away),
 *     else a page that changes a little each day would keep all its past.
 *
 * So at most 3 (keep + 1) rows of a URL stay, and mostly keep or keep + 1. What
 * belongs to a row goes with it: what its record refers to, and its links
 * unless a fetch that stays has the same ones. The indexes of bodies and texts
 * forget a row that is gone when they merge (exact_set.h). WARC records stay.
 *
 * The owner makes a pass over the rows now and then, newest first: then each
 * row is met after all that may name it, and nothing but memory is needed to
 * know which stay. A pass that a crash ends is begun again. Rows that are added
 * meanwhile are told to it.
 *
 * Memory during a pass: an octet a URL, and at most `most_memory` for the
 * names. If that is not enough, more rows stay. Owned by the frontier thread.
 */
#ifndef URLWEIR_STORAGE_ROWS_HISTORY_H
#define URLWEIR_STORAGE_ROWS_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "storage/db/db.h"
#include "storage/rows/link_store.h"
#include "storage/rows/page_store.h"

#define HISTORY_MOST 100 /* fetches of a URL that can be asked for */

struct history;

/* The stores are borrowed. */
MUST_CHECK enum status history_open(struct history **out, struct db *d,
                                    struct page_store *pages,
                                    struct link_store *links,
                                    uint64_t most_memory);
void history_close(struct history *h); /* NULL is fine */

/* Is a pass due that would keep `keep` fetches (1 to HISTORY_MOST) of each URL?
 * It is when `keep` differs from that of the last pass, and when the rows have
 * become a quarter more since, at least 1,000. */
bool history_is_due(const struct history *h, unsigned keep);
bool history_is_running(const struct history *h);

/* Inside a transaction: begins a pass. `last_id`: the last URL. Rows from
 * `floor` on stay: somebody reads them in order and has come that far. */
MUST_CHECK enum status history_begin(struct history *h, unsigned keep,
                                     uint64_t last_id, uint64_t floor);
/* Inside a transaction: looks at up to `most` more rows. *removed grows by
 * those that it removed. At the end of the rows the pass is over. */
MUST_CHECK enum status history_step(struct history *h, size_t most,
                                    uint64_t *removed);
/* Ends a pass early; what it did stays done. */
void history_stop(struct history *h);
/* A row was added. */
void history_add(struct history *h, const struct fetch_row *row);

uint64_t history_memory(const struct history *h);

#endif
