/* SPDX-License-Identifier: MIT */
/* The stats that an engine reports, compared with what was done to it. */
#include <string.h>

#include "frontier/embedded/frontier_impl.h"
#include "frontier/stats.h"
#include "tests/unit/frontier/engine_rig.h"
#include "tests/unit/unit.h"

static struct frontier_stats watch(struct rig *r)
{
    struct frontier_stats w;

    r->e->ops->get_stats(r->e, r->now, &w);
    return w;
}

static const struct outcome fetched = {OUTCOME_FETCHED, REASON_NONE, 200};
static const struct outcome cut = {OUTCOME_FETCHED, REASON_TRUNCATED_LENGTH,
                                   200};
static const struct outcome missing = {OUTCOME_FAILED, REASON_HTTP, 404};
static const struct outcome broken = {OUTCOME_FAILED, REASON_HTTP, 500};
static const struct outcome late = {OUTCOME_FAILED, REASON_TIMEOUT, 0};
static const struct outcome denied = {OUTCOME_DENIED, REASON_ROBOTS, 0};

static void finish(struct rig *r, struct outcome o)
{
    uint64_t id = rig_lease(r);

    ck_assert_uint_ne(id, 0);
    rig_ack(r, id, o, NULL, 0);
}

TEST(each_url_is_told_once_by_status_and_reason_over_all_runs)
{
    const struct outcome all[] = {fetched, cut, missing, broken, late, denied};
    struct frontier_stats w;
    uint64_t sum = 0;
    struct rig r;

    rig_init(&r);
    rig_create(&r);
    for (int i = 0; i < 6; i++) {
        char url[64];

        snprintf(url, sizeof url, "http://h%d.test/", i);
        rig_seed(&r, url);
    }
    for (int i = 0; i < 6; i++)
        finish(&r, all[i]);
    rig_stop(&r);
    rig_reopen(&r);
    w = watch(&r);
    ck_assert_uint_eq(w.done[OUTCOME_FETCHED][REASON_NONE], 1);
    ck_assert_uint_eq(w.done[OUTCOME_FETCHED][REASON_TRUNCATED_LENGTH], 1);
    ck_assert_uint_eq(w.done[OUTCOME_FAILED][REASON_NONE], 0);
    ck_assert_uint_eq(w.done[OUTCOME_FAILED][REASON_HTTP], 2);
    ck_assert_uint_eq(w.done_http[OUTCOME_FAILED][4], 1);
    ck_assert_uint_eq(w.done_http[OUTCOME_FAILED][5], 1);
    ck_assert_uint_eq(w.done[OUTCOME_FAILED][REASON_TIMEOUT], 1);
    ck_assert_uint_eq(w.done[OUTCOME_DENIED][REASON_ROBOTS], 1);
    for (int s = 0; s < OUTCOME_STATUS_COUNT_; s++)
        for (int i = 0; i < REASON_COUNT_; i++)
            sum += w.done[s][i];
    ck_assert_uint_eq(sum, 6);
    rig_fini(&r);
}

TEST(every_answer_of_the_seen_check_is_told_once)
{
    struct engine_item links[3];
    struct frontier_stats w;
    struct rig r;

    rig_init(&r);
    rig_create(&r);
    rig_seed(&r, "http://a.test/");
    links[0] = rig_item(&r, "http://a.test/new");
    links[1] = rig_item(&r, "http://a.test/new");
    links[2] = rig_item(&r, "http://a.test/");
    rig_page(&r, links, 3);
    w = watch(&r);
    ck_assert_uint_eq(w.certainly_new, 2);
    ck_assert_uint_eq(w.in_batch, 1);
    ck_assert_uint_eq(w.hot + w.maybe_seen, 1);
    ck_assert_uint_eq(w.false_positives + w.unsure, 0);
    ck_assert(w.filter.used && !w.filter.overfull);
    ck_assert_uint_eq(w.filter.keys, 2);
    ck_assert(w.filter.bytes > 0 && w.filter.segments == 4096);
    ck_assert_double_eq(w.filter.promised, 0.01);
    rig_commit(&r); /* the store's counters include them now: count them once */
    w = watch(&r);
    ck_assert_uint_eq(w.certainly_new, 2);
    ck_assert_uint_eq(w.in_batch, 1);
    rig_fini(&r);
}

/* The first layer gets half of the promised rate; with only a few keys in it,
 * chance would decide what is measured. */
