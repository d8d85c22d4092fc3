/* SPDX-License-Identifier: MIT */
/* test_due_heap.c - the earliest moment comes first, against a plain array. */
#include "frontier/served/served_impl.h"

#include "tests/unit/storage/scratch.h"

static bool is_even(void *ctx, struct due_entry e)
{
    (void)ctx;
    return e.id % 2 == 0;
}

TEST(entries_come_out_by_moment_then_by_number)
{
    struct due_heap h = {0};
    uint64_t state = 1;
    struct due_entry before = {0, 0};

    for (uint32_t i = 1; i <= 1000; i++)
        due_heap_push(&h,
                      (struct due_entry){(int64_t)scratch_below(&state, 100),
                                         i});
    for (uint32_t i = 0; i < 1000; i++) {
        struct due_entry e = *due_heap_top(&h);

        ck_assert(i == 0 || due_before(before, e));
        before = e;
        due_heap_pop(&h);
    }
    ck_assert_ptr_null(due_heap_top(&h));
    SAME(h.cap, 0); /* an empty heap holds no memory */
    due_heap_fini(&h);
}

TEST(a_sweep_keeps_what_counts_in_order)
{
    struct due_heap h = {0};

    for (uint32_t i = 1; i <= 101; i++)
        due_heap_push(&h, (struct due_entry){1000 - (int64_t)i, i});
    due_heap_sweep(&h, is_even, NULL);
    for (uint32_t i = 100; i >= 2; i -= 2) {
        SAME(due_heap_top(&h)->id, i);
        due_heap_pop(&h);
    }
    ck_assert_ptr_null(due_heap_top(&h));
    due_heap_fini(&h);
}
