/* SPDX-License-Identifier: MIT */
/*
 * test_schema.c - the views for people agree with the code.
 *
 * storage/ may not know the names of outcomes and link kinds, so the views
 * spell them out; here they are compared.
 */
#include "storage/db/schema.h"

#include "crawler/html/links.h"
#include "frontier/outcome.h"
#include "storage/index/whole_index.h"
#include "tests/unit/storage/scratch.h"

_Static_assert(URL_KIND_SERVED == LINK_PUT, "one number");
_Static_assert(WHOLE_STATUS == OUTCOME_FETCHED, "one number");
_Static_assert(WHOLE_UNCHANGED == REASON_UNCHANGED, "one number");
_Static_assert(LINK_KIND_COUNT_ <= URL_KIND_MOST + 1, "in sets of 32 bits");

static char *one_text(struct db *d, const char *sql)
{
    static char text[256];
    sqlite3_stmt *s = NULL;

    ck_ok(db_prepare(d, &s, sql));
    ck_ok(db_step(d, s));
    snprintf(text, sizeof text, "%s", (const char *)sqlite3_column_text(s, 0));
    sqlite3_finalize(s);
    return text;
}

static void fill(struct db *d)
{
    char sql[512];

    ck_ok(db_exec(d, "INSERT INTO queue VALUES(1, 'c', 'a.example');"
                     "INSERT INTO origin VALUES(1, 1, 'http://a.example');"
                     "INSERT INTO word VALUES(1, 'text/html')"));
    for (int i = 0; i < LINK_KIND_COUNT_; i++) {
        snprintf(sql, sizeof sql,
                 "INSERT INTO url VALUES(%d, 1, '/%d', 0, 0, %d, 3, NULL,"
                 " 1767225600123)",
                 i + 1, i + 1, i);
        ck_ok(db_exec(d, sql));
    }
    for (int i = 0; i < REASON_COUNT_; i++) {
        snprintf(sql, sizeof sql,
                 "INSERT INTO fetch(seq, url, status, reason, http, at, mime,"
                 " charset) VALUES(%d, 1, %d, %d, 404, 0, 1, 'x-unusual')",
                 i + 1, i % OUTCOME_STATUS_COUNT_, i);
        ck_ok(db_exec(d, sql));
    }
}

TEST(the_views_name_every_kind_status_and_reason)
{
    struct scratch dir = scratch_make();
    struct db *d = scratch_open(dir.db, DB_CREATE);
    char sql[128], reason[24];

    fill(d);
    for (int i = 0; i < LINK_KIND_COUNT_; i++) {
        snprintf(sql, sizeof sql, "SELECT kind FROM urls WHERE id = %d", i + 1);
        ck_assert_str_eq(one_text(d, sql), link_kind_name((enum link_kind)i));
    }
    for (int i = 0; i < REASON_COUNT_; i++) {
        struct outcome o = {(enum outcome_status)(i % OUTCOME_STATUS_COUNT_),
                            (enum outcome_reason)i, 404};

        snprintf(sql, sizeof sql,
                 "SELECT ifnull(reason, '') FROM fetches"
                 " WHERE seq = %d",
                 i + 1);
        outcome_reason_text(o, reason, sizeof reason);
        ck_assert_str_eq(one_text(d, sql), reason);
        snprintf(sql, sizeof sql, "SELECT status FROM fetches WHERE seq = %d",
                 i + 1);
        ck_assert_str_eq(one_text(d, sql), outcome_status_name(o.status));
    }
    db_close(d);
    scratch_remove(&dir);
}

TEST(the_views_put_urls_words_and_times_together)
{
    struct scratch dir = scratch_make();
    struct db *d = scratch_open(dir.db, DB_CREATE);

    fill(d);
    ck_assert_str_eq(one_text(d, "SELECT url FROM urls WHERE id = 7"),
                     "http://a.example/7");
    ck_assert_str_eq(one_text(d, "SELECT found_at FROM urls WHERE id = 7"),
                     "2026-01-01T00:00:00.123Z");
    ck_assert_str_eq(one_text(d, "SELECT seed || false_positive FROM urls"),
                     "11");
    ck_assert_str_eq(one_text(d, "SELECT url FROM fetches WHERE seq = 3"),
                     "http://a.example/1");
    ck_assert_str_eq(one_text(d, "SELECT mime FROM fetches"), "text/html");
    ck_assert_str_eq(one_text(d, "SELECT charset FROM fetches"), "x-unusual");
    db_close(d);
    scratch_remove(&dir);
}

/* Runs each block between ```sql and ```; returns how many there were. */
static int run_queries(struct db *d, char *text)
{
    int n = 0;

    for (char *at = strstr(text, "```sql\n"); at != NULL;
         at = strstr(at, "```sql\n")) {
        char *end;

        at += strlen("```sql\n");
        end = strstr(at, "```");
        ck_assert_ptr_nonnull(end);
        *end = '\0';
        ck_assert_msg(db_exec(d, at) == STATUS_OK, "%s", at);
        at = end + 1;
        n++;
    }
    return n;
}

TEST(the_queries_of_the_manual_run)
{
    struct scratch dir = scratch_make();
    struct db *d = scratch_open(dir.db, DB_CREATE), *r;
    struct buf text;

    fill(d);
    buf_init(&text, 1 << 20);
    r = scratch_open(dir.db, DB_READ);
    if (file_read("docs/formats/frontier-db.md", &text) == STATUS_OK)
        ck_assert_int_gt(run_queries(r, text.at), 8);
    else
        printf("skipped: not run from the source tree\n");
    buf_fini(&text);
    db_close(r);
    db_close(d);
    scratch_remove(&dir);
}
