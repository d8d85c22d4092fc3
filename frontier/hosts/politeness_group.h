/*
 * politeness_group.h - hosts that politeness treats as one, and when they may
 * be asked.
 *
 * With --queue-key ip all hosts that share an address form a group: one of them
 * is asked at a time, with the delay between, and what one says of delays
 * (Crawl-delay, Retry-After, back-off) holds for all. With --queue-key domain
 * the hosts of a registrable domain form a group. Queues, digests and
 * everything a reader sees belong to hosts: a host's group may change, its name
 * never does.
 *
 * A host without an address is a group of its own, with its own name. Threads:
 * the frontier thread only.
 */
#ifndef URLWEIR_FRONTIER_HOSTS_POLITENESS_GROUP_H
#define URLWEIR_FRONTIER_HOSTS_POLITENESS_GROUP_H

#include <stdint.h>

#include "base/bytes.h"
#include "base/heap.h"
#include "frontier/hosts/host_queue.h"

struct politeness_group {
    struct heap_item place; /* in the schedule, by due time */
    struct heap hosts;      /* of struct host_queue by place */
    uint32_t members;       /* hosts in memory in this group */
    uint32_t leased;        /* their leased URLs */
    int64_t next_due;       /* politeness: not before */
    int64_t blocked_until;  /* Retry-After, back-off */
    int64_t expects_until;  /* a request to one of its hosts waits: nothing else
                               is leased before */
    uint32_t name_len;
    char name[]; /* its address, as in a URL; a domain */
};

struct politeness_groups; /* all of them, by name */

struct politeness_groups *politeness_groups_new(void);
void politeness_groups_free(struct politeness_groups *t); /* NULL is fine */

/* The group with that name, made if missing; *made, if not NULL, says so. */
struct politeness_group *politeness_groups_get(struct politeness_groups *t,
                                               struct bytes name, bool *made);
struct bytes politeness_group_name(const struct politeness_group *m);

/* Adds `h`, which is in no group and no heap. The group waits at least as long
 * as `h`. */
void politeness_group_join(struct politeness_group *m, struct host_queue *h);
/* Removes `h`, which is in no heap, from its group. Returns the group, or NULL
 * if it had none, or if the group was empty and without state at `now`, and was
 * freed. */
struct politeness_group *politeness_group_leave(struct politeness_groups *t,
                                                struct host_queue *h,
                                                int64_t now);

/* One URL more, or one less, of `h` is leased. */
void politeness_group_lease(struct host_queue *h);
void politeness_group_give_back(struct host_queue *h);

/* When one of its hosts may be asked, with at most `most` URLs leased.
 * INT64_MAX: none has a URL; INT64_MIN: one must be drained. */
int64_t politeness_group_due(const struct politeness_group *m, uint32_t most);

#endif
