/*
 * frontier_store.h - URLs, host queues, budgets and politeness state on disk.
 *
 * url rows are in order of arrival and are never updated: they are the log
 * from which everything in memory is replayed. A bitmap (table status), updated
 * from the fetch rows, marks those that are done. The queues are immutable
 * host-sorted segments, merged four into one in small steps (tables qseg,
 * qmeta); a merge drops ids that are done, nothing else deletes them.
 *
 * A lease writes nothing: a URL stays queued until it is done. The caller
 * walks each queue with a cursor of its own (frontier_store_refill).
 *
 * Owned by the frontier thread. Make all writing calls between db_begin and
 * db_commit. After a failed commit, close the store and open it again.
 */
#ifndef URLWEIR_STORAGE_FRONTIER_STORE_H
#define URLWEIR_STORAGE_FRONTIER_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "storage/db/db.h"
#include "storage/db/schema.h"

struct frontier_store;

struct frontier_store_options {
    uint64_t memory_bytes; /* target for windows, bitmaps and deltas */
    uint32_t flush_least;  /* least ids of a new segment; 0: 4,096 */
    uint32_t merge_rows;   /* rows a step of a merge reads; 0: 48 */
    uint32_t sweep_least;  /* least changes for a status sweep; 0: 262,144 */
};

/* Makes missing tables. Reads status, segments, queues and origins; then calls
 * `replay`, when not NULL, for every url row past `replay_after`, oldest first
 * (to fill the exact set and the filter). */
struct url_row {
    uint64_t id;      /* 1, 2, 3 ... in order of arrival */
    uint32_t queue;   /* see frontier_store_queue */
    struct bytes url; /* the whole URL; borrowed until the next call */
    uint32_t depth;   /* links from a seed */
    uint16_t hops;    /* redirects on the way since the last real link; from a
                         style sheet out of scope, such steps too */
    uint8_t kind;     /* enum link_kind of the link it was first found by */
    uint8_t flags;    /* URL_ROW_* */
    uint64_t via;     /* id of the page it was first found on, 0: none;
                         of URL_KIND_SERVED see schema.h */
    int64_t found_at_ms; /* wall clock */
};
#define URL_ROW_SEED           1 /* given by a person */
#define URL_ROW_FALSE_POSITIVE 2 /* the filter said "maybe", the set "no" */
#define URL_ROW_SALT_SHIFT     2 /* five bits: salt of its digest */
#define URL_ROW_SALT_MOST      31
/* URL_ROW_AGAIN: see storage/db/schema.h */

typedef void (*url_row_visit)(void *ctx, const struct url_row *row);

MUST_CHECK enum status frontier_store_open(
    struct frontier_store **out, struct db *d,
    const struct frontier_store_options *o, uint64_t replay_after,
    url_row_visit replay, void *ctx);
void frontier_store_close(struct frontier_store *s);

/* ---- queues: (crawl ID, queue key), both plain bytes ---- */

/* The queue's number, 1, 2, 3 ...; makes the queue if it is new. */
MUST_CHECK enum status frontier_store_queue(struct frontier_store *s,
                                            struct bytes crawl,
                                            struct bytes key, uint32_t *queue);
/* 0: no such queue. */
uint32_t frontier_store_find_queue(const struct frontier_store *s,
                                   struct bytes crawl, struct bytes key);
/* The same for `n` keys, into queues[0..n). */
void frontier_store_find_queues(const struct frontier_store *s,
                                struct bytes crawl, const struct bytes *keys,
                                size_t n, uint32_t *queues);
/* Fetches the memory that a new URL of `queue`, which must exist, will touch.
 */
void frontier_store_prefetch(const struct frontier_store *s, uint32_t queue);
uint32_t frontier_store_queue_count(const struct frontier_store *s);
/* Borrowed until the store is closed. `queue` must exist. */
void frontier_store_queue_name(struct frontier_store *s, uint32_t queue,
                               struct bytes *crawl, struct bytes *key);
/* The queue of an origin (url.origin); 0: there is no such origin. */
uint32_t frontier_store_origin_queue(const struct frontier_store *s,
                                     uint32_t origin);
/* URLs of the queue that are not done. */
uint64_t frontier_store_pending(const struct frontier_store *s, uint32_t queue);
uint64_t frontier_store_pending_all(const struct frontier_store *s);

/* ---- URLs ---- */

/* Appends a row to its queue and returns the id that it gave the row. */
MUST_CHECK enum status frontier_store_admit(struct frontier_store *s,
                                            const struct url_row *row,
                                            uint64_t *id);
/* The row of `id`; row->url points into `text`. STATUS_NOT_FOUND. */
MUST_CHECK enum status frontier_store_get(struct frontier_store *s, uint64_t id,
                                          struct url_row *row,
                                          struct buf *text);
/* Gives the URL this depth and kind, and at most so many hops.
 * STATUS_NOT_FOUND. */
MUST_CHECK enum status frontier_store_come_nearer(struct frontier_store *s,
                                                  uint64_t id, uint32_t depth,
                                                  uint16_t hops, uint8_t kind);
/* Reads only url and found_at_ms: three columns instead of nine. */
MUST_CHECK enum status frontier_store_get_url(struct frontier_store *s,
                                              uint64_t id, struct buf *text,
                                              int64_t *found_at_ms);
/* The last id found before `before_ms`, or 0; ids are in order of arrival. */
MUST_CHECK enum status frontier_store_last_before(struct frontier_store *s,
                                                  int64_t before_ms,
                                                  uint64_t *last);
