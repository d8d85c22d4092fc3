/* SPDX-License-Identifier: MIT */
/* test_host_table.c - hosts that rest, and the order in which they wake. */
#include "frontier/hosts/host_table.h"
#include "tests/unit/unit.h"

#define MANY 5000 /* more than a part of a line holds */

/* A host that was asked, as the frontier leaves it. */
static struct host_queue *asked(struct host_table *t, uint32_t queue)
{
    struct host_queue *h = host_table_make(t, queue);

    h->active = h->handed_out = true;
    return h;
}

static void rest(struct host_table *t, uint32_t queue, int64_t due)
{
    host_table_rest(t, asked(t, queue), (struct host_turn){due, queue});
}

static uint32_t wake(struct host_table *t, struct host_turn *turn)
{
    uint32_t queue = host_table_first(t, turn);

    if (queue != 0) {
        host_table_pass(t);
        (void)host_table_make(t, queue);
    }
    return queue;
}

TEST(hosts_wake_in_the_order_of_their_turns_and_are_told_no_later_ones)
{
    struct host_table t;
    struct host_turn turn;

    host_table_init(&t);
    for (uint32_t q = 1; q <= MANY; q++)
        rest(&t, q, 10 * (int64_t)q);
    ck_assert_uint_eq(t.resting, MANY);
    ck_assert_uint_eq(t.awake, 0);
    for (uint32_t q = 1; q <= MANY; q++) {
        ck_assert_uint_eq(wake(&t, &turn), q);
        ck_assert_int_le(turn.due, 10 * (int64_t)q);
        ck_assert_int_gt(turn.due, 10 * ((int64_t)q - 1100));
    }
    ck_assert_uint_eq(wake(&t, &turn), 0);
    ck_assert_uint_eq(t.resting, 0);
    host_table_fini(&t);
}

TEST(a_resting_host_takes_a_dozen_octets)
{
    struct host_table t;

    host_table_init(&t);
    for (uint32_t q = 1; q < 1 << 20; q++)
        host_table_rest_unasked(&t, q, q);
    ck_assert_uint_lt(host_table_memory(&t), (UINT64_C(13) << 20));
    for (uint32_t q = 1; q < 1 << 20; q++) {
        struct host_turn turn;

        ck_assert_uint_eq(wake(&t, &turn), q);
        host_table_forget(&t, q);
    }
    ck_assert_uint_le(host_table_memory(&t), (UINT64_C(8) << 20) + 8192);
    host_table_fini(&t);
}

Suite *suite_host_table(void);
