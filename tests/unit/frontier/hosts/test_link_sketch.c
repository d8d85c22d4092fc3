/* SPDX-License-Identifier: MIT */
/* test_link_sketch.c - the sketch against exact counts. */
#include <stdlib.h>

#include "base/mem.h"
#include "frontier/hosts/link_sketch.h"
#include "tests/unit/unit.h"

#define URLS  20000
#define LINKS 60000

static struct digest nth(uint64_t i)
{
    struct digest d = {(i + 1) * UINT64_C(0x9e3779b97f4a7c15),
                       (i + 1) * UINT64_C(0xc4ceb9fe1a85ec53)};

    d.hi ^= d.hi >> 29;
    d.lo ^= d.lo >> 31;
    return d;
}

TEST(never_counts_too_little_and_seldom_too_much)
{
    struct link_sketch *s = link_sketch_new(1 << 18);
    uint32_t *exact = xcalloc(URLS, sizeof *exact), random = 1;
    unsigned wrong = 0;

    for (unsigned i = 0; i < LINKS; i++) {
        uint32_t url, count, most;

        random = random * 1664525U + 1013904223U;
        url = (random >> 8) % URLS;
        if (random >> 30 != 0)
            url %= 40; /* most links go to few */
        count = link_sketch_add(s, nth(url));
        most = ++exact[url] < LINK_SKETCH_MOST ? exact[url] : LINK_SKETCH_MOST;
        ck_assert_uint_ge(count, most);
        wrong += count > most;
    }
    ck_assert_uint_lt(wrong, LINKS / 100);
    ck_assert_uint_ge(link_sketch_memory(s), 1 << 18);
    ck_assert_uint_le(link_sketch_memory(s), (1 << 18) + 64);
    ck_assert_uint_eq(link_sketch_memory(NULL), 0);
    free(exact);
    link_sketch_free(s);
}

TEST(a_count_can_be_lifted_but_not_lowered)
{
    struct link_sketch *s = link_sketch_new(0);

    ck_assert_uint_eq(link_sketch_add(s, nth(1)), 1);
    link_sketch_lift(s, nth(1), 7);
    ck_assert_uint_eq(link_sketch_add(s, nth(1)), 8);
    link_sketch_lift(s, nth(1), 3);
    ck_assert_uint_eq(link_sketch_add(s, nth(1)), 9);
    link_sketch_lift(s, nth(1), 4000);
    ck_assert_uint_eq(link_sketch_add(s, nth(1)), LINK_SKETCH_MOST);
    link_sketch_free(s);
}
