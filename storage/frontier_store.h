/*
 * frontier_store.h - URLs, host queues, budgets and politeness state on disk.
 *
 * url rows stand in order of arrival and are never updated: they are the log
 * from which everything in memory is replayed. Which of them are done is a
 * bitmap (table status) brought up to date from the fetch rows. The queues are
 * immutable host-sorted segments merged four into one in small steps (tables
 * qseg, qmeta); an id that is done is dropped by a merge, never deleted.
 *
 * A lease writes nothing: a URL stays queued until it is done. The caller
 * walks each queue with a cursor of its own (frontier_store_refill).
 *
 * Owned by the frontier thread. All writing calls stand between db_begin and
 * db_commit. After a failed commit the store is closed and opened again.
 */
#ifndef URLWEIR_STORAGE_FRONTIER_STORE_H
#define URLWEIR_STORAGE_FRONTIER_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "storage/db/db.h"

struct frontier_store;

struct frontier_store_options {
    uint64_t memory_bytes; /* aim for windows, bitmaps and deltas */
    uint32_t flush_least;  /* least ids of a new segment; 0: 4,096 */
    uint32_t merge_rows;   /* rows a step of a merge reads; 0: 48 */
    uint32_t sweep_least;  /* least changes a status sweep takes; 0: 262,144 */
};

/* Tables are made when missing. Reads status, segments, queues and origins;
 * then calls `replay`, when not NULL, for every url row past
 * `replay_after`, oldest first (exact set and filter are fed from it). */
struct url_row {
    uint64_t id;         /* 1, 2, 3 ... in order of arrival */
    uint32_t queue;      /* see frontier_store_queue */
    struct bytes url;    /* the whole URL; borrowed until the next call */
    uint32_t depth;      /* links from a seed */
    uint16_t hops;       /* redirects on the way since the last real link */
    uint8_t kind;        /* enum link_kind, how it was first found */
    uint8_t flags;       /* URL_ROW_* */
    uint64_t via;        /* id of the page it was first found on, 0: none;
                            of URL_KIND_SERVED see url_kind.h */
    int64_t found_at_ms; /* wall clock */
};
#define URL_ROW_SEED           1 /* given by a person */
#define URL_ROW_FALSE_POSITIVE 2 /* the filter said "maybe", the set "no" */
#define URL_ROW_SALT_SHIFT     2 /* five bits: salt of its digest */
#define URL_ROW_SALT_MOST      31
#define URL_ROW_AGAIN                                                          \
    128 /* an earlier row has the same URL, which was                          \
           passed over then and has come back */

typedef void (*url_row_visit)(void *ctx, const struct url_row *row);

MUST_CHECK enum status frontier_store_open(
    struct frontier_store **out, struct db *d,
    const struct frontier_store_options *o, uint64_t replay_after,
    url_row_visit replay, void *ctx);
void frontier_store_close(struct frontier_store *s);

/* ---- queues: (crawl ID, queue key), both plain bytes ---- */

/* Its number, 1, 2, 3 ..., made when new. */
MUST_CHECK enum status frontier_store_queue(struct frontier_store *s,
                                            struct bytes crawl,
                                            struct bytes key, uint32_t *queue);
/* 0: no such queue. */
uint32_t frontier_store_find_queue(const struct frontier_store *s,
                                   struct bytes crawl, struct bytes key);
uint32_t frontier_store_queue_count(const struct frontier_store *s);
/* Borrowed until the store is closed. `queue` is one of ours. */
void frontier_store_queue_name(struct frontier_store *s, uint32_t queue,
                               struct bytes *crawl, struct bytes *key);
/* The queue of an origin (url.origin); 0: there is no such origin. */
uint32_t frontier_store_origin_queue(const struct frontier_store *s,
                                     uint32_t origin);
/* URLs of the queue that are not done. */
uint64_t frontier_store_pending(const struct frontier_store *s, uint32_t queue);
uint64_t frontier_store_pending_all(const struct frontier_store *s);

