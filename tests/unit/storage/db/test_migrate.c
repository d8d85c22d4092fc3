/* SPDX-License-Identifier: MIT */
/*
 * test_migrate.c - databases of an older format.
 *
 * The tests make layouts of format 1 by removing what came later;
 * tests/cli/migrate.sh has directories that older versions wrote themselves.
 */
#include "storage/db/migrate.h"

#include <sys/wait.h>

#include "base/fault.h"
#include "storage/db/schema.h"
#include "storage/rows/page_store.h"
#include "storage/rows/served_log.h"
#include "tests/unit/storage/step_fault.h"

#define NO_VIEWS                                                               \
    "DROP VIEW urls; DROP VIEW fetches; DROP VIEW links; DROP VIEW hints;"     \
    "DROP VIEW drops; DROP VIEW drop_examples;"
#define OLD_NAMES                                                              \
    "ALTER TABLE drop_reason RENAME TO skip_reason;"                           \
    "ALTER TABLE drop_count RENAME TO skip;"                                   \
    "ALTER TABLE drop_example RENAME TO skip_example;"
#define ONE   OLD_NAMES "UPDATE meta SET value = 1 WHERE name = 'format';"
#define NO(t) "DROP TABLE " t ";"
#define NO_NEAR                                                                \
    NO("nearpart")                                                             \
    NO("nearpage")                                                             \
    "ALTER TABLE fetch DROP COLUMN near;" NO_TEXT
#define NO_TEXT                                                                \
    "ALTER TABLE fetch DROP COLUMN text_digest;"                               \
    "ALTER TABLE fetch DROP COLUMN body_print;"                                \
    "ALTER TABLE fetch DROP COLUMN meta;"                                      \
    "ALTER TABLE fetch DROP COLUMN text_print;"

/* A row for each link: two of page 1, in one fetch, and one in the next. */
#define LINK_ROWS                                                              \
    NO("link_list")                                                            \
    "CREATE TABLE link(src INTEGER, dst INTEGER, kind INTEGER);"               \
    "INSERT INTO link VALUES(1, 2, 0), (1, 3, 8), (1, 2, 0), (2, NULL, 31),"   \
    " (2, 1, 0);"
#define LINK_TEXTS                                                             \
    LINK_ROWS                                                                  \
    "INSERT INTO page_links VALUES(1, 1, 2, NULL), (3, 3, 1, NULL),"           \
    " (2, 4, 2, NULL), (4, 6, 0, NULL);"                                       \
    "CREATE TABLE link_text(link INTEGER PRIMARY KEY, said BLOB);"             \
    "INSERT INTO link_text VALUES(4, x'0000011878000000');"
#define LISTS      "1:1[64,104,64];4:2[31,32];"
#define PAGE_LISTS "1:1[64,104];3:1[64];4:2[31,32]0000011878000000;"

/* From the oldest layout to the one that differs only in its number. */
static const struct {
    const char *take_away;
    bool bodies, queues; /* has repeated bodies; queues of programs */
    const char *links;
} layouts[] = {
    {NO_VIEWS ONE NO("early") NO("link_list") NO("hint") NO("place")
         NO("item_update") NO("item_lease") NO("item_queue") NO("bodypart")
             NO("bodypage") "ALTER TABLE fetch DROP COLUMN first_byte;"
                            "ALTER TABLE fetch DROP COLUMN same;"
                            "ALTER TABLE fetch DROP COLUMN flags;" NO_NEAR,
     false, false, ""},
    {NO_VIEWS ONE LINK_ROWS NO("hint") NO("item_update") NO("item_lease")
         NO("item_queue") NO("bodypart")
             NO("bodypage") "ALTER TABLE fetch DROP COLUMN first_byte;"
                            "ALTER TABLE fetch DROP COLUMN same;"
                            "ALTER TABLE fetch DROP COLUMN flags;" NO_NEAR,
     false, false, LISTS},
    {ONE "ALTER TABLE item_queue DROP COLUMN removed_count;"
         "ALTER TABLE item_queue DROP COLUMN completed;" LINK_TEXTS,
     true, true, PAGE_LISTS},
    {ONE "ALTER TABLE item_queue DROP COLUMN removed_count;" LINK_ROWS, true,
     true, LISTS},
    {ONE, true, true, ""},
    {ONE NO("early") LINK_TEXTS, true, true, PAGE_LISTS},
    {NO_VIEWS ONE NO_TEXT LINK_ROWS, true, true, LISTS},
};
#define LAYOUTS (int)(sizeof layouts / sizeof *layouts)

