/* SPDX-License-Identifier: MIT */
/*
 * items_check.c - do counters, heaps and turns agree with the URLs?
 *
 * Counts everything anew, and sees that each queue stands where its URLs, its
 * delay, block and limit say.
 */
#include <string.h>

#include "base/logger.h"
#include "frontier/served/items_impl.h"

static bool bad(const struct item_queue *q, const char *why)
{
    log_error("items do not agree", "queue=%u reason=\"%s\"",
              q != NULL ? q->number : 0, why);
    return false;
}

/* The URLs of a queue, along its chain. */
static bool check_chain(struct items *t, const struct item_queue *q,
                        struct url_counts *all)
{
    uint32_t active = 0, completed = 0, leased = 0, logged = 0, last = 0;

    for (uint32_t id = q->head; id != 0; id = item_at(t, id)->next) {
        const struct item *i = item_at(t, id);

        if (id <= last || i->queue != q->number || id <= q->removed_upto)
            return bad(q, "a URL stands where it must not");
        if (((i->flags & ITEM_HELD_FLAG) != 0) !=
            (items_hold_of(t, id) != NULL))
            return bad(q, "a URL is leased by nobody");
        active += (i->flags & ITEM_COMPLETE) == 0;
        completed += (i->flags & ITEM_COMPLETE) != 0;
        leased += (i->flags & ITEM_HELD_FLAG) != 0;
        logged += item_seq(i) != 0;
        last = id;
    }
    if (last != q->tail || active != q->active || completed != q->completed ||
        leased != q->leased || logged != q->logged)
        return bad(q, "counters are not what its URLs say");
    all->active += active;
    all->completed += completed;
    all->leased += leased;
    all->active_queues += active > 0;
    all->queues += q->there;
    return true;
}

static bool check_place(struct items *t, struct item_queue *q)
{
    int64_t wake = items_queue_wake(t, q);
    bool ready = q->in_all.item.place != 0;

    if (ready != (q->in_crawl.item.place != 0) ||
        (ready && q->in_all.leased != q->leased))
        return bad(q, "turns disagree");
    if (ready && (wake > t->now || q->waiting.place != 0))
        return bad(q, "has a turn too early");
    if (!ready && wake != INT64_MAX &&
        (q->waiting.place == 0 || q->waiting.key != wake))
        return bad(q, "waits for another moment");
    return true;
}

bool items_consistent(struct items *t)
{
    struct url_counts all = {0}, crawls = {0};

    for (uint32_t n = 0; n < t->queue_room; n++) {
        struct item_queue *q = t->queues[n];

        if (q != NULL && (!check_chain(t, q, &all) || !check_place(t, q)))
            return false;
    }
    for (uint32_t i = 0; i < t->crawl_count; i++) {
        const struct url_counts *c = &t->crawls[i]->counts;

        crawls.active += c->active;
        crawls.completed += c->completed;
        crawls.leased += c->leased;
        crawls.queues += c->queues;
        crawls.active_queues += c->active_queues;
    }
    return (memcmp(&all, &t->counts, sizeof all) == 0 &&
            memcmp(&all, &crawls, sizeof all) == 0) ||
           bad(NULL, "the sums are wrong");
}
