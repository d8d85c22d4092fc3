/*
 * outcome_rows.h - what became of each URL, in the order in which it was
 * committed, for a reader beside the crawl.
 *
 * A connection of its own, which sees nothing that is not durable and writes
 * nothing. Each look is one moment of the store and ends with the call, so that
 * a reader who waits holds up nobody. One thread at a time.
 */
#ifndef URLWEIR_STORAGE_OUTCOME_ROWS_H
#define URLWEIR_STORAGE_OUTCOME_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "storage/url_record.h"

struct outcome_rows;

/* `path` of frontier.db. Errors are said in a log line. */
MUST_CHECK enum status outcome_rows_open(struct outcome_rows **out,
                                         const char *path);
void outcome_rows_close(struct outcome_rows *r); /* NULL is fine */

/* Final rows with seq > `after`, in order, `most` at most; *seen is how many
 * there were. `row` has named columns, seq and url first; an absent value is
 * NULL. */
MUST_CHECK enum status outcome_rows_each(
    struct outcome_rows *r, uint64_t after, unsigned most,
    void (*visit)(void *ctx, const struct url_record *row), void *ctx,
    unsigned *seen);
/* The seq of the newest row, final or not; 0: there is none. */
MUST_CHECK enum status outcome_rows_last(struct outcome_rows *r, uint64_t *seq);

#endif
