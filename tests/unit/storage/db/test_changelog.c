/* SPDX-License-Identifier: MIT */
/* test_changelog.c - the rows of a database, out as records and in again. */
#include "base/map.h"
#include "storage/db/changelog.h"
#include "tests/unit/storage/scratch.h"

/* ---- a compacted log: the last record of each key ---- */

struct log {
    struct map *rows; /* by key: a struct buf */
    struct changelog *l;
    bool refuses;
    unsigned records;
};

static enum status keep(void *ctx, struct bytes key, struct bytes row)
{
    struct log *log = ctx;
    struct buf *b = NULL;

    log->records++;
    if (row.at != NULL) {
        b = calloc(1, sizeof *b);
        buf_init(b, CHANGELOG_ROW_MOST);
        buf_add_bytes(b, row);
    }
    b = b != NULL ? map_put(log->rows, key, b) : map_remove(log->rows, key);
    if (b != NULL)
        buf_fini(b);
    free(b);
    return STATUS_OK;
}

static enum status opened(void *ctx, struct db *d)
{
    struct log *log = ctx;

    ck_ok(changelog_open(&log->l, d));
    ck_ok(changelog_each(log->l, keep, log));
    changelog_follow(log->l);
    return STATUS_OK;
}

static enum status before_commit(void *ctx)
{
    struct log *log = ctx;

    return log->refuses ? STATUS_CLOSED : changelog_take(log->l, keep, log);
}

static void closing(void *ctx)
{
    struct log *log = ctx;

    changelog_close(log->l);
    log->l = NULL;
}

static void free_row(void *row)
{
    buf_fini(row);
    free(row);
}

static struct db *open_followed(const char *path, enum db_mode mode,
                                struct log *log)
{
    const struct db_follower f = {log, opened, before_commit, closing};
    const struct db_options o = {.follower = &f};
    struct db *d = NULL;

    ck_ok(db_open(&d, path, mode, &o));
    return d;
}

/* ---- two databases ---- */

static void run(struct db *d, const char *sql)
{
    ck_ok(db_begin(d));
    ck_ok(db_exec(d, sql));
    ck_ok(db_commit(d));
}

static bool put_row(void *ctx, struct bytes key, void *value)
{
    ck_ok(changelog_put(ctx, key, buf_bytes(value)));
    return true;
}

/* A database of the records alone. */
static void fill(const char *path, const struct log *log)
{
    const struct db_options o = {.forget_derived = true};
    struct changelog *l = NULL;
    struct db *d = NULL;

    ck_ok(db_open(&d, path, DB_CREATE, &o));
    ck_ok(db_begin(d));
    ck_ok(changelog_open(&l, d));
    map_each(log->rows, put_row, l);
    ck_ok(db_commit(d));
    changelog_close(l);
    db_close(d);
}

static bool same_row(void *ctx, struct bytes key, void *value)
{
    struct buf *other = map_get(ctx, key);

    ck_assert_ptr_nonnull(other);
    ck_assert(bytes_equal(buf_bytes(value), buf_bytes(other)));
    return true;
}

/* Has the database at `path` the rows of the log, and no others? */
static void has_the_rows(const char *path, const struct log *log)
{
    struct log all = {.rows = map_new()};
    struct db *d = NULL;

    ck_ok(db_open(&d, path, DB_READ, &(struct db_options){.kind = NULL}));
    ck_ok(changelog_open(&all.l, d));
    ck_ok(changelog_each(all.l, keep, &all));
    ck_assert_uint_eq(map_count(all.rows), map_count(log->rows));
    map_each(all.rows, same_row, log->rows);
    changelog_close(all.l);
    db_close(d);
    map_free(all.rows, free_row);
}

TEST(the_last_record_of_each_key_makes_the_same_database)
{
    struct scratch dir = scratch_make();
    struct log log = {.rows = map_new()};
    struct db *d = open_followed(dir.db, DB_CREATE, &log);

    run(d, "INSERT INTO url VALUES(1, 7, '/a', 0, 0, 24, 1, 0, 5),"
           "(2, 7, '/b', 1, 0, 0, 0, 1, 6), (3, 8, '', 1, 0, 0, 0, 1, -6)");
    run(d, "INSERT INTO filter_step VALUES(1, 2, 3, 4, 0.01, -1e300, 7, 8, 9)");
    run(d, "INSERT INTO queue_state VALUES(7, 1, 2, 3, 4, 5, 'back_off', 6,"
           " x'00ff')");
    run(d, "UPDATE queue_state SET failures = 9 WHERE queue = 7;"
           "UPDATE counter SET value = value + 1");
    run(d, "INSERT INTO refresh VALUES(1, 2, 3, 4, 5, 6, 7, 8, 9),"
           "(1, 2, 4, 4, 5, 6, 7, 8, 9); DELETE FROM refresh WHERE url = 3;"
           "UPDATE refresh SET due = 9");
    run(d, "INSERT INTO robots VALUES('https://\xc3\xa9/', 1, 2, 3, 4, x'')");
    run(d, "DELETE FROM url WHERE id = 2");
    run(d, "INSERT INTO seenpart VALUES(1, 2, 3, x'00');"
           "INSERT INTO seenpage VALUES(1, x'00')");
    db_close(d);
    fill(dir.other, &log);
    has_the_rows(dir.db, &log);
    has_the_rows(dir.other, &log);
    map_free(log.rows, free_row);
    scratch_remove(&dir);
}

