/*
 * lease.h - leased URLs, until they are acknowledged or released.
 *
 * Frontier thread only.
 */
#ifndef URLWEIR_FRONTIER_HOSTS_LEASE_H
#define URLWEIR_FRONTIER_HOSTS_LEASE_H

#include <stddef.h>
#include <stdint.h>

#include "frontier/frontier.h"
#include "frontier/hosts/host_queue.h"
#include "frontier/url_life.h"
#include "storage/rows/refresh_store.h"

struct lease_table;

/* One leased URL, with what its acknowledgement needs. */
struct lease_record {
    struct url_lease lease; /* its bytes point into `text` */
    struct host_queue *host;
    struct host_queue *asked; /* the host of its request; NULL: its own */
    uint64_t via;
    enum url_life life;         /* LIFE_LEASED or LIFE_AGAIN */
    struct refresh_row refresh; /* of LIFE_AGAIN: its date; else url is 0 */
    struct link_range *parts;   /* the links stored so far of a list that comes
                                   in parts */
    size_t part_count;
    struct external_lease
        *external; /* leased to another program (external.h), or NULL */
    char text[];
};

struct lease_table *lease_table_new(void);
void lease_table_free(struct lease_table *t); /* NULL is fine */

/* Adds a lease of `row`, which is queued. `last` may be NULL. The table owns
 * the record. */
struct lease_record *lease_add(struct lease_table *t, struct host_queue *h,
                               const struct url_row *row, struct bytes key,
                               uint32_t tries, const struct url_last *last);
/* NULL: not leased. */
struct lease_record *lease_find(const struct lease_table *t, uint64_t id);
void lease_end(struct lease_table *t, struct lease_record *r);
size_t lease_count(const struct lease_table *t);

#endif
