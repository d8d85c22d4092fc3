/*
 * cluster_store.h - the state of one crawl in a Redis-protocol cluster: URLs
 * seen, queues of hosts, leases.
 *
 * Any number of processes work on one crawl through it. Hosts are spread over
 * shards, each in one slot; what one call does to a shard is one step there
 * (cluster_scripts.h). Calls are many under way at once: each has a function
 * that is called from cluster_store_turn() when it has ended, exactly once.
 *
 * Promises:
 * - A URL that was put, and whose put ended with STATUS_OK, is in its queue,
 *   leased, or done; with `replicas` also after a master was lost.
 * - A host is leased to one worker at a time. Its next lease begins no sooner
 *   than the pause of the last acknowledgement allows, by the server's clock.
 * - A lease that is neither acknowledged nor extended is over after its length;
 *   its URL is then given out again, before others of its host, and counts the
 *   loss. An acknowledgement that comes too late changes nothing.
 * - After a failover a shard gives out nothing for its hold, since leases and
 *   pauses that the new master never heard of may still hold.
 *
 * What is asked of the caller: put and see acknowledged the links of a page
 * before acknowledging the page; ask cluster_lease_allows() before each
 * request, as the server's clock does not stop while a process does.
 *
 * Fingerprints stand for URLs: of two URLs of one shard with equal 63 bits the
 * second is taken for the first. With a million URLs in a shard a new URL meets
 * that with a chance of 1e-13.
 *
 * Threads: one.
 */
#ifndef URLWEIR_FRONTIER_CLUSTER_STORE_CLUSTER_STORE_H
#define URLWEIR_FRONTIER_CLUSTER_STORE_CLUSTER_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/digest.h"
#include "base/redis/redis_cluster.h"
#include "base/status.h"

struct cluster_store;

#define CLUSTER_SHARDS_MOST 16384
#define CLUSTER_HOST_MOST   320 /* a name of 253 octets, and a port */
#define CLUSTER_ITEM_MOST   ((size_t)64 << 10)
#define CLUSTER_STATE_MOST  1024 /* octets of a host's state */
#define CLUSTER_NAME_MOST   64
#define CLUSTER_TEXT_MOST   ((size_t)1 << 20) /* octets of the settings */

/* A new random word: hexadecimal digits, and a zero octet. */
#define CLUSTER_WORD_SIZE 17
void cluster_random_word(char out[CLUSTER_WORD_SIZE]);

struct cluster_store_options {
    const struct redis_address *servers;
    size_t server_count;
    const char *name;   /* [A-Za-z0-9._-], at most CLUSTER_NAME_MOST */
    int64_t lease_ms;   /* length of a lease */
    int64_t pause_ms;   /* of a host whose first lease was lost */
    int64_t hold_ms;    /* after a failover; at least the lease and the pause,
                           and no less than the cluster-node-timeout */
    unsigned replicas;  /* that must have a URL before its put ends; 0: fast */
    bool alone_is_fine; /* a server without cluster mode and without replicas is
                           taken as if `replicas` were 0 */
    int64_t call_ns;    /* how long a call is tried; 0: a minute */
};

/* What is said of a new crawl. */
struct cluster_new {
    unsigned shards; /* from 1 to CLUSTER_SHARDS_MOST, a power of two or not,
                        for good */
    const unsigned char *seed; /* of its digests, DIGEST_SEED_SIZE octets */
    struct bytes settings; /* for other workers, as the caller likes; at most
                              CLUSTER_TEXT_MOST */
};
/* Until cluster_store_begin() it may be created once more, with other settings.
 * STATUS_EXISTS: there is one of that name. Others as cluster_store_open(). */
MUST_CHECK enum status cluster_store_create(
    struct cluster_store **out, const struct cluster_store_options *o,
    const struct cluster_new *what, struct buf *error);
/* STATUS_NOT_FOUND: no crawl of that name; STATUS_REFUSED: it has the URLs of a
 * service (frontier/shared/shared.h); STATUS_VERSION: of a newer release;
 * STATUS_DAMAGED: its record is not valid; STATUS_ARG: bad name; others as
 * redis_cluster_start(). `error` gets a sentence. Waits for the servers. */
MUST_CHECK enum status cluster_store_open(struct cluster_store **out,
                                          const struct cluster_store_options *o,
                                          struct buf *error);
/* Ends what is under way with STATUS_CLOSED. */
void cluster_store_close(struct cluster_store *s); /* NULL is fine */

const struct digest_key *cluster_store_digest_key(
    const struct cluster_store *s);
/* The secret that the key is made of, DIGEST_SEED_SIZE octets. */
const unsigned char *cluster_store_seed(const struct cluster_store *s);
struct bytes cluster_store_settings(const struct cluster_store *s);
/* Of the settings: 1, and one more with each change. */
uint64_t cluster_store_version(const struct cluster_store *s);
/* Are all seeds of the crawl in? */
bool cluster_store_is_begun(const struct cluster_store *s);
/* Say that they are, and wait for the server. */
MUST_CHECK enum status cluster_store_begin(struct cluster_store *s);
/* The name of the worker for its leases, a random word (cluster_watch.h). */
void cluster_store_set_worker(struct cluster_store *s, const char *name);
/* Other times than those it was opened with, before the first lease. */
void cluster_store_set_times(struct cluster_store *s, int64_t lease_ms,
                             int64_t pause_ms, int64_t hold_ms);

/* ---- places ---- */

/* Places are URLs that open the scope. They have numbers, from 0, in the order
 * in which they were added; one that is added again keeps its number. */

/* Add places and wait until they are in; *count: how many there are. */
MUST_CHECK enum status cluster_store_add_places(struct cluster_store *s,
                                                const struct bytes *places,
                                                size_t n, uint64_t *count);
