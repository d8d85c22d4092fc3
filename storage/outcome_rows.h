/*
 * outcome_rows.h - the outcome of each URL, in order of commit, for a reader
 * beside the crawl.
 *
 * It has its own connection, sees only durable rows and writes nothing. Each
 * call reads the store as of one moment and ends that read when it returns, so
 * a slow reader holds up nobody. One thread at a time.
 */
#ifndef URLWEIR_STORAGE_OUTCOME_ROWS_H
#define URLWEIR_STORAGE_OUTCOME_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"
#include "storage/url_record.h"

struct outcome_rows;

/* `path`: that of frontier.db. Logs each error. */
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
/* Can row `seq` have been removed, by --keep-history (rows/history.h)? */
MUST_CHECK enum status outcome_rows_thinned(struct outcome_rows *r,
                                            uint64_t seq, bool *maybe);
/* Appends the id of the store, 32 hex digits. */
MUST_CHECK enum status outcome_rows_store_id(struct outcome_rows *r,
                                             struct buf *out);
/* The seq of the newest row, final or not; 0 if there are no rows. */
MUST_CHECK enum status outcome_rows_last(struct outcome_rows *r, uint64_t *seq);

#endif
