/*
 * served_leases.h - the URLs that are leased, found by id and by digest.
 *
 * A program that leased a URL puts it again soon, and then it is found here:
 * the cost depends on the number of leases, not of URLs (the exact set would
 * also find it, but in a page that is rarely cached).
 *
 * A lease does not move until it is removed. When none is left, memory of many
 * leases is freed. Threads: the frontier thread only.
 */
#ifndef URLWEIR_FRONTIER_SERVED_SERVED_LEASES_H
#define URLWEIR_FRONTIER_SERVED_SERVED_LEASES_H

#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/heap.h"

struct served_lease {
    struct heap_item until;   /* key: ms; the owner's heap */
    int64_t at_ms, length_ms; /* the second as it was given, whatever the clock
                                 says since */
    uint64_t seq;             /* of its item_lease row */
    uint32_t id;              /* never 0 */
    /* of the table */
    struct digest digest; /* all zero: not known */
    struct served_lease *next_by_id, *next_by_digest;
};

struct served_leases;

struct served_leases *served_leases_new(void);
void served_leases_free(struct served_leases *t); /* NULL is fine */

/* Adds a lease, zeroed except for its id, which no other lease has. */
struct served_lease *served_leases_add(struct served_leases *t, uint32_t id);
/* Sets the digest by which it is found, once at most. */
void served_leases_set_digest(struct served_leases *t, struct served_lease *h,
                              struct digest digest);
void served_leases_remove(struct served_leases *t, struct served_lease *h);

struct served_lease *served_leases_find(const struct served_leases *t,
                                        uint32_t id); /* NULL: none */
/* Finds the lease with this digest; of several (a URL that was removed while
 * leased, and put again), the one with the greatest id. Never finds the digest
 * zero.
 */
struct served_lease *served_leases_find_digest(const struct served_leases *t,
                                               struct digest digest);

size_t served_leases_count(const struct served_leases *t);
size_t served_leases_memory(const struct served_leases *t);

#endif
