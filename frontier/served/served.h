/*
 * served.h - the served frontier: URLs that other programs put, get and put
 * again.
 *
 * The semantics of the URLFrontier API, without the network: URLs with metadata
 * and a date, leased for a while, then completed or due again later; queues
 * with a delay, a block and a limit; independent crawls. It is built on a store
 * with a seen check (seen/seen_store.h), like the frontier of our own fetchers;
 * its URLs are of URL_KIND_SERVED.
 *
 * Counts are exact: every counter is updated with the URLs it counts, and
 * computed from them at the start. Memory: 24 octets a URL, 16 more for one
 * that was put again and is not completed, about 200 a queue.
 *
 * `now` is the wall clock in milliseconds: dates, blocks and leases mean the
 * same after a restart. If the clock is set back, nothing waits longer than its
 * delay. Threads: the frontier thread only. Nothing is durable, and no URL may
 * be given to a caller, before served_commit. After an error nothing but
 * closing is allowed.
 *
 * The caller makes sure that URLs and metadata have at most SERVED_BYTES_MOST
 * octets each.
 *
 * Names: `crawl` is never blank here (served.h), and `key` fits.
 */
#ifndef URLWEIR_FRONTIER_SERVED_SERVED_H
#define URLWEIR_FRONTIER_SERVED_SERVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"
#include "frontier/stats.h"
#include "frontier/url_view.h"

struct db_follower;
struct served;

#define SERVED_BYTES_MOST ((size_t)8 << 20)

struct served_options {
    double fpr;          /* of the filter */
    uint64_t memory;     /* target in bytes, for filter and caches */
    uint64_t sweep_from; /* shorter logs are not swept; 0: 4,096 rows */
    /* Of a shard: sees each commit (db.h), and the store is what it has
     * restored; NULL: none. */
    const struct db_follower *follower;
    uint32_t shard; /* its number, which leases name */
};

/* The shard whose URL is leased. */
#define SERVED_LEASE_SHARD 20 /* where its SERVED_SHARD_BITS begin */
#define SERVED_SHARD_BITS  12
static inline uint32_t served_lease_shard(uint64_t lease)
{
    return (uint32_t)(lease >> SERVED_LEASE_SHARD) &
           ((1U << SERVED_SHARD_BITS) - 1);
}

/* Opens and reads the store in the existing directory `dir`, or makes one if
 * there is none. A complete new store has a mark (reader_is_unbegun); one
 * without it is made anew. Statuses of seen_store_open. */
MUST_CHECK enum status served_open(struct served **out, const char *dir,
                                   const struct served_options *o, int64_t now);
void served_close(struct served *t); /* commits nothing; NULL is fine */
/* Commits all changes since the last commit, with one step of upkeep. Does
 * nothing if nothing changed. */
MUST_CHECK enum status served_commit(struct served *t);
bool served_dirty(const struct served *t); /* is there anything to commit? */
/* Commits, and writes filter file and manifest on a thread of its own, or
 * before it returns (`wait`). STATUS_AGAIN: the last is still being written. */
MUST_CHECK enum status served_checkpoint(struct served *t, bool wait,
                                         int64_t now);
/* Writes the last checkpoint, with the state of a clean stop. */
MUST_CHECK enum status served_stop(struct served *t, int64_t now);

/* ---- put ---- */

/* Puts URLs in order; they pass the seen check together. */
MUST_CHECK enum status served_put(struct served *t, struct url_put *list,
                                  size_t n, int64_t now);

/* ---- get ---- */

/* Leases due URLs, queue by queue. *more: a visit ended it. */
MUST_CHECK enum status served_get(struct served *t, struct url_ask *g,
                                  int64_t now, url_visit visit, void *ctx,
                                  bool *more);

/* What the holder of a lease says of it. ACK: as a known put of `due_ms`, with
 * new metadata unless NULL. FAIL: due at due_ms. EXTEND: leased until due_ms.
 * STATUS_NOT_FOUND: there is no such lease. */
MUST_CHECK enum status served_settle(struct served *t, uint64_t lease,
                                     enum url_settle how, int64_t due_ms,
                                     const struct bytes *metadata, int64_t now);

/* ---- read ---- */

/* Shows one URL by one visit. STATUS_NOT_FOUND. */
MUST_CHECK enum status served_find(struct served *t, struct bytes crawl,
                                   struct bytes key, struct bytes url,
                                   int64_t now, struct url_facts *facts,
                                   url_visit visit, void *ctx);

/* Lists URLs by queue, then in order of arrival. *more: the budget or a visit
 * ended it. `visit` NULL: they are only counted, in l->passed. */
