/* SPDX-License-Identifier: MIT */

#include "base/heap.h"
#include "tests/unit/unit.h"

#define ITEMS 300

TEST(gives_items_in_order_under_random_operations)
{
    static struct heap_item items[ITEMS];
    struct heap h;
    uint32_t x = 99;

    heap_init(&h);
    for (int step = 0; step < 50000; step++) {
        struct heap_item *i;

        x = x * 1664525 + 1013904223;
        i = &items[(x >> 8) % ITEMS];
        if (i->place == 0)
            heap_push(&h, i, (int64_t)(x >> 20));
        else if (x & 0x80000000)
            ck_assert(heap_remove(&h, i));
        else
            heap_move(&h, i, (int64_t)(x >> 20));
        if (heap_count(&h) > 0) {
            const struct heap_item *top = heap_top(&h);
            bool least = true;

            for (int k = 0; k < ITEMS; k += 7)
                least &= items[k].place == 0 || items[k].key >= top->key;
            ck_assert(least);
        }
    }
    for (int64_t last = INT64_MIN; heap_count(&h) > 0;) {
        struct heap_item *i = heap_pop(&h);

        ck_assert_int_ge(i->key, last);
        ck_assert_uint_eq(i->place, 0);
        last = i->key;
    }
    ck_assert_ptr_null(heap_pop(&h));
    heap_fini(&h);
}

TEST(equal_keys_leave_in_the_order_they_entered)
{
    struct heap_item items[50] = {{0}};
    struct heap h;

    heap_init(&h);
    for (int i = 0; i < 50; i++)
        heap_push(&h, &items[i], 7);
    for (int i = 0; i < 50; i++)
        ck_assert_ptr_eq(heap_pop(&h), &items[i]);
    heap_fini(&h);
}
