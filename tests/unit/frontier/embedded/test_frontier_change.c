/* SPDX-License-Identifier: MIT */
/*
 * test_frontier_change.c - options that change while the frontier is open, and
 * which hosts it lists for a person.
 */
#include "tests/unit/frontier/engine_rig.h"

/* One connection a host, and this delay. */
static void begin(struct rig *r, int64_t delay)
{
    rig_init(r);
    r->o.conns_per_host = 1;
    r->o.schedule.delay = delay;
    r->o.schedule.max_delay = 3600 * NS_PER_S;
    rig_create(r);
}

/* ---- hosts ---- */

static struct engine_host_row rows[8];

static size_t hosts(struct rig *r, enum engine_host_order by, size_t most)
{
    bool all = false;
    size_t n = r->e->ops->hosts(r->e, by, most, r->now, rows, &all);

    ck_assert(all);
    return n;
}

TEST(the_biggest_of_many_hosts_are_found)
{
    struct rig r;
    char url[64];

    begin(&r, 0);
    for (int host = 0; host < 50; host++)
        for (int page = 0; page <= (host * 7) % 50; page++) {
            snprintf(url, sizeof url, "http://h%d.test/%d", host, page);
            rig_seed(&r, url);
        }
    ck_assert_uint_eq(hosts(&r, ENGINE_HOSTS_BIGGEST, 3), 3);
    ck_assert_uint_eq(rows[0].queued, 50);
    ck_assert_uint_eq(rows[1].queued, 49);
    ck_assert_uint_eq(rows[2].queued, 48);
    rig_fini(&r);
}
