/*
 * copies.h - how often fingerprints were added beyond their slots.
 *
 * The two buckets of a fingerprint hold a few of its copies. A cuckoo filter
 * without its keys counts the others here, so that a key that was added n times
 * is gone after n removals. A count that reached its end sticks: it no longer
 * knows how many it stands for, and removal leaves it.
 *
 * One thread at a time.
 */
#ifndef URLWEIR_FILTER_KINDS_COPIES_H
#define URLWEIR_FILTER_KINDS_COPIES_H

#include "filter/kinds/buckets.h"

#define COPIES_STUCK UINT32_MAX
#define COPIES_BYTES 64 /* an entry takes at most, when the table just grew */

struct copies_entry {
    uint64_t bucket; /* the lower of the two */
    uint32_t print;  /* 0: an empty slot */
    uint32_t more;   /* copies, or COPIES_STUCK */
};

/* All zero: empty. */
struct copies {
    struct copies_entry *at; /* `room` slots, at most half of them in use */
    uint64_t room;           /* a power of two, or 0 */
    uint64_t count, stuck;   /* entries; those that stick */
};

void copies_fini(struct copies *c);
uint64_t copies_bytes(const struct copies *c);
/* Count n more of it, at least 1; COPIES_STUCK: it sticks from now on. False:
 * it would be entry most + 1, or there is no memory. */
MUST_CHECK bool copies_add(struct copies *c, const struct bucket_place *p,
                           uint32_t n, uint64_t most);
/* Take one off. False: none is counted. One that sticks stays, and is true. */
bool copies_take(struct copies *c, const struct bucket_place *p);
/* Does its count stick? */
bool copies_stick(const struct copies *c, const struct bucket_place *p);

#endif
