/* SPDX-License-Identifier: MIT */
/*
 * crawl_stuck.c - works around fetchers that hang.
 *
 * A parser or decoder that hangs on a response cannot be interrupted: its
 * thread may hold any lock or half-made object. So the crawl continues without
 * it. Other fetchers get its queues, the next start fails its URL
 * (crawl_blame.c), and the crawl ends when the others have ended or make no
 * more progress. Its other URLs stay leased until then, as only its thread may
 * touch them. They may be all that is left, or hold what others wait for (a
 * host, an address, memory for bodies), which is why only finished work counts
 * as progress.
 *
 * A thread that recovers after all finds everything unchanged.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/logger.h"
#include "base/mem.h"
#include "crawler/crawl_impl.h"

#define PATIENCE       (30 * NS_PER_S) /* for one step of a fetcher */
#define STATS_INTERVAL (100 * NS_PER_MS)

int64_t crawl_patience(void)
{
    return fault_time("stuck", PATIENCE);
}

/* ---- the queues of a fetcher that hangs ---- */

static void hand_on(struct crawl *c, unsigned from)
{
    struct assignment **all =
        xcalloc(c->o.concurrency, sizeof(struct assignment *));
    size_t n = fetcher_take_back(c->fetchers[from], all);

    for (size_t i = 0; i < n; i++) {
        crawl_balance_ended(c->balance, all[i]->lease.queue, from,
                            CRAWL_BALANCE_TAKEN_BACK);
        crawl_assign(c, all[i], false);
    }
    free(all);
}

/* ---- one fetcher ---- */

static void got_stuck(struct crawl *c, unsigned i, uint64_t id, uint64_t steps)
{
    struct in_hand_slot *slot = in_hand_slot(c->in_hand, i);
    struct bytes url = c->engine->ops->leased_url(c->engine, id);
    int64_t waited = watchdog_waited(c->watchdog, i);
    char since[CLOCK_ISO_SIZE];

    clock_iso(since, clock_wall_ms() - waited / NS_PER_MS);
    in_hand_mark_stuck(c->in_hand, i, steps);
    log_error(
        "a fetcher is stuck on a URL, which fails as `stuck` at the next start",
        "fetcher=%u since=%s seconds=%lld doing=\"%s\" others=%u url=%.*s", i,
        since, (long long)(waited / NS_PER_S),
        in_hand_doing_text((enum in_hand_doing)atomic_load(&slot->doing)),
        c->o.threads - watchdog_stuck(c->watchdog), (int)url.len, url.at);
    crawl_balance_hangs(c->balance, i, true);
    hand_on(c, i);
    c->got_on = c->watched_time;
}

static void look_at(struct crawl *c, unsigned i)
{
    struct in_hand_slot *slot = in_hand_slot(c->in_hand, i);
    uint64_t id = atomic_load(&slot->id), steps = atomic_load(&slot->steps);

    switch (watchdog_check(c->watchdog, i, id, steps)) {
    case WATCHDOG_NOTHING:
        break;
    case WATCHDOG_STUCK:
        got_stuck(c, i, id, steps);
        break;
    case WATCHDOG_BACK:
        crawl_balance_hangs(c->balance, i, false);
        log_warn("a fetcher is no longer stuck; its URL has not failed",
                 "fetcher=%u", i);
        break;
    }
}

/* ---- all of them ---- */

static void end_without_them(struct crawl *c)
{
    bool alone = c->gone + watchdog_stuck(c->watchdog) >= c->o.threads;

    if (atomic_load(&c->paused) && c->end == CRAWL_RUNNING)
        c->got_on = c->watched_time;
    if (alone && c->end == CRAWL_RUNNING)
        c->end = CRAWL_STUCK;
    else if (c->watched_time - c->got_on >= 2 * crawl_patience() &&
             c->end != CRAWL_BROKEN)
        c->end = CRAWL_STUCK;
}

void crawl_look_for_stuck(struct crawl *c, int64_t now)
{
    /* A fetcher that hung and has ended must not be counted twice. */
    if (watchdog_stuck(c->watchdog) == 0 &&
        now - c->watched_at < STATS_INTERVAL)
        return;
    c->watched_at = now;
    c->watched_time = watchdog_round(c->watchdog, now);
    for (unsigned i = 0; i < c->o.threads; i++)
        look_at(c, i);
    if (watchdog_stuck(c->watchdog) > 0)
        end_without_them(c);
}

void crawl_heard_of(struct crawl *c, const struct report *r)
{
    if (r->kind == REPORT_PART)
        watchdog_heard_of(c->watchdog, r->id);
    else if (r->kind == REPORT_DONE)
        c->got_on = c->watched_time;
}