TEST(a_row_is_one_record_and_one_that_came_and_went_is_none)
{
    struct scratch dir = scratch_make();
    struct log log = {.rows = map_new()};
    struct db *d = open_followed(dir.db, DB_CREATE, &log);

    run(d, "INSERT INTO counter VALUES('a', 1), ('b', 1), ('c', 1)");
    log.records = 0;
    run(d, "INSERT INTO counter VALUES('d', 1);"
           "DELETE FROM counter WHERE name = 'd'");
    ck_assert_uint_eq(log.records, 0);
    run(d, "UPDATE counter SET value = 2 WHERE name = 'a';"
           "UPDATE counter SET value = 3 WHERE name = 'a';"
           "INSERT OR REPLACE INTO counter VALUES('b', 4);"
           "DELETE FROM counter WHERE name = 'b'; SAVEPOINT s;"
           "DELETE FROM counter WHERE name = 'c'; ROLLBACK TO s; RELEASE s");
    ck_assert_uint_eq(log.records, 3);
    run(d, "UPDATE counter SET name = 'e' WHERE name = 'a'");
    ck_assert_uint_eq(log.records, 5);
    run(d, "INSERT INTO url VALUES(1, 7, '/a', 0, 0, 24, 1, 0, 5)");
    run(d, "UPDATE url SET id = 4");
    ck_assert_uint_eq(log.records, 8);
    db_close(d);
    has_the_rows(dir.db, &log);
    map_free(log.rows, free_row);
    scratch_remove(&dir);
}

static const struct {
    const char *key, *row;
    size_t key_len, row_len;
} foreign[] = {
    {"", "", 0, 0},
    {"\7counter", "", 8, 0},                    /* no key */
    {"\7counter\3", "", 9, 0},                  /* a text without a length */
    {"\7counter\3\5ab", "", 12, 0},             /* or shorter than it says */
    {"\7counter\3\1a\1", "", 12, 0},            /* more than the key */
    {"\7missing\3\1a", "", 11, 0},              /* another schema's */
    {"\7counter\3\1a", "\3\1a", 11, 3},         /* a column is missing */
    {"\7counter\3\1a", "\3\1a\1\2\0", 11, 6},   /* one more */
    {"\7counter\3\1a", "\3\1a\2\0\0\0", 11, 7}, /* half a number */
    {"\7counter\3\1a", "\3\1a\11", 11, 4},      /* no such type */
    {"\10seenpart\1\2", "", 11, 0},             /* made from the others */
    {"\7counter\3\1a", "\3\1a\0", 11, 4},       /* NOT NULL */
    {"\4word\3\1a", "\3\1a\0", 8, 4},           /* a number is asked for */
    {"\4word\0", "\0\0", 6, 2},                 /* a key is no NULL */
    {"\7counter\3\1a", "\3\1b\1\2", 11, 5},     /* the row of another key */
    {"\4word\1\2", "\1\4\3\1a", 7, 5},
    {"\377counter", "", 8, 0},
};

TEST_EACH(a_record_that_is_not_of_this_schema_is_refused, foreign)
{
    struct scratch dir = scratch_make();
    struct changelog *l = NULL;
    struct db *d = NULL;

    ck_ok(db_open(&d, dir.db, DB_CREATE, &(struct db_options){.kind = NULL}));
    ck_ok(changelog_open(&l, d));
    ck_ok(db_begin(d));
    ck_assert_int_eq(
        changelog_put(l, bytes_of(foreign[_i].key, foreign[_i].key_len),
                      bytes_of(foreign[_i].row, foreign[_i].row_len)),
        STATUS_FORMAT);
    ck_ok(db_commit(d));
    changelog_close(l);
    db_close(d);
    scratch_remove(&dir);
}
