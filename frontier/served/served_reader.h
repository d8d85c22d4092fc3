/*
 * served_reader.h - reads served URLs from a store.
 *
 * Computes from a directory opened for reading (reader.h) what served.h keeps
 * while the service runs: the state of each URL, the counts of each queue. It
 * is a snapshot of the store, judged at one time of the wall clock; nothing is
 * written, so it works beside the service.
 *
 * Reading takes one pass over the url rows and both logs. Memory: 24 octets a
 * URL. One thread.
 */
#ifndef URLWEIR_FRONTIER_SERVED_SERVED_READER_H
#define URLWEIR_FRONTIER_SERVED_SERVED_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"
#include "frontier/reader.h"
#include "frontier/served/served_columns.h"
#include "frontier/url_view.h"

struct served_reader;

struct served_reader_url {
    enum url_state state;
    uint32_t queue;
    int64_t due_ms;          /* 0: completed */
    int64_t leased_until_ms; /* 0: not leased */
};

struct served_reader_counts {
    uint64_t queued, leased, completed;
    uint64_t removed; /* rows of removed URLs */
};

struct served_reader_queue {
    bool there; /* it has URLs, or had some and was not removed */
    bool gone;  /* it was removed, as its row says */
    struct served_reader_counts urls;
    int64_t delay_ms;         /* its own; -1: the default */
    int64_t blocked_until_ms; /* 0: it is not blocked now */
    int64_t served_ms;        /* 0: never */
    uint32_t limit;           /* of completed URLs; 0: none */
};

/* `now`: wall clock, milliseconds. */
MUST_CHECK enum status served_reader_open(struct served_reader **out,
                                          struct reader *r, int64_t now);
void served_reader_close(struct served_reader *p); /* NULL is fine */

struct served_reader_url served_reader_get(const struct served_reader *p,
                                           uint64_t id);
/* Appends the latest metadata, encoded as received. */
MUST_CHECK enum status served_reader_metadata(const struct served_reader *p,
                                              uint64_t id, struct buf *out);
/* State of a queue of the store. */
struct served_reader_queue served_reader_queue(const struct served_reader *p,
                                               uint32_t queue);
/* For the columns of served_columns.h; `row` is one of the store's. Without
 * metadata. */
struct served_record served_reader_record(const struct served_reader *p,
                                          const struct url_row *row);
struct served_record served_reader_queue_record(const struct served_reader *p,
                                                uint32_t queue);

/* Totals, and settings for all queues. */
struct served_reader_facts {
    int64_t now; /* as given */
    struct served_reader_counts urls;
    uint64_t due; /* queued, and due by now */
    uint64_t queues, blocked_queues;
    int64_t default_delay_ms;
    bool active; /* false: nothing is leased */
};
const struct served_reader_facts *served_reader_facts(
    const struct served_reader *p);

/* ---- history of one URL ---- */

enum served_event { SERVED_EVENT_LEASE, SERVED_EVENT_UPDATE };
/* A lease of [at_ms, until_ms), or an update to `due_ms` (0: completed), whose
 * time is not stored. */
struct served_step {
    enum served_event event;
    int64_t at_ms, until_ms, due_ms;
};
/* Visits what the logs still have about the URL, oldest first; rows that no
 * longer count are swept sooner or later. Reads both logs from start to end. */
MUST_CHECK enum status served_reader_story(
    struct served_reader *p, uint64_t id,
    void (*visit)(void *ctx, const struct served_step *step), void *ctx);

/* The newest row of exactly this URL in each queue that ever had it, in order
 * of queues. Finds removed ones, too; the row before it is its `via`. Takes one
 * look-up a queue. */
MUST_CHECK enum status served_reader_find(struct served_reader *p,
                                          struct bytes url,
                                          void (*visit)(void *ctx, uint64_t id),
                                          void *ctx);

/* ---- verify ---- */

/* Checks what served_log_verify does not: each row's queue exists, dates of
 * arrival never decrease, a URL that was put again names the removed row of the
 * same URL, a removed queue has no URLs, the default delay is valid.
 * STATUS_DAMAGED with one log line. */
MUST_CHECK enum status served_reader_verify(struct served_reader *p);

#endif
