/* SPDX-License-Identifier: MIT */
/* test_turn_pace.c - how long a turn waits for its reports. */
#include "crawler/crawl_impl.h"

#include "base/clock.h"
#include "tests/unit/unit.h"

enum { MOST = 256 };

static const int64_t t0 = 1000 * NS_PER_S;

/* Hosts without a delay, or with a short one. */
static struct turn_pace in_haste(void)
{
    struct turn_pace p = {0};

    turn_pace_leased(&p, 0, t0);
    return p;
}

TEST(in_haste_a_turn_waits_for_a_part_of_many)
{
    static const struct {
        size_t out, enough;
    } table[] = {{32, 4}, {64, 8}, {800, 100}, {2048, MOST}, {100000, MOST}};
    const struct turn_pace p = in_haste();

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct turn_wait w =
            turn_pace_wait(&p, table[i].out, MOST, 3 * NS_PER_S, t0);

        ck_assert_int_eq(w.first, 3 * NS_PER_S);
        ck_assert_uint_eq(w.enough, table[i].enough);
        ck_assert_int_eq(w.more, NS_PER_MS);
    }
}

/* A few fast hosts without a delay: each report may lease the next URL. */
TEST(in_haste_any_report_of_few_begins_a_turn)
{
    const struct turn_pace p = in_haste();

    for (size_t out = 0; out < 32; out++)
        ck_assert_uint_le(turn_pace_wait(&p, out, MOST, 0, t0).enough, 1);
    ck_assert_int_eq(turn_pace_wait(&p, 1, MOST, 0, t0).first, 0);
}

/* A host that is due is served within two hundredths of its delay. */
TEST(at_leisure_turns_are_milliseconds_apart)
{
    const int64_t shortest = 250 * NS_PER_MS;
    struct turn_pace p = {0};
    struct turn_wait w;

    turn_pace_leased(&p, shortest, t0);
    for (size_t out = 0; out < 3000; out += 100) {
        w = turn_pace_wait(&p, out, MOST, 0, t0);
        ck_assert_uint_eq(w.enough, MOST);
        ck_assert_int_ge(w.first, NS_PER_MS);
        ck_assert_int_le(w.first + w.more, shortest / 50);
    }
    w = turn_pace_wait(&p, 1, MOST, NS_PER_S, t0);
    ck_assert_int_eq(w.first, NS_PER_S);
}

/* One host with a short delay among thousands sets the pace. */
TEST(haste_lasts_as_long_as_a_hurried_host_has_leases)
{
    struct turn_pace p = {0};

    turn_pace_leased(&p, 249 * NS_PER_MS, t0);
    turn_pace_leased(&p, NS_PER_S, t0 + NS_PER_S);
    ck_assert_uint_eq(turn_pace_wait(&p, 8, MOST, 0, t0 + NS_PER_S).enough, 0);
    ck_assert_uint_eq(turn_pace_wait(&p, 8, MOST, 0, t0 + NS_PER_S + 1).enough,
                      MOST);
    turn_pace_leased(&p, 0, t0 + 2 * NS_PER_S);
    ck_assert_uint_eq(turn_pace_wait(&p, 8, MOST, 0, t0 + 3 * NS_PER_S).enough,
                      0);
}
