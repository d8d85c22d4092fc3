/* SPDX-License-Identifier: MIT */
/* test_refresh_store.c - the calendar of done URLs. */
#include "storage/rows/refresh_store.h"

#include "tests/unit/storage/step_fault.h"

static struct scratch at;
static struct db *d;
static struct refresh_store *s;

static void start(void)
{
    at = scratch_make();
    d = scratch_open(at.db, DB_CREATE);
    ck_ok(refresh_store_open(&s, d));
}

static void end(void)
{
    refresh_store_close(s);
    refresh_store_close(NULL);
    db_close(d);
    scratch_remove(&at);
}

/* In order of queue, date and URL; put in another. */
static const struct refresh_row rows[] = {
    {2, 5, 9, 1, 3, 0, 0, 0},
    {2, 7, 4, 2, 4, 1, 2, 77},
    {2, 7, 8, 3, 5, 2, 3, INT64_MAX},
    {3, 1, 1, 4, 6, UINT32_MAX, UINT32_MAX, 1},
    {UINT32_MAX, 6, 2, 5, 7, 0, 0, 0},
};
#define ROWS (sizeof rows / sizeof *rows)

static void put_all(void)
{
    for (size_t i = 0; i < ROWS; i++)
        ck_ok(refresh_store_put(s, &rows[i * 3 % ROWS]));
}

FIXTURE(start, end);

static bool any(void *ctx, const struct refresh_row *row)
{
    (void)ctx, (void)row;
    return true;
}

static void any_queue(void *ctx, const struct refresh_row *row)
{
    (void)ctx, (void)row;
}

TEST(rows_that_cannot_be_are_damage)
{
    static const char *const harms[] = {
        "url = -1",           "seq = -1",  "tries = -1",
        "tries = 4294967296", "seq = 'x'", "absent = 4294967296",
        "checks = -1",        "at = 'x'",
    };
    const struct refresh_row none = {.queue = 0};
    char sql[100];

    put_all();
    for (size_t i = 0; i < sizeof harms / sizeof *harms; i++) {
        ck_ok(db_begin(d));
        snprintf(sql, sizeof sql, "UPDATE refresh SET %s WHERE queue = 2",
                 harms[i]);
        if (i == 0) /* the key stays one */
            snprintf(sql, sizeof sql,
                     "UPDATE refresh SET url = -1 WHERE url = 9");
        ck_ok(db_exec(d, sql));
        ck_assert_msg(refresh_store_each(s, &none, any, NULL) == STATUS_DAMAGED,
                      "%s", sql);
        ck_assert_msg(refresh_store_each_queue(s, any_queue, NULL) ==
                          STATUS_DAMAGED,
                      "%s", sql);
        db_rollback(d);
    }
    ck_ok(refresh_store_each(s, &none, any, NULL));
}
