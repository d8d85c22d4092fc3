/*
 * served_log.h - what became of URLs that other programs put: an append-only
 * log of updates, one of leases, and what must be known of their queues.
 *
 * The url row says that a URL was put and when. Whatever happens to it later
 * (another date, metadata, completed) is a row of item_update; the latest one
 * counts. That it was handed out is a row of item_lease, in force until its
 * time is over, a later lease takes its place or a later update ends it. Both
 * are appended in order of `seq`, which they share; nothing is ever changed in
 * place, for a row at a random place would cost a page of log and a page of
 * file. Rows that no longer count are dropped from the old end by the sweeps,
 * which move those that still do to the new one.
 *
 * Owned by the frontier thread. Writing calls stand between db_begin and
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
    uint64_t since;        /* seq at which it came to be so: less than seq
                              where a sweep has moved it */
    struct bytes metadata; /* borrowed; empty while reading all */
};

struct served_lease_row {
    uint64_t seq, url;
    int64_t at_ms, until_ms;
};

/* Nothing is in force until the first row. */
struct served_queue_row {
    uint64_t removed_upto; /* its URLs up to this id were removed */
    bool gone;             /* the queue itself was removed */
    int64_t delay_ms;      /* -1: the default */
    int64_t blocked_until_ms;
    uint32_t completed_most; /* 0: no limit */
    int64_t served_ms;       /* at least; later leases may say more */
    uint64_t completed;      /* where there is a limit, in a crawl with fetchers
                                of its own; else 0, as the updates say it */
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
/* So many URLs of the queue, which has a row, were removed: of a crawl with
 * fetchers of its own, where they stay known. How many in all; 0: no row. */
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

/* Rows there are, and rows appended since the last sweep of the kind. */
struct served_log_counts {
    uint64_t updates, leases;
    uint64_t new_updates, new_leases;
};
struct served_log_counts served_log_counts(const struct served_log *l);

/* Looks at the `most` oldest rows: those for which `counts` answers true are
 * moved to the end (*moved is told of the new seq), the others dropped. */
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

/* Does every row belong to a URL that was put, or to a queue, and is no seq in
 * both logs? Reads everything. *urls: how many URLs were put. STATUS_DAMAGED
 * with one log line. */
MUST_CHECK enum status served_log_verify(struct db *d, uint64_t *urls);

#endif
