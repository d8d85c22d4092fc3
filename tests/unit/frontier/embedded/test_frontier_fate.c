/* SPDX-License-Identifier: MIT */
/* The life of one URL: its tries, its host's delay, the limits that end it. */
#include "frontier/embedded/frontier_ops.h"
#include "tests/unit/frontier/embedded/crawl_sim.h"

static struct engine_done failure(struct sim *s, uint64_t id,
                                  enum outcome_reason reason, uint16_t http)
{
    return (struct engine_done){
        .id = id,
        .outcome = {OUTCOME_FAILED, reason, http},
        .transient = true,
        .row = {.at_ms = wall(s)},
        .host = {.ended = s->now, .crawl_delay_ms = -2, .retry_after_ms = -1},
    };
}

static void ack(struct sim *s, struct engine_done *d)
{
    ck_ok(s->e->ops->ack(s->e, d, 1, s->now, wall(s)));
}

TIMEOUT(30);
FIXTURE(make_dir, remove_dir);

#define DAY (INT64_C(86400) * NS_PER_S)

/* Blocks the first host and ends the process. */
static void block_and_end(struct sim *s, int64_t retry_after_ms)
{
    struct engine_done d;

    start(s, NS_PER_S);
    d = failure(s, lease_one(s).id, REASON_HTTP, 429);
    d.host.slow_down = true;
    d.host.retry_after_ms = retry_after_ms;
    ack(s, &d);
    ck_ok(s->e->ops->checkpoint_now(s->e, "stopped", true, s->now, wall(s)));
    s->e->ops->close(s->e);
}

static void change_store(const char *sql)
{
    char path[512];
    sqlite3 *h = NULL;

    snprintf(path, sizeof path, "%s/frontier.db", dir);
    ck_assert_int_eq(sqlite3_open(path, &h), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(h, sql, NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_close(h), SQLITE_OK);
}

/* A block that a server asked for lasts a day at most; one that a person set
 * lasts as long as it says. */
TEST(a_block_from_the_store_lasts_a_day_unless_a_person_set_it)
{
    static const char *const reasons[] = {"retry_after", "back_off", "blocked"};
    static struct sim s;
    char sql[256];

    block_and_end(&s, 5000);
    snprintf(sql, sizeof sql,
             "UPDATE queue_state SET reason = '%s', blocked_until = %lld;"
             "UPDATE retry SET due = due + 86400000000",
             reasons[_i], (long long)(wall(&s) + 1000 * (DAY / NS_PER_MS)));
    change_store(sql);
    reopen(&s);
    s.now += DAY - NS_PER_S;
    ck_assert_uint_eq(lease_one(&s).id, 0);
    s.now += 2 * NS_PER_S;
    ck_assert_uint_eq(lease_one(&s).id, _i < 2 ? 1 : 0);
    s.e->ops->close(s.e);
}

/* The last manifest is from before the clock was set back, the back-off is
 * not. */
TEST(a_back_off_that_began_after_the_clock_was_set_back_holds)
{
    static struct sim s;
    struct engine_done d;

    start(&s, NS_PER_S);
    s.now += DAY;
    ck_ok(s.e->ops->checkpoint_now(s.e, "stopped", true, s.now, wall(&s)));
    s.e->ops->close(s.e);
    s.now -= DAY / 2;
    reopen(&s);
    s.now += 2 * NS_PER_S;
    d = failure(&s, lease_one(&s).id, REASON_HTTP, 429);
    d.host.slow_down = true;
    ack(&s, &d);
    ck_ok(s.e->ops->turn(s.e, true, s.now, wall(&s), NULL));
    s.e->ops->close(s.e);
    reopen(&s);
    s.now += 5 * NS_PER_S;
    ck_assert_uint_eq(lease_one(&s).id, 0);
    s.now += 56 * NS_PER_S;
    ck_assert_uint_eq(lease_one(&s).id, 1);
    s.e->ops->close(s.e);
}

/* A wall sets a cookie on the way: 1 leads to 2, and 2 back to it. */
TEST(a_way_back_with_other_cookies_is_another_request_and_ends)
{
    static struct sim s;
    char key[64], url[64];
    struct engine_item to;
    struct engine_done d;
    struct engine_lease l;
    struct engine_stats st;

    start(&s, NS_PER_MS);
    for (unsigned step = 0; step < 3; step++) {
        l = lease_one(&s);
        ck_assert_uint_eq(l.id, step + 1);
        ck_assert_uint_eq(l.hops, step);
        ck_assert(l.seed == (step != 1));
        to = item_of(&s, step == 1 ? 0 : 1, key, url, sizeof key, 0);
        to.seed = false;
        to.hops = (uint16_t)(step + 1);
        d = (struct engine_done){.id = l.id,
                                 .outcome = {OUTCOME_REDIRECT, REASON_NONE,
                                             302},
                                 .anew = step < 2,
                                 .outlinks = &to,
                                 .outlink_count = 1,
                                 .host = {.ended = s.now,
                                          .crawl_delay_ms = -2,
                                          .retry_after_ms = -1}};
        ack(&s, &d);
        s.now += NS_PER_S;
    }
    s.e->ops->stats(s.e, &st);
    ck_assert_uint_eq(st.queued, 0);
    ck_assert_uint_eq(st.redirects, 2); /* the first counts once */
    ck_assert_uint_eq(st.seeds_failed, 1);
    ck_assert_uint_eq(frontier_store_counter(frontier_store_of(s.e),
                                             "redirect.redirect_loop"),
                      1);
    s.e->ops->close(s.e);
}

TEST(the_page_limit_is_never_overrun)
{
    static struct sim s;
    struct engine_stats st;

    start(&s, 0);
    s.e->ops->close(s.e);
    s.o.limit_pages = 100;
    reopen(&s);
    for (int i = 0; i < 5000; i++)
        step(&s);
    s.e->ops->stats(s.e, &st);
    ck_assert_uint_eq(st.pages, 100);
    ck_assert_uint_gt(st.queued, 0);
    s.e->ops->close(s.e);
}
