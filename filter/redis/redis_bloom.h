/*
 * redis_bloom.h - a Bloom filter in a Redis string, shared by many processes.
 *
 * Promises: a batch is added in one step, and of many processes that add a key
 * at once exactly one is told that it was new. What is answered was written:
 * a batch whose answer is lost is asked for again and answered as it was the
 * first time. A filter that was flushed, evicted, has expired or was made anew
 * is recognised, and never taken for an empty one. A rebuild under way gets
 * every key that anyone adds, and takes the place of the old bits in one step.
 *
 * Cannot: know whether a server that was restarted forgot its newest writes,
 * other than by having seen more of them itself (redis_bloom_restarts); know
 * that half a batch came back from a log that was cut (its keys are then
 * "maybe" although nobody was told that they were new); follow a Redis Cluster;
 * grow by itself. A string ends at 2^32 bits.
 *
 * Two layouts. `blocked` has the very bits of a `bloom` filter in memory:
 * block.h's 64-byte blocks, whose octets are those of a filter file's units.
 * `plain` spreads k bits over the whole string by MurmurHash3 of the key's own
 * octets, so that bitmaps other programs keep in Redis can be read and written;
 * docs/formats/redis-filter.md has both, and what others do.
 *
 * One thread. Waits for the network.
 */
#ifndef URLWEIR_FILTER_REDIS_REDIS_BLOOM_H
#define URLWEIR_FILTER_REDIS_REDIS_BLOOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/digest.h"
#include "base/status.h"
#include "filter/redis/redis_url.h"

struct redis_bloom;

enum redis_bloom_mode {
    REDIS_BLOOM_OPEN, /* it is there; a bitmap of others is taken where the
                         place says its bits and the plain layout */
    REDIS_BLOOM_MAKE, /* made where there is none */
    REDIS_BLOOM_NEW   /* made, and must not be there */
};

struct redis_bloom_options {
    const struct redis_place *place; /* copied */
    enum redis_bloom_mode mode;
    /* What one that is made is for, where the place does not say bits and k. */
    uint64_t expect;
    double fpr;
    const unsigned char *seed; /* kept in the record, or NULL */
    int64_t patience_ms;       /* as in redis_connection.h */
};

/* In two steps, for who can do without it meanwhile: an object that has not
 * met its server, and meeting it, which may be tried again and again, and anew
 * after the filter was lost. STATUS_CLOSED: out of reach; STATUS_NOT_FOUND,
 * STATUS_EXISTS; STATUS_LIMIT: more than 2^32 bits are needed; STATUS_FORMAT:
 * what is there is no filter of ours; STATUS_ARG: refused, or a bitmap of
 * others whose bits the place does not say; STATUS_FULL, STATUS_BUSY as in
 * redis_connection.h. On error `error`, where not NULL, gains a sentence. */
struct redis_bloom *redis_bloom_new(const struct redis_bloom_options *o);
MUST_CHECK enum status redis_bloom_start(struct redis_bloom *b,
                                         struct buf *error);
/* Both at once; on error *out is NULL. */
MUST_CHECK enum status redis_bloom_open(struct redis_bloom **out,
                                        const struct redis_bloom_options *o,
                                        struct buf *error);
void redis_bloom_free(struct redis_bloom *b); /* NULL is fine */

/* One of the two; the text itself is of the plain layout alone. */
struct redis_keys {
    const uint64_t *digest; /* NULL: use text */
    const struct bytes *text;
};

/* Add n keys. fresh[i], where `fresh` is not NULL: it was certainly new, and
 * nobody else was told so. Calls of up to REDIS_BATCH keys are one step; longer
 * ones are several. STATUS_CLOSED: some may not be in, and nothing in `fresh`
 * counts; calling again with the same keys is right. STATUS_NOT_FOUND: the
 * filter is gone. STATUS_DAMAGED: the server came back without batches that it
 * had confirmed. */
#define REDIS_BATCH 1024
MUST_CHECK enum status redis_bloom_add(struct redis_bloom *b,
                                       struct redis_keys keys, size_t n,
                                       bool *fresh);
/* maybe[i]: false means that it was never added. Statuses as above. */
MUST_CHECK enum status redis_bloom_check(struct redis_bloom *b,
                                         struct redis_keys keys, size_t n,
                                         bool *maybe);
/* The filter, with all that belongs to it. Of a bitmap of others STATUS_ARG. */
MUST_CHECK enum status redis_bloom_drop(struct redis_bloom *b);

/* ---- a rebuild: other size, same layout; everyone else goes on ---- */

/* From now on every writer writes twice. One that another had begun ends. */
MUST_CHECK enum status redis_bloom_rebuild(struct redis_bloom *b,
                                           uint64_t expect, double fpr);
/* Keys that were added before it began: all of them, from whoever knows them.
 * STATUS_CLOSED as above; STATUS_NOT_FOUND: another rebuild began. */
MUST_CHECK enum status redis_bloom_refill(struct redis_bloom *b,
                                          struct redis_keys keys, size_t n);
/* The new bits take the old ones' place; or they go, and nothing changed. */
MUST_CHECK enum status redis_bloom_swap(struct redis_bloom *b);
MUST_CHECK enum status redis_bloom_abort(struct redis_bloom *b);

/* ---- asking ---- */

/* Could a call reach the server now, or is a back-off running? */
bool redis_bloom_is_due(const struct redis_bloom *b);
/* Connect where that is needed; the filter is there and the one we know. */
MUST_CHECK enum status redis_bloom_ready(struct redis_bloom *b);
/* How often the server was found restarted since the filter was opened. */
uint64_t redis_bloom_restarts(const struct redis_bloom *b);

/* Has it more keys than it was made for? As last told by the server. */
bool redis_bloom_is_overfull(const struct redis_bloom *b);

struct redis_bloom_info {
    enum redis_layout layout;
    enum redis_hash hash;
    uint64_t bits, expect, count; /* of a bitmap of others 0, 0 */
    unsigned k;
    double fpr, fpr_predicted; /* predicted: from the count */
    bool foreign;              /* a bitmap of others: no record beside it */
    bool has_seed;
    unsigned char seed[DIGEST_SEED_SIZE];
    bool rebuilding;
    bool may_evict, is_logged;
    char epoch[33], run_id[41];
    /* redis_bloom_inspect only: */
    int64_t ttl_ms; /* -1: it does not expire */
    uint64_t bits_set;
};

/* As last told by the server; no network. */
void redis_bloom_known(const struct redis_bloom *b,
                       struct redis_bloom_info *out);
/* Asked of the server, which counts its bits: 0.1 s for the largest. */
MUST_CHECK enum status redis_bloom_inspect(struct redis_bloom *b,
                                           struct redis_bloom_info *out);
/* What the last failure was, for people; no secrets in it. */
void redis_bloom_why(const struct redis_bloom *b, enum status st,
                     struct buf *out);

#endif
