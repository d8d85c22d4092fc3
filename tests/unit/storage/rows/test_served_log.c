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

static uint64_t lease(uint64_t url, int64_t at_ms, int64_t until_ms)
{
    uint64_t seq = 0;

    ck_ok(served_log_lease(l, url, at_ms, until_ms, &seq));
    return seq;
}

/* ---- what stands in the logs, as text ---- */

static char text[1024];

static void add_update(void *ctx, const struct served_update_row *u)
{
    size_t at = strlen(text);

    (void)ctx;
    snprintf(text + at, sizeof text - at,
             "u%" PRIu64 " %" PRIu64 " %" PRId64 " %" PRIu64 ";", u->seq,
             u->url, u->due_ms, u->since);
}

static void add_lease(void *ctx, const struct served_lease_row *e)
{
    size_t at = strlen(text);

    (void)ctx;
    snprintf(text + at, sizeof text - at,
             "l%" PRIu64 " %" PRIu64 " %" PRId64 " %" PRId64 ";", e->seq,
             e->url, e->at_ms, e->until_ms);
}

static void expect_logs(const char *want)
{
    text[0] = '\0';
    ck_ok(served_log_each_update(l, add_update, NULL));
    ck_ok(served_log_each_lease(l, add_lease, NULL));
    ck_assert_str_eq(text, want);
}

static void expect_counts(uint64_t updates, uint64_t leases,
                          uint64_t new_updates, uint64_t new_leases)
{
    struct served_log_counts c = served_log_counts(l);

    ck_assert_uint_eq(c.updates, updates);
    ck_assert_uint_eq(c.leases, leases);
    ck_assert_uint_eq(c.new_updates, new_updates);
    ck_assert_uint_eq(c.new_leases, new_leases);
}

FIXTURE(begin, end);

/* ---- sweeps ---- */

static bool keep_even_update(void *ctx, const struct served_update_row *u)
{
    (void)ctx;
    return u->url % 2 == 0;
}

static bool keep_even_lease(void *ctx, const struct served_lease_row *e)
{
    (void)ctx;
    return e->url % 2 == 0;
}

static void note_moved(void *ctx, uint64_t url, uint64_t seq)
{
    size_t at = strlen(text);

    (void)ctx;
    snprintf(text + at, sizeof text - at, "%" PRIu64 " to %" PRIu64 ";", url,
             seq);
}

static const struct served_log_keep keep = {.update = keep_even_update,
                                            .update_moved = note_moved,
                                            .lease = keep_even_lease,
                                            .lease_moved = note_moved};

TEST(a_sweep_moves_what_counts_to_the_end_and_drops_the_rest)
{
    struct buf out;

    buf_init(&out, 1024);
    for (uint64_t url = 1; url <= 4; url++) {
        (void)update(url, (int64_t)url, url == 2 ? "two" : "");
        (void)lease(url, 1, 2);
    }
    ck_ok(served_log_sweep_updates(l, 3, &keep));
    expect_counts(2, 4, 0, 4);
    expect_logs("u7 4 4 7;u9 2 2 3;l2 1 1 2;l4 2 1 2;l6 3 1 2;l8 4 1 2;");
    ck_ok(served_log_metadata(l, 9, &out));
    ck_assert_str_eq(buf_str(&out), "two");
    text[0] = '\0';
    ck_ok(served_log_sweep_leases(l, 3, &keep));
    ck_assert_str_eq(text, "2 to 10;");
    expect_counts(2, 2, 0, 0);
    expect_logs("u7 4 4 7;u9 2 2 3;l8 4 1 2;l10 2 1 2;");
    text[0] = '\0';
    ck_ok(served_log_sweep_updates(l, 99, &keep));
    ck_assert_str_eq(text, "4 to 11;2 to 12;");
    expect_logs("u11 4 4 7;u12 2 2 3;l8 4 1 2;l10 2 1 2;");
    expect_counts(2, 2, 0, 0);
    (void)update(6, 1, "");
    expect_counts(3, 2, 1, 0);
    buf_fini(&out);
}

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
