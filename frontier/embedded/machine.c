/* SPDX-License-Identifier: MIT */
/*
 * machine.c - hosts of one address: a heap of them inside the heap of all.
 *
 * A machine with a thousand hosts is one item of the schedule, so a host that
 * is due behind a busy machine costs nothing while it waits.
 */
#include "frontier/embedded/machine.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"

struct machines {
    struct map *by_name;
};

struct machines *machines_new(void)
{
    struct machines *t = xcalloc(1, sizeof *t);

    t->by_name = map_new();
    return t;
}

static void machine_free(void *machine)
{
    struct machine *m = machine;

    heap_fini(&m->hosts);
    free(m);
}

void machines_free(struct machines *t)
{
    if (t == NULL)
        return;
    map_free(t->by_name, machine_free);
    free(t);
}

struct machine *machines_get(struct machines *t, struct bytes name, bool *made)
{
    struct machine *m = map_get(t->by_name, name);

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

struct bytes machine_name(const struct machine *m)
{
    return bytes_of(m->name, m->name_len);
}

void machine_join(struct machine *m, struct host_queue *h)
{
    assert(h->machine == NULL && h->place.place == 0);
    h->machine = m;
    m->members++;
    m->leased += h->leased + h->guests;
    m->next_due = clock_later(m->next_due, h->next_due);
    if (h->backoffs > 0)
        m->blocked_until = clock_later(m->blocked_until, h->blocked_until);
}

struct machine *machine_leave(struct machines *t, struct host_queue *h,
                              int64_t now)
{
    struct machine *m = h->machine;

    if (m == NULL)
        return NULL;
    assert(h->place.place == 0);
    h->machine = NULL;
    m->members--;
    m->leased -= h->leased + h->guests;
    if (m->members > 0 || m->next_due > now || m->blocked_until > now)
        return m;
    assert(m->place.place == 0);
    (void)map_remove(t->by_name, machine_name(m));
    machine_free(m);
    return NULL;
}

void machine_lease(struct host_queue *h)
{
    h->leased++;
    if (h->machine != NULL)
        h->machine->leased++;
}

void machine_give_back(struct host_queue *h)
{
    h->leased--;
    if (h->machine != NULL)
        h->machine->leased--;
}

int64_t machine_due(const struct machine *m, uint32_t most)
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
