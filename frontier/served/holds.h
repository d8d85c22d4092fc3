/*
 * holds.h - the URLs that are handed out, found by id and by digest.
 *
 * Whoever was given a URL puts it again soon, and then it is found here: what
 * that costs follows how many are handed out at a time, not how many there are
 * (the exact set would answer too, from a page that is seldom at hand).
 *
 * A hold stays where it is until it is removed. When none is left, the memory
 * that many of them took is given back. Frontier thread only.
 */
#ifndef URLWEIR_FRONTIER_SERVED_HOLDS_H
#define URLWEIR_FRONTIER_SERVED_HOLDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/heap.h"

struct hold {
    struct heap_item until; /* key: ms; the owner's heap */
    int64_t at_ms;
    uint64_t seq; /* of its item_lease row */
    uint32_t id;  /* never 0 */
    /* of the table */
    struct digest digest; /* all zero: nobody has said */
    struct hold *next_by_id, *next_by_digest;
};

struct holds;

struct holds *holds_new(void);
void holds_free(struct holds *t); /* NULL is fine */

/* All zero but its id, which no other hold has. */
struct hold *holds_add(struct holds *t, uint32_t id);
/* By which it is found from now on; said once at most. */
void holds_say_digest(struct holds *t, struct hold *h, struct digest digest);
void holds_remove(struct holds *t, struct hold *h);

struct hold *holds_find(const struct holds *t, uint32_t id); /* NULL: none */
/* Of holds of one digest, as a URL has that was removed while it was handed out
 * and put again, the one of the greatest id. Never one of the digest zero. */
struct hold *holds_find_digest(const struct holds *t, struct digest digest);

size_t holds_count(const struct holds *t);
size_t holds_memory(const struct holds *t);

#endif