/* ---- URLs ---- */

/* Append a row (its id is given by the store and returned) to its queue. */
MUST_CHECK enum status frontier_store_admit(struct frontier_store *s,
                                            const struct url_row *row,
                                            uint64_t *id);
/* The row of `id`; row->url points into `text`. STATUS_NOT_FOUND. */
MUST_CHECK enum status frontier_store_get(struct frontier_store *s, uint64_t id,
                                          struct url_row *row,
                                          struct buf *text);
/* The same of url and found_at_ms alone, for who needs no more: three columns
 * instead of nine. */
MUST_CHECK enum status frontier_store_get_url(struct frontier_store *s,
                                              uint64_t id, struct buf *text,
                                              int64_t *found_at_ms);
/* The last id of those found before `before_ms`, 0 of none; they are in order
 * of arrival. */
MUST_CHECK enum status frontier_store_last_before(struct frontier_store *s,
                                                  int64_t before_ms,
                                                  uint64_t *last);
/* Rows with first <= id <= last, in order of id. */
MUST_CHECK enum status frontier_store_each(struct frontier_store *s,
                                           uint64_t first, uint64_t last,
                                           url_row_visit visit, void *ctx);
/* Rows of depth 0: seeds, and what they were redirected to. */
MUST_CHECK enum status frontier_store_each_root(struct frontier_store *s,
                                                url_row_visit visit, void *ctx);
uint64_t frontier_store_last_id(const struct frontier_store *s);

/* Up to `most` ids of `queue` greater than `after` that are not done, in order
 * of arrival. *n = 0: there are none. */
MUST_CHECK enum status frontier_store_refill(struct frontier_store *s,
                                             uint32_t queue, uint64_t after,
                                             uint64_t *ids, size_t most,
                                             size_t *n);
/* Marks `id` done; `seq` is the fetch row that says how (page_store.h), final.
 * Nothing happens where it is done already. STATUS_NOT_FOUND: no such URL. */
MUST_CHECK enum status frontier_store_done(struct frontier_store *s,
                                           uint64_t id, uint64_t seq);
bool frontier_store_is_done(const struct frontier_store *s, uint64_t id);

/* Tries used so far by a URL that failed for now and stays queued, and the
 * wall time before which it is not tried again. 0 tries removes the entry, as
 * frontier_store_done does. */
MUST_CHECK enum status frontier_store_set_tries(struct frontier_store *s,
                                                uint64_t id, uint32_t tries,
                                                int64_t due_ms);
/* The same for a URL that is to wait without having failed: `tries` may be 0.
 */
MUST_CHECK enum status frontier_store_postpone(struct frontier_store *s,
                                               uint64_t id, uint32_t tries,
                                               int64_t due_ms);
/* Every URL with tries, at start. */
MUST_CHECK enum status frontier_store_each_tries(
    struct frontier_store *s,
    void (*visit)(void *ctx, uint64_t id, uint32_t tries, int64_t due_ms),
    void *ctx);

/* ---- what a queue must remember across restarts ---- */

struct queue_state {
    int64_t blocked_until_ms; /* wall; 0: not blocked */
    int64_t delay_ms;         /* own delay (Crawl-delay, SetDelay); -1: none */
    uint32_t backoffs;        /* consecutive answers that asked us to slow */
    uint32_t failures;        /* consecutive failures to reach it at all */
    uint64_t fetched;         /* pages that count for a per-queue limit */
    char reason[32];          /* why it is blocked: "retry_after", ...; or that
                                 it does not respond: QUEUE_SILENT, a colon and
                                 why */
};
#define QUEUE_SILENT   "no_response"
#define QUEUE_GIVEN_UP "given_up"
MUST_CHECK enum status frontier_store_set_queue_state(
    struct frontier_store *s, uint32_t queue, const struct queue_state *state);
