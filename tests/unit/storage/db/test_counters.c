/* SPDX-License-Identifier: MIT */
/* test_counters.c - named counters of a store. */
#include "storage/db/counters.h"

#include <inttypes.h>

#include "tests/unit/storage/scratch.h"

static struct counters *open_counters(struct db *d)
{
    struct counters *t = NULL;

    ck_ok(counters_open(&t, d));
    return t;
}

FIXTURE(scratch_quiet, NULL);

TEST(what_was_counted_is_written_by_a_flush_and_read_again)
{
    struct scratch dir = scratch_make();
    struct db *d = scratch_open(dir.db, DB_CREATE);
    struct counters *t = open_counters(d);

    ck_assert_uint_eq(counters_get(t, "pages"), 0);
    counters_add(t, "pages", 3);
    counters_add(t, "bytes", 5);
    counters_add(t, "pages", 4);
    counters_add(t, "none", 0); /* makes no counter */
    ck_assert_uint_eq(counters_get(t, "pages"), 7);
    ck_ok(counters_flush(t));
    counters_add(t, "bytes", 100);
    counters_close(t);

    t = open_counters(d);
    ck_assert_uint_eq(counters_get(t, "pages"), 7);
    ck_assert_uint_eq(counters_get(t, "bytes"), 5); /* was not flushed */
    counters_add(t, "pages", UINT64_MAX);           /* takes one back */
    ck_ok(counters_flush(t));
    counters_close(t);

    t = open_counters(d);
    ck_assert_uint_eq(counters_get(t, "pages"), 6);
    counters_close(t);
    db_close(d);
    scratch_remove(&dir);
}

static void add_to_list(void *ctx, const char *name, uint64_t value)
{
    char *list = ctx;
    size_t at = strlen(list);

    snprintf(list + at, 256 - at, "%s=%" PRIu64 " ", name, value);
}

TEST(each_counter_is_visited_once)
{
    struct scratch dir = scratch_make();
    struct db *d = scratch_open(dir.db, DB_CREATE);
    struct counters *t = open_counters(d);
    char list[256] = "";

    counters_add(t, "b", 1);
    counters_add(t, "a", 2);
    counters_add(t, "b", 4);
    counters_add(t, "none", 0);
    counters_each(t, add_to_list, list);
    ck_assert_str_eq(list, "b=5 a=2 ");
    counters_close(t);
    db_close(d);
    scratch_remove(&dir);
}

/* Others of the same transaction are written by others: a flush writes what has
 * changed and nothing else. */
TEST(a_flush_writes_only_what_has_changed)
{
    struct scratch dir = scratch_make();
    struct db *d = scratch_open(dir.db, DB_CREATE);
    struct counters *t = open_counters(d);
    int64_t n = 0;

    counters_add(t, "a", 1);
    counters_add(t, "b", 1);
    ck_ok(counters_flush(t));
    ck_ok(db_exec(d, "DELETE FROM counter"));
    counters_add(t, "b", 1);
    ck_ok(counters_flush(t));
    ck_ok(db_number(d, "SELECT count(*) FROM counter", &n));
    ck_assert_int_eq(n, 1);
    ck_ok(db_number(d, "SELECT value FROM counter", &n));
    ck_assert_int_eq(n, 2);
    counters_close(t);
    db_close(d);
    scratch_remove(&dir);
}

TEST(a_counter_that_stands_twice_or_is_out_of_bounds_is_damage)
{
    static const char *const harms[] = {
        "INSERT INTO counter VALUES(x'61', 1)",
        "INSERT INTO counter VALUES('x', -1)",
        "INSERT INTO counter VALUES('x', 9223372036854775807)",
        "INSERT INTO counter VALUES('x', 'many')",
    };

    for (size_t i = 0; i < sizeof harms / sizeof *harms; i++) {
        struct scratch dir = scratch_make();
        struct db *d = scratch_open(dir.db, DB_CREATE);
        struct counters *t = NULL;

        ck_ok(db_exec(d, "INSERT INTO counter VALUES('a', 1)"));
        ck_ok(counters_open(&t, d));
        counters_close(t);
        t = NULL;
        ck_ok(db_exec(d, harms[i]));
        ck_assert_int_eq(counters_open(&t, d), STATUS_DAMAGED);
        ck_assert_ptr_null(t);
        db_close(d);
        scratch_remove(&dir);
    }
}