/* Writes five responses; the third and the fifth have the body of the first. */
static void make_old(const char *path, int layout)
{
    db_close(scratch_open(path, DB_CREATE));
    scratch_sql(path,
                "INSERT INTO queue VALUES(1, 'c', 'a.example');"
                "INSERT INTO origin VALUES(1, 1, 'http://a.example');"
                "INSERT INTO drop_reason VALUES(1, 'scope', 3);"
                "INSERT INTO drop_count VALUES(1, 1, 'b.example', 3);"
                "INSERT INTO item_queue VALUES(1, 7, 0, -1, 0, 9, 8, 0, 0)");
    scratch_sql(path,
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL"
                " SELECT i + 1 FROM n WHERE i < 5)"
                "INSERT INTO url SELECT i, 1, '/' || i, 0, 0, 0, 0, NULL, 5"
                " FROM n;"
                "INSERT INTO fetch(seq, url, final, status, tries, at, digest,"
                " same) SELECT id, id, 1, 1, 1, 9, CASE id WHEN 4 THEN NULL"
                " WHEN 2 THEN x'00112233445566778899aabbccddeeff'"
                " ELSE x'ff112233445566778899aabbccddeeff' END,"
                " CASE WHEN id IN (3, 5) THEN 1 END FROM url");
    scratch_sql(path, layouts[layout].take_away);
}

/* Returns types, names and keys of all columns, and the text of the views. */
static char *layout_of(struct db *d)
{
    sqlite3_stmt *s = NULL;
    char *text;

    ck_assert_int_eq(
        db_prepare(d, &s,
                   "SELECT group_concat(t) FROM (SELECT m.name || c.cid ||"
                   " c.name || c.type || c.pk AS t FROM sqlite_master m,"
                   " pragma_table_info(m.name) c WHERE m.type = 'table'"
                   " UNION ALL SELECT sql FROM sqlite_master"
                   " WHERE type <> 'table' ORDER BY 1)"),
        STATUS_OK);
    ck_assert_int_eq(db_step(d, s), STATUS_OK);
    text = strdup((const char *)sqlite3_column_text(s, 0));
    sqlite3_finalize(s);
    return text;
}

static int64_t number(struct db *d, const char *sql)
{
    int64_t v = -1;

    ck_assert_msg(db_number(d, sql, &v) == STATUS_OK, "%s", sql);
    return v;
}

#define FORMAT  "SELECT value FROM meta WHERE name = 'format'"
#define REPEATS "SELECT ifnull(sum(same * 100 + seq), 0) FROM fetch"

/* Reads the lists one by one, as the links of a page are. */
static void expect_links(struct db *d, const char *wanted)
{
    sqlite3_stmt *q = NULL;
    char text[200] = "";

    ck_assert_int_eq(
        db_prepare(d, &q,
                   "SELECT first || ':' || src || links || ifnull(hex(said),"
                   " '') || ';' FROM link_list WHERE first = ?"),
        STATUS_OK);
    for (int first = 1; first < 9; first++) {
        sqlite3_bind_int(q, 1, first);
        if (db_step(d, q) == STATUS_OK)
            strcat(text, (const char *)sqlite3_column_text(q, 0));
        sqlite3_reset(q);
    }
    sqlite3_finalize(q);
    ck_assert_str_eq(text, wanted);
}

static void expect_new(struct db *d)
{
    ck_assert_int_eq(db_format(d), DB_FORMAT);
    ck_assert_int_eq(number(d, FORMAT), DB_FORMAT);
    ck_assert_int_eq(number(d, "SELECT count(*) FROM url"), 5);
    ck_assert_int_eq(number(d, "SELECT count FROM drops"), 3);
    ck_assert_int_eq(number(d, REPEATS), 103 + 105);
}

START_TEST(a_writer_makes_every_layout_that_of_a_new_store)
{
    struct scratch dir = scratch_make();
    struct db *fresh = scratch_open(dir.other, DB_CREATE), *d;
    char *is, *wanted = layout_of(fresh);

    make_old(dir.db, _i);
    d = scratch_open(dir.db, DB_WRITE);
    is = layout_of(d);
    ck_assert_str_eq(is, wanted);
    expect_new(d);
    expect_links(d, layouts[_i].links);
    ck_assert_int_eq(
        number(d, "SELECT count(*) FROM item_queue WHERE completed = 0"
                  " AND removed_count = 0 AND removed = 7 AND served = 8"),
        layouts[_i].queues);
    if (!layouts[_i].bodies)
        ck_assert_int_eq(number(d, "SELECT value FROM counter"
                                   " WHERE name = 'same_content'"),
                         2);
    db_close(d);
    d = scratch_open(dir.db, DB_WRITE);
    expect_new(d);
    db_close(d);
    free(is);
    free(wanted);
    db_close(fresh);
    scratch_remove(&dir);
}
END_TEST

static bool has_fourth(void *ctx, const struct fetch_row *row)
{
    *(bool *)ctx = row->url == 4 && row->same_as == 0;
    return true;
}

