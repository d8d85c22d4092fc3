/* SPDX-License-Identifier: MIT */
/* How many connections a fetcher keeps, given memory and descriptors. */
#include "crawler/transfer/connection_budget.h"
#include "tests/unit/unit.h"

#define MIB (UINT64_C(1) << 20)

TEST(connections_have_the_memory_that_the_engine_does_not_use)
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

TEST(connections_without_tls_cost_less_and_a_mixture_between)
{
    struct connection_budget b;

    connection_budget_init(&b, 64 * MIB, MIB, 1 << 20, 1);
    ck_assert_int_eq(connection_budget_most(&b, 0, 7),
                     (long)(64 * MIB / CONNECTION_COST_PLAIN));
    ck_assert_int_lt(connection_budget_most(&b, 1, 1),
                     connection_budget_most(&b, 0, 1));
    ck_assert_int_gt(connection_budget_most(&b, 1, 1),
                     connection_budget_most(&b, 1, 0));
    /* before the first one, each counts as the expensive kind */
    ck_assert_int_eq(connection_budget_most(&b, 0, 0),
                     connection_budget_most(&b, 1, 0));
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

TEST(transfers_share_the_memory_that_is_left_and_half_of_that_of_bodies)
{
    const uint64_t cost = CONNECTION_COST_TLS + TRANSFER_COST;
    struct connection_budget b;

    connection_budget_init(&b, 320 * MIB, 4 * MIB, 1 << 20, 2);
    ck_assert_uint_eq(connection_budget_transfers(&b, 1, 0, 128 * MIB),
                      (320 + 64) * MIB / cost);
    ck_assert_uint_gt(connection_budget_transfers(&b, 0, 1, 128 * MIB),
                      (320 + 64) * MIB / cost);
    connection_budget_update(&b, 320 * MIB); /* the engine has grown */
    ck_assert_uint_eq(connection_budget_transfers(&b, 1, 0, 128 * MIB),
                      (4 + 64) * MIB / cost);
    connection_budget_init(&b, 320 * MIB, 4 * MIB, 1024, 2);
    ck_assert_uint_eq(connection_budget_transfers(&b, 1, 0, 128 * MIB), 512);
    connection_budget_init(&b, 0, 0, 4, 2); /* there are always some */
    ck_assert_uint_eq(connection_budget_transfers(&b, 1, 0, 0), 64);
}

TEST(transfers_beyond_the_memory_that_is_left_are_charged_to_bodies)
{
    const uint64_t cost = CONNECTION_COST_PLAIN + TRANSFER_COST;
    struct connection_budget b;

    connection_budget_init(&b, 100 * cost, 10 * cost, 1 << 20, 2);
    ck_assert_uint_eq(connection_budget_excess(&b, 0, 1, 100), 0);
    ck_assert_uint_eq(connection_budget_excess(&b, 0, 1, 101), cost);
    connection_budget_update(&b, 60 * cost);
    ck_assert_uint_eq(connection_budget_excess(&b, 0, 1, 101), 61 * cost);
}

Suite *suite_connection_budget(void);
