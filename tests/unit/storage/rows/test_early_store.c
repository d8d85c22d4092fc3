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