START_TEST(a_reader_sees_every_layout_as_a_new_one_and_changes_nothing)
{
    struct scratch dir = scratch_make();
    struct page_store *pages = NULL;
    struct served_log *log = NULL;
    struct db *d;
    uint64_t bodies = 0;
    bool fourth = false;

    make_old(dir.db, _i);
    d = scratch_open(dir.db, DB_READ);
    ck_assert_int_eq(db_format(d), 1);
    ck_assert_int_eq(number(d, REPEATS), layouts[_i].bodies ? 208 : 0);
    expect_links(d, layouts[_i].links);
    ck_assert_int_eq(number(d, "SELECT count FROM drops"), 3);
    ck_assert_int_eq(number(d, "SELECT count(*) FROM fetches"
                               " WHERE first_byte IS NULL"
                               " AND reason IS NULL"),
                     5);
    for (const struct db_added *a = schema_added; a->table != NULL; a++) {
        char sql[128];

        snprintf(sql, sizeof sql, "SELECT count(%s) FROM %s",
                 a->column != NULL ? a->column : "*",
                 a->until != NULL ? a->until : a->table);
        ck_assert_int_ge(number(d, sql), 0);
    }
    ck_assert_int_eq(page_store_open(&pages, d), STATUS_OK);
    ck_assert_int_eq(served_log_open(&log, d), STATUS_OK);
    ck_assert_int_eq(page_store_each_of(pages, 4, has_fourth, &fourth),
                     STATUS_OK);
    ck_assert(fourth);
    ck_assert_int_eq(page_store_verify_bodies(pages, &bodies),
                     layouts[_i].bodies ? STATUS_OK : STATUS_NOT_FOUND);
    ck_assert_int_ne(db_exec(d, "INSERT INTO place VALUES(1, 'x')"), STATUS_OK);
    served_log_close(log);
    page_store_close(pages);
    db_close(d);
    d = scratch_open(dir.db, DB_READ);
    ck_assert_int_eq(number(d, FORMAT), 1);
    db_close(d);
    scratch_remove(&dir);
}
END_TEST

/* Until then fingerprints had another definition and were in another column. */
START_TEST(fingerprints_of_before_format_17_are_not_compared_with_new_ones)
{
    struct scratch dir = scratch_make();
    struct db *d;

    make_old(dir.db, LAYOUTS - 1);
    scratch_sql(dir.db, "UPDATE meta SET value = 16 WHERE name = 'format';"
                        "ALTER TABLE fetch ADD COLUMN simhash INTEGER;"
                        "UPDATE fetch SET simhash = 5, near = nullif(1, seq);"
                        "INSERT INTO nearpart VALUES(0, 5, 4, x'', NULL);"
                        "INSERT INTO nearpage VALUES(0, x'')");
    d = scratch_open(dir.db, DB_READ);
    ck_assert_int_eq(number(d, "SELECT count(simhash) FROM fetches"), 0);
    ck_assert_int_eq(number(d, "SELECT count(near_dup_of) FROM fetches"), 4);
    db_close(d);
    d = scratch_open(dir.db, DB_WRITE);
    ck_assert_int_eq(number(d, "SELECT count(simhash) FROM fetches"), 0);
    ck_assert_int_eq(number(d, "SELECT count(near_dup_of) FROM fetches"), 4);
    ck_assert_int_eq(number(d, "SELECT (SELECT count(*) FROM nearpart)"
                               " + (SELECT count(*) FROM nearpage)"),
                     0);
    db_close(d);
    scratch_remove(&dir);
}
END_TEST

/* The file changes under a reader that had put views in front of its tables. */
START_TEST(a_reader_of_an_old_file_reads_on_when_a_writer_changes_it)
{
    struct scratch dir = scratch_make();
    struct db *r, *w;

    make_old(dir.db, 0);
    r = scratch_open(dir.db, DB_READ);
    ck_assert_int_eq(number(r, "SELECT count(*) FROM fetches"), 5);
    w = scratch_open(dir.db, DB_WRITE);
    ck_assert_int_eq(number(r, "SELECT count(*) FROM fetches"), 5);
    ck_assert_int_eq(number(r, "SELECT count(*) FROM link_list"), 0);
    db_close(r);
    expect_new(w);
    db_close(w);
    scratch_remove(&dir);
}
END_TEST

