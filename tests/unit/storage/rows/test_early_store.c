/* SPDX-License-Identifier: MIT */
/* test_early_store.c - rows by queue and class, and what damage they refuse. */

#include "storage/rows/early_store.h"
#include "tests/unit/storage/scratch.h"
#include "tests/unit/unit.h"

struct seen {
    uint64_t ids[8];
    size_t n, most;
};

static bool take(void *ctx, uint64_t url)
{
    struct seen *s = ctx;

    s->ids[s->n++] = url;
    return s->n < s->most;
}

static void count(void *ctx, uint32_t queue, uint8_t class_)
{
    unsigned *sum = ctx;

    *sum += queue * 100 + class_;
}

TEST(a_url_has_one_row_and_classes_are_in_order_of_arrival)
{
    struct scratch at = scratch_make();
    struct db *d = scratch_open(at.db, DB_CREATE);
    struct early_store *s = NULL;
    struct seen seen = {.most = 2};
    uint8_t class_ = 0;
    uint32_t links = 0;
    unsigned sum = 0;

    ck_ok(early_store_open(&s, d));
    ck_ok(early_store_put(s, 1, 9, EARLY_NONE, 3, 4));
    ck_ok(early_store_put(s, 1, 7, EARLY_NONE, 3, 1));
    ck_ok(early_store_put(s, 1, 8, EARLY_NONE, 2, 1));
    ck_ok(early_store_put(s, 2, 5, EARLY_NONE, 3, 1));
    ck_ok(early_store_put(s, 1, 8, 2, 3, 6));
    ck_ok(early_store_get(s, 1, 8, &class_, &links));
    ck_assert_uint_eq(class_, 3);
    ck_assert_uint_eq(links, 6);
    ck_assert_int_eq(early_store_get(s, 2, 8, &class_, &links),
                     STATUS_NOT_FOUND);
    ck_ok(early_store_each(s, 1, 3, take, &seen));
    ck_assert_uint_eq(seen.n, 2); /* it wanted no more */
    ck_assert_uint_eq(seen.ids[0], 7);
    ck_assert_uint_eq(seen.ids[1], 8);
    ck_ok(early_store_each(s, 1, 2, take, &seen));
    ck_assert_uint_eq(seen.n, 2);
    ck_ok(early_store_put(s, 2, 5, 3, 0, 1));
    ck_ok(early_store_each_queue(s, count, &sum));
    ck_assert_uint_eq(sum, 103); /* class 0 waits for nothing */
    early_store_close(s);
    db_close(d);
    scratch_remove(&at);
}

TEST(a_row_that_cannot_be_is_damage)
{
    struct scratch at = scratch_make();
    struct db *d = scratch_open(at.db, DB_CREATE);
    struct early_store *s = NULL;
    struct seen seen = {.most = 8};
    uint8_t class_;
    uint32_t links;
    unsigned sum = 0;

    scratch_quiet();
    ck_ok(early_store_open(&s, d));
    ck_ok(db_exec(d, "INSERT INTO early VALUES(1, 3, -4, 1);"
                     "INSERT INTO early VALUES(1, 99, 5, 1);"
                     "INSERT INTO early VALUES(1, 4, 6, 'x')"));
    ck_assert_int_eq(early_store_each(s, 1, 3, take, &seen), STATUS_DAMAGED);
    ck_assert_int_eq(early_store_get(s, 1, 6, &class_, &links), STATUS_DAMAGED);
    ck_assert_int_eq(early_store_each_queue(s, count, &sum), STATUS_DAMAGED);
    early_store_close(s);
    db_close(d);
    scratch_remove(&at);
}
