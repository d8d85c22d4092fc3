/*
 * served_check.h - checks that counters, heaps and round robins agree with the
 * URLs.
 *
 * Counts everything again, and checks that each queue is in its place by its
 * URLs, delay, block and limit.
 */
#ifndef URLWEIR_TESTS_UNIT_FRONTIER_SERVED_SERVED_CHECK_H
#define URLWEIR_TESTS_UNIT_FRONTIER_SERVED_SERVED_CHECK_H

#include <string.h>

#include "base/logger.h"
#include "frontier/served/served_impl.h"

static inline bool served_bad(const struct served_queue *q, const char *why)
{
    log_error("served URLs do not agree", "queue=%u reason=\"%s\"",
              q != NULL ? q->number : 0, why);
    return false;
}

/* Checks the URLs of a queue, along its chain. */
static inline bool check_chain(struct served *t, const struct served_queue *q,
                               struct url_counts *all)
{
    uint32_t active = 0, completed = 0, leased = 0, logged = 0, last = 0;

    for (uint32_t id = q->head; id != 0; id = served_url_at(t, id)->next) {
        const struct served_url *i = served_url_at(t, id);

        if (id <= last || i->queue != q->number || id <= q->removed_upto)
            return served_bad(q, "a URL stands where it must not");
        if (((i->flags & SERVED_LEASED) != 0) !=
            (served_lease_of(t, id) != NULL))
            return served_bad(q, "a URL is leased by nobody");
        if (((i->flags & SERVED_LEASED) != 0) !=
                (i->life == LIFE_LEASED || i->life == LIFE_AGAIN) ||
            (i->due_ms == 0) != (i->life == LIFE_DONE))
            return served_bad(q, "a URL is not what it is said to be");
        active += i->life != LIFE_DONE;
        completed += i->life == LIFE_DONE;
        leased += (i->flags & SERVED_LEASED) != 0;
        logged += served_url_seq(i) != 0;
        last = id;
    }
    if (last != q->tail || active != q->active || completed != q->completed ||
        leased != q->leased || logged != q->logged)
        return served_bad(q, "counters are not what its URLs say");
    all->active += active;
    all->completed += completed;
    all->leased += leased;
    all->active_queues += active > 0;
    all->queues += q->there;
    return true;
}

static inline bool check_place(struct served *t, struct served_queue *q)
{
    int64_t wake = served_queue_wake(t, q);
    bool ready = q->in_all.item.place != 0;

    if (ready != (q->in_crawl.item.place != 0) ||
        (ready && q->in_all.leased != q->leased))
        return served_bad(q, "round robins disagree");
    if (ready && (wake > t->now || q->waiting.place != 0))
        return served_bad(q, "has a turn too early");
    if (!ready && wake != INT64_MAX &&
        (q->waiting.place == 0 || q->waiting.key != wake))
        return served_bad(q, "waits for another moment");
    return true;
}

static inline bool served_consistent(struct served *t)
{
    struct url_counts all = {0}, crawls = {0};

    for (uint32_t n = 0; n < t->queue_room; n++) {
        struct served_queue *q = t->queues[n];

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
           served_bad(NULL, "the sums are wrong");
}

#endif
