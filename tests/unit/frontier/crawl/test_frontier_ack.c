/* SPDX-License-Identifier: MIT */
/*
 * test_frontier_ack.c - what an acknowledgement writes and counts: tries,
 * redirects, links, and what it says of the host.
 */
#include "tests/unit/frontier/frontier_rig.h"

static const struct outcome fetched = {OUTCOME_FETCHED, REASON_NONE, 200};
static const struct outcome redirect = {OUTCOME_REDIRECT, REASON_NONE, 301};

static struct url_done done_of(struct rig *r, uint64_t id, struct outcome o)
{
    return (struct url_done){
        .id = id,
        .outcome = o,
        .row = {.at_ms = RIG_WALL},
        .host = {.ended = r->now, .retry_after_ms = -1},
    };
}

static void ack(struct rig *r, struct url_done *d)
{
    ck_ok(frontier_ack(r->e, d, 1, r->now, RIG_WALL));
}

/* ---- the rows of a URL's tries ---- */

struct tries {
    struct fetch_row rows[16];
    unsigned n;
};

static bool take_try(void *ctx, const struct fetch_row *row)
{
    struct tries *t = ctx;

    ck_assert_uint_lt(t->n, 16);
    t->rows[t->n++] = *row;
    return true;
}

/* All tries so far. */
static struct tries tries_of(struct rig *r)
{
    struct tries t = {.n = 0};
    struct reader reader;

    rig_commit(r);
    ck_ok(reader_open(&reader, r->at.dir));
    ck_ok(page_store_each(reader.pages, 0, take_try, &t));
    reader_close(&reader);
    return t;
}

/* Requests that nobody answered cost no try; of many, few have a row. */
TEST(requests_that_found_nobody_have_rows_one_two_four_eight)
{
    struct tries t;
    struct rig r;

    rig_init(&r);
    r.o.tries = 3;
    rig_create(&r);
    rig_seed(&r, "http://a.test/");
    for (int i = 0; i < 9; i++) {
        struct url_done d =
            done_of(&r, rig_lease(&r),
                    (struct outcome){OUTCOME_FAILED, REASON_CONNECT, 0});

        ck_assert_uint_eq(d.id, 1);
        d.transient = true;
        d.host.unreachable = d.host.silent = true;
        ack(&r, &d);
        r.now += 60 * NS_PER_S;
    }
    t = tries_of(&r);
    ck_assert_uint_eq(t.n, 4);
    for (unsigned i = 0; i < 4; i++) {
        ck_assert_uint_eq(t.rows[i].url, 1);
        ck_assert_uint_eq(t.rows[i].tries, 1);
        ck_assert_uint_eq(t.rows[i].reason, REASON_CONNECT);
        ck_assert(!t.rows[i].final);
    }
    ck_assert_uint_eq(rig_counter(&r, "retries"), 4);
    ck_assert_uint_eq(rig_stats(&r).queued, 1);
    rig_fini(&r);
}

/* ---- redirects ---- */

/* Leases the next URL and redirects it to `url`, `hops` from a real link. */
static struct outcome redirect_to(struct rig *r, const char *url, uint16_t hops)
{
    struct url_item to = rig_item(r, url);
    struct url_done d = done_of(r, rig_lease(r), redirect);

    to.hops = hops;
    to.kind = LINK_REDIRECT;
    d.outlinks = &to;
    d.outlink_count = 1;
    ack(r, &d);
    return d.outcome;
}

TEST(a_redirect_back_to_any_url_of_its_chain_is_a_loop)
{
    struct tries t;
    struct rig r;

    rig_init(&r);
    rig_create(&r);
    rig_seed(&r, "http://a.test/1");
    ck_assert_int_eq(redirect_to(&r, "http://a.test/2", 1).reason, REASON_NONE);
    ck_assert_int_eq(redirect_to(&r, "http://a.test/3", 2).reason, REASON_NONE);
    ck_assert_int_eq(redirect_to(&r, "http://a.test/1", 3).reason,
                     REASON_REDIRECT_LOOP);
    ck_assert_uint_eq(rig_stats(&r).redirects, 3);
    ck_assert_uint_eq(rig_stats(&r).seeds_failed, 1); /* that of the chain */
    ck_assert_uint_eq(rig_counter(&r, "redirect.redirect_loop"), 1);
    t = tries_of(&r);
    ck_assert_uint_eq(t.n, 3);
    for (unsigned i = 0; i < 3; i++)
        ck_assert_uint_eq(t.rows[i].redirect_to, i == 2 ? 1 : i + 2);
    rig_fini(&r);
}

