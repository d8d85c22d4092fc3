/* SPDX-License-Identifier: MIT */
/*
 * test_frontier_history.c - weeks of refreshes in simulated time: what a crawl
 * that never ends takes of disk and memory, with --keep-history.
 */
#include <sys/stat.h>

#include "frontier/refresh/refresh_rule.h"
#include "tests/unit/frontier/engine_rig.h"

#define PAGES 100
#define HOUR  INT64_C(3600000) /* ms */
#define WEEK  (7 * 24)         /* hours */
#define LINKS 3

static void begin(struct rig *r, unsigned keep)
{
    rig_init(r);
    r->o.refresh = (struct refresh_rules){.every_ms = HOUR,
                                          .min_ms = HOUR,
                                          .share = 0.5,
                                          .keep_history = keep};
    r->o.record_links = true;
    r->o.watch_near = true;
    r->o.in_flight = PAGES;
    r->o.conns_per_host = PAGES;
    r->o.schedule.delay = 0;
    rig_create(r);
    for (unsigned i = 0; i < PAGES; i++) {
        char url[64];

        snprintf(url, sizeof url, "http://a.test/%u", i);
        rig_seed(r, url);
    }
}

/* A third of the pages change each hour, a third is unchanged by a 304, the
 * rest by its body. Some changes are small ones, some hours a page fails. */
static struct engine_done answer(struct rig *r, const struct engine_lease *l,
                                 unsigned hour, struct engine_item *links)
{
    uint64_t version = l->id % 3 == 0 ? hour + 1 : 1;
    struct engine_done d = {
        .id = l->id,
        .outcome = {OUTCOME_FETCHED, REASON_NONE, 200},
        .row = {.at_ms = rig_wall(r),
                .body_digest = {l->id, version},
                .body_print = l->id * 1000 + version,
                .body_bytes = 1000,
                .simhash = l->id * UINT64_C(0x9e3779b97f4a7c15) + version % 4,
                .links = LINKS},
        .outlinks = links,
        .outlink_count = LINKS,
        .host = {.ended = r->now, .crawl_delay_ms = -2, .retry_after_ms = -1},
    };

    if (l->last.seq != 0 && l->id % 3 == 1) {
        d.outcome = (struct outcome){OUTCOME_FETCHED, REASON_UNCHANGED, 304};
        d.outlink_count = 0;
    } else if (l->id % 3 == 2 && hour % 50 == 10) {
        d.outcome = (struct outcome){OUTCOME_FAILED, REASON_HTTP, 500};
        d.row.body_digest = (struct digest){0, 0};
        d.row.simhash = 0;
        d.outlink_count = 0;
    }
    return d;
}

/* All pages, once. */
static void pass_hour(struct rig *r, unsigned hour)
{
    static struct engine_lease l[PAGES];
    static struct engine_done d[PAGES];
    static struct engine_item links[LINKS];
    static const char *const to[LINKS] = {"http://a.test/1", "http://a.test/2",
                                          "http://a.test/3"};
    size_t all = 0;

    for (unsigned i = 0; i < LINKS; i++)
        links[i] = rig_item(r, to[i]);
    r->now += HOUR * NS_PER_MS;
    while (all < PAGES) {
        size_t n = 0;

        ck_ok(r->e->ops->lease(r->e, PAGES, r->now, rig_wall(r), l, &n));
        ck_assert_uint_gt(n, 0);
        for (size_t i = 0; i < n; i++)
            d[i] = answer(r, &l[i], hour, links);
        ck_ok(r->e->ops->ack(r->e, d, n, r->now, rig_wall(r)));
        rig_turn(r);
        all += n;
    }
    /* An hour has many more turns. */
    while (rig_stats(r).rejudging)
        rig_turn(r);
}

/* Octets of the database without its log, after a checkpoint. */
static uint64_t disk(struct rig *r)
{
    char path[4096];
    struct stat s;

    ck_ok(
        r->e->ops->checkpoint_now(r->e, "running", false, r->now, rig_wall(r)));
    snprintf(path, sizeof path, "%s/frontier.db", r->at.dir);
    ck_assert_int_eq(stat(path, &s), 0);
    return (uint64_t)s.st_size;
}

TIMEOUT(120);

TEST_LOOP(weeks_of_refreshes_take_no_more_disk_and_memory_than_the_first, 1, 3)
{
    const unsigned keep = (unsigned)_i;
    uint64_t size, memory, all;
    struct reader reader;
    struct rig r;
    int64_t rows = 0, links = 0;

    begin(&r, keep);
    for (unsigned hour = 0; hour < WEEK; hour++)
        pass_hour(&r, hour);
    size = disk(&r);
    memory = r.e->ops->memory(r.e).all;
    for (unsigned hour = WEEK; hour < 3 * WEEK; hour++) {
        pass_hour(&r, hour);
        if (hour == 2 * WEEK)
            rig_crash(&r);
    }
    /* A quarter more rows, and a thousand, come between two passes. */
    all = PAGES * 3 * WEEK;
    ck_assert_uint_le(disk(&r), size + size / 8);
    ck_assert_uint_le(r.e->ops->memory(r.e).all, memory + memory / 8);
    ck_assert_uint_eq(rig_stats(&r).refreshed, all - PAGES);
    rig_stop(&r);
    rig_verify(&r);
    ck_ok(reader_open(&reader, r.at.dir));
    ck_ok(db_number(reader.db, "SELECT count(*) FROM fetch", &rows));
    ck_ok(db_number(reader.db,
                    "SELECT count(*) FROM link_list l, json_each(l.links)",
                    &links));
    ck_assert_int_ge(rows, PAGES * (int64_t)keep);
    ck_assert_int_le(rows, PAGES * 3 * ((int64_t)keep + 1) * 5 / 4 + 1000);
    ck_assert_int_le(links, rows * LINKS);
    ck_ok(page_store_verify_bodies(reader.pages, &size));
    ck_ok(page_store_verify_near(reader.pages, &size));
    ck_ok(page_store_verify_last(reader.pages, PAGES));
    ck_assert_uint_lt(size, (uint64_t)rows + 65536);
    reader_close(&reader);
    rig_fini(&r);
}

TEST(all_fetches_stay_unless_asked_otherwise)
{
    struct reader reader;
    struct rig r;
    int64_t rows = 0;

    begin(&r, 0);
    for (unsigned hour = 0; hour < 30; hour++)
        pass_hour(&r, hour);
    /* Asked for by a running crawl: at once, and again when it is more. */
    r.o.refresh.keep_history = 2;
    r.e->ops->set_refresh(r.e, &r.o.refresh);
    ck_assert(rig_stats(&r).rejudging);
    ck_assert_int_eq(r.e->ops->next_due(r.e, r.now, NULL), r.now);
    ck_ok(reader_open(&reader, r.at.dir));
    ck_ok(db_number(reader.db, "SELECT count(*) FROM fetch", &rows));
    ck_assert_int_eq(rows, 30 * PAGES);
    reader_close(&reader);
    while (rig_stats(&r).rejudging)
        rig_turn(&r);
    ck_assert_uint_gt(rig_counter(&r, "history_removed"), 26 * PAGES);
    rig_stop(&r);
    rig_verify(&r);
    rig_fini(&r);
}
