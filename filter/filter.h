/*
 * filter.h - the interface all membership filters share, batch first.
 *
 * A filter answers "certainly new" or "maybe seen" in a few bits a key. The
 * certainty contract, for every kind: a key that was added (and not removed)
 * is never called new; "maybe" may be wrong, at most at the promised rate while
 * filter_stats() does not say `overfull`. A caller that needs certainty asks an
 * exact set after "maybe".
 *
 * Keys are 64-bit digests, uniformly random: the high half of base/digest.h's.
 * Keys that are not random fill some blocks far more than others.
 *
 * Threads: one thread owns a filter and calls everything here. Meanwhile one
 * other thread may save it (filter/checkpoint.h): the image has all keys added
 * before the saving began, and may have those added meanwhile. Kinds that say
 * `waits_for_saving` make the owner wait for the saving to end. The `bloom`
 * kind may also be checked by any number of threads.
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
 * The source of keys when part of a filter is built anew. `keys_of` hands every
 * key in [first, last] that was added before the running call to `visit`, in
 * any order, any number at a time. Other keys, or a key given twice, do no harm
 * (a cuckoo filter spends a slot on each). It must give all of them or fail: a
 * key left out would be called new. Called from within filter_add() and
 * checkpoint_load().
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
    /* Kinds that rebuild (scalable, cuckoo) or remove (counting, cuckoo) ask
     * `source`; where keys_of is NULL they keep each key themselves, 8 bytes
     * and a little more each. */
    struct filter_source source;
    /* Where source.keys_of is NULL, do not keep keys either: scalable and
     * cuckoo then stay at their first size, counting and cuckoo remove what
     * looks alike and count a key as often as it is added. */
    bool keep_nothing;
    double growth;     /* stacked: a layer's size to the one before; 0: 2 */
    double tightening; /* stacked: same for the rate; 0: 0.5 */
    unsigned fingerprint_bits; /* cuckoo: 8, 12, 16 or 32; 0: chosen for fpr */
    unsigned bucket_slots;     /* cuckoo: 1, 2, 4 or 8; 0: 4 */
    /* Keys are forgotten between ttl_s and ttl_s (1 + 1 / generations) after
     * they were added; 0: never. Such a filter has no source. */
    int64_t ttl_s;
    unsigned generations; /* 1 to FILTER_GENERATIONS_MOST; 0: 2 */
    int64_t born_s;       /* with ttl_s: now, in seconds since 1970 */
    const char *redis;    /* redis: its URL (filter/redis/redis_place.h); only
                             filter_new() reads it */
};

struct filter_traits {
    const char *name, *summary;
    bool grows, removes;
    bool needs_keys; /* to grow: from its source, or its own store; kinds that
                        remove keep them too, to know what was added */
    bool waits_for_saving;
    bool remote; /* on a server: takes no memory, has no checkpoint, may be
                    unreachable */
};

#define FILTER_GROUPS           64
#define FILTER_GENERATIONS_MOST 4
#define FILTER_TTL_MOST         315576000 /* ten years, in seconds */

struct filter_stats {
    const char *kind;
    uint64_t count;    /* keys held, as far as the filter can tell */
    uint64_t capacity; /* keys it holds at the promised rate; 0: grows */
    uint64_t bits;     /* memory of the filter proper, spare room included */
    uint64_t key_bits; /* memory of its own key store */
    double fill;       /* share of its bits set, or of its slots taken */
    /* `fill` for groups of consecutive segments, equally many in each; one
     * group if the kind has no segments. */
    unsigned groups;
    float group_fill[FILTER_GROUPS];
    double fpr_promised, fpr_predicted; /* predicted: as it stands now */
    unsigned k;        /* marks a key, or bits of a fingerprint */
    uint64_t segments; /* parts that are built and saved by themselves */
    uint64_t rebuilds; /* parts rebuilt since it was made or loaded */
    uint64_t starved;  /* parts that could not grow: no keys or no memory */
    uint64_t stuck;    /* counters that removal no longer changes */
    uint64_t lost;     /* damaged parts that now answer "maybe" to all */
    uint64_t unsure;   /* "maybe" without looking at any bits: redis, while the
                          server is unreachable or lacks keys */
    /* Predicted is more than 5 % above promised, and by more than chance makes
     * of so few keys (3 / sqrt(count)); or count above capacity. */
    bool overfull;
    bool reduced;  /* most_bytes was reached */
    int64_t ttl_s; /* 0: keys stay */
    unsigned generations;
    bool huge_pages; /* the kernel granted them for all large parts */
};

