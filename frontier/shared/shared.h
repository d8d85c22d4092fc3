/*
 * shared.h - the served frontier of several service processes, whose state is
 * in a Redis-protocol cluster.
 *
 * What served.h is for one process and its directory: URLs that programs put,
 * get and put again. Any number of processes work on one frontier at once and
 * keep nothing of their own, so each can be killed at any time. Queues are
 * spread over shards, each in one slot of the cluster; what a call does to a
 * shard is one script there (shared_scripts.h).
 *
 * Promises:
 * - A put, a lease or a settlement that was answered with STATUS_OK is on as
 *   many replicas as `replicas` asks for.
 * - A URL that is leased is given to nobody else before its lease ends, or it
 *   is settled, put as known or removed.
 * - Counts are exact, of each queue and each crawl.
 *
 * What one process can do and this cannot: the order of queues and URLs in
 * lists is any, and a call on all shards is not of one moment.
 *
 * Names: `crawl` has at most 32,768 octets and is blank only where that is
 * said; `key` has at most 1,020.
 *
 * Time is the servers' clock, and dates and leases come from the callers':
 * clocks have to agree to the second.
 *
 * Threads: a shared_hand belongs to one thread, which waits in its calls; a
 * thread of the module talks to the servers and waits for none of them. Calls
 * of different hands are under way at the same time. All statuses but those
 * named here are failures of the servers: STATUS_CLOSED: out of reach;
 * STATUS_FULL: no memory; whether the call had an effect is then not known.
 */
#ifndef URLWEIR_FRONTIER_SHARED_SHARED_H
#define URLWEIR_FRONTIER_SHARED_SHARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/redis/redis_cluster.h"
#include "base/status.h"
#include "frontier/url_view.h"

struct shared;
struct shared_hand;

#define SHARED_SHARDS_MOST 4096
#define SHARED_NAME_MOST   64
/* Octets of a URL with its metadata: one has to fit into a reply. */
#define SHARED_URL_MOST ((size_t)4 << 20)

struct shared_options {
    const struct redis_address *servers;
    size_t server_count;
    const char *name;    /* [A-Za-z0-9._-], at most SHARED_NAME_MOST */
    bool exists;         /* one is not made: STATUS_NOT_FOUND */
    unsigned shards;     /* of a new one; 0: 64 */
    unsigned replicas;   /* that must have what was answered; 0: none */
    bool alone_is_fine;  /* see redis_cluster.h */
    int64_t call_ns;     /* how long a call is tried; 0: 30 s */
    int64_t patience_ns; /* how long a GET waits for a shard that does not
                            answer before it goes on without; 0: 2 s */
};

/* Opens the frontier, or makes it if there is none. STATUS_ARG: bad name, or it
 * is a crawl's; STATUS_VERSION: of a newer release; others as
 * redis_cluster_start(). `error` gets a sentence. Waits for the servers. */
MUST_CHECK enum status shared_open(struct shared **out,
                                   const struct shared_options *o,
                                   struct buf *error);
/* Calls have `patience`, ns, to end; then all that are left, and those that
 * come after, end with STATUS_CLOSED. Any thread. */
void shared_stop(struct shared *s, int64_t patience);
/* When no hand is left. NULL is fine. */
void shared_close(struct shared *s);
void shared_get_stats(struct shared *s, struct redis_cluster_stats *out);

struct shared_hand *shared_hand_new(struct shared *s);
void shared_hand_free(struct shared_hand *h); /* NULL is fine */

/* ---- put ---- */

/* Puts URLs; those of one queue in order. */
void shared_put(struct shared_hand *h, struct url_put *list, size_t n);

/* ---- get ---- */

/* Leases due URLs, at most `room` and not many more than `octets` at once, and
 * visits all of them. *more: there may be others for this call: a->queue names
 * it until then. */
MUST_CHECK enum status shared_get(struct shared_hand *h, struct url_ask *a,
                                  size_t room, size_t octets, url_visit visit,
                                  void *ctx, bool *more);
/* As served_settle. STATUS_NOT_FOUND: there is no such lease. */
MUST_CHECK enum status shared_settle(struct shared_hand *h, uint64_t lease,
                                     enum url_settle how, int64_t due_ms,
                                     const struct bytes *metadata);

/* ---- read ---- */

/* STATUS_NOT_FOUND. */
MUST_CHECK enum status shared_find(struct shared_hand *h, struct bytes crawl,
                                   struct bytes key, struct bytes url,
                                   struct url_facts *facts, url_visit visit,
                                   void *ctx);
/* As served_list, in any order. */
MUST_CHECK enum status shared_list(struct shared_hand *h, struct url_list *l,
                                   url_visit visit, void *ctx, bool *more);
/* Of a queue; with an empty key of a crawl; with both empty of everything. */
MUST_CHECK enum status shared_counts(struct shared_hand *h, struct bytes crawl,
                                     struct bytes key, struct url_counts *out);
/* In any order, which stays while no queue appears or is removed. */
MUST_CHECK enum status shared_each_queue(
    struct shared_hand *h, struct bytes crawl, bool inactive, uint64_t skip,
    uint64_t most, void (*visit)(void *ctx, struct bytes key), void *ctx);
/* The crawls that have queues. The names are the hand's until this is called
 * again. */
MUST_CHECK enum status shared_crawls(struct shared_hand *h,
                                     const struct bytes **names, size_t *n);

/* URLs with a date that a program gave them, when it put or put back the URL;
 * of them those that are SHARED_OVERDUE_MS past it, and the first of these
 * dates. */
#define SHARED_OVERDUE_MS 60000
struct shared_dates {
    uint64_t dated, overdue;
    int64_t oldest_ms; /* if any is overdue */
};
/* Passes over all URLs, some at a time. What comes and goes meanwhile may be
 * left out, or counted twice. */
struct shared_pass;
struct shared_pass *shared_pass_new(struct shared_hand *h);
void shared_pass_free(struct shared_pass *p); /* NULL is fine */
/* Goes on by about `most` URLs. *over: all were looked at, which *out tells of,
 * and the next pass begins. After a failure it begins anew. */
MUST_CHECK enum status shared_pass_go_on(struct shared_pass *p, uint64_t most,
                                         struct shared_dates *out, bool *over);

/* ---- control ---- */

MUST_CHECK enum status shared_remove_queue(struct shared_hand *h,
                                           struct bytes crawl, struct bytes key,
                                           uint64_t *gone);
/* Removes the queues that the crawl has when it begins. */
MUST_CHECK enum status shared_remove_crawl(struct shared_hand *h,
                                           struct bytes crawl, uint64_t *gone);
/* As served_purge. */
MUST_CHECK enum status shared_purge(struct shared_hand *h, struct bytes crawl,
                                    struct bytes key, int64_t before_ms,
                                    uint64_t *gone);
enum shared_setting { SHARED_BLOCKED, SHARED_DELAY, SHARED_LIMIT };
/* As served_block, _set_delay, _set_limit. STATUS_NOT_FOUND: no such queue. */
MUST_CHECK enum status shared_set(struct shared_hand *h, struct bytes crawl,
                                  struct bytes key, enum shared_setting what,
                                  int64_t value);
MUST_CHECK enum status shared_set_default_delay(struct shared_hand *h,
                                                int64_t delay_ms);
MUST_CHECK enum status shared_set_active(struct shared_hand *h, bool active);
MUST_CHECK enum status shared_active(struct shared_hand *h, bool *active);

#endif