/* ---- links ---- */

/* The same of texts that differ in up to three bits of their fingerprints; of a
 * page that was cut, nobody knows the text. */
TEST(links_of_a_text_nearly_seen_before_are_dropped_once_it_was_read)
{
    const struct outcome failed = {OUTCOME_FAILED, REASON_HTTP, 404};
    const struct outcome cut = {OUTCOME_FETCHED, REASON_TRUNCATED_LENGTH, 200};
    const struct {
        struct outcome first;
        uint64_t apart; /* bits */
        bool together, dropped;
    } all[] = {
        {fetched, 7, true, true},   {fetched, 7, false, true},
        {fetched, 15, true, false}, {fetched, 15, false, false},
        {failed, 7, true, false},   {failed, 7, false, false},
        {cut, 7, true, false},      {cut, 7, false, false},
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct url_item links[2];
        struct url_done d[2];
        struct rig r;

        rig_init(&r);
        r.o.watch_near = r.o.skip_near_dup = true;
        rig_create(&r);
        rig_seed(&r, "http://a.test/1");
        rig_seed(&r, "http://a.test/2");
        d[0] = done_of(&r, rig_lease(&r), all[i].first);
        d[1] = done_of(&r, rig_lease(&r), fetched);
        links[0] = rig_item(&r, "http://a.test/x");
        links[1] = rig_item(&r, "http://a.test/y");
        for (size_t k = 0; k < 2; k++) {
            d[k].row.simhash = UINT64_C(0x5a5a0000a5a50000);
            d[k].outlinks = &links[k];
            d[k].outlink_count = 1;
        }
        d[1].row.simhash ^= all[i].apart;
        if (all[i].together)
            ck_ok(frontier_ack(r.e, d, 2, r.now, RIG_WALL));
        else
            for (size_t k = 0; k < 2; k++)
                ack(&r, &d[k]);
        ck_assert_msg(rig_counter(&r, "dropped.near_dup") ==
                          (all[i].dropped ? 1 : 0),
                      "case %zu", i);
        ck_assert_uint_eq(rig_stats(&r).urls, all[i].dropped ? 3 : 4);
        rig_fini(&r);
    }
}

/* ---- what a response says of its host ---- */

static struct host_report host_row(struct rig *r)
{
    struct host_report row;
    bool all = false;

    ck_assert_uint_eq(frontier_hosts(r->e, HOSTS_BIGGEST, 1, r->now, &row,
                                     &all),
                      1);
    return row;
}

/* Ten URLs of one host. */
static void begin_host(struct rig *r)
{
    char url[32];

    rig_init(r);
    r->o.conns_per_host = 1;
    r->o.schedule.max_delay = 100 * NS_PER_S;
    rig_create(r);
    for (int i = 0; i < 10; i++) {
        snprintf(url, sizeof url, "http://a.test/%d", i);
        rig_seed(r, url);
    }
}

TEST(the_latency_of_a_host_is_an_average_of_its_last_responses)
{
    struct url_done d;
    struct rig r;

    begin_host(&r);
    ck_assert_uint_eq(host_row(&r).latency_us, 0);
    d = done_of(&r, rig_lease(&r), fetched);
    d.row.elapsed_ms = 80;
    ack(&r, &d);
    ck_assert_uint_eq(host_row(&r).latency_us, 80001);
    d = done_of(&r, rig_lease(&r), fetched);
    d.row.elapsed_ms = 0;
    ack(&r, &d);
    ck_assert_uint_eq(host_row(&r).latency_us, (7 * 80001 + 1) / 8);
    d = done_of(&r, rig_lease(&r),
                (struct outcome){OUTCOME_FAILED, REASON_TIMEOUT, 0});
    d.row.elapsed_ms = 9000; /* no response */
    ack(&r, &d);
    ck_assert_uint_eq(host_row(&r).latency_us, (7 * 80001 + 1) / 8);
    ck_assert_uint_eq(host_row(&r).fetched, 2);
    d = done_of(&r, rig_lease(&r), fetched);
    d.row.elapsed_ms = UINT32_MAX;
    ack(&r, &d);
    ck_assert_uint_eq(host_row(&r).latency_us, UINT32_MAX);
    rig_fini(&r);
}
