/* SPDX-License-Identifier: MIT */
/* test_db.c - what opens, what is refused, and how the log starts over. */
#include <pthread.h>
#include <sys/wait.h>

#include "base/file/file.h"
#include "tests/unit/storage/scratch.h"

static const struct db_options options = {.checkpoint_bytes = 64 << 10};

static enum status try_open(const char *path, enum db_mode mode)
{
    struct db *d = NULL;
    enum status st = db_open(&d, path, mode, &options);

    ck_assert_int_eq(st == STATUS_OK, d != NULL);
    db_close(d);
    return st;
}

static void overwrite(const char *path, long at, const char *octets)
{
    FILE *f = fopen(path, "r+b");

    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(fseek(f, at, SEEK_SET), 0);
    ck_assert_uint_eq(fwrite(octets, 1, strlen(octets), f), strlen(octets));
    fclose(f);
}

/* Promise (Crashes): after a sync that failed, the next start does not trust
 * the page cache, and says so. */
/* After a failed sync, the system's cached pages say nothing about the disk. */
TEST(after_a_sync_that_failed_the_next_start_reads_from_the_disk)
{
    struct scratch dir = scratch_make();
    char log[128];
    struct db *d = NULL;

    ck_ok(db_open(&d, dir.db, DB_CREATE, &options));
    ck_ok(db_begin(d));
    ck_ok(db_exec(d, "INSERT INTO counter VALUES('a', 1)"));
    scratch_no_sync = true;
    ck_assert_int_eq(db_commit(d), STATUS_IO);
    scratch_no_sync = false;
    ck_assert(db_broken(d));
    db_close(d);
    snprintf(log, sizeof log, "%s-wal", dir.db);
    ck_assert_int_eq(access(log, F_OK), 0); /* nothing was written after that */
    ck_assert(unsynced_is_noted(dir.db));
    ck_ok(try_open(dir.db, DB_READ));
    ck_assert(unsynced_is_noted(dir.db)); /* a reader does not clear the note */
    ck_ok(try_open(dir.db, DB_WRITE));
    ck_assert(!unsynced_is_noted(dir.db));
    scratch_remove(&dir);
}

/* Threads are refused for want of memory: here for want of room for a stack. */
TEST(without_a_thread_for_its_checkpoints_a_store_does_not_open)
{
    struct scratch dir = scratch_make();
    struct db *d = NULL;
    pthread_attr_t all, huge;

    ck_ok(try_open(dir.db, DB_CREATE));
    ck_assert_int_eq(pthread_getattr_default_np(&all), 0);
    ck_assert_int_eq(pthread_attr_init(&huge), 0);
    ck_assert_int_eq(pthread_attr_setstacksize(&huge, (size_t)1 << 60), 0);
    ck_assert_int_eq(pthread_setattr_default_np(&huge), 0);
    ck_assert_int_eq(db_open(&d, dir.db, DB_WRITE, &options), STATUS_NOMEM);
    ck_assert_ptr_null(d);
    ck_assert_int_eq(pthread_setattr_default_np(&all), 0);
    ck_ok(try_open(dir.db, DB_WRITE));
    pthread_attr_destroy(&huge);
    pthread_attr_destroy(&all);
    scratch_remove(&dir);
}

TEST(a_file_left_by_a_creation_cut_short_is_no_hindrance)
{
    struct scratch dir = scratch_make();
    char unfinished[128];

    snprintf(unfinished, sizeof unfinished, "%s.new", dir.db);
    ck_ok(try_open(dir.db, DB_CREATE));
    rename(dir.db, unfinished);
    overwrite(unfinished, 0, "half a header");
    ck_ok(try_open(dir.db, DB_CREATE));
    ck_assert_int_eq(access(unfinished, F_OK), -1);
    scratch_remove(&dir);
}

/* SQLite opens an emptied file, or one cut below a page, as a healthy database
 * with nothing in it. */
