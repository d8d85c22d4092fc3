/* SPDX-License-Identifier: MIT */
/* The stats that a frontier reports, compared with what was done to it. */

#include "frontier/crawl/frontier_impl.h"
#include "frontier/stats.h"
#include "tests/unit/frontier/frontier_rig.h"
#include "tests/unit/unit.h"

static struct frontier_stats watch(struct rig *r)
{
    struct frontier_stats w;

    frontier_get_stats(r->e, r->now, &w);
    return w;
}
static void finish(struct rig *r, struct outcome o)
{
    uint64_t id = rig_lease(r);

    ck_assert_uint_ne(id, 0);
    rig_ack(r, id, o, NULL, 0);
}

/* The first layer gets half of the promised rate; with only a few keys in it,
 * chance would decide what is measured. */
TEST(the_first_of_many_layers_is_large_enough_for_its_rate)
{
    struct frontier_stats w;
    char text[300][32];
    struct url_item links[300];
    struct rig r;

    rig_init(&r);
    r.o.store.filter_kind = "stacked";
    rig_create(&r);
    rig_seed(&r, "http://a.test/");
    for (int i = 0; i < 300; i++) {
        snprintf(text[i], sizeof text[i], "http://a.test/%d", i);
        links[i] = rig_item(&r, text[i]);
    }
    rig_page(&r, links, 300);
    rig_commit(&r);
    w = watch(&r);
    ck_assert(!w.filter.overfull);
    ck_assert_double_lt(w.filter.predicted, w.filter.promised / 1000);
    rig_fini(&r);
}

TEST(what_failed_in_too_many_ways_is_told_as_other)
{
    struct frontier_stats w;
    uint64_t sum = 0;
    struct rig r;

    rig_init(&r);
    rig_create(&r);
    for (int i = 0; i < 30; i++) {
        char url[64];

        snprintf(url, sizeof url, "http://h%d.test/", i);
        rig_seed(&r, url);
    }
    for (uint16_t i = 0; i < 30; i++)
        finish(&r, (struct outcome){OUTCOME_FAILED, REASON_HTTP,
                                    (uint16_t)(400 + i)});
    w = watch(&r);
    ck_assert_uint_eq(w.failure_count, STATS_FAILURES);
    ck_assert_str_eq(w.failures[STATS_FAILURES - 1].why, "other");
    for (int i = 0; i < STATS_FAILURES; i++)
        sum += w.failures[i].count;
    ck_assert_uint_eq(sum, 30);
    rig_fini(&r);
}

TEST(ours_a_census_of_many_hosts_shows_its_last_whole_lap)
{
    enum { HOSTS = 30000 };
    struct rig r;

    rig_init(&r);
    rig_create(&r);
    for (int i = 0; i < HOSTS; i++) {
        char url[64];

        snprintf(url, sizeof url, "http://h%d.test/", i);
        rig_seed(&r, url);
    }
    r.now += NS_PER_S;
    ck_assert_uint_eq(watch(&r).hosts.ready, 0); /* the first round goes on */
    ck_assert_uint_eq(watch(&r).hosts.ready, HOSTS);
    ck_assert_uint_eq(watch(&r).hosts.ready, HOSTS);
    rig_fini(&r);
}

/* Segments grow from the keys that the store has, all of them: if it gave
 * fewer, the filter would not believe it and would not grow. */
TEST(the_filter_grows_by_the_keys_of_the_store)
{
    struct rig r;

    rig_init(&r);
    rig_create(&r);
    for (unsigned i = 0; i < 200000; i++) {
        char url[64];
        struct url_item item;

        snprintf(url, sizeof url, "http://h.test/%u", i);
        item = rig_item(&r, url);
        SAME(frontier_put(r.e, 0, &item, 1, RIG_WALL, NULL), STATUS_OK);
        if (i % 20000 == 0)
            rig_commit(&r);
    }
    ck_assert(!watch(&r).filter.overfull);
    ck_assert_double_le(watch(&r).filter.predicted, 0.0093);
    rig_fini(&r);
}

/* The seen check has to know, since it yields them memory. */
TEST(what_hosts_hold_beyond_their_part_is_told_at_commits)
{
    enum { HOSTS = 40000, EACH = 1000 };
    static char text[EACH][32];
    static struct url_item links[EACH];
    const struct seen_store *base;
    struct rig r;

    rig_init(&r);
    r.o.store.memory = UINT64_C(8) << 20;
    r.o.budgets.host_pages = 1000; /* so that none rests */
    rig_create(&r);
    base = ((const struct frontier *)r.e)->base;
    rig_seed(&r, "http://a.test/");
    for (int i = 0; i < HOSTS / EACH; i++) {
        for (int k = 0; k < EACH; k++) {
            snprintf(text[k], sizeof text[k], "http://h%d.test/", i * EACH + k);
            links[k] = rig_item(&r, text[k]);
        }
        rig_page(&r, links, EACH);
        rig_commit(&r);
        if (i == 0)
            ck_assert_uint_eq(base->beyond, 0);
    }
    ck_assert_uint_gt(base->beyond, UINT64_C(2) << 20);
    rig_fini(&r);
}

Suite *suite_frontier_stats(void);