/* Kind i of those that live in memory, NULL past the last; and the kind of that
 * name, which may be `redis`, or NULL. */
const struct filter_traits *filter_kind(size_t i);
const struct filter_traits *filter_kind_named(const char *name);

/* The least octets that any filter of these options can take. */
uint64_t filter_least_bytes(const struct filter_options *o);
/* The caller owns *out. STATUS_ARG: out of range or no such kind; STATUS_NOMEM:
 * too large for memory; STATUS_LIMIT: too large for most_bytes. For redis also
 * the errors of redis_bloom_start(), with one line in the log. */
MUST_CHECK enum status filter_new(struct filter **out,
                                  const struct filter_options *o);
void filter_free(struct filter *f); /* NULL is fine */
const struct filter_options *filter_options(const struct filter *f);

/* Add n keys in order, some thousands at a time. fresh[i], where `fresh` is not
 * NULL: keys[i] was certainly new when its turn came; of duplicates inside the
 * batch only the first is. All keys are in afterwards, whatever the result.
 * STATUS_LIMIT: they are, but the filter is overfull or could not grow; logged
 * when it first happens. */
MUST_CHECK enum status filter_add(struct filter *f, const uint64_t *keys,
                                  size_t n, bool *fresh);
/* The same, for a caller that looks each "maybe" up in an exact set: to it an
 * overfull filter is a slower one and no failure. */
MUST_CHECK enum status filter_add_lenient(struct filter *f,
                                          const uint64_t *keys, size_t n,
                                          bool *fresh);
/* maybe[i] is false if keys[i] was certainly never added. */
void filter_check(const struct filter *f, const uint64_t *keys, size_t n,
                  bool *maybe);
bool filter_check_one(const struct filter *f, uint64_t key);

/* Take out keys that were added; `removed` may be NULL. Removing a key that was
 * never added may make another one "new", unless the filter keeps its keys: a
 * caller that is not certain asks an exact set first. A key that is certainly
 * not there is ignored. removed[i]: keys[i] was taken out. STATUS_ARG: this
 * kind cannot. */
MUST_CHECK enum status filter_remove(struct filter *f, const uint64_t *keys,
                                     size_t n, bool *removed);

/* Of keys that filter_remove() was just called with: stuck[i]: keys[i] was not
 * taken out, and may be there all the same. Only a filter that keeps no keys,
 * and is too full of copies of one fingerprint, has such. */
void filter_find_stuck(const struct filter *f, const uint64_t *keys, size_t n,
                       const bool *removed, bool *stuck);

/* Tell a filter with a ttl_s what time it is, in seconds since 1970, so that it
 * forgets what is over; others do nothing. Time that goes back changes nothing.
 * STATUS_NOMEM, STATUS_LIMIT: a new generation cannot be made. */
MUST_CHECK enum status filter_age(struct filter *f, int64_t now_s);
/* From now on keys are kept for ttl_s, those that are there, too. STATUS_ARG:
 * it was made without one, or that is out of range. */
MUST_CHECK enum status filter_set_ttl(struct filter *f, int64_t ttl_s);

/* Add everything that `from` holds to `into`. STATUS_ARG: the kinds or
 * geometries differ, and there are no stored keys to add instead. */
MUST_CHECK enum status filter_merge(struct filter *into,
                                    const struct filter *from);

void filter_stats(const struct filter *f, struct filter_stats *out);
/* `unsure` of filter_stats() alone, quickly. If it is equal before and after a
 * check, the check's answers are real. */
uint64_t filter_unsure(const struct filter *f);

#endif