MUST_CHECK enum status frontier_store_each_queue_state(
    struct frontier_store *s,
    void (*visit)(void *ctx, uint32_t queue, const struct queue_state *state),
    void *ctx);

/* The network address a queue's host was last known at, where politeness goes
 * by addresses (table place). `out` is appended to; STATUS_NOT_FOUND. */
MUST_CHECK enum status frontier_store_place(struct frontier_store *s,
                                            uint32_t queue, struct buf *out);
MUST_CHECK enum status frontier_store_each_place(
    struct frontier_store *s,
    void (*visit)(void *ctx, uint32_t queue, struct bytes address), void *ctx);
MUST_CHECK enum status frontier_store_set_place(struct frontier_store *s,
                                                uint32_t queue,
                                                struct bytes address);

/* ---- small facts ---- */

/* Text or blob by name (table meta). STATUS_NOT_FOUND. */
MUST_CHECK enum status frontier_store_meta(struct frontier_store *s,
                                           const char *name, struct buf *out);
/* A length of time that stands there in digits, ms; *ms stays as it is where
 * there is none. STATUS_DAMAGED with a log line. */
MUST_CHECK enum status frontier_store_meta_time(struct frontier_store *s,
                                                const char *name, int64_t *ms);
MUST_CHECK enum status frontier_store_set_meta(struct frontier_store *s,
                                               const char *name,
                                               struct bytes value);
/* Named counters (table counter), written when they changed. Unknown: 0. */
uint64_t frontier_store_counter(const struct frontier_store *s,
                                const char *name);
void frontier_store_add(struct frontier_store *s, const char *name,
                        uint64_t by);
void frontier_store_each_counter(const struct frontier_store *s,
                                 void (*visit)(void *ctx, const char *name,
                                               uint64_t value),
                                 void *ctx);

/* A drop before admission: counted by reason and host, the latest thousand of
 * each reason kept as examples (tables drop_count and drop_example). Hosts past
 * 100,000 a reason are counted under "". */
void frontier_store_drop(struct frontier_store *s, const char *reason,
                         struct bytes host, struct bytes url, uint64_t via,
                         int64_t at_ms);

/* What was dropped, as far as it is committed: the counts by reason and host,
 * and the examples kept, newest last. */
struct drop_row {
    struct bytes reason, host;
    uint64_t count;   /* of counts */
    struct bytes url; /* of examples */
    uint64_t via;
    int64_t at_ms;
};
MUST_CHECK enum status frontier_store_each_drop(
    struct frontier_store *s, bool examples,
    void (*visit)(void *ctx, const struct drop_row *row), void *ctx);

/* The state of the filter at one moment (table filter_step): audit's growth
 * steps. */
struct filter_step {
    uint64_t upto;       /* last id that was in it */
    uint64_t keys, bits; /* keys held, bits of memory */
    double promised, predicted;
    uint64_t asked, maybe, false_positives; /* running totals of answers */
};
MUST_CHECK enum status frontier_store_add_step(struct frontier_store *s,
                                               const struct filter_step *step);
MUST_CHECK enum status frontier_store_each_step(
    struct frontier_store *s,
    void (*visit)(void *ctx, const struct filter_step *step), void *ctx);

/* ---- upkeep ---- */

/* Once before each commit: flushes counters and drops, and does one bounded
 * step of queue flushes, segment merges, old segment deletion and the status
 * sweep. */
MUST_CHECK enum status frontier_store_step(struct frontier_store *s);
/* Bytes held. */
uint64_t frontier_store_memory(const struct frontier_store *s);
/* Segments sorted, each id that is not done in exactly one of them or in the
 * tail that is replayed, under the queue its row names; done bits as the fetch
 * rows say; rows without gaps; pending counts right. Reads
 * everything; needs two bits of memory a URL. STATUS_DAMAGED with one log
 * line, STATUS_NOMEM. */
MUST_CHECK enum status frontier_store_verify(struct frontier_store *s);

#endif
