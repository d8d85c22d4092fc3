/* SPDX-License-Identifier: MIT */
/* test_counters.c - named counters of a store. */
#include "storage/db/counters.h"

#include "tests/unit/storage/scratch.h"

static struct counters *open_counters(struct db *d)
{
    struct counters *t = NULL;

    ck_ok(counters_open(&t, d));
    return t;
}

FIXTURE(scratch_quiet, NULL);

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
