/* SPDX-License-Identifier: MIT */
/* test_path_log.c - which URLs each page led to. */
#include "storage/rows/path_log.h"

#include "tests/unit/storage/scratch.h"

struct path {
    uint64_t from, to;
    bool on_level;
};

struct paths {
    struct path at[64];
    size_t n;
};

static struct scratch dir;
static struct db *d;
static struct path_log *l;

static void begin(void)
{
    scratch_quiet();
    dir = scratch_make();
    d = scratch_open(dir.db, DB_CREATE);
    ck_ok(path_log_open(&l, d));
}

static void end(void)
{
    path_log_close(l);
    db_close(d);
    scratch_remove(&dir);
}

static void add_path(void *ctx, uint64_t from, bool on_level, uint64_t to)
{
    struct paths *p = ctx;

    ck_assert_uint_lt(p->n, 64);
    p->at[p->n++] = (struct path){from, to, on_level};
}

static void add(uint64_t from, bool on_level, uint64_t a, uint64_t b,
                uint64_t c)
{
    uint64_t to[] = {a, b, c};

    ck_ok(path_log_add(l, from, on_level, to, 3));
}

FIXTURE(begin, end);

TEST(each_path_comes_back_once_in_order_of_pages)
{
    static const struct path want[] = {
        {9, 3, false}, {9, 8, false}, {9, 1000, false},
        {2, 5, true},  {9, 77, true}, {9, UINT32_MAX, true},
    };
    struct paths p = {.n = 0};
    uint64_t at = 0;

    add(9, false, 1000, 3, 8);
    add(2, true, 5, 5, 5);
    add(9, true, 77, UINT32_MAX, 77);
    ck_assert_int_eq(path_log_each(l, &at, 10, add_path, &p), STATUS_NOT_FOUND);
    ck_assert_uint_eq(at, 3);
    ck_assert_uint_eq(p.n, 6);
    for (size_t i = 0; i < p.n; i++) {
        ck_assert_uint_eq(p.at[i].from, want[i].from);
        ck_assert_uint_eq(p.at[i].to, want[i].to);
        ck_assert(p.at[i].on_level == want[i].on_level);
    }
}

TEST(rows_are_read_in_parts_and_numbered_on_after_a_restart)
{
    struct paths p = {.n = 0};
    uint64_t at = 0, none[1];

    ck_assert_uint_eq(path_log_last(l), 0);
    ck_ok(path_log_add(l, 1, false, none, 0));
    ck_assert_uint_eq(path_log_last(l), 0); /* a page without links */
    for (uint64_t from = 1; from <= 5; from++)
        add(from, false, 10, 20, 30);
    ck_assert_uint_eq(path_log_last(l), 5);
    path_log_close(l);
    ck_ok(path_log_open(&l, d));
    ck_assert_uint_eq(path_log_last(l), 5);
    add(6, false, 10, 20, 30);
    ck_ok(path_log_each(l, &at, 4, add_path, &p));
    ck_assert_uint_eq(at, 4);
    ck_assert_uint_eq(p.n, 12);
    ck_ok(path_log_each(l, &at, 2, add_path, &p));
    ck_assert_uint_eq(at, 6);
    ck_assert_uint_eq(p.at[15].from, 6);
    ck_assert_int_eq(path_log_each(l, &at, 2, add_path, &p), STATUS_NOT_FOUND);
    ck_assert_uint_eq(at, 6);
    ck_assert_uint_eq(p.n, 18);
}

/* Two octets a link, mostly. */
TEST(ids_near_each_other_take_an_octet_each)
{
    int64_t octets = 0;

    add(9, false, 100, 101, 227);
    ck_ok(db_number(d, "SELECT length(dst) FROM path", &octets));
    ck_assert_int_eq(octets, 3);
}

TEST(rows_that_cannot_be_are_damage)
{
    static const char *const harms[] = {
        "UPDATE path SET dst = x'0580' WHERE seq = 2", /* cut */
        "UPDATE path SET dst = x'0500' WHERE seq = 2", /* twice the same */
        "UPDATE path SET dst = x'ffffffffffff7f' WHERE seq = 2",
        "UPDATE path SET dst = x'ffffffffff1f01' WHERE seq = 2",
        "UPDATE path SET src = -1 WHERE seq = 2",
        "UPDATE path SET on_level = 2 WHERE seq = 2",
    };
    struct path_log *other = NULL;

    for (size_t i = 0; i < sizeof harms / sizeof *harms; i++) {
        struct paths p = {.n = 0};
        uint64_t at = 0;

        ck_ok(db_exec(d, "DELETE FROM path"));
        path_log_close(l);
        ck_ok(path_log_open(&l, d));
        add(1, false, 10, 20, 30);
        add(2, false, 10, 20, 30);
        ck_ok(db_exec(d, harms[i]));
        ck_assert_msg(path_log_each(l, &at, 9, add_path, &p) == STATUS_DAMAGED,
                      "%s", harms[i]);
        ck_assert_uint_eq(at, 1);
    }
    ck_ok(db_exec(d, "DELETE FROM path; INSERT INTO path"
                     " VALUES(-4, 1, 0, x'01')"));
    ck_assert_int_eq(path_log_open(&other, d), STATUS_DAMAGED);
}
