/*
 * external_rig.h - a frontier that asks one host at a time, and helpers for the
 * reports of other programs. Header only.
 */
#ifndef URLWEIR_TESTS_FRONTIER_CRAWL_EXTERNAL_RIG_H
#define URLWEIR_TESTS_FRONTIER_CRAWL_EXTERNAL_RIG_H

#include "tests/unit/frontier/frontier_rig.h"

#define HOLD_S 30

static const struct outcome fetched = {OUTCOME_FETCHED, REASON_NONE, 200};

/* One host at a time, with a delay of one second. */
static inline void polite(struct rig *r)
{
    rig_init(r);
    r->o.conns_per_host = 1;
    r->o.schedule.delay = NS_PER_S;
}

static inline size_t grant(struct rig *r, struct external_request ask,
                           struct external_url *out)
{
    size_t n = 0;

    if (ask.most == 0)
        ask.most = 100;
    if (ask.length == 0)
        ask.length = HOLD_S * NS_PER_S;
    ck_ok(external_grant(r->e, &ask, r->now, rig_wall(r), out, &n));
    rig_turn(r);
    return n;
}

/* Returns the next URL granted; number 0: there was none. */
static inline struct external_url grant_one(struct rig *r)
{
    struct external_url u = {.number = 0};

    (void)grant(r, (struct external_request){.most = 1}, &u);
    return u;
}

static inline enum external_result say(struct rig *r, uint64_t id,
                                       struct external_report w)
{
    enum external_result said;

    ck_ok(external_settle(r->e, id, &w, r->now, rig_wall(r), &said));
    rig_turn(r);
    return said;
}

static inline enum external_result done(struct rig *r, uint64_t id)
{
    return say(r, id,
               (struct external_report){.final = true, .http_status = 200});
}

static inline uint64_t own_lease(struct rig *r)
{
    struct url_lease l;
    size_t n = 0;

    ck_ok(frontier_lease(r->e, 1, r->now, rig_wall(r), &l, &n));
    return n > 0 ? l.id : 0;
}

#endif
