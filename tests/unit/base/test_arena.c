/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "tests/unit/unit.h"

TEST(refuses_past_its_ceiling_and_serves_again_after_a_reset)
{
    struct arena *a = arena_new(1000);

    for (int round = 0; round < 3; round++) {
        ck_assert_ptr_nonnull(arena_try(a, 600));
        ck_assert_ptr_null(arena_try(a, 600));
        ck_assert_ptr_null(arena_try(a, SIZE_MAX));
        arena_reset(a);
        ck_assert_uint_eq(arena_used(a), 0);
    }
    arena_free(a);
}

TEST(keeps_what_it_handed_out_apart_and_aligned)
{
    struct arena *a = arena_new(10 << 20);
    char *last = NULL;

    for (size_t n = 1; n < 3000; n += 7) {
        char *p = arena_try(a, n);

        ck_assert_uint_eq((uintptr_t)p % 16, 0);
        memset(p, (int)n & 0xff, n);
        if (last != NULL)
            ck_assert_int_eq(last[0], (char)((n - 7) & 0xff));
        last = p;
    }
    arena_free(a);
}
