/* SPDX-License-Identifier: MIT */
/* How many connections a fetcher keeps, given memory and descriptors. */
#include "crawler/transfer/limits.h"
#include "tests/unit/unit.h"

#define MIB (UINT64_C(1) << 20)

TEST(connections_have_the_memory_that_the_frontier_does_not_use)
{
    struct connection_budget b;
    long all, half;

    connection_budget_init(&b, 320 * MIB, 4 * MIB, 1 << 20, 2);
    all = connection_budget_most(&b, 1, 0);
    ck_assert_int_eq(all, (long)(320 * MIB / CONNECTION_COST_TLS / 2));
    connection_budget_update(&b, 160 * MIB);
    half = connection_budget_most(&b, 1, 0);
    ck_assert_int_le(2 * half, all);
    ck_assert_int_ge(2 * half, all - 2);
    connection_budget_update(&b, 1000 * MIB); /* more than it should */
    ck_assert_int_eq(connection_budget_most(&b, 1, 0),
                     (long)(4 * MIB / CONNECTION_COST_TLS / 2));
    connection_budget_update(&b, 0);
    ck_assert_int_eq(connection_budget_most(&b, 1, 0), all);
}

TEST(half_of_the_descriptors_are_for_connections_and_one_always_goes)
{
    struct connection_budget b;

    connection_budget_init(&b, 4096 * MIB, MIB, 1024, 4);
    ck_assert_int_eq(connection_budget_most(&b, 0, 1), 128);
    connection_budget_init(&b, 0, 0, 1, 4);
    ck_assert_int_eq(connection_budget_most(&b, 1, 0), 1);
}

TEST(a_budget_has_a_least_and_a_most)
{
    struct connection_budget b;

    /* 100 connections for two fetchers, then 99 */
    connection_budget_init(&b, 100 * CONNECTION_COST_PLAIN, 0, 1 << 20, 2);
    ck_assert_int_eq(connection_budget_most(&b, 0, 1), 50);
    connection_budget_update(&b, 1);
    ck_assert_int_eq(connection_budget_most(&b, 0, 1), 49);
    connection_budget_update(&b, 100 * CONNECTION_COST_PLAIN - 1);
    ck_assert_int_eq(connection_budget_most(&b, 0, 1), 1);
    connection_budget_update(&b, 100 * CONNECTION_COST_PLAIN);
    ck_assert_int_eq(connection_budget_most(&b, 0, 1), 1);
    /* half of each kind cost the mean */
    connection_budget_init(&b,
                           10 * (CONNECTION_COST_PLAIN + CONNECTION_COST_TLS),
                           0, 1 << 20, 1);
    ck_assert_int_eq(connection_budget_most(&b, 7, 7), 20);
    ck_assert_int_eq(connection_budget_most(&b, 0, 0),
                     (long)(10 * (CONNECTION_COST_PLAIN + CONNECTION_COST_TLS) /
                            CONNECTION_COST_TLS));
    /* libcurl walks them, so there is an end to it */
    connection_budget_init(&b, UINT64_MAX, 0, UINT64_MAX, 1);
    ck_assert_int_eq(connection_budget_most(&b, 0, 1), 65536);
}

Suite *suite_connection_budget(void);
