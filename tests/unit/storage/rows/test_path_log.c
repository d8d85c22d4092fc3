/* SPDX-License-Identifier: MIT */
/* test_path_log.c - which URLs each page led to. */
#include "storage/rows/path_log.h"

#include "tests/unit/storage/scratch.h"

struct path {
    uint64_t from, to;
    enum path_step step;
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

static void add_path(void *ctx, uint64_t from, enum path_step step, uint64_t to)
{
    struct paths *p = ctx;

    ck_assert_uint_lt(p->n, 64);
    p->at[p->n++] = (struct path){from, to, step};
}

static void add(uint64_t from, enum path_step step, uint64_t a, uint64_t b,
                uint64_t c)
{
    uint64_t to[] = {a, b, c};

    ck_ok(path_log_add(l, from, step, to, 3));
}

FIXTURE(begin, end);

/* Two octets a link, mostly. */
TEST(ids_near_each_other_take_an_octet_each)
{
    int64_t octets = 0;

    add(9, PATH_LINK, 100, 101, 227);
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
        "UPDATE path SET step = 3 WHERE seq = 2",
    };
    struct path_log *other = NULL;

    for (size_t i = 0; i < sizeof harms / sizeof *harms; i++) {
        struct paths p = {.n = 0};
        uint64_t at = 0;

        ck_ok(db_exec(d, "DELETE FROM path"));
        path_log_close(l);
        ck_ok(path_log_open(&l, d));
        add(1, PATH_LINK, 10, 20, 30);
        add(2, PATH_LINK, 10, 20, 30);
        ck_ok(db_exec(d, harms[i]));
        ck_assert_msg(path_log_each(l, &at, 9, add_path, &p) == STATUS_DAMAGED,
                      "%s", harms[i]);
        ck_assert_uint_eq(at, 1);
    }
    ck_ok(db_exec(d, "DELETE FROM path; INSERT INTO path"
                     " VALUES(-4, 1, 0, x'01')"));
    ck_assert_int_eq(path_log_open(&other, d), STATUS_DAMAGED);
}
