/* SPDX-License-Identifier: MIT */
/* test_served_log.c - updates, leases and queues of served URLs on disk. */
#include "storage/rows/served_log.h"

#include <inttypes.h>

#include "tests/unit/storage/scratch.h"

static struct scratch dir;
static struct db *d;
static struct served_log *l;

static void begin(void)
{
    scratch_quiet();
    dir = scratch_make();
    d = scratch_open(dir.db, DB_CREATE);
    ck_ok(served_log_open(&l, d));
}

static void end(void)
{
    served_log_close(l);
    db_close(d);
    scratch_remove(&dir);
}

static void reopen(void)
{
    served_log_close(l);
    ck_ok(served_log_open(&l, d));
}

static uint64_t update(uint64_t url, int64_t due_ms, const char *metadata)
{
    uint64_t seq = 0;

    ck_ok(served_log_update(l, url, due_ms, bytes_of_str(metadata), &seq));
    return seq;
}

/* ---- what stands in the logs, as text ---- */

FIXTURE(begin, end);

/* ---- damage ---- */

static void no_update(void *ctx, const struct served_update_row *u)
{
    (void)ctx, (void)u;
}

static void no_lease(void *ctx, const struct served_lease_row *e)
{
    (void)ctx, (void)e;
}

static void no_queue(void *ctx, uint32_t queue,
                     const struct served_queue_row *row)
{
    (void)ctx, (void)queue, (void)row;
}

static enum status read_all(void)
{
    struct served_log *other = NULL;
    enum status st = served_log_open(&other, d);

    if (st == STATUS_OK)
        st = served_log_each_update(other, no_update, NULL);
    if (st == STATUS_OK)
        st = served_log_each_lease(other, no_lease, NULL);
    if (st == STATUS_OK)
        st = served_log_each_queue(other, no_queue, NULL);
    served_log_close(other);
    return st;
}

TEST(numbers_out_of_bounds_are_damage)
{
    static const struct {
        const char *sql;
        bool damage;
    } all[] = {
        {"INSERT INTO item_update VALUES(281474976710655, 1, 1, 1, x'')",
         false},
        {"INSERT INTO item_update VALUES(281474976710656, 1, 1, 1, x'')", true},
        {"INSERT INTO item_lease VALUES(281474976710656, 1, 1, 1)", true},
        {"INSERT INTO item_update VALUES(-1, 1, 1, 1, x'')", true},
        {"INSERT INTO item_lease VALUES(-1, 1, 1, 1)", true},
        {"INSERT INTO item_update VALUES(5, -1, 1, 1, x'')", true},
        {"INSERT INTO item_update VALUES(5, 1, 'x', 1, x'')", true},
        {"INSERT INTO item_lease VALUES(5, -1, 1, 1)", true},
        {"INSERT INTO item_lease VALUES(5, 1, 'x', 1)", true},
        {"INSERT INTO item_lease VALUES(5, 1, 1, 'x')", true},
        {"INSERT INTO item_queue VALUES(1, -1, 0, 0, 0, 0, 0, 0, 0)", true},
        /* ahead of the URLs, of which there are none */
        {"INSERT INTO item_queue VALUES(1, 1, 0, 0, 0, 0, 0, 0, 0)", true},
        {"INSERT INTO item_queue VALUES(1, 0, 2, 0, 0, 0, 0, 0, 0)", true},
        {"INSERT INTO item_queue VALUES(1, 0, 0, 0, 'x', 0, 0, 0, 0)", true},
        {"INSERT INTO item_queue VALUES(1, 0, 0, 0, 0, -1, 0, 0, 0)", true},
        {"INSERT INTO item_queue VALUES(1, 0, 0, 0, 0, 0, 'x', 0, 0)", true},
        {"INSERT INTO item_queue VALUES(1, 0, 0, 0, 0, 0, 0, -1, 0)", true},
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        ck_ok(db_exec(d, "DELETE FROM item_update;"
                         "DELETE FROM item_lease;"
                         "DELETE FROM item_queue"));
        ck_ok(db_exec(d, all[i].sql));
        ck_assert_msg(read_all() ==
                          (all[i].damage ? STATUS_DAMAGED : STATUS_OK),
                      "%s", all[i].sql);
    }
}

/* Opening refuses it: a row appended after it would have no number. */
TEST(a_last_number_out_of_bounds_is_found_by_opening)
{
    static const char *const harms[] = {
        "INSERT INTO item_update VALUES(281474976710656, 1, 1, 1, x'')",
        "INSERT INTO item_lease VALUES(281474976710656, 1, 1, 1)",
        "INSERT INTO item_update VALUES(-1, 1, 1, 1, x'');"
        "INSERT INTO item_lease VALUES(-1, 1, 1, 1)",
    };
    struct served_log *other = NULL;

    for (size_t i = 0; i < sizeof harms / sizeof *harms; i++) {
        ck_ok(db_exec(d, "DELETE FROM item_update;"
                         "DELETE FROM item_lease"));
        ck_ok(db_exec(d, harms[i]));
        ck_assert_int_eq(served_log_open(&other, d), STATUS_DAMAGED);
    }
}

TEST(when_all_numbers_are_used_up_the_log_takes_no_more)
{
    uint64_t seq = 0;

    ck_ok(db_exec(d, "INSERT INTO item_lease"
                     " VALUES(281474976710654, 1, 1, 1)"));
    reopen();
    ck_assert_uint_eq(update(1, 1, ""), SERVED_SEQ_MOST);
    ck_assert_int_eq(served_log_update(l, 1, 1, bytes_of_str(""), &seq),
                     STATUS_LIMIT);
    ck_assert_int_eq(served_log_lease(l, 1, 1, 1, &seq), STATUS_LIMIT);
}