TEST(an_emptied_or_cut_file_is_damage_and_never_a_fresh_store)
{
    static const long sizes[] = {0, 1, 99, 100, 512, 4095};
    struct scratch dir = scratch_make();

    ck_ok(try_open(dir.db, DB_CREATE));
    for (size_t i = sizeof sizes / sizeof *sizes; i-- > 0;) {
        ck_assert_int_eq(truncate(dir.db, sizes[i]), 0);
        ck_assert_int_eq(try_open(dir.db, DB_WRITE), STATUS_DAMAGED);
        ck_assert_int_eq(try_open(dir.db, DB_READ), STATUS_DAMAGED);
        ck_assert_int_eq(try_open(dir.db, DB_CREATE), STATUS_EXISTS);
    }
    scratch_remove(&dir);
}

TEST(a_file_cut_to_whole_pages_is_damage)
{
    struct scratch dir = scratch_make();

    ck_ok(try_open(dir.db, DB_CREATE));
    for (long pages = 10; pages >= 1; pages--) {
        ck_assert_int_eq(truncate(dir.db, pages * 4096), 0);
        ck_assert_int_eq(try_open(dir.db, DB_WRITE), STATUS_DAMAGED);
    }
    scratch_remove(&dir);
}

TEST(what_is_no_database_or_not_ours_is_refused)
{
    struct scratch dir = scratch_make();

    ck_ok(try_open(dir.db, DB_CREATE));
    overwrite(dir.db, 0, "SQLite format 4");
    ck_assert_int_eq(try_open(dir.db, DB_WRITE), STATUS_DAMAGED);
    unlink(dir.db);
    scratch_sql(dir.db, "CREATE TABLE meta(name, value)");
    ck_assert_int_eq(try_open(dir.db, DB_WRITE), STATUS_DAMAGED);
    scratch_remove(&dir);
}

/* Promise (Seen check and store): a directory of another format is refused,
 * and nothing in it changes. */
TEST(another_format_is_refused_and_none_is_damage)
{
    struct scratch dir = scratch_make();

    ck_ok(try_open(dir.db, DB_CREATE));
    scratch_sql(dir.db,
                "UPDATE meta SET value = value + 1 WHERE name = 'format'");
    ck_assert_int_eq(try_open(dir.db, DB_WRITE), STATUS_VERSION);
    ck_assert_int_eq(try_open(dir.db, DB_READ), STATUS_VERSION);
    scratch_sql(dir.db, "DELETE FROM meta WHERE name = 'format'");
    ck_assert_int_eq(try_open(dir.db, DB_WRITE), STATUS_DAMAGED);
    scratch_remove(&dir);
}

/* Promise 6: Cost per URL stays flat as the crawl grows. See also `make
 * bench-crawl`, `make bench-growth`, `make bench-seen`. */
/* The log must start over even if a writer is hardly ever outside a
 * transaction, of whatever beginning. */
TEST_LOOP(the_log_stays_bounded_under_a_writer_without_pause, 0, 2)
{
    struct scratch dir = scratch_make();
    struct db *d = NULL;
    char wal[128];
    uint64_t size = 0, most = 0;

    snprintf(wal, sizeof wal, "%s-wal", dir.db);
    ck_ok(db_open(&d, dir.db, DB_CREATE, &options));
    ck_ok(db_exec(d, "CREATE TABLE filler(id INTEGER PRIMARY KEY,"
                     " b)"));
    for (int i = 0; i < 60; i++) {
        if (_i > 0)
            ck_ok(db_hold(d));
        ck_ok(db_begin(d));
        ck_ok(db_exec(d, "INSERT INTO filler(b) VALUES(zeroblob(1000000))"));
        usleep(3000); /* checkpoints finish in this pause, too early */
        ck_ok(db_commit(d));
        ck_ok(file_size(wal, &size));
        most = size > most ? size : most;
    }
    ck_assert_uint_lt(most, 8 << 20);
    db_close(d);
    scratch_remove(&dir);
}

