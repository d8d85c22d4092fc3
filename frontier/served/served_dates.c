/* SPDX-License-Identifier: MIT */
/*
 * served_dates.c - how many served URLs have a date, and are past it.
 *
 * A counter of overdue URLs would need each date in some order of time, over
 * all queues, and a queue's removal, one number now, would have to take out
 * each of its URLs. So passes over the URLs in memory count, some at a time, in
 * the order they lie there: 24 octets a URL.
 */
#include "frontier/served/served_impl.h"

static void count(const struct served *t, uint32_t id, struct served_dates *to)
{
    const struct served_url *i = served_url_at(t, id);

    if ((i->life != LIFE_DUE && i->life != LIFE_AGAIN) ||
        !served_url_exists(t, id))
        return;
    to->dated++;
    if (t->now - i->due_ms < SERVED_OVERDUE_MS)
        return;
    if (to->overdue == 0 || i->due_ms < to->oldest_ms)
        to->oldest_ms = i->due_ms;
    to->overdue++;
}

void served_count_dates(struct served *t, uint32_t most, int64_t now)
{
    uint64_t end = (uint64_t)t->chunk_count * SERVED_CHUNK;
    uint64_t rows = frontier_store_last_id(t->base->store) + 1;

    if (end > rows)
        end = rows;
    served_tick(t, now);
    for (; most > 0 && t->dates_at < end; most--)
        count(t, t->dates_at++, &t->dates_so_far);
    if (t->dates_at < end)
        return;
    t->dates = t->dates_so_far;
    t->dates_so_far = (struct served_dates){0};
    t->dates_at = 0;
}

struct served_dates served_dates(const struct served *t)
{
    return t->dates;
}

bool served_dates_go_on(const struct served *t)
{
    return t->dates_at > 0 || t->dates.dated > 0;
}