/* Places from number `known` on, CLUSTER_PLACES_AT_ONCE at most; they are valid
 * during the call. */
#define CLUSTER_PLACES_AT_ONCE 256
typedef void cluster_places_end(void *ctx, enum status st,
                                const struct bytes *places, size_t n);
void cluster_store_places(struct cluster_store *s, uint64_t known,
                          cluster_places_end *end, void *ctx);

/* ---- URLs in ---- */

struct cluster_url {
    struct bytes host; /* 1 to CLUSTER_HOST_MOST octets */
    struct digest digest;
    struct bytes item; /* what a lease gives back, at most CLUSTER_ITEM_MOST */
};

/* STATUS_OK: all are in, fresh[i] says whether url i was new; it is valid
 * during the call. Otherwise some may not be; putting them again is safe.
 * STATUS_FULL: a server is at its maxmemory. */
typedef void cluster_put_end(void *ctx, enum status st, const bool *fresh,
                             size_t n);
/* STATUS_ARG: a host or item is too long, nothing was put, and `end` is not
 * called. */
MUST_CHECK enum status cluster_store_put(struct cluster_store *s,
                                         const struct cluster_url *urls,
                                         size_t n, cluster_put_end *end,
                                         void *ctx);

/* ---- leases ---- */

struct cluster_lease {
    unsigned shard, lost; /* lost: leases of this URL that were never ended */
    uint64_t token;
    int64_t until;    /* clock_mono(): over at the latest then */
    int64_t delay_ms; /* of the host, set by a person; -1: the crawl's */
    struct bytes host, item, state; /* state: of the last acknowledgement, empty
                                       before the first */
};

/* Of a lease, for clocks that do not run alike: `until` is so much earlier than
 * the servers' deadline. */
#define CLUSTER_LEASE_MARGIN_MS 500
/* May a request that takes up to `length`, ns, begin at `now`? */
bool cluster_lease_allows(const struct cluster_lease *l, int64_t now,
                          int64_t length);

/* Its bytes are valid during the call. */
typedef void cluster_lease_take(void *ctx, const struct cluster_lease *l);
/* Look for up to `most` leases in shards where some may be due; `take` is
 * called for each that is found, in later turns, and for no more than `most`
 * over all calls that have not come to that yet. */
void cluster_store_lease(struct cluster_store *s, size_t most,
                         cluster_lease_take *take, void *ctx);

/* From now on up to `spare` leases more than asked for are taken, of hosts of
 * this worker's part. */
void cluster_store_set_spare(struct cluster_store *s, size_t spare);

/* This worker is number `part` of `parts` that live, from 0; it leaves the
 * shards of others to them as long as it has enough to do. */
void cluster_store_set_part(struct cluster_store *s, unsigned part,
                            unsigned parts);

/* When something may become due in the cluster, clock_mono(), as the last looks
 * at all shards said; 0: not every shard was looked at; INT64_MAX: nothing
 * waits or is leased. */
int64_t cluster_store_next_due(const struct cluster_store *s);
/* When a shard is to be looked at for leases, clock_mono(); INT64_MAX: none is,
 * or as many as are wanted are being claimed. */
int64_t cluster_store_next_look(const struct cluster_store *s);

struct cluster_ack {
    unsigned shard;
    uint64_t token;
    struct bytes host;
    int64_t pause_ms;   /* until its next lease; -1: no request was sent */
    struct bytes state; /* of the host, kept for its next lease, unless no
                           request was sent */
    struct bytes item;  /* empty: done; else queued again, as this */
    int64_t delay_ms;   /* of that item, or one of these */
#define CLUSTER_ACK_NEXT (-1) /* it is the host's next */
#define CLUSTER_ACK_LAST (-2) /* it goes to the end of the host's queue */
};
/* `over`: the lease had ended before; nothing was changed. STATUS_ARG: too
 * long, and `end` is not called. */
typedef void cluster_ack_end(void *ctx, enum status st, bool over);
MUST_CHECK enum status cluster_store_ack(struct cluster_store *s,
                                         const struct cluster_ack *a,
                                         cluster_ack_end *end, void *ctx);
/* A pause of a host that was given up: longer than any other. */
#define CLUSTER_GIVEN_UP_MS (INT64_C(3650) * 24 * 3600 * 1000)
/* Hosts that were given up are due now. Waits for nothing. */
void cluster_store_ask_again(struct cluster_store *s);
/* Make a lease last for its whole length from now. */
void cluster_store_extend(struct cluster_store *s, unsigned shard,
                          struct bytes host, uint64_t token,
                          cluster_ack_end *end, void *ctx);

/* ---- turns, counts ---- */

/* As redis_cluster_turn(). */
void cluster_store_turn(struct cluster_store *s, int64_t wait);
/* Puts, acknowledgements, looks that have not ended. */
size_t cluster_store_pending(const struct cluster_store *s);

struct cluster_counts {
    uint64_t seen, done, leased, expired, buckets;
};
/* Summed over all shards, which are asked one after the other: exact only while
 * nobody works. */
typedef void cluster_count_end(void *ctx, enum status st,
                               const struct cluster_counts *c);
void cluster_store_count(struct cluster_store *s, cluster_count_end *end,
                         void *ctx);

void cluster_store_get_stats(const struct cluster_store *s,
                             struct redis_cluster_stats *out);
/* How often it held a shard after a failover. */
uint64_t cluster_store_holds(const struct cluster_store *s);
/* As redis_cluster_each_master(). */
void cluster_store_each_master(const struct cluster_store *s,
                               redis_master_visit *visit, void *ctx);

#endif
