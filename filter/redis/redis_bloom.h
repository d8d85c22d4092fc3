/*
 * redis_bloom.h - a Bloom filter in a Redis string, shared by many processes.
 *
 * Promises: a batch is added in one step, and of many processes that add a key
 * at once exactly one is told that it was new. An answer means that the keys
 * were written: if the answer to a batch is lost, we send the batch again and
 * get the answer of the first time. We notice when a filter was flushed,
 * evicted, expired or made anew, and never take it for an empty one. A rebuild
 * under way gets every key that any client adds, and replaces the old bits in
 * one step.
 *
 * It cannot tell whether a restarted server forgot its newest writes, unless it
 * has seen more of them itself (redis_bloom_restarts). It cannot notice that
 * half a batch came back from a truncated log (its keys are then "maybe"
 * although no client was told that they were new). It does not grow by itself.
 * A string ends at 2^32 bits. In a Redis Cluster its name must have a tag, as
 * in key={seen}, so that the keys below it are on one node.
 *
 * Two layouts. `blocked` has the very bits of a `bloom` filter in memory:
 * block.h's 64-byte blocks, whose octets are those of a filter file's units.
 * `plain` spreads k bits over the whole string by MurmurHash3 of the key's own
 * octets, so that bitmaps other programs keep in Redis can be read and written;
 * docs/formats/redis-filter.md has both, and the layouts of other programs.
 *
 * Threads: one. Calls wait for the network.
 */
#ifndef URLWEIR_FILTER_REDIS_REDIS_BLOOM_H
#define URLWEIR_FILTER_REDIS_REDIS_BLOOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/digest.h"
#include "base/status.h"
#include "filter/redis/redis_place.h"

struct redis_bloom;

enum redis_bloom_mode {
    REDIS_BLOOM_OPEN,  /* it must exist; a bitmap of another program is accepted
                          if the place gives its bits and the plain layout */
    REDIS_BLOOM_RENEW, /* the same; if its time is over, it is begun anew */
    REDIS_BLOOM_LEFT,  /* the same; also if nothing but the record is left, to
                          drop it */
    REDIS_BLOOM_MAKE,  /* made if there is none */
    REDIS_BLOOM_NEW    /* made; it must not exist yet */
};

struct redis_bloom_options {
    const struct redis_place *place; /* copied */
    enum redis_bloom_mode mode;
    /* Size of a filter that is made, if the place does not give bits and k. If
     * it does, they must keep the rate: STATUS_LIMIT. */
    uint64_t expect;
    double fpr;
    /* Of a filter that is made: keys are forgotten between ttl_ms and
     * ttl_ms (1 + 1 / generations) after they were added last, as in filter.h.
     * 0: they stay, but the filter ends as a whole if the place says so. */
    int64_t ttl_ms;
    unsigned generations;
    const unsigned char *seed; /* stored in the record, or NULL */
    int64_t patience_ms;       /* as in redis_connection.h */
};

/* Open in two steps, for callers that can go on without the filter:
 * redis_bloom_new() makes an object without contacting the server,
 * redis_bloom_start() contacts it. The second may be called again and again,
 * also after the filter was lost. STATUS_CLOSED: the server is out of reach;
 * STATUS_NOT_FOUND, STATUS_EXISTS; STATUS_LIMIT: it needs more than 2^32 bits,
 * or more than the place gives; STATUS_FORMAT: what is there is not a filter of
 * ours; STATUS_ARG: the server refuses us, or the place does not give the bits
 * of another program's bitmap or gives bits that the length of the string
 * contradicts; STATUS_FULL, STATUS_BUSY as in redis_connection.h. On error a
 * sentence is appended to `error`, unless it is NULL. */
struct redis_bloom *redis_bloom_new(const struct redis_bloom_options *o);
MUST_CHECK enum status redis_bloom_start(struct redis_bloom *b,
                                         struct buf *error);
/* Both at once; on error *out is NULL. */
MUST_CHECK enum status redis_bloom_open(struct redis_bloom **out,
                                        const struct redis_bloom_options *o,
                                        struct buf *error);
void redis_bloom_free(struct redis_bloom *b); /* NULL is fine */

/* Add n keys. fresh[i], if `fresh` is not NULL: key i was certainly new, and no
 * other client was told so. A call of up to REDIS_BATCH keys is one step; a
 * longer one is several. STATUS_CLOSED: some keys may not be in, and `fresh` is
 * not valid; it is safe to call again with the same keys. STATUS_NOT_FOUND: the
 * filter is gone. STATUS_DAMAGED: the server came back without batches that it
 * had confirmed. */
