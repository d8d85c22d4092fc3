/* SPDX-License-Identifier: MIT */
/* test_side_tables.c - the small tables, and what damage they refuse. */
#include "storage/rows/side_tables.h"

#include "tests/unit/storage/scratch.h"

static struct scratch at;
static struct db *d;
static struct buf text;

static void start(void)
{
    at = scratch_make();
    d = scratch_open(at.db, DB_CREATE);
    buf_init(&text, 100);
}

static void end(void)
{
    db_close(d);
    buf_fini(&text);
    scratch_remove(&at);
}

FIXTURE(start, end);

/* ---- readings, each of which fails if its row is damaged ---- */

static bool any_url(void *ctx, uint64_t url)
{
    (void)ctx, (void)url;
    return true;
}

static void any_class(void *ctx, uint32_t queue, uint8_t class_)
{
    (void)ctx, (void)queue, (void)class_;
}

static bool any_date(void *ctx, const struct refresh_row *row)
{
    (void)ctx, (void)row;
    return true;
}

static void any_first_date(void *ctx, const struct refresh_row *row)
{
    (void)ctx, (void)row;
}

static enum status read_hint(void)
{
    struct url_hint hint;

    return hint_store_get(d, 5, &hint);
}

static enum status read_class(void)
{
    uint8_t class_;
    uint32_t links;

    return early_store_get(d, 1, 6, &class_, &links);
}

static enum status read_early(void)
{
    return early_store_each(d, 1, 3, any_url, NULL);
}

static enum status read_classes(void)
{
    return early_store_each_queue(d, any_class, NULL);
}

static enum status read_dates(void)
{
    const struct refresh_row none = {.queue = 0};

    return refresh_store_each(d, &none, any_date, NULL);
}

static enum status read_first_dates(void)
{
    return refresh_store_each_queue(d, any_first_date, NULL);
}

static enum status read_revisit(void)
{
    struct record_name to;

    return revisit_store_get(d, 7, &to, &text);
}

static enum status read_robots(void)
{
    struct robots_row row;

    return robots_store_get(d, bytes_of_str("http://a.test"), &row, &text);
}

#define DATE(change)                                                           \
    "INSERT INTO refresh(queue, due, url, seq, at, tries, absent, checks)"     \
    " VALUES(2, 5, 9, 1, 3, 0, 0, 0); UPDATE refresh SET " change

static const struct {
    const char *harm;
    enum status (*read)(void);
    enum status st;
} harms[] = {
    {"INSERT INTO hint VALUES(5, 1000, 1, 7)", read_hint, STATUS_OK},
    {"INSERT INTO hint VALUES(5, 1001, 1, 1)", read_hint, STATUS_DAMAGED},
    {"INSERT INTO hint VALUES(5, -1, 1, 1)", read_hint, STATUS_DAMAGED},
    {"INSERT INTO hint VALUES(5, 1, 'x', 1)", read_hint, STATUS_DAMAGED},
    {"INSERT INTO hint VALUES(5, 1, 1, 8)", read_hint, STATUS_DAMAGED},
    {"INSERT INTO early VALUES(1, 4, 6, 'x')", read_class, STATUS_DAMAGED},
    {"INSERT INTO early VALUES(1, 3, -4, 1)", read_early, STATUS_DAMAGED},
    {"INSERT INTO early VALUES(1, 99, 5, 1)", read_classes, STATUS_DAMAGED},
    {DATE("url = 9"), read_dates, STATUS_OK},
    {DATE("url = -1"), read_dates, STATUS_DAMAGED},
    {DATE("seq = 'x'"), read_first_dates, STATUS_DAMAGED},
    {DATE("tries = 4294967296"), read_dates, STATUS_DAMAGED},
    {DATE("absent = 4294967296"), read_first_dates, STATUS_DAMAGED},
    {DATE("checks = -1"), read_dates, STATUS_DAMAGED},
    {DATE("at = 'x'"), read_dates, STATUS_DAMAGED},
    {"INSERT INTO revisit VALUES(7, 5, 'http://a.test/')", read_revisit,
     STATUS_OK},
    {"INSERT INTO revisit VALUES(7, 'x', '')", read_revisit, STATUS_DAMAGED},
    {"INSERT INTO revisit VALUES(7, 5, printf('%.*c', 101, 'x'))", read_revisit,
     STATUS_LIMIT},
    {"INSERT INTO robots VALUES('http://a.test', 1, 'x', 0, 200, '')",
     read_robots, STATUS_DAMAGED},
    {"INSERT INTO robots VALUES('http://a.test', 1, 1, 0, 65536, '')",
     read_robots, STATUS_DAMAGED},
};

TEST_EACH(a_row_that_cannot_be_is_damage, harms)
{
    scratch_quiet();
    ck_ok(db_exec(d, harms[_i].harm));
    ck_assert_msg(harms[_i].read() == harms[_i].st, "%s", harms[_i].harm);
}

TEST(a_robots_txt_that_is_too_long_is_refused)
{
    static char body[(500 << 10) + 1];
    const struct robots_row row = {.origin = bytes_of_str("http://a.test"),
                                   .body = bytes_of(body, sizeof body)};

    ck_assert_int_eq(robots_store_set(d, &row), STATUS_LIMIT);
}

TEST(each_frequency_has_the_name_of_sitemaps_org)
{
    static const char *const names[] = {"",       "always",  "hourly", "daily",
                                        "weekly", "monthly", "yearly", "never"};

    for (unsigned i = 0; i < CHANGEFREQ_COUNT_; i++)
        ck_assert_str_eq(changefreq_name((enum url_changefreq)i), names[i]);
    ck_assert_str_eq(changefreq_name((enum url_changefreq)CHANGEFREQ_COUNT_),
                     "");
}
