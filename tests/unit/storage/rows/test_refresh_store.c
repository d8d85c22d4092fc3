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

struct visits {
    size_t n, next[ROWS], most;
    size_t from;
};

static bool same_row(const struct refresh_row *a, const struct refresh_row *b)
{
    return a->queue == b->queue && a->due_ms == b->due_ms && a->url == b->url &&
           a->seq == b->seq && a->at_ms == b->at_ms && a->tries == b->tries &&
           a->absent == b->absent && a->known == b->known;
}

static bool visit(void *ctx, const struct refresh_row *row)
{
    struct visits *v = ctx;

    ck_assert_uint_lt(v->from + v->n, ROWS);
    ck_assert(same_row(row, &rows[v->from + v->n]));
    return ++v->n < v->most;
}

static size_t each(const struct refresh_row *after, size_t from, size_t most)
{
    struct visits v = {.from = from, .most = most};

    ck_ok(refresh_store_each(s, after, visit, &v));
    return v.n;
}

FIXTURE(start, end);

TEST(rows_come_in_order_behind_any_of_them)
{
    struct refresh_row none = {.queue = 0};

    ck_assert_uint_eq(each(&none, 0, 9), 0);
    put_all();
    ck_assert_uint_eq(each(&none, 0, 9), ROWS);
    ck_assert_uint_eq(each(&none, 0, 1), 1);
    ck_assert_uint_eq(each(&none, 0, ROWS), ROWS);
    for (size_t i = 0; i < ROWS; i++)
        ck_assert_uint_eq(each(&rows[i], i + 1, 9), ROWS - i - 1);
    none.queue = 2; /* those of this queue and later ones */
    ck_assert_uint_eq(each(&none, 0, 9), ROWS);
    none.queue = 3;
    ck_assert_uint_eq(each(&none, 3, 9), ROWS - 3);
    none.queue = 4;
    ck_assert_uint_eq(each(&none, 4, 9), ROWS - 4);
    /* with a date the place is a moment, even if no URL has it */
    none = (struct refresh_row){.queue = 2, .due_ms = 7};
    ck_assert_uint_eq(each(&none, 1, 9), ROWS - 1);
}

static void visit_queue(void *ctx, const struct refresh_row *row)
{
    static const size_t first[] = {0, 3, 4};
    size_t *n = ctx;

    ck_assert_uint_lt(*n, 3);
    ck_assert(same_row(row, &rows[first[*n]]));
    ++*n;
}

TEST(each_queue_has_its_first_date)
{
    size_t n = 0;

    put_all();
    ck_ok(refresh_store_each_queue(s, visit_queue, &n));
    ck_assert_uint_eq(n, 3);
}

TEST(a_row_is_dropped_under_its_own_date_alone)
{
    struct refresh_row other = rows[1];
    struct visits v = {.from = 2, .most = 9};

    put_all();
    other.due_ms++;
    ck_assert_int_eq(refresh_store_drop(s, &other), STATUS_DAMAGED);
    other = rows[1];
    other.queue++;
    ck_assert_int_eq(refresh_store_drop(s, &other), STATUS_DAMAGED);
    ck_assert_uint_eq(each(&rows[0], 1, 9), ROWS - 1);
    ck_ok(refresh_store_drop(s, &rows[1]));
    ck_assert_int_eq(refresh_store_drop(s, &rows[1]), STATUS_DAMAGED);
    ck_ok(refresh_store_each(s, &rows[0], visit, &v));
    ck_assert_uint_eq(v.n, ROWS - 2);
}

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

static void work(void *ctx)
{
    const struct refresh_row none = {.queue = 0};
    struct refresh_store *mine = NULL;
    size_t n = 0;

    (void)ctx;
    TELLS(refresh_store_drop(s, &rows[1]));
    TELLS(refresh_store_put(s, &rows[1]));
    TELLS(refresh_store_each(s, &none, any, NULL));
    TELLS(refresh_store_each_queue(s, visit_queue, &n));
    TELLS(refresh_store_open(&mine, d));
    refresh_store_close(mine);
}

TEST(a_statement_that_fails_is_told)
{
    uint64_t n = 0;

    do {
        ck_ok(db_exec(d, "DELETE FROM refresh"));
        put_all();
    } while (step_fault_at(++n, work, NULL));
    ck_assert_uint_gt(n, 10);
}
