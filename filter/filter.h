/*
 * filter.h - the interface all membership filters share, batch first.
 *
 * A filter answers "certainly new" or "maybe seen" in a few bits a key. The
 * certainty contract, for every kind: a key that was added (and not removed)
 * is never called new; "maybe" may be wrong, at most at the promised rate
 * while filter_stats() does not say `overfull`. Who needs to know for certain
 * asks an exact set after "maybe".
 *
 * Keys are 64-bit digests, uniformly random: the high half of base/digest.h's.
 * Keys that are not random fill some blocks far more than others.
 *
 * Threads: one thread owns a filter and calls everything here. Meanwhile one
 * other thread may save it (filter/checkpoint.h): what is added while it is
 * being saved may or may not be in the image, what was added before is. Kinds
 * that say `waits_for_saving` make the owner wait for the saving to end. The
 * `bloom` kind may also be checked by any number of threads.
 *
 * Kinds:
 *   scalable  the default: grows by rebuilding one of 4096 segments at a time
 *   bloom     fixed size; past its capacity it goes on, and says so
 *   stacked   grows by adding layers (Almeida et al. 2007); needs no keys
 *   counting  fixed size, removes keys; four bits a mark
 *   cuckoo    removes keys in less space; holds fingerprints
 *   redis     bits in a Redis string, shared by many processes (redis.h)
 */
#ifndef URLWEIR_FILTER_FILTER_H
#define URLWEIR_FILTER_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct filter;

/*
 * Where keys come from when part of a filter is built anew. `keys_of` hands
 * every key in [first, last] that was added before the running call to
 * `visit`, in any order, any number at a time; keys it gives beyond those, or
 * twice, make nothing wrong (a cuckoo filter spends a slot on each). It must
 * give all of them or fail: a key left out would be called new. Called from
 * within filter_add() and checkpoint_load().
 */
struct filter_source {
    enum status (*keys_of)(void *ctx, uint64_t first, uint64_t last,
                           void (*visit)(void *to, const uint64_t *keys,
                                         size_t n),
                           void *to);
    void *ctx;
};

struct filter_options {
    const char *kind; /* NULL: "scalable" */
    /* Keys expected: the capacity of kinds that cannot grow, the first size of
     * those that can. At least 1, at most 2^40. */
    uint64_t expect;
    double fpr; /* promised false-positive rate, in [1e-9, 0.5] */
    /* Most memory the filter may take; 0: no limit. At the limit a kind that
     * grows goes on with fewer bits a key instead (`reduced`). */
    uint64_t most_bytes;
    /* Kinds that rebuild (scalable, cuckoo) ask `source`; where keys_of is
     * NULL they keep each key themselves, 8 bytes and a little more each. */
    struct filter_source source;
    /* Where source.keys_of is NULL, keep no keys either: scalable and cuckoo
     * then stay at their first size. */
    bool keep_nothing;
    double growth;     /* stacked: size of each layer to the last; 0: 2 */
    double tightening; /* stacked: rate of each layer to the last; 0: 0.5 */
    unsigned fingerprint_bits; /* cuckoo: 8, 12, 16 or 32; 0: what fpr asks */
    const char *redis; /* redis: where, as filter/redis/redis_url.h has it; read
                          by filter_new() alone */
};

struct filter_traits {
    const char *name, *summary;
    bool grows, removes;
    bool needs_keys; /* to grow: from its source, or kept by itself */
    bool waits_for_saving;
    bool remote; /* lives elsewhere: takes no memory, has no checkpoint, can
                    be out of reach */
};

#define FILTER_GROUPS 64

struct filter_stats {
    const char *kind;
    uint64_t count;    /* keys held, as far as the filter can tell */
    uint64_t capacity; /* keys it has room for at the promise; 0: grows */
    uint64_t bits;     /* memory that answers questions, spare room included */
    uint64_t key_bits; /* memory of keys it keeps for itself */
    double fill;       /* share of its bits set, or of its slots taken */
    /* The same of groups of its segments that follow each other, equal in
     * number; one group where it has no segments. */
    unsigned groups;
    float group_fill[FILTER_GROUPS];
    double fpr_promised, fpr_predicted; /* predicted: as it stands now */
    unsigned k;        /* marks a key, or bits of a fingerprint */
    uint64_t segments; /* parts that are built and saved by themselves */
    uint64_t rebuilds; /* parts built anew since it was made or loaded */
    uint64_t starved;  /* parts that could not grow: no keys or no memory */
    uint64_t stuck;    /* counters or slots that removal no longer changes */
    uint64_t lost;     /* damaged parts that now answer "maybe" to all */
    uint64_t unsure;   /* questions answered "maybe" without being asked: redis,
                          while it is out of reach or lacks keys */
    /* Predicted is more than 5 % above promised, and by more than chance makes
     * of so few keys (3 / sqrt(count)); or count above capacity. */
    bool overfull;
    bool reduced;    /* most_bytes was reached */
    bool huge_pages; /* the kernel granted them for all large parts */
};

/* The kinds that live in memory, NULL past the last; and the one of a name, be
 * it `redis`, or NULL. */
const struct filter_traits *filter_kind(size_t i);
const struct filter_traits *filter_kind_named(const char *name);

/* The caller owns *out. STATUS_ARG: out of range or no such kind;
 * STATUS_NOMEM: too large for memory; STATUS_LIMIT: for most_bytes. Of redis
 * also what redis.h says, with one line in the log. */
MUST_CHECK enum status filter_new(struct filter **out,
                                  const struct filter_options *o);
void filter_free(struct filter *f); /* NULL is fine */
const struct filter_options *filter_options(const struct filter *f);

/* Add n keys in order, some thousands at a time. fresh[i], where `fresh` is not
 * NULL: keys[i] was certainly new at its turn, duplicates inside the batch
 * included. All keys are in afterwards, whatever is answered. STATUS_LIMIT:
 * they are, but the filter is overfull or could not grow; logged when it first
 * happens. */
MUST_CHECK enum status filter_add(struct filter *f, const uint64_t *keys,
                                  size_t n, bool *fresh);
/* maybe[i]: false means that keys[i] was never added. */
void filter_check(const struct filter *f, const uint64_t *keys, size_t n,
                  bool *maybe);
bool filter_check_one(const struct filter *f, uint64_t key);

/* Take out keys that were added; removed[i] may be NULL. Removing a key that
 * was never added may make another one "new": a caller who is not certain asks
 * an exact set first. A key that surely is not there is left alone.
 * STATUS_ARG: this kind cannot. */
MUST_CHECK enum status filter_remove(struct filter *f, const uint64_t *keys,
                                     size_t n, bool *removed);

/* Everything `from` holds is in `into` afterwards. STATUS_ARG: not of the same
 * kind and geometry, or neither shape nor kept keys allow it. */
MUST_CHECK enum status filter_merge(struct filter *into,
                                    const struct filter *from);

void filter_stats(const struct filter *f, struct filter_stats *out);
/* `unsure` of them alone, quickly: asked before and after a check, it tells
 * whether these answers say anything. */
uint64_t filter_unsure(const struct filter *f);

#endif
