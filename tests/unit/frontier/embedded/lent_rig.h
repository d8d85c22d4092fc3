/*
 * lent_rig.h - an engine that asks one host at a time, and what borrowers say
 * to it. Header only.
 */
#ifndef URLWEIR_TESTS_FRONTIER_EMBEDDED_LENT_RIG_H
#define URLWEIR_TESTS_FRONTIER_EMBEDDED_LENT_RIG_H

#include "frontier/embedded/lent.h"
#include "tests/unit/frontier/engine_rig.h"

#define HOLD_S 30

static const struct outcome fetched = {OUTCOME_FETCHED, REASON_NONE, 200};

/* One host at a time, one second between. */
static inline void polite(struct rig *r)
{
    rig_init(r);
    r->o.conns_per_host = 1;
    r->o.schedule.delay = NS_PER_S;
}

static inline size_t lend(struct rig *r, struct lent_ask ask,
                          struct lent_url *out)
{
    size_t n = 0;

    if (ask.most == 0)
        ask.most = 100;
    if (ask.hold == 0)
        ask.hold = HOLD_S * NS_PER_S;
    ck_assert_int_eq(lent_lease(r->e, &ask, r->now, rig_wall(r), out, &n),
                     STATUS_OK);
    rig_turn(r);
    return n;
}

/* The next URL that is lent; number 0: none. */
static inline struct lent_url lend_one(struct rig *r)
{
    struct lent_url u = {.number = 0};

    (void)lend(r, (struct lent_ask){.most = 1}, &u);
    return u;
}

static inline enum lent_said say(struct rig *r, uint64_t id, struct lent_word w)
{
    enum lent_said said;

    ck_assert_int_eq(lent_say(r->e, id, &w, r->now, rig_wall(r), &said),
                     STATUS_OK);
    rig_turn(r);
    return said;
}

static inline enum lent_said done(struct rig *r, uint64_t id)
{
    return say(r, id, (struct lent_word){.final = true, .http_status = 200});
}

static inline uint64_t own_lease(struct rig *r)
{
    struct engine_lease l;
    size_t n = 0;

    ck_assert_int_eq(r->e->ops->lease(r->e, 1, r->now, rig_wall(r), &l, &n),
                     STATUS_OK);
    return n > 0 ? l.id : 0;
}

#endif
