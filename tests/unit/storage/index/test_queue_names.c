/* SPDX-License-Identifier: MIT */
/* test_queue_names.c - names found one by one, and many at once. */
#include "storage/index/name_table.h"

#include "tests/unit/storage/scratch.h"

#define NAMES 5000
#define MOST  700

static struct bytes name_of(char name[24], uint64_t i)
{
    snprintf(name, 24, "host-%llu.example", (unsigned long long)i);
    return bytes_of_str(name);
}

static struct queue_names *make(void)
{
    struct queue_names *t = queue_names_new();
    char name[24];
    uint32_t queue = 0;

    for (uint32_t i = 0; i < NAMES; i++) {
        struct bytes crawl = bytes_of_str(i % 3 == 0 ? "a" : "b");

        SAME(queue_names_add(t, crawl, name_of(name, i), &queue), STATUS_OK);
        SAME(queue, i + 1);
    }
    return t;
}

/* Half of the keys are of the crawl, and some come more than once. */
TEST(many_at_once_are_those_that_are_found_one_by_one)
{
    static const size_t sizes[] = {0, 1, 5, 6, 7, 17, 18, 19, 100, MOST};
    struct queue_names *t = make();
    static char names[MOST][24];
    struct bytes keys[MOST];
    uint32_t queues[MOST];
    uint64_t random = 5, there = 0;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t n = sizes[i];

        for (size_t k = 0; k < n; k++)
            keys[k] = name_of(names[k], scratch_below(&random, NAMES + 500));
        queue_names_find_all(t, bytes_of_str("b"), keys, n, queues);
        for (size_t k = 0; k < n; k++) {
            SAME(queues[k], queue_names_find(t, bytes_of_str("b"), keys[k]));
            there += queues[k] > 0;
        }
        memset(queues, 1, sizeof queues);
        queue_names_find_all(t, bytes_of_str("none"), keys, n, queues);
        for (size_t k = 0; k < n; k++)
            SAME(queues[k], 0);
    }
    ck_assert_uint_gt(there, 400);
    queue_names_free(t);
}