TEST(reads_that_are_held_together_can_become_a_transaction)
{
    struct scratch dir = scratch_make();
    struct db *d = NULL, *other = NULL;
    const char *count = "SELECT count(*) FROM counter";
    int64_t n;

    ck_ok(db_open(&d, dir.db, DB_CREATE, &options));
    ck_ok(db_open(&other, dir.db, DB_READ, &options));
    ck_ok(db_let_go(d)); /* of nothing */

    ck_ok(db_hold(d));
    ck_ok(db_number(d, count, &n));
    ck_assert_int_eq(sqlite3_get_autocommit(db_handle(d)), 0);
    ck_ok(db_let_go(d));
    ck_assert_int_ne(sqlite3_get_autocommit(db_handle(d)), 0);

    ck_ok(db_hold(d));
    ck_ok(db_begin(d));
    ck_ok(db_exec(d, "INSERT INTO counter VALUES('a', 1)"));
    ck_ok(db_let_go(d)); /* leaves it open */
    ck_ok(db_number(other, count, &n));
    ck_assert_int_eq(n, 0);
    ck_ok(db_hold(d)); /* within it: nothing */
    ck_ok(db_let_go(d));
    ck_assert_int_eq(sqlite3_get_autocommit(db_handle(d)), 0);
    ck_ok(db_commit(d));
    ck_ok(db_number(other, count, &n));
    ck_assert_int_eq(n, 1);

    ck_ok(db_hold(d));
    db_rollback(d);
    ck_assert_int_ne(sqlite3_get_autocommit(db_handle(d)), 0);
    db_close(other);
    db_close(d);
    scratch_remove(&dir);
}

/* A file-size limit acts as a disk that is full for one process alone. */
static void fill_up(const char *path)
{
    struct db *d = NULL;
    enum status st = STATUS_OK;

    if (db_open(&d, path, DB_WRITE, &options) != STATUS_OK)
        _exit(1);
    for (int i = 0; i < 100000 && st == STATUS_OK; i++) {
        st = db_begin(d);
        if (st == STATUS_OK)
            st = db_exec(d, "INSERT INTO robots VALUES("
                            "hex(randomblob(16)), 0, 0, 0, 0, zeroblob(9000))");
        if (st == STATUS_OK)
            st = db_commit(d);
    }
    if (!db_broken(d) || db_error(d) != st || db_begin(d) != st)
        _exit(2);
    db_rollback(d);
    db_close(d);
    _exit(st == STATUS_FULL ? 42 : 10 + (int)st);
}

TEST(a_full_disk_is_said_once_and_is_final_until_reopened)
{
    struct scratch dir = scratch_make();
    int status = 0;
    pid_t child;

    ck_ok(try_open(dir.db, DB_CREATE));
    child = fork();
    if (child == 0) {
        scratch_limit_files((uint64_t)1 << 20);
        fill_up(dir.db);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 42);
    ck_ok(try_open(dir.db, DB_WRITE));
    scratch_remove(&dir);
}

TEST(verify_finds_a_page_that_was_overwritten)
{
    struct scratch dir = scratch_make();
    struct db *d = scratch_open(dir.db, DB_CREATE);

    ck_ok(db_verify(d));
    db_close(d);
    overwrite(dir.db, 5 * 4096, "what was a b-tree page is one no more");
    d = scratch_open(dir.db, DB_WRITE);
    ck_assert_int_eq(db_verify(d), STATUS_DAMAGED);
    db_close(d);
    scratch_remove(&dir);
}

/* The next start then checks the whole store, which is not usual. */
TEST(damage_that_a_failed_sync_left_is_found_by_the_next_start)
{
    struct scratch dir = scratch_make();

    ck_ok(try_open(dir.db, DB_CREATE));
    overwrite(dir.db, 5 * 4096, "what was a b-tree page is one no more");
    ck_ok(try_open(dir.db, DB_WRITE));
    unsynced_note(dir.db);
    ck_assert_int_eq(try_open(dir.db, DB_READ), STATUS_DAMAGED);
    ck_assert_int_eq(try_open(dir.db, DB_WRITE), STATUS_DAMAGED);
    ck_assert(unsynced_is_noted(dir.db));
    scratch_remove(&dir);
}
