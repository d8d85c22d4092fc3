/* SPDX-License-Identifier: MIT */
/* test_due_count.c - how many URLs are past their dates, against a list. */
/* Promise (Commands and options): overdue URLs, the age of the oldest, and
 * how many are up to date as estimated, are counted over kills and stay
 * those of the calendar. See also `make sim`. */
#include "frontier/refresh/due_count.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

#define NOW    INT64_C(1700000000000)
#define MINUTE INT64_C(60000)
#define DAY    (1440 * MINUTE)
#define MOST   300

static uint64_t draw(uint64_t *state, uint64_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (*state >> 33) % below;
}

static void agrees(struct due_count *c, const int64_t *due, size_t n,
                   int64_t now)
{
    int64_t oldest, first = now;
    uint64_t passed = 0;

    for (size_t i = 0; i < n; i++) {
        if (due[i] / MINUTE >= now / MINUTE)
            continue;
        passed++;
        if (due[i] / MINUTE * MINUTE < first)
            first = due[i] / MINUTE * MINUTE;
    }
    ck_assert_uint_eq(due_count_passed(c, now, &oldest), passed);
    ck_assert_int_eq(oldest, first);
}

TEST(counts_as_a_list_does_while_time_goes_on_and_back)
{
    struct due_count c;
    int64_t due[MOST], now = NOW;
    size_t n = 0;
    uint64_t state = 1;

    due_count_init(&c, now);
    for (unsigned i = 0; i < 20000; i++) {
        if (n < MOST && draw(&state, 2) == 0) {
            due[n] = now - DAY + (int64_t)draw(&state, 3 * DAY);
            due_count_add(&c, due[n++]);
        } else if (n > 0) {
            size_t k = draw(&state, n);

            due_count_remove(&c, due[k]);
            due[k] = due[--n];
        }
        now += (int64_t)draw(&state, 10 * MINUTE);
        if (draw(&state, 100) == 0)
            now -= (int64_t)draw(&state, 2 * DAY);
        agrees(&c, due, n, now);
    }
    ck_assert_uint_gt(due_count_memory(&c), 0);
    due_count_fini(&c);
}

TEST(takes_any_date)
{
    struct due_count c;
    int64_t oldest;

    due_count_init(&c, NOW);
    due_count_add(&c, 0);
    due_count_add(&c, INT64_MAX);
    due_count_add(&c, NOW);
    ck_assert_uint_eq(due_count_passed(&c, NOW + MINUTE, &oldest), 2);
    ck_assert_int_lt(oldest, NOW - 3000 * DAY);
    due_count_remove(&c, 0);
    ck_assert_uint_eq(due_count_passed(&c, NOW + MINUTE, &oldest), 1);
    ck_assert_int_eq(oldest, NOW / MINUTE * MINUTE);
    due_count_remove(&c, INT64_MAX);
    due_count_remove(&c, NOW);
    ck_assert_uint_eq(due_count_passed(&c, NOW + MINUTE, &oldest), 0);
    due_count_fini(&c);
}