MUST_CHECK enum status served_list(struct served *t, struct url_list *l,
                                   int64_t now, url_visit visit, void *ctx,
                                   bool *more);

/* Counts of a queue; with an empty key of a crawl; with both empty of
 * everything. All zero if there is no such thing. */
void served_counts(struct served *t, struct bytes crawl, struct bytes key,
                   int64_t now, struct url_counts *out);
/* URLs that wait for a date that a program gave them, or are leased for it; of
 * them those that are SERVED_OVERDUE_MS past it, and the first of these dates;
 * as of the last pass over the URLs. */
#define SERVED_OVERDUE_MS 60000
struct served_dates {
    uint64_t dated, overdue;
    int64_t oldest_ms; /* if any is overdue */
};
struct served_dates served_dates(const struct served *t);
/* Goes on with a pass, by `most` URLs. */
void served_count_dates(struct served *t, uint32_t most, int64_t now);
/* False: no pass can find anything that the last has not. */
bool served_dates_go_on(const struct served *t);
/* Lists queue keys in order of creation. Without `inactive`: only those that
 * are not blocked and have a URL that is not completed. Returns how many were
 * passed, skipped ones and visited ones. */
uint64_t served_each_queue(struct served *t, struct bytes crawl, bool inactive,
                           uint64_t skip, uint64_t most, int64_t now,
                           void (*visit)(void *ctx, struct bytes key),
                           void *ctx);
void served_each_crawl(struct served *t,
                       void (*visit)(void *ctx, struct bytes crawl), void *ctx);

/* ---- control ---- */

/* *gone: how many URLs were removed. A removed queue also loses its delay,
 * block and limit. A URL put again later is a new one. */
MUST_CHECK enum status served_remove_queue(struct served *t, struct bytes crawl,
                                           struct bytes key, int64_t now,
                                           uint64_t *gone);
MUST_CHECK enum status served_remove_crawl(struct served *t, struct bytes crawl,
                                           int64_t now, uint64_t *gone);
/* Removes URLs first put before `before_ms`; empty key: of the whole crawl. */
MUST_CHECK enum status served_purge(struct served *t, struct bytes crawl,
                                    struct bytes key, int64_t before_ms,
                                    int64_t now, uint64_t *gone);
/* These three return STATUS_NOT_FOUND if there is no such queue. `until_ms`:
 * when it is served again; 0: not blocked. `most`: no URLs are leased once that
 * many are completed; 0: no limit. */
MUST_CHECK enum status served_block(struct served *t, struct bytes crawl,
                                    struct bytes key, int64_t until_ms,
                                    int64_t now);
MUST_CHECK enum status served_set_delay(struct served *t, struct bytes crawl,
                                        struct bytes key, int64_t delay_ms,
                                        int64_t now);
MUST_CHECK enum status served_set_limit(struct served *t, struct bytes crawl,
                                        struct bytes key, uint32_t most,
                                        int64_t now);
/* Sets the delay of every queue that has none of its own; 1 s at first. */
MUST_CHECK enum status served_set_default_delay(struct served *t,
                                                int64_t delay_ms, int64_t now);
/* While it is not active, served_get leases nothing. */
MUST_CHECK enum status served_set_active(struct served *t, bool active);
bool served_active(const struct served *t);

uint64_t served_memory(const struct served *t); /* bytes, with the store's */
uint64_t served_rows(const struct served *t);   /* including removed URLs */
/* Stats of the store for monitoring; without hosts. */
void served_get_stats(struct served *t, struct frontier_stats *out);
/*
 * Names in the URLFrontier API: crawl IDs and queue keys.
 *
 * Names that clients give are bytes: they are not normalised, and only the
 * blank crawl ID has a special meaning. Any thread.
 */
#define SERVED_KEY_MOST   255   /* UTF-16 code units, like the reference */
#define SERVED_CRAWL_MOST 32768 /* octets */

/* `crawl`, or DEFAULT if it is empty or has only blanks and control
 * characters. */
struct bytes served_crawl_name(struct bytes crawl);

/* The key of a URL put without one: its host, without userinfo and port, an
 * IPv6 address in its brackets. Empty: there is none. It is where the reference
 * service finds it (the text after ://, or all of it without ://, up to the
 * first : / ? &), except for the two cases in which that gives no host. Of an
 * http(s) URL it is the canonical form of that host, so that UP.example and
 * up.example. are one queue. In `url`, or in `room` until its next change. */
struct bytes served_key_of_url(struct bytes url, struct buf *room);

/* Is it at most SERVED_KEY_MOST long? */
bool served_key_fits(struct bytes key);

#endif
