/* SPDX-License-Identifier: MIT */
/*
 * test_order_crawl.c - whole crawls: no order, change of order or crash loses a
 * URL or has it fetched twice.
 */
#include "bench/support/order_web.h"
#include "frontier/order.h"
#include "tests/unit/frontier/crawl/crawl_sim.h"

static struct order *make(enum order_mode mode, const char *boost)
{
    const struct order_options o = {mode, &boost, boost != NULL, NULL, 0};
    struct order *made = NULL;
    struct buf why;

    buf_init(&why, 1024);
    ck_ok(order_new(&made, &o, &why));
    buf_fini(&why);
    return made;
}

TIMEOUT(120);

/* A whole crawl of 3,000 pages on 37 hosts with crashes and other orders in
 * between. */
TEST(no_order_and_no_change_of_it_loses_or_repeats_a_page)
{
    struct order *all[] = {make(ORDER_BREADTH, NULL), make(ORDER_DEPTH, NULL),
                           make(ORDER_BEST, NULL),
                           make(ORDER_BEST, "page/1=-9"),
                           make(ORDER_BEST, "page/.*7$=4")};
    struct sim s;
    unsigned steps = 0;

    make_dir();
    start(&s, 0);
    while (step(&s)) {
        if (++steps % 40 == 0)
            ck_ok(frontier_set_order(s.e, all[rnd(&s) % 5]));
        if (steps % 170 == 0) {
            s.o.order = all[rnd(&s) % 5];
            crash(&s);
        }
    }
    check_all_fetched(&s);
    ck_assert_uint_gt(s.crashes, 3);
    finish(&s);
    remove_dir();
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        order_free(all[i]);
}

/* Promise (Commands and options): order best gets at least 1.5 times the
 * in-links of breadth, for a fifth of a web with index pages. See also `make
 * bench-order`. */
/* What bench_order shows of a larger web. */
TEST(best_gets_half_as_many_in_links_again_as_breadth)
{
    struct order *best = make(ORDER_BEST, NULL);
    struct order_run run[2];
    struct order_web w;

    order_web_make(&w, 5000, 50, true);
    for (int i = 0; i < 2; i++) {
        make_dir();
        ck_ok(order_web_crawl(&w, i == 0 ? NULL : best, w.size / 5, dir,
                              &run[i]));
        ck_assert_uint_eq(run[i].pages, w.size / 5);
        remove_dir();
    }
    ck_assert_uint_ge(run[1].weight * 2, run[0].weight * 3);
    order_web_free(&w);
    order_free(best);
}