#define REDIS_BATCH 1024
MUST_CHECK enum status redis_bloom_add(struct redis_bloom *b,
                                       struct redis_keys keys, size_t n,
                                       bool *fresh);
/* maybe[i] is false if key i was never added. Statuses as above. */
MUST_CHECK enum status redis_bloom_check(struct redis_bloom *b,
                                         struct redis_keys keys, size_t n,
                                         bool *maybe);
/* Delete the filter and all its keys in Redis. STATUS_ARG: it is a bitmap of
 * another program. */
MUST_CHECK enum status redis_bloom_drop(struct redis_bloom *b);

/* ---- time ---- */

/* From now on keys are kept for ttl_ms, those that are there, too; a filter
 * that ends as a whole ends ttl_ms after it was begun. STATUS_ARG: it was made
 * without a time. */
MUST_CHECK enum status redis_bloom_set_ttl(struct redis_bloom *b,
                                           int64_t ttl_ms);
/* Begin a filter anew that ended as its time was over, with the settings it
 * had. STATUS_NOT_FOUND: it ended for another reason, or never was. */
MUST_CHECK enum status redis_bloom_renew(struct redis_bloom *b);

/* ---- rebuild: another size, same layout, while other clients go on ---- */

/* Begin: from now on every client writes to both. A rebuild that another client
 * had begun ends. STATUS_ARG: the filter is another program's, or forgets keys:
 * nobody knows when those that are given were added. */
MUST_CHECK enum status redis_bloom_rebuild(struct redis_bloom *b,
                                           uint64_t expect, double fpr);
/* Add keys from before the rebuild began. The caller must give all of them.
 * STATUS_CLOSED as above; STATUS_NOT_FOUND: another rebuild began. */
MUST_CHECK enum status redis_bloom_refill(struct redis_bloom *b,
                                          struct redis_keys keys, size_t n);
/* Replace the old bits by the new ones; or drop the new ones, with nothing
 * changed. STATUS_REFUSED: unless `allow_smaller`, the new bits must have at
 * least half as many keys as the old ones; the rebuild goes on. */
MUST_CHECK enum status redis_bloom_swap(struct redis_bloom *b,
                                        bool allow_smaller);
MUST_CHECK enum status redis_bloom_abort(struct redis_bloom *b);

/* ---- asking ---- */

/* May a call try to reach the server now? False while a back-off runs. */
bool redis_bloom_is_due(const struct redis_bloom *b);
/* Connect if needed, and check that the filter exists and is the one we
 * know. */
MUST_CHECK enum status redis_bloom_ready(struct redis_bloom *b);
/* How often the server was found restarted since the filter was opened. */
uint64_t redis_bloom_restarts(const struct redis_bloom *b);

/* Does it err at twice the promised rate or more, as last told by the server?
 */
bool redis_bloom_is_overfull(const struct redis_bloom *b);

struct redis_bloom_info {
    enum redis_layout layout;
    enum redis_hash hash;
    uint64_t bits, expect, count; /* expect, count: 0 if foreign */
    unsigned k;
    double fpr, fpr_predicted; /* predicted: from the bits that are set */
    bool overfull;             /* it errs at twice the promise, or more */
    bool foreign;              /* another program's bitmap, without a record */
    bool has_seed;
    unsigned char seed[DIGEST_SEED_SIZE];
    bool rebuilding;
    uint64_t next_count; /* keys of the rebuild */
    bool may_evict, is_logged;
    char epoch[33], run_id[41];
    uint64_t bits_set; /* of a foreign one: redis_bloom_inspect only */
    int64_t ends_ms;   /* redis_bloom_inspect only; -1: it does not end */
    int64_t ttl_ms;    /* of its keys; 0: they stay */
    unsigned generations;
};

/* The values last told by the server; does not use the network. */
void redis_bloom_known(const struct redis_bloom *b,
                       struct redis_bloom_info *out);
/* Current values; the server counts its bits, 1 MiB of them at a time. */
MUST_CHECK enum status redis_bloom_inspect(struct redis_bloom *b,
                                           struct redis_bloom_info *out);
/* Append a description of the last failure, for people, without secrets. */
void redis_bloom_why(const struct redis_bloom *b, enum status st,
                     struct buf *out);

#endif
