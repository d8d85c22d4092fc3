/*
 * served_leases.h - the URLs that are leased, found by id and by digest.
 *
 * Whoever was given a URL puts it again soon, and then it is found here: what
 * that costs follows how many are handed out at a time, not how many there are
 * (the exact set would answer too, from a page that is seldom at hand).
 *
 * A lease stays where it is until it is removed. When none is left, the memory
 * that many of them took is given back. Frontier thread only.
 */
#ifndef URLWEIR_FRONTIER_SERVED_SERVED_LEASES_H
#define URLWEIR_FRONTIER_SERVED_SERVED_LEASES_H

#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/heap.h"

struct served_lease {
    struct heap_item until; /* key: ms; the owner's heap */
    int64_t at_ms;
    uint64_t seq; /* of its item_lease row */
    uint32_t id;  /* never 0 */
    /* of the table */
    struct digest digest; /* all zero: nobody has said */
    struct served_lease *next_by_id, *next_by_digest;
};

struct served_leases;

struct served_leases *served_leases_new(void);
void served_leases_free(struct served_leases *t); /* NULL is fine */

/* All zero but its id, which no other lease has. */
struct served_lease *served_leases_add(struct served_leases *t, uint32_t id);
/* By which it is found from now on; said once at most. */
void served_leases_set_digest(struct served_leases *t, struct served_lease *h,
                              struct digest digest);
void served_leases_remove(struct served_leases *t, struct served_lease *h);

struct served_lease *served_leases_find(const struct served_leases *t,
                                        uint32_t id); /* NULL: none */
/* Of leases of one digest, as a URL has that was removed while it was handed
 * out and put again, the one of the greatest id. Never one of the digest zero.
 */
struct served_lease *served_leases_find_digest(const struct served_leases *t,
                                               struct digest digest);

size_t served_leases_count(const struct served_leases *t);
size_t served_leases_memory(const struct served_leases *t);

#endif
