/* SPDX-License-Identifier: MIT */
/* test_number_set.c - a sparse set of numbers, against a plain one. */
#include "base/number_set.h"

#include "base/mem.h"
#include "tests/unit/unit.h"

#define SPAN 100000

TEST(has_what_was_added_and_nothing_else)
{
    static bool model[SPAN];
    const uint64_t far = UINT64_MAX - SPAN;
    struct number_set s;
    uint64_t x = 7;

    number_set_init(&s, SIZE_MAX);
    ck_assert(!number_set_has(&s, 0));
    for (unsigned i = 0; i < 30000; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        model[(x >> 33) % SPAN] = true;
        number_set_add(&s, far + (x >> 33) % SPAN);
    }
    for (uint64_t n = 0; n < SPAN; n++) {
        ck_assert_int_eq(number_set_has(&s, far + n), model[n]);
        ck_assert(!number_set_has(&s, n));
    }
    /* Neighbours share words: half of them at least are in use. */
    ck_assert_uint_le(number_set_memory(&s), SPAN / 64 * 4 * 16);
    number_set_fini(&s);
}

TEST(a_set_that_gets_no_memory_is_full)
{
    struct number_set s;

    number_set_init(&s, SIZE_MAX);
    mem_fail_after(1);
    number_set_add(&s, 5);
    mem_fail_after(0);
    ck_assert(number_set_has(&s, 5) && number_set_has(&s, 6));
    number_set_fini(&s);
}