/* Opens in a child process; returns 42 if it got to the end. */
static int open_in_child(const char *path, const char *kill_at, uint64_t most)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        const struct db_options o = {.cache_bytes = 4 << 20};
        struct db *d = NULL;
        enum status st;

        if (kill_at != NULL)
            setenv("URLWEIR_KILL_AT", kill_at, 1);
        fault_init();
        if (most > 0)
            scratch_limit_files(most);
        st = db_open(&d, path, DB_WRITE, &o);
        db_close(d);
        _exit(st == STATUS_OK ? 42 : 50 + (int)st);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void expect_old_then_migrate(const struct scratch *dir)
{
    struct db *d = scratch_open(dir->db, DB_READ);

    ck_assert_int_eq(number(d, FORMAT), 1);
    ck_assert_int_eq(number(d, "SELECT count(*) FROM main.sqlite_master"
                               " WHERE name = 'link'"),
                     0);
    db_close(d);
    d = scratch_open(dir->db, DB_WRITE);
    expect_new(d);
    db_close(d);
}

START_TEST(a_kill_at_any_step_leaves_the_old_file_or_the_new_one)
{
    static const char *const points[] = {MIGRATE_FAULT_POINTS, "commit-before"};
    char at[64];

    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        for (int n = 1;; n++) {
            struct scratch dir = scratch_make();
            int ended;

            make_old(dir.db, 0);
            snprintf(at, sizeof at, "%s:%d", points[i], n);
            ended = open_in_child(dir.db, at, 0);
            if (ended == -SIGKILL)
                expect_old_then_migrate(&dir);
            scratch_remove(&dir);
            if (ended == 42)
                break;
            ck_assert_int_eq(ended, -SIGKILL);
        }
    }
}
END_TEST

START_TEST(a_full_disk_leaves_the_old_file)
{
    struct scratch dir = scratch_make();

    make_old(dir.db, 0);
    ck_assert_int_eq(open_in_child(dir.db, NULL, 5000), 50 + STATUS_FULL);
    expect_old_then_migrate(&dir);
    scratch_remove(&dir);
}
END_TEST

static void open_to_write(void *path)
{
    const struct db_options o = {.checkpoint_bytes = 0};
    struct db *d = NULL;

    TELLS(db_open(&d, path, DB_WRITE, &o));
    db_close(d);
}

static void open_to_read(void *path)
{
    struct db_options o = {.checkpoint_bytes = 0};
    struct db *d = NULL;

    TELLS(db_open(&d, path, DB_READ, &o));
    db_close(d);
}

/* The file is a new one only if what fails comes after the commit. */
START_TEST(a_statement_that_fails_is_told_and_the_old_file_stays)
{
    static const int old[] = {0, 4}; /* the oldest, and one to rename */
    uint64_t n = 0, reads = 0;
    struct scratch dir = scratch_make();
    struct db *d;

    make_old(dir.db, old[_i]);
    while (step_fault_at(++reads, open_to_read, dir.db))
        ;
    while (step_fault_at(++n, open_to_write, dir.db)) {
        d = scratch_open(dir.db, DB_READ);
        if (number(d, FORMAT) != 1)
            expect_new(d);
        db_close(d);
    }
    ck_assert_uint_gt(reads, 20);
    ck_assert_uint_gt(n, 20);
    d = scratch_open(dir.db, DB_READ);
    expect_new(d);
    db_close(d);
    scratch_remove(&dir);
}
END_TEST

/* A damaged file must not be turned into what looks like an empty crawl. */
START_TEST(a_table_that_every_format_has_is_not_made_anew)
{
    struct scratch dir = scratch_make();
    struct page_store *pages = NULL;
    struct db *d;

    make_old(dir.db, 2);
    scratch_sql(dir.db, "DROP TABLE word");
    d = scratch_open(dir.db, DB_READ);
    ck_assert_int_eq(page_store_open(&pages, d), STATUS_DAMAGED);
    db_close(d);
    d = scratch_open(dir.db, DB_WRITE);
    ck_assert_int_eq(page_store_open(&pages, d), STATUS_DAMAGED);
    db_close(d);
    scratch_remove(&dir);
}
END_TEST

Suite *suite_migrate(void)
{
    Suite *s = suite_create("migrate");
    TCase *t = tcase_create("migrate");

    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, a_writer_makes_every_layout_that_of_a_new_store, 0,
                        LAYOUTS);
    tcase_add_loop_test(
        t, a_reader_sees_every_layout_as_a_new_one_and_changes_nothing, 0,
        LAYOUTS);
    tcase_add_test(
        t, fingerprints_of_before_format_17_are_not_compared_with_new_ones);
    tcase_add_test(t,
                   a_reader_of_an_old_file_reads_on_when_a_writer_changes_it);
    tcase_add_test(t, a_kill_at_any_step_leaves_the_old_file_or_the_new_one);
    tcase_add_test(t, a_full_disk_leaves_the_old_file);
    tcase_add_loop_test(t,
                        a_statement_that_fails_is_told_and_the_old_file_stays,
                        0, 2);
    tcase_add_test(t, a_table_that_every_format_has_is_not_made_anew);
    suite_add_tcase(s, t);
    return s;
}
