/* SPDX-License-Identifier: MIT */
/*
 * frontier_change.c - options that change while the frontier is open.
 *
 * A host's due time was computed with the old delay: it is moved by the change
 * of the delay. With random delays we do not know what was drawn, so a host
 * never waits longer than a new delay from now, and its wait is shortened by no
 * more than the difference.
 */
#include "base/clock.h"
#include "frontier/embedded/frontier_host.h"
#include "frontier/embedded/frontier_ops.h"

void frontier_recheck(struct engine *e, struct scope *scope)
{
    ((struct frontier *)e)->o.recheck = scope;
}

/* The pause after a response of `h`, without randomness. */
static int64_t plain_pause(const struct schedule_options *o,
                           const struct host_queue *h)
{
    struct schedule_random none = {.state = 1};
    struct schedule_options plain = *o;
    const struct schedule_host host = frontier_schedule_host(h);

    plain.random_delay = false;
    return schedule_pause(&plain, &host, &none);
}

static int64_t moved(int64_t due, int64_t change, int64_t latest)
{
    if (due == 0 || due == INT64_MAX)
        return due; /* never asked */
    if (change >= 0)
        return due + change;
    return due < latest ? due : latest;
}

static void move_host(struct frontier *f, struct host_queue *h,
                      const struct schedule_options *o, int64_t now)
{
    const struct schedule_options *was = &f->o.schedule;
    int64_t change = plain_pause(o, h) - plain_pause(was, h);

    if (!was->random_delay && !o->random_delay && h->next_due != 0)
        h->next_due += change;
    else
        h->next_due = moved(h->next_due, change, now + plain_pause(o, h));
}

/* A group waits after the host that was asked last. */
static void move_machine(struct host_queue *h, int64_t before)
{
    struct politeness_group *m = h->group;

    if (m == NULL)
        return;
    if (m->next_due == before || h->next_due > m->next_due)
        m->next_due = h->next_due;
}

/* Of hosts that rest it is not known when they were asked, but they were due.
 */
static void move_rested(struct frontier *f, const struct schedule_options *o,
                        int64_t now)
{
    int64_t was = f->o.schedule.delay;
    int64_t most = o->random_delay ? o->delay + o->delay / 2 : o->delay;

    if (f->o.schedule.random_delay)
        was /= 2;
    if (f->hosts.resting > 0 && most > was)
        f->rested_due = clock_later(f->rested_due, now + most - was);
}

void frontier_set_schedule(struct engine *e, const struct schedule_options *o,
                           int64_t now)
{
    struct frontier *f = (struct frontier *)e;

    for (uint32_t q = 0; q < f->hosts.room; q++) {
        struct host_queue *h = host_table_get(&f->hosts, q);
        int64_t before;

        if (h == NULL)
            continue;
        before = h->next_due;
        move_host(f, h, o, now);
        move_machine(h, before);
    }
    move_rested(f, o, now);
    f->o.schedule = *o;
    for (uint32_t q = 0; q < f->hosts.room; q++)
        if (host_table_get(&f->hosts, q) != NULL)
            frontier_reschedule(f, host_table_get(&f->hosts, q));
    frontier_cross_hosts_again(f);
}