/* Rows with first <= id <= last, in order of id. */
MUST_CHECK enum status frontier_store_each(struct frontier_store *s,
                                           uint64_t first, uint64_t last,
                                           url_row_visit visit, void *ctx);
/* Rows of depth 0: seeds and the targets of their redirects. */
MUST_CHECK enum status frontier_store_each_root(struct frontier_store *s,
                                                url_row_visit visit, void *ctx);
uint64_t frontier_store_last_id(const struct frontier_store *s);

/* Up to `most` ids of `queue` greater than `after` that are not done, in order
 * of arrival. *n is 0 if there are no more. */
MUST_CHECK enum status frontier_store_refill(struct frontier_store *s,
                                             uint32_t queue, uint64_t after,
                                             uint64_t *ids, size_t most,
                                             size_t *n);
/* Marks `id` done; `seq` is the final fetch row, with the outcome
 * (page_store.h), the first or a later one. STATUS_NOT_FOUND: no such URL. */
MUST_CHECK enum status frontier_store_done(struct frontier_store *s,
                                           uint64_t id, uint64_t seq);
bool frontier_store_is_done(const struct frontier_store *s, uint64_t id);

/* Sets the tries used so far by a URL that failed for now and stays queued, and
 * the wall time of its next try. 0 tries removes the entry, as
 * frontier_store_done does. */
MUST_CHECK enum status frontier_store_set_tries(struct frontier_store *s,
                                                uint64_t id, uint32_t tries,
                                                int64_t due_ms);
/* The same for a URL that must wait but has not failed: `tries` may be 0. */
MUST_CHECK enum status frontier_store_postpone(struct frontier_store *s,
                                               uint64_t id, uint32_t tries,
                                               int64_t due_ms);
/* Every URL with tries, at start. */
MUST_CHECK enum status frontier_store_each_tries(
    struct frontier_store *s,
    void (*visit)(void *ctx, uint64_t id, uint32_t tries, int64_t due_ms),
    void *ctx);

/* ---- queue state that outlives a restart ---- */

struct queue_state {
    int64_t blocked_until_ms; /* wall; 0: not blocked */
    int64_t delay_ms;         /* own delay (Crawl-delay, SetDelay); -1: none */
    uint32_t backoffs;        /* consecutive responses asking us to slow */
    uint32_t failures;        /* consecutive failures to reach it at all */
    uint64_t fetched, octets; /* pages and octets spent of a budget */
    bool linked;
    unsigned char sources[32]; /* if linked: bits of the domains that do it */
    char reason[32];           /* why it is blocked: "retry_after", ...; if it
                                  does not respond: QUEUE_SILENT, a colon and
                                  the cause */
};
#define QUEUE_SILENT   "no_response"
#define QUEUE_GIVEN_UP "given_up"
MUST_CHECK enum status frontier_store_set_queue_state(
    struct frontier_store *s, uint32_t queue, const struct queue_state *state);
MUST_CHECK enum status frontier_store_each_queue_state(
    struct frontier_store *s,
    void (*visit)(void *ctx, uint32_t queue, const struct queue_state *state),
    void *ctx);

/* Appends to `out` the last known network address of the queue's host, if
 * politeness groups are by address (table place). STATUS_NOT_FOUND. */
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
/* A duration in ms, stored in digits; *ms is unchanged if the name is missing.
 * STATUS_DAMAGED with a log line. */
MUST_CHECK enum status frontier_store_meta_time(struct frontier_store *s,
                                                const char *name, int64_t *ms);
MUST_CHECK enum status frontier_store_set_meta(struct frontier_store *s,
                                               const char *name,
                                               struct bytes value);
/* Named counters (table counter), written when they changed; 0 if unknown. */
uint64_t frontier_store_counter(const struct frontier_store *s,
                                const char *name);
void frontier_store_add(struct frontier_store *s, const char *name,
                        uint64_t by);
void frontier_store_each_counter(const struct frontier_store *s,
                                 void (*visit)(void *ctx, const char *name,
                                               uint64_t value),
                                 void *ctx);

/* Counts a drop before admission by reason and host, and keeps the latest
 * thousand of each reason as examples (tables drop_count and drop_example).
 * After 100,000 hosts of a reason, more are counted under "". */
void frontier_store_drop(struct frontier_store *s, const char *reason,
                         struct bytes host, struct bytes url, uint64_t via,
                         int64_t at_ms);

/* Committed drops: the counts by reason and host, or the examples, newest last.
 */
struct drop_row {
    struct bytes reason, host;
    uint64_t count;   /* in counts */
    struct bytes url; /* in examples */
    uint64_t via;
    int64_t at_ms;
};
MUST_CHECK enum status frontier_store_each_drop(
    struct frontier_store *s, bool examples,
    void (*visit)(void *ctx, const struct drop_row *row), void *ctx);

/* The state of the filter at one moment (table filter_step); audit shows these
 * as growth steps. */
struct filter_step {
    uint64_t upto;       /* last id in the filter */
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

/* Call it once before each commit: it flushes counters and drops, and does one
 * bounded step of queue flushes, segment merges, old segment deletion and the
 * status sweep. */
MUST_CHECK enum status frontier_store_step(struct frontier_store *s);
/* Bytes held. */
uint64_t frontier_store_memory(const struct frontier_store *s);
/* Checks that segments are sorted; that each id that is not done is in exactly
 * one of them or in the replayed tail, under the queue of its row; that done
 * bits match the fetch rows, rows have no gaps and pending counts are right.
 * Reads everything; needs two bits of memory per URL. STATUS_DAMAGED with one
 * log line, STATUS_NOMEM. */
MUST_CHECK enum status frontier_store_verify(struct frontier_store *s);

#endif