TEST(the_first_of_many_layers_is_large_enough_for_its_rate)
{
    struct frontier_stats w;
    char text[300][32];
    struct engine_item links[300];
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

TEST(what_failed_is_told_by_why_the_most_first)
{
    const struct outcome all[] = {late, missing, broken, missing, denied};
    struct frontier_stats w;
    struct rig r;

    rig_init(&r);
    rig_create(&r);
    for (int i = 0; i < 5; i++) {
        char url[64];

        snprintf(url, sizeof url, "http://h%d.test/", i);
        rig_seed(&r, url);
    }
    for (int i = 0; i < 5; i++)
        finish(&r, all[i]);
    w = watch(&r);
    ck_assert_uint_eq(w.failure_count, 3);
    ck_assert_str_eq(w.failures[0].why, "http_404");
    ck_assert_uint_eq(w.failures[0].count, 2);
    ck_assert_uint_eq(w.failures[1].count + w.failures[2].count, 2);
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

/* Wilson, 1927: of 0 among 5000, 95 %, the bound is z2 / (n + z2). */
TEST(the_filter_tells_its_groups_and_what_was_measured)
{
    const double z2 = 1.959964 * 1.959964;
    struct frontier_stats w;
    struct rig r;
    char url[64];
    double fill = 0;

    rig_init(&r);
    rig_create(&r);
    w = watch(&r);
    ck_assert_double_eq(w.filter.low, 0);
    ck_assert_double_eq(w.filter.high, 1);
    for (int i = 0; i < 5000; i++) {
        snprintf(url, sizeof url, "http://h%d.test/%d", i % 10, i);
        rig_seed(&r, url);
    }
    w = watch(&r);
    ck_assert_str_eq(w.filter.kind, "scalable");
    ck_assert_uint_eq(w.filter.groups, 64);
    ck_assert_uint_eq(w.filter.segments, 4096);
    ck_assert_uint_eq(w.filter.asked, 5000);
    ck_assert_double_le(w.filter.measured, 0.02);
    ck_assert_double_eq(w.filter.measured,
                        (double)w.false_positives / (double)w.filter.asked);
    ck_assert_double_le(w.filter.low, w.filter.measured);
    ck_assert_double_gt(w.filter.high, w.filter.measured);
    if (w.false_positives == 0)
        ck_assert_double_eq_tol(w.filter.high, z2 / (5000 + z2), 1e-6);
    for (unsigned i = 0; i < w.filter.groups; i++)
        fill += (double)w.filter.group_fill[i];
    ck_assert_double_gt(fill, 0);
    ck_assert_double_lt(fill, 64);
    rig_fini(&r);
}

TEST(hosts_are_ready_blocked_or_neither)
{
    const struct outcome busy = {OUTCOME_FAILED, REASON_HTTP, 503};
    struct host_stats hosts;
    struct engine_done d;
    struct rig r;

    rig_init(&r);
    r.o.schedule.delay = 10 * NS_PER_S;
    r.o.conns_per_host = 1;
    rig_create(&r);
    rig_seed(&r, "http://a.test/1");
    rig_seed(&r, "http://a.test/2");
    rig_seed(&r, "http://b.test/1");
    r.now += NS_PER_S;
    ck_assert_uint_eq(watch(&r).hosts.ready, 2);
    d = (struct engine_done){.id = rig_lease(&r),
                             .outcome = busy,
                             .row = {.at_ms = RIG_WALL},
                             .host = {.ended = r.now,
                                      .crawl_delay_ms = -2,
                                      .retry_after_ms = 60000,
                                      .slow_down = true}};
    hosts = watch(&r).hosts;
    ck_assert_uint_eq(hosts.ready, 1); /* the other host's only URL is leased */
    ck_ok(r.e->ops->ack(r.e, &d, 1, r.now, RIG_WALL));
    hosts = watch(&r).hosts;
    ck_assert_uint_eq(hosts.ready, 1);
    ck_assert_uint_eq(hosts.blocked, 1);
    ck_assert_uint_eq(hosts.dead, 0);
    r.now += 61 * NS_PER_S;
    hosts = watch(&r).hosts;
    ck_assert_uint_eq(hosts.ready, 2);
    ck_assert_uint_eq(hosts.blocked, 0);
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
        struct engine_item item;

        snprintf(url, sizeof url, "http://h.test/%u", i);
        item = rig_item(&r, url);
        SAME(r.e->ops->put(r.e, r.o.crawl, 0, &item, 1, RIG_WALL, NULL),
             STATUS_OK);
        if (i % 20000 == 0)
            rig_commit(&r);
    }
    ck_assert(!watch(&r).filter.overfull);
    ck_assert_double_le(watch(&r).filter.predicted, 0.0093);
    rig_fini(&r);
}

TEST(commits_and_checkpoints_are_counted_and_timed)
{
    struct frontier_stats w;
    uint64_t commits, counted;
    struct rig r;

    rig_init(&r);
    rig_create(&r);
    counted = rig_stats(&r).commits;
    w = watch(&r);
    commits = histogram_count(&w.commits);
    rig_seed(&r, "http://a.test/");
    rig_commit(&r);
    rig_commit(&r); /* nothing to commit */
    w = watch(&r);
    ck_assert_uint_eq(histogram_count(&w.commits), commits + 1);
    ck_assert_uint_eq(rig_stats(&r).commits, counted + 1);
    ck_assert_uint_gt(w.commits.sum, 0);
    commits = histogram_count(&w.checkpoints);
    ck_ok(r.e->ops->checkpoint_now(r.e, "running", false, r.now, RIG_WALL + 5));
    w = watch(&r);
    ck_assert_uint_eq(histogram_count(&w.checkpoints), commits + 1);
    ck_assert_uint_eq(w.checkpoints_failed, 0);
    ck_assert_int_eq(w.checkpoint_ms, RIG_WALL + 5);
    ck_assert(!w.saving);
    rig_fini(&r);
}

/* The seen check has to know, since it yields them memory. */
TEST(what_hosts_hold_beyond_their_part_is_told_at_commits)
{
    enum { HOSTS = 40000, EACH = 1000 };
    static char text[EACH][32];
    static struct engine_item links[EACH];
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
