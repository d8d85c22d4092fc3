/* SPDX-License-Identifier: MIT */
/* test_round_robin.c - whose turn it is, against a linear search. */
#include "frontier/served/served_impl.h"

#include "tests/unit/storage/scratch.h"

#define N 200

static struct turn *first_of(struct turn *all, uint32_t cap, int64_t before)
{
    struct turn *best = NULL;

    for (int i = 0; i < N; i++) {
        if (all[i].item.place == 0 || all[i].item.key >= before ||
            (cap > 0 && all[i].leased >= cap))
            continue;
        if (best == NULL || all[i].item.key < best->item.key)
            best = &all[i];
    }
    return best;
}

/* Lease counts on both sides of the limit below which each has its own heap. */
TEST(the_least_number_of_those_that_hold_less_than_the_cap_is_first)
{
    static const uint32_t leased[] = {0, 1, 2, 9, 100, 511, 512, 600, 9000};
    static const uint32_t caps[] = {0, 1, 2, 3, 10, 500, 512, 513, 700, 10000};
    struct turn all[N] = {{{0}, 0}};
    struct round_robin t = {0};
    uint64_t state = 5;

    for (int64_t i = 1; i < 20000; i++) {
        struct turn *turn = &all[scratch_below(&state, N)];
        uint32_t cap = caps[scratch_below(&state, 10)];
        int64_t before = (int64_t)scratch_below(&state, (uint64_t)i * 2);

        if (scratch_below(&state, 4) == 0)
            round_robin_remove(&t, turn);
        else
            round_robin_set(&t, turn, i, leased[scratch_below(&state, 9)]);
        ck_assert(round_robin_first(&t, cap, before) ==
                  first_of(all, cap, before));
    }
    for (int i = 0; i < N; i++)
        round_robin_remove(&t, &all[i]);
    SAME(t.entries, 0);
    ck_assert_ptr_null(round_robin_first(&t, 0, INT64_MAX));
    round_robin_fini(&t);
}
