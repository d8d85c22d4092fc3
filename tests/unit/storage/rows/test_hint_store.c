/* SPDX-License-Identifier: MIT */
/* test_hint_store.c - what sitemaps say about the URLs they list. */
#include "storage/rows/hint_store.h"

#include "tests/unit/storage/scratch.h"

static struct scratch dir;
static struct db *d;
static struct hint_store *h;

static void begin(void)
{
    scratch_quiet();
    dir = scratch_make();
    d = scratch_open(dir.db, DB_CREATE);
    ck_ok(hint_store_open(&h, d));
}

static void end(void)
{
    hint_store_close(h);
    db_close(d);
    scratch_remove(&dir);
}

FIXTURE(begin, end);

TEST(a_hint_out_of_bounds_is_damage)
{
    static const char *const harms[] = {
        "INSERT INTO hint VALUES(5, 1001, 1, 1)",
        "INSERT INTO hint VALUES(5, -1, 1, 1)",
        "INSERT INTO hint VALUES(5, 1, 'x', 1)",
        "INSERT INTO hint VALUES(5, 1, 1, 8)",
        "INSERT INTO hint VALUES(5, 1, 1, -1)",
    };
    struct url_hint hint;

    for (size_t i = 0; i < sizeof harms / sizeof *harms; i++) {
        ck_ok(db_exec(d, "DELETE FROM hint"));
        ck_ok(db_exec(d, harms[i]));
        ck_assert_int_eq(hint_store_get(h, 5, &hint), STATUS_DAMAGED);
    }
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
