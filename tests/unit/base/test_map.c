/* SPDX-License-Identifier: MIT */

#include <stdint.h>
#include <stdio.h>

#include "base/map.h"
#include "base/mem.h"
#include "tests/unit/unit.h"

#define KEYS 512

static struct bytes nth(unsigned i, char *store, size_t size)
{
    return bytes_of(store, (size_t)snprintf(store, size, "key-%u", i));
}

/* Compares with an array as the plain model. */
TEST(agrees_with_a_plain_array_under_random_operations)
{
    static int values[KEYS];
    int *model[KEYS] = {NULL};
    struct map *m = map_new();
    size_t count = 0;
    uint32_t x = 12345;

    for (int step = 0; step < 50000; step++) {
        char store[32];
        unsigned k;

        x = x * 1664525 + 1013904223;
        k = (x >> 8) % KEYS;
        if (x >> 31) {
            ck_assert_ptr_eq(map_put(m, nth(k, store, sizeof store),
                                     &values[k]),
                             model[k]);
            count += model[k] == NULL;
            model[k] = &values[k];
        } else if (x >> 30 & 1) {
            ck_assert_ptr_eq(map_remove(m, nth(k, store, sizeof store)),
                             model[k]);
            count -= model[k] != NULL;
            model[k] = NULL;
        } else {
            ck_assert_ptr_eq(map_get(m, nth(k, store, sizeof store)), model[k]);
        }
        ck_assert_uint_eq(map_count(m), count);
    }
    map_free(m, NULL);
}

static bool count_up(void *ctx, struct bytes key, void *value)
{
    (void)key;
    ++*(int *)value;
    return --*(int *)ctx > 0;
}

TEST(visits_every_entry_once_and_stops_when_told)
{
    int hits[100] = {0}, left = 1000, sum = 0;
    struct map *m = map_new();
    char store[32];

    for (unsigned i = 0; i < 100; i++)
        map_put(m, nth(i, store, sizeof store), &hits[i]);
    map_each(m, count_up, &left);
    for (unsigned i = 0; i < 100; i++)
        ck_assert_int_eq(hits[i], 1);
    left = 10;
    map_each(m, count_up, &left);
    for (unsigned i = 0; i < 100; i++)
        sum += hits[i];
    ck_assert_int_eq(sum, 110);
    map_free(m, NULL);
}

TEST(keys_may_hold_zeros_and_be_empty)
{
    struct map *m = map_new();
    int a, b, c;

    map_put(m, bytes_of("a\0b", 3), &a);
    map_put(m, bytes_of("a\0c", 3), &b);
    map_put(m, bytes_of("", 0), &c);
    ck_assert_ptr_eq(map_get(m, bytes_of("a\0b", 3)), &a);
    ck_assert_ptr_eq(map_get(m, bytes_of("a\0c", 3)), &b);
    ck_assert_ptr_eq(map_get(m, bytes_of("", 0)), &c);
    ck_assert_ptr_null(map_get(m, bytes_of("a", 1)));
    map_free(m, NULL);
}

/* ---- a sparse set of numbers, against a plain one ---- */

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
