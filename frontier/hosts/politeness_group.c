/* SPDX-License-Identifier: MIT */
/*
 * politeness_group.c - hosts of one address: a heap of them inside the heap of
 * all.
 *
 * A group of a thousand hosts is one item of the schedule, so a host of a busy
 * group costs nothing while it waits.
 */
#include "frontier/hosts/politeness_group.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"

struct politeness_groups {
    struct map *by_name;
};

struct politeness_groups *politeness_groups_new(void)
{
    struct politeness_groups *t = xcalloc(1, sizeof *t);

    t->by_name = map_new();
    return t;
}

static void politeness_group_free(void *group)
{
    struct politeness_group *m = group;

    heap_fini(&m->hosts);
    free(m);
}

void politeness_groups_free(struct politeness_groups *t)
{
    if (t == NULL)
        return;
    map_free(t->by_name, politeness_group_free);
    free(t);
}

struct politeness_group *politeness_groups_get(struct politeness_groups *t,
                                               struct bytes name, bool *made)
{
    struct politeness_group *m = map_get(t->by_name, name);

    if (made != NULL)
        *made = m == NULL;
    if (m != NULL)
        return m;
    m = xcalloc(1, sizeof *m + name.len);
    heap_init(&m->hosts);
    m->name_len = (uint32_t)name.len;
    memcpy(m->name, name.at, name.len);
    (void)map_put(t->by_name, name, m);
    return m;
}

struct bytes politeness_group_name(const struct politeness_group *m)
{
    return bytes_of(m->name, m->name_len);
}

void politeness_group_join(struct politeness_group *m, struct host_queue *h)
{
    assert(h->group == NULL && h->place.place == 0);
    h->group = m;
    m->members++;
    m->leased += h->leased + h->guests;
    m->next_due = clock_later(m->next_due, h->next_due);
    if (h->backoffs > 0)
        m->blocked_until =
            clock_later(m->blocked_until, host_trouble(h)->blocked_until);
}

struct politeness_group *politeness_group_leave(struct politeness_groups *t,
                                                struct host_queue *h,
                                                int64_t now)
{
    struct politeness_group *m = h->group;

    if (m == NULL)
        return NULL;
    assert(h->place.place == 0);
    h->group = NULL;
    m->members--;
    m->leased -= h->leased + h->guests;
    if (m->members > 0 || m->next_due > now || m->blocked_until > now)
        return m;
    assert(m->place.place == 0);
    (void)map_remove(t->by_name, politeness_group_name(m));
    politeness_group_free(m);
    return NULL;
}

void politeness_group_lease(struct host_queue *h)
{
    h->leased++;
    if (h->group != NULL)
        h->group->leased++;
}

void politeness_group_give_back(struct host_queue *h)
{
    h->leased--;
    if (h->group != NULL)
        h->group->leased--;
}

int64_t politeness_group_due(const struct politeness_group *m, uint32_t most)
{
    const struct heap_item *first = heap_top(&m->hosts);

    if (first == NULL)
        return INT64_MAX;
    if (first->key == INT64_MIN)
        return INT64_MIN;
    if (m->leased >= most)
        return INT64_MAX;
    return clock_later(clock_later(first->key, m->expects_until),
                       clock_later(m->next_due, m->blocked_until));
}
