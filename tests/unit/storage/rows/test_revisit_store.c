/* SPDX-License-Identifier: MIT */
/* test_revisit_store.c - what the record of a fetch refers to. */
#include "storage/rows/revisit_store.h"

#include "tests/unit/storage/step_fault.h"

static struct scratch at;
static struct db *d;
static struct revisit_store *s;
static struct buf text;

static void start(void)
{
    at = scratch_make();
    d = scratch_open(at.db, DB_CREATE);
    buf_init(&text, 100);
    ck_ok(revisit_store_open(&s, d));
}

static void end(void)
{
    revisit_store_close(s);
    revisit_store_close(NULL);
    db_close(d);
    buf_fini(&text);
    scratch_remove(&at);
}

static void set(uint64_t seq, const char *url, int64_t at_ms)
{
    const struct record_name to = {bytes_of_str(url), at_ms};

    ck_ok(revisit_store_set(s, seq, &to));
}

FIXTURE(start, end);

TEST(a_record_is_named_by_its_url_and_date)
{
    struct record_name to;

    set(7, "http://a.test/", 5000);
    set(8, "http://b.test/?x", INT64_C(1769903999123));
    buf_add_str(&text, "something");
    ck_ok(revisit_store_get(s, 8, &to, &text));
    ck_assert(bytes_is(to.url, "http://b.test/?x"));
    ck_assert(to.at_ms == INT64_C(1769903999123));
    ck_ok(revisit_store_get(s, 7, &to, &text));
    ck_assert(bytes_is(to.url, "http://a.test/"));
    ck_assert_int_eq(to.at_ms, 5000);
    ck_assert_int_eq(revisit_store_get(s, 9, &to, &text), STATUS_NOT_FOUND);
}

TEST(a_record_that_cannot_be_is_damage)
{
    struct record_name to;

    set(7, "http://a.test/", 5000);
    ck_ok(db_exec(d, "UPDATE revisit SET at = 'x'"));
    ck_assert_int_eq(revisit_store_get(s, 7, &to, &text), STATUS_DAMAGED);
    ck_ok(db_exec(d, "UPDATE revisit SET at = 5, fetch = -7"));
    ck_assert_int_eq(revisit_store_get(s, (uint64_t)-7, &to, &text),
                     STATUS_DAMAGED);
    ck_ok(db_exec(d, "UPDATE revisit SET fetch = 7, url ="
                     " printf('%.*c', 101, 'x')"));
    ck_assert_int_eq(revisit_store_get(s, 7, &to, &text), STATUS_LIMIT);
}
