/*
 * served.h - the frontier of other programs: URLs that they put, get and put
 * again.
 *
 * What the URLFrontier API means, without its wire: URLs with metadata and a
 * date, handed out for a while, completed or due again later; queues with a
 * delay, a block and a limit; crawls that know nothing of one another. It
 * stands on a store with a seen check (seen/seen_store.h), as the engine of our
 * own fetchers does; its URLs are of URL_KIND_SERVED.
 *
 * Exact: every count is a counter kept in step with the URLs it counts, and
 * rebuilt from them at the start. Memory: 24 octets a URL, 16 more for one that
 * was put again and is not completed, about 200 a queue.
 *
 * `now` is the wall clock in milliseconds: dates, blocks and leases mean the
 * same after a restart. A clock that is set back makes nothing wait longer than
 * its delay. Frontier thread only. Nothing is durable, and no URL may be given
 * away, before served_commit. After an error nothing but closing is allowed.
 *
 * URLs and metadata have at most SERVED_BYTES_MOST octets each; the caller sees
 * to it.
 *
 * Names: `crawl` is never blank here (served_name.h), `key` fits.
 */
#ifndef URLWEIR_FRONTIER_SERVED_SERVED_H
#define URLWEIR_FRONTIER_SERVED_SERVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"
#include "frontier/stats.h"
#include "frontier/url_view.h"

struct served;

#define SERVED_BYTES_MOST ((size_t)8 << 20)

struct served_options {
    double fpr;          /* of the filter */
    uint64_t memory;     /* aim, bytes: filter and caches */
    uint64_t sweep_from; /* rows of a log not worth a sweep; 0: 4,096 */
};

/* Opens the store in `dir`, which is there, and reads what it holds; makes one
 * if there is none. A new store has a mark that says it was made to the end
 * (reader_is_unbegun): one without it is made anew. Statuses of
 * seen_store_open. */
MUST_CHECK enum status served_open(struct served **out, const char *dir,
                                   const struct served_options *o, int64_t now);
void served_close(struct served *t); /* commits nothing; NULL is fine */
/* One transaction with all that was done since the last; one step of upkeep.
 * Does nothing where nothing was. */
MUST_CHECK enum status served_commit(struct served *t, int64_t now);
bool served_dirty(const struct served *t); /* is there something to commit? */
/* Commits, and writes filter file and manifest on a thread of its own, or
 * before it returns (`wait`). STATUS_AGAIN: the last is still being written. */
MUST_CHECK enum status served_checkpoint(struct served *t, bool wait,
                                         int64_t now);
/* The last one, which says that nothing is under way. */
MUST_CHECK enum status served_stop(struct served *t, int64_t now);

/* ---- put ---- */

struct served_put {
    bool known; /* else discovered: nothing happens where it is there */
    struct bytes crawl, key, url, metadata;
    int64_t due_ms; /* of known; 0: completed */
    bool fresh;     /* out: it was not there */
};
/* In order; they pass the seen check together. */
MUST_CHECK enum status served_put(struct served *t, struct served_put *list,
                                  size_t n, int64_t now);

/* ---- get ---- */

/* Hands out what is due, queue by queue. *more: a visit said enough. */
MUST_CHECK enum status served_get(struct served *t, struct url_ask *g,
                                  int64_t now, url_visit visit, void *ctx,
                                  bool *more);

/* What the holder of a lease says of it. ACK: as a known put of `due_ms`, with
 * new metadata unless NULL. FAIL: due at due_ms. EXTEND: leased until due_ms.
 * STATUS_NOT_FOUND: it is not leased under that lease. */
MUST_CHECK enum status served_settle(struct served *t, uint64_t lease,
                                     enum url_settle how, int64_t due_ms,
                                     const struct bytes *metadata, int64_t now);

/* ---- read ---- */

/* One URL, told by one visit. STATUS_NOT_FOUND. */
MUST_CHECK enum status served_find(struct served *t, struct bytes crawl,
                                   struct bytes key, struct bytes url,
                                   int64_t now, struct url_facts *facts,
                                   url_visit visit, void *ctx);

/* URLs by queue, then in order of arrival. *more: budget or visit said enough.
 * `visit` NULL: they are only counted, in l->passed. */
MUST_CHECK enum status served_list(struct served *t, struct url_list *l,
                                   int64_t now, url_visit visit, void *ctx,
                                   bool *more);

/* Of a queue; with an empty key of a crawl; with both empty of all. Zeros
 * where there is none. */
void served_counts(struct served *t, struct bytes crawl, struct bytes key,
                   int64_t now, struct url_counts *out);
/* Queue keys in order of appearance. Without `inactive`: those that are not
 * blocked and have a URL that is not completed. */
void served_each_queue(struct served *t, struct bytes crawl, bool inactive,
                       uint64_t skip, uint64_t most, int64_t now,
                       void (*visit)(void *ctx, struct bytes key), void *ctx);
void served_each_crawl(struct served *t,
                       void (*visit)(void *ctx, struct bytes crawl), void *ctx);

/* ---- control ---- */

/* They answer how many URLs are gone; a queue that is removed loses its delay,
 * block and limit as well. A URL put again later is a new one. */
MUST_CHECK enum status served_remove_queue(struct served *t, struct bytes crawl,
                                           struct bytes key, int64_t now,
                                           uint64_t *gone);
MUST_CHECK enum status served_remove_crawl(struct served *t, struct bytes crawl,
                                           int64_t now, uint64_t *gone);
/* URLs first put before `before_ms`; empty key: of the whole crawl. */
MUST_CHECK enum status served_purge(struct served *t, struct bytes crawl,
                                    struct bytes key, int64_t before_ms,
                                    int64_t now, uint64_t *gone);
/* These three: STATUS_NOT_FOUND where there is no such queue. `until_ms` is the
 * first moment at which it is served again; 0: it is not blocked. `most`: no
 * more are handed out once that many are completed; 0: no limit. */
MUST_CHECK enum status served_block(struct served *t, struct bytes crawl,
                                    struct bytes key, int64_t until_ms,
                                    int64_t now);
MUST_CHECK enum status served_set_delay(struct served *t, struct bytes crawl,
                                        struct bytes key, int64_t delay_ms,
                                        int64_t now);
MUST_CHECK enum status served_set_limit(struct served *t, struct bytes crawl,
                                        struct bytes key, uint32_t most,
                                        int64_t now);
/* Of every queue that has none of its own; 1 s at first. */
MUST_CHECK enum status served_set_default_delay(struct served *t,
                                                int64_t delay_ms, int64_t now);
/* While it is not active, get hands out nothing. */
MUST_CHECK enum status served_set_active(struct served *t, bool active);
bool served_active(const struct served *t);

uint64_t served_memory(const struct served *t); /* bytes, with the store's */
uint64_t served_rows(const struct served *t);   /* of removed URLs too */
/* What a monitor is told of the store; there are no hosts. */
void served_get_stats(struct served *t, struct frontier_stats *out);
/* Do counters, heaps and round robins agree with the URLs? For tests and
 * verify: reads all of memory. */
bool served_consistent(struct served *t);

#endif
