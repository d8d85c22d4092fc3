/*
 * put_urls.h - the URLs that other programs put, for who reads a store.
 *
 * What items.h keeps while the service runs, worked out from the same rows by
 * whoever opened the directory for reading (reader.h): the state of each URL,
 * the counts of each queue. It is one moment of the store, judged at one moment
 * of the wall clock; nothing is written, so it works beside the service.
 *
 * Reading takes one pass over the url rows and both logs. Memory: 40 octets a
 * URL. One thread.
 */
#ifndef URLWEIR_FRONTIER_SERVED_PUT_URLS_H
#define URLWEIR_FRONTIER_SERVED_PUT_URLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"
#include "frontier/reader.h"
#include "frontier/url_view.h"

struct put_urls;

struct put_url {
    enum url_state state;
    uint32_t queue;
    int64_t due_ms;          /* 0: completed */
    int64_t leased_until_ms; /* 0: it is not leased */
};

struct put_counts {
    uint64_t queued, leased, completed;
    uint64_t removed; /* rows of URLs that are gone */
};

struct put_queue {
    bool there; /* it has URLs, or had some and was not removed */
    bool gone;  /* it was removed, as its row says */
    struct put_counts urls;
    int64_t delay_ms;         /* its own; -1: the default */
    int64_t blocked_until_ms; /* 0: it is not blocked */
    int64_t served_ms;        /* 0: never */
    uint32_t limit;           /* of completed URLs; 0: none */
    uint64_t removed_upto;
};

/* `now`: wall clock, milliseconds. STATUS_NOMEM: too many URLs. */
MUST_CHECK enum status put_urls_open(struct put_urls **out, struct reader *r,
                                     int64_t now);
void put_urls_close(struct put_urls *p); /* NULL is fine */

struct put_url put_urls_get(const struct put_urls *p, uint64_t id);
/* Appends the latest metadata, as it came over the wire. */
MUST_CHECK enum status put_urls_metadata(const struct put_urls *p, uint64_t id,
                                         struct buf *out);
/* `queue` is one of the store's. */
const struct put_queue *put_urls_queue(const struct put_urls *p,
                                       uint32_t queue);
bool put_queue_is_blocked(const struct put_queue *q, int64_t now);

/* What holds for all of them. */
struct put_facts {
    int64_t now; /* as given */
    struct put_counts urls;
    uint64_t due; /* queued, and their date is over */
    uint64_t queues, blocked_queues;
    int64_t default_delay_ms;
    bool active; /* false: nothing is handed out */
};
const struct put_facts *put_urls_facts(const struct put_urls *p);

/* ---- one URL's story ---- */

enum put_event { PUT_EVENT_LEASE, PUT_EVENT_UPDATE };
/* A lease of [at_ms, until_ms), or an update to `due_ms` (0: completed), whose
 * time is not kept. */
struct put_step {
    enum put_event event;
    int64_t at_ms, until_ms, due_ms;
};
/* What the logs still have of the URL, oldest first; rows that no longer count
 * have been swept out sooner or later. Reads both logs from end to end. */
MUST_CHECK enum status put_urls_story(
    struct put_urls *p, uint64_t id,
    void (*visit)(void *ctx, const struct put_step *step), void *ctx);

/* The newest row of exactly this URL in each queue that ever had it, in order
 * of queues. Removed ones are found, too; the one before it is the row's `via`.
 * One lookup a queue. */
MUST_CHECK enum status put_urls_find(struct put_urls *p, struct bytes url,
                                     void (*visit)(void *ctx, uint64_t id),
                                     void *ctx);

/* ---- verify ---- */

/* What item_log_verify does not tell: each row's queue is there, dates of
 * arrival never go back, a URL that was put again names the removed row of the
 * same URL, a queue that was removed has none, the default delay is one.
 * STATUS_DAMAGED with one log line. */
MUST_CHECK enum status put_urls_verify(struct put_urls *p);

#endif
