/* SPDX-License-Identifier: MIT */
/* Whole crawls of a small web, some of them killed on the way. */
#include "frontier/reader.h"
#include "tests/unit/frontier/embedded/crawl_sim.h"

FIXTURE(make_dir, remove_dir);

TEST(fetches_every_page_once_and_never_two_of_a_host_at_once)
{
    static struct sim s;

    start(&s, 5 * NS_PER_MS);
    while (step(&s))
        ;
    check_all_fetched(&s);
    finish(&s);
}

TEST(loses_nothing_over_fifty_crashes_and_refetches_only_what_was_in_flight)
{
    static struct sim s;

    start(&s, 5 * NS_PER_MS);
    while (step(&s)) { /* at least a thousand times, whatever the numbers are */
        if (rnd(&s) % 12 == 0)
            crash(&s);
        else if (rnd(&s) % 30 == 0)
            ck_ok(s.e->ops->checkpoint_now(s.e, "running", false, s.now,
                                           wall(&s)));
    }
    ck_assert_uint_gt(s.crashes, 50);
    check_all_fetched(&s);
    finish(&s);
}

static unsigned links_of[PAGES + 1];

static bool count_link(void *ctx, const struct link_row *l)
{
    (void)ctx;
    if (l->from > PAGES)
        ck_abort_msg("a link of no page");
    links_of[l->from]++;
    return true;
}

/* A page fetched again after a crash has its links recorded only once. */
TEST(a_recorded_link_graph_is_whole_after_crashes)
{
    static struct sim s;
    struct reader r;

    start(&s, 0);
    s.o.record_links = true;
    s.e->ops->close(s.e);
    reopen(&s);
    while (step(&s))
        if (s.crashes < 20 && rnd(&s) % 20 == 0)
            crash(&s);
    ck_assert_uint_ge(s.crashes, 5);
    ck_ok(s.e->ops->turn(s.e, true, s.now, wall(&s), NULL));
    s.e->ops->close(s.e);
    ck_ok(reader_open(&r, dir));
    ck_assert_int_eq(link_store_recorded(r.links), LINK_RECORD_ALL);
    ck_ok(link_store_each(r.links, count_link, NULL));
    reader_close(&r);
    for (unsigned id = 1; id <= PAGES; id++)
        if (links_of[id] != LINKS)
            ck_abort_msg("page %u has %u links", id, links_of[id]);
}

TEST(hosts_without_delay_are_asked_one_url_at_a_time_too)
{
    static struct sim s;

    start(&s, 0);
    while (step(&s))
        ;
    check_all_fetched(&s);
    finish(&s);
}

/* Its connection is open then. */
TEST(ours_a_host_without_delay_has_a_run_of_urls_before_others_have_theirs)
{
    static struct sim s;
    struct engine_lease l;
    unsigned changes = 0, leases = 0, last = HOSTS;

    start(&s, 0);
    while ((l = lease_one(&s)).id != 0) {
        struct flight *f = &s.flights[0];

        take_off(&s, &l);
        changes += host_of_page(f->page) != last;
        last = host_of_page(f->page);
        leases++;
        land(&s, f);
        ck_ok(s.e->ops->turn(s.e, true, s.now, wall(&s), NULL));
        s.now += NS_PER_MS;
    }
    check_all_fetched(&s);
    ck_assert_uint_ge(changes, leases / 8); /* the others have theirs, too */
    ck_assert_uint_lt(changes, leases / 4);
    finish(&s);
}
