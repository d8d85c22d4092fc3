/*
 * served_log.h - the history of URLs that other programs put: an append-only
 * log of updates, one of leases, and the state of their queues.
 *
 * The url row says that a URL was put and when. Whatever happens to it later
 * (another date, metadata, completed) is a row of item_update; the latest one
 * counts. Each lease is a row of item_lease, in force until it expires, a later
 * lease replaces it or a later update ends it. Both logs are appended to in
 * order of `seq`, which they share; nothing is ever changed in place, because a
 * row at a random place would cost a page of log and a page of file. The sweeps
 * start at the oldest rows: they drop those that no longer count and append
 * the others again.
 *
 * Owned by the frontier thread. Make writing calls between db_begin and
 * db_commit. Times are milliseconds since 1970, wall clock.
 */
#ifndef URLWEIR_STORAGE_ROWS_SERVED_LOG_H
#define URLWEIR_STORAGE_ROWS_SERVED_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "storage/db/db.h"

struct served_log;

/* Rows are numbered with 48 bits. */
#define SERVED_SEQ_MOST ((UINT64_C(1) << 48) - 1)

MUST_CHECK enum status served_log_open(struct served_log **out, struct db *d);
void served_log_close(struct served_log *l); /* NULL is fine */

struct served_update_row {
    uint64_t seq;
    uint64_t url;          /* id of the url row */
    int64_t due_ms;        /* 0: completed, never to be served again */
    uint64_t since;        /* seq of the original update: less than seq if
                              a sweep has moved the row */
    struct bytes metadata; /* borrowed; empty while reading all */
};

struct served_lease_row {
    uint64_t seq, url;
    int64_t at_ms, until_ms;
};

/* A queue without a row has no settings in force. */
struct served_queue_row {
    uint64_t removed_upto; /* its URLs up to this id were removed */
    bool gone;             /* the queue itself was removed */
    int64_t delay_ms;      /* -1: the default */
    int64_t blocked_until_ms;
    uint32_t completed_most; /* 0: no limit */
    int64_t served_ms;       /* a lower bound: later leases may be newer */
    uint64_t completed;      /* only with a limit, in a crawl with its own
                                fetchers; else 0: count the updates */
};

MUST_CHECK enum status served_log_update(struct served_log *l, uint64_t url,
                                         int64_t due_ms, struct bytes metadata,
                                         uint64_t *seq);
MUST_CHECK enum status served_log_lease(struct served_log *l, uint64_t url,
                                        int64_t at_ms, int64_t until_ms,
                                        uint64_t *seq);
MUST_CHECK enum status served_log_set_queue(struct served_log *l,
                                            uint32_t queue,
                                            const struct served_queue_row *row);
/* Adds `n` to the URLs removed from a queue that has a row, in a crawl with its
 * own fetchers, where they stay known. served_log_removed returns their sum; 0
 * if there is no row. */
MUST_CHECK enum status served_log_add_removed(struct served_log *l,
                                              uint32_t queue, uint64_t n);
MUST_CHECK enum status served_log_removed(struct served_log *l, uint32_t queue,
                                          uint64_t *n);

/* Appends the metadata of an update. STATUS_DAMAGED: there is no such row. */
MUST_CHECK enum status served_log_metadata(struct served_log *l, uint64_t seq,
                                           struct buf *out);
/* Every row, by seq. Updates come without metadata. */
MUST_CHECK enum status served_log_each_url(struct served_log *l,
                                           void (*visit)(void *ctx, uint64_t id,
                                                         uint32_t origin,
                                                         int64_t at_ms),
                                           void *ctx);
MUST_CHECK enum status served_log_each_update(
    struct served_log *l,
    void (*visit)(void *ctx, const struct served_update_row *u), void *ctx);
MUST_CHECK enum status served_log_each_lease(
    struct served_log *l,
    void (*visit)(void *ctx, const struct served_lease_row *e), void *ctx);
MUST_CHECK enum status served_log_each_queue(
    struct served_log *l,
    void (*visit)(void *ctx, uint32_t queue,
                  const struct served_queue_row *row),
    void *ctx);

/* Rows in each log, and rows appended since its last sweep. */
struct served_log_counts {
    uint64_t updates, leases;
    uint64_t new_updates, new_leases;
};
struct served_log_counts served_log_counts(const struct served_log *l);

/* A sweep looks at the `most` oldest rows: if `update` or `lease` returns true,
 * it moves the row to the end and reports the new seq to `..._moved`; it drops
 * the others. */
struct served_log_keep {
    bool (*update)(void *ctx, const struct served_update_row *u);
    void (*update_moved)(void *ctx, uint64_t url, uint64_t seq);
    bool (*lease)(void *ctx, const struct served_lease_row *e);
    void (*lease_moved)(void *ctx, uint64_t url, uint64_t seq);
    void *ctx;
};
MUST_CHECK enum status served_log_sweep_updates(
    struct served_log *l, uint64_t most, const struct served_log_keep *keep);
MUST_CHECK enum status served_log_sweep_leases(
    struct served_log *l, uint64_t most, const struct served_log_keep *keep);

/* Checks that every row belongs to a URL that was put, or to a queue, and that
 * no seq is in both logs. Reads everything. *urls: the URLs that were put.
 * STATUS_DAMAGED with one log line. */
MUST_CHECK enum status served_log_verify(struct db *d, uint64_t *urls);

#endif
