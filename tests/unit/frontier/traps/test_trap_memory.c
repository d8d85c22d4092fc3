/* SPDX-License-Identifier: MIT */
/* test_trap_memory.c - a memory that forgets, and never says what is wrong. */
#include "frontier/traps/trap_families.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

static uint64_t nth_key(uint64_t n)
{
    n = (n + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return n ^ n >> 29;
}

TEST(what_it_knows_is_what_it_was_told_last)
{
    struct trap_memory *m = trap_memory_new(1 << 16);
    uint32_t *told = calloc(3000, sizeof *told), value;
    uint64_t known = 0;

    ck_assert(!trap_memory_get(m, 0, &value));
    for (uint32_t i = 0; i < 30000; i++) {
        uint64_t n = nth_key(i) % 3000;

        if (trap_memory_get(m, nth_key(n), &value))
            ck_assert_uint_eq(value, told[n]);
        told[n] = i;
        trap_memory_set(m, nth_key(n), i);
        ck_assert(trap_memory_get(m, nth_key(n), &value) && value == i);
    }
    for (uint64_t n = 0; n < 3000; n++)
        known += trap_memory_get(m, nth_key(n), &value);
    ck_assert_uint_gt(known, 2500); /* of 8,192 places */
    ck_assert_uint_eq(trap_memory_octets(m), 1 << 16);
    free(told);
    trap_memory_free(m);
}

/* What a space shows on each of its pages would look new again and again if
 * passing keys, or three such keys at one place, pushed it out. */
TEST(what_is_noted_again_and_again_stays)
{
    struct trap_memory *m = trap_memory_new(1 << 16);
    uint64_t cold = 1000, forgotten = 0;

    for (unsigned round = 0; round < 300; round++) {
        for (uint64_t n = 0; n < 300; n++)
            forgotten += !trap_memory_note(m, nth_key(n)) && round > 0;
        for (unsigned i = 0; i < 100; i++)
            (void)trap_memory_note(m, nth_key(cold++));
    }
    ck_assert_uint_eq(forgotten, 0);
    trap_memory_free(m);
}

TEST(a_full_memory_forgets_and_stays_as_large)
{
    struct trap_memory *m = trap_memory_new(5000);

    ck_assert_uint_eq(trap_memory_octets(m), 0); /* nothing is told yet */
    for (uint64_t n = 0; n < 100000; n++)
        ck_assert(!trap_memory_note(m, nth_key(n)));
    ck_assert(trap_memory_note(m, nth_key(99999)));
    ck_assert(!trap_memory_note(m, nth_key(7)));
    ck_assert(!trap_memory_note(m, 0) && trap_memory_note(m, 0));
    ck_assert_uint_le(trap_memory_octets(m), 5000);
    trap_memory_free(m);
    trap_memory_free(NULL);
}
