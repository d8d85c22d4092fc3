/*
 * buckets.h - the table of a cuckoo filter: fingerprints in buckets of 1, 2, 4
 * or 8 slots.
 *
 * Fan, Andersen, Kaminsky, Mitzenmacher: Cuckoo Filter, 2014, but with any
 * number of buckets: the other bucket of a fingerprint in bucket i of m is
 * (H(fingerprint) - i) mod m, which leads back from there too. The paper's
 * exclusive or needs m to be a power of two, which wastes up to half the table.
 *
 * One thread at a time.
 */
#ifndef URLWEIR_FILTER_KINDS_BUCKETS_H
#define URLWEIR_FILTER_KINDS_BUCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct buckets {
    unsigned char *at; /* `count` buckets, packed, little-endian */
    uint64_t count;
    uint64_t taken; /* slots in use */
    unsigned bits;  /* of a fingerprint: 8, 12, 16 or 32 */
    unsigned slots; /* of a bucket: 1, 2, 4 or 8 */
    /* A bucket is compared in groups of slots that fit in one word. */
    unsigned groups, group_bits;
    uint64_t group_mask, ones; /* the lowest bit of each slot of a group */
    bool huge;
    uint64_t random; /* chooses which fingerprint moves */
};

/* Where a key's fingerprint may be. */
struct bucket_place {
    uint64_t first, second;
    uint32_t print; /* never 0, which is an empty slot */
};

MUST_CHECK enum status buckets_init(struct buckets *b, uint64_t count,
                                    unsigned bits, unsigned slots);
void buckets_fini(struct buckets *b);
/* Octets of the table; of one of so many slots. */
uint64_t buckets_bytes(const struct buckets *b);

struct bucket_place buckets_place(const struct buckets *b, uint64_t key);
/* Fetch both buckets. */
void buckets_fetch(const struct buckets *b, const struct bucket_place *p);

bool buckets_have(const struct buckets *b, const struct bucket_place *p);
/* Copies of the fingerprint in its two buckets. */
unsigned buckets_copies(const struct buckets *b, const struct bucket_place *p);
/* Put a fingerprint into the table. False: the table is too full, and *p is the
 * fingerprint that has no place now, which need not be the one given. */
bool buckets_put(struct buckets *b, struct bucket_place *p);
/* Take one copy out; false: there is none. */
bool buckets_remove(struct buckets *b, const struct bucket_place *p);

/* Hand the place of every fingerprint in the table to `visit`. */
void buckets_each(const struct buckets *b,
                  void (*visit)(void *to, const struct bucket_place *p),
                  void *to);
/* Count the slots taken, after the table was filled from outside. */
void buckets_recount(struct buckets *b);

#endif
