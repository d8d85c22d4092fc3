/* SPDX-License-Identifier: MIT */
/* test_db_row.c - the numbers of a row, each within its bounds. */
#include "storage/db/db_row.h"

#include "tests/unit/storage/scratch.h"

static struct scratch dir;
static struct db *d;

static void open_db(void)
{
    scratch_quiet();
    dir = scratch_make();
    d = scratch_open(dir.db, DB_CREATE);
}

static void close_db(void)
{
    db_close(d);
    scratch_remove(&dir);
}

/* A statement that stands on the row of these values. */
static sqlite3_stmt *row_of(const char *values)
{
    sqlite3_stmt *s = NULL;
    char sql[256];

    snprintf(sql, sizeof sql, "SELECT %s", values);
    ck_ok(db_prepare(d, &s, sql));
    ck_ok(db_step(d, s));
    return s;
}

FIXTURE(open_db, close_db);

TEST(a_number_is_one_within_its_bounds)
{
    const struct {
        const char *value;
        int64_t is;
        bool fits;
    } all[] = {
        {"-3", -3, true},   {"7", 7, true},     {"0", 0, true},
        {"NULL", 0, true},  {"-4", -3, false},  {"8", -3, false},
        {"1.0", -3, false}, {"'1'", -3, false}, {"x'01'", -3, false},
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        sqlite3_stmt *s = row_of(all[i].value);
        struct db_row r = db_row(s);

        ck_assert_int_eq(db_row_number(&r, 0, -3, 7), all[i].is);
        ck_assert_int_eq(db_row_check(&r, "t"),
                         all[i].fits ? STATUS_OK : STATUS_DAMAGED);
        sqlite3_finalize(s);
    }
}

TEST(null_is_no_number_where_zero_is_none)
{
    sqlite3_stmt *s = row_of("NULL");
    struct db_row r = db_row(s);

    ck_assert_int_eq(db_row_number(&r, 0, 1, 7), 1);
    ck_assert_int_eq(db_row_check(&r, "t"), STATUS_DAMAGED);
    sqlite3_finalize(s);
}

TEST(counts_times_and_flags_have_bounds_of_their_own)
{
    const struct {
        const char *value;
        bool count, time, flag;
    } all[] = {
        {"0", true, true, true},
        {"1", true, true, true},
        {"2", true, true, false},
        {"9", true, true, false},
        {"10", false, true, false},
        {"-1", false, true, false},
        {"4503599627370496", false, true, false},
        {"-4503599627370496", false, true, false},
        {"4503599627370497", false, false, false},
        {"-4503599627370497", false, false, false},
        {"9223372036854775807", false, false, false},
        {"-9223372036854775807", false, false, false},
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        sqlite3_stmt *s = row_of(all[i].value);
        int64_t v = sqlite3_column_int64(s, 0);
        struct db_row count = db_row(s), time = db_row(s), flag = db_row(s);

        ck_assert_uint_eq(db_row_count(&count, 0, 9),
                          all[i].count ? (uint64_t)v : 0);
        ck_assert(db_row_check(&count, "t") ==
                  (all[i].count ? STATUS_OK : STATUS_DAMAGED));
        ck_assert_int_eq(db_row_time(&time, 0),
                         all[i].time ? v : -DB_TIME_MOST);
        ck_assert(db_row_check(&time, "t") ==
                  (all[i].time ? STATUS_OK : STATUS_DAMAGED));
        ck_assert(db_row_flag(&flag, 0) == (all[i].flag && v == 1));
        ck_assert(db_row_check(&flag, "t") ==
                  (all[i].flag ? STATUS_OK : STATUS_DAMAGED));
        sqlite3_finalize(s);
    }
}

TEST(a_real_is_a_number_from_zero_up)
{
    const struct {
        const char *value;
        double is;
        bool fits;
    } all[] = {
        {"0.5", 0.5, true},   {"0", 0, true},      {"1", 1, true},
        {"NULL", 0, true},    {"1.5", 0, false},   {"-0.1", 0, false},
        {"'0.5'", 0, false},  {"x'00'", 0, false}, {"9e999", 0, false},
        {"-9e999", 0, false},
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        sqlite3_stmt *s = row_of(all[i].value);
        struct db_row r = db_row(s);

        ck_assert_double_eq(db_row_real(&r, 0, 1), all[i].is);
        ck_assert_int_eq(db_row_check(&r, "t"),
                         all[i].fits ? STATUS_OK : STATUS_DAMAGED);
        sqlite3_finalize(s);
    }
}

/* What is read afterwards does not hide it, and the first is the one named. */
TEST(one_number_out_of_bounds_spoils_the_row)
{
    sqlite3_stmt *s = row_of("1, 99, 2, 98");
    struct db_row r = db_row(s);

    for (int i = 0; i < 4; i++)
        (void)db_row_count(&r, i, 9);
    ck_assert_int_eq(r.bad, 1);
    ck_assert_int_eq(db_row_check(&r, "t"), STATUS_DAMAGED);
    sqlite3_finalize(s);
}
