/* SPDX-License-Identifier: MIT */
/* test_cluster_reach.c - what workers tell each other of a host. */

#include "base/clock.h"
#include "frontier/cluster/cluster_reach.h"
#include "frontier/outcome.h"
#include "tests/unit/unit.h"

TEST(a_state_is_read_as_it_was_written)
{
    static const char known[] = "\3\6\5\xac\2";
    const struct external_reach in = {.answered = true,
                                      .given_up = true,
                                      .reason = 6,
                                      .failures = 5,
                                      .silent_for = 300 * NS_PER_MS};
    struct external_reach out;
    struct buf text;

    buf_init(&text, 64);
    cluster_reach_write(&in, &text);
    ck_assert(bytes_equal(buf_bytes(&text), bytes_of(known, sizeof known - 1)));
    ck_assert(cluster_reach_read(&out, buf_bytes(&text)));
    ck_assert(out.answered && out.given_up);
    ck_assert_int_eq(out.reason, 6);
    ck_assert_uint_eq(out.failures, 5);
    ck_assert_int_eq(out.silent_for, 300 * NS_PER_MS);
    buf_fini(&text);
}

TEST(a_host_that_responds_costs_an_octet)
{
    const struct external_reach in = {.answered = true};
    struct external_reach out;
    struct buf text;

    buf_init(&text, 64);
    cluster_reach_write(&in, &text);
    ck_assert_uint_eq(text.len, 1);
    ck_assert(cluster_reach_read(&out, buf_bytes(&text)));
    ck_assert(out.answered && !out.given_up && out.failures == 0);
    ck_assert(cluster_reach_read(&out, bytes_of("", 0))); /* not asked yet */
    ck_assert(!out.answered && out.failures == 0);
    buf_fini(&text);
}

TEST(what_is_cut_or_out_of_range_says_nothing)
{
    static const struct bytes bad[] = {{"\1\6", 2},
                                       {"\1\6\5", 3},
                                       {"\1\6\5\xac", 4},
                                       {"\1\6\5\xac\2.", 6},
                                       {"\1\6\0\xac\2", 5},
                                       {"\1\xff\5\xac\2", 5},
                                       {"\1\6\5\xff\xff\xff\xff\xff\xff\1",
                                        10}};
    struct external_reach out;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        out.failures = 1;
        ck_assert(!cluster_reach_read(&out, bad[i]));
        ck_assert(!out.answered && out.failures == 0);
    }
}
