/* SPDX-License-Identifier: MIT */
/*
 * db.c - the SQLite connection: schema versions, pragmas, group commit.
 *
 * An existing file is opened and never filled (db_make.h makes a file whole),
 * so an empty one, or one that lacks a table, is damaged. We ask for its size
 * with stat(2) and for the rest through SQLite: opening and closing the file
 * ourselves would drop the locks that SQLite holds on it for another connection
 * of this process (fcntl(2), "Record locking").
 */
#include "storage/db/db.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/file/file.h"
#include "base/file/unsynced.h"
#include "base/logger.h"
#include "base/mem.h"
#include "storage/db/checkpointer.h"
#include "storage/db/db_make.h"
#include "storage/db/db_runs.h"
#include "storage/db/migrate.h"
#include "storage/db/run_file.h"
#include "storage/db/schema.h"
#include "storage/db/sqlite_error.h"

#define PAGE               4096
#define DEFAULT_CACHE      (UINT64_C(32) << 20)
#define DEFAULT_CHECKPOINT (UINT64_C(16) << 20)
#define LOG_SIZE_LIMIT     "67108864" /* the log file is truncated to this */
#define READER_WAITS_MS    5000

const struct db_kind db_frontier = {
    .what = "frontier database",
    .application_id = SCHEMA_APPLICATION_ID,
    .format = DB_FORMAT,
    .sql = schema_sql,
    .added = schema_added,
    .runs = schema_runs,
};

struct db {
    sqlite3 *h;
    char *path;
    const struct db_kind *kind;
    enum db_mode mode;
    int format; /* of the file */
    bool in_transaction;
    bool held;                 /* and in one for reading, see db_hold */
    enum status failed;        /* the first final failure */
    struct checkpointer *ckpt; /* NULL for readers */
    struct run_file *runs;
    uint64_t checkpoint_frames;
    uint64_t log_frames; /* length of the log after the last commit */
    uint64_t wait_at;    /* a log this long makes the next db_begin wait */
};

/* Any error but BUSY may have left the file, or SQLite's cache of it, half
 * changed: the connection is not used again. */
static enum status fail(struct db *d, int rc)
{
    enum status st = sqlite_error(d->h, rc, d->path);

    if (st != STATUS_BUSY && d->failed == STATUS_OK)
        d->failed = st;
    return st;
}

sqlite3 *db_handle(struct db *d)
{
    return d->h;
}

enum status db_exec(struct db *d, const char *sql)
{
    int rc = sqlite3_exec(d->h, sql, NULL, NULL, NULL);

    return rc == SQLITE_OK ? STATUS_OK : fail(d, rc);
}

int db_format(const struct db *d)
{
    return d->format;
}

static bool is_change(const char *sql)
{
    return strncmp(sql, "INSERT ", 7) == 0 || strncmp(sql, "UPDATE ", 7) == 0 ||
           strncmp(sql, "DELETE ", 7) == 0;
}

enum status db_prepare(struct db *d, sqlite3_stmt **out, const char *sql)
{
    int rc;

    if (d->format < d->kind->format && d->mode == DB_READ && is_change(sql))
        return STATUS_OK;
    rc =
        sqlite3_prepare_v3(d->h, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL);
    if (rc == SQLITE_OK)
        return STATUS_OK;
    if (rc == SQLITE_ERROR) { /* our SQL is correct, so a table is missing */
        log_error("database lacks a table", "path=%s error=\"%s\"", d->path,
                  sqlite3_errmsg(d->h));
        return STATUS_DAMAGED;
    }
    return fail(d, rc);
}

enum status db_prepare_all(struct db *d, const struct db_statement *list,
                           size_t n)
{
    enum status st = STATUS_OK;

    for (size_t i = 0; i < n && st == STATUS_OK; i++)
        st = db_prepare(d, list[i].out, list[i].sql);
    return st;
}

enum status db_step(struct db *d, sqlite3_stmt *s)
{
    int rc = sqlite3_step(s);

    if (rc == SQLITE_ROW)
        return STATUS_OK;
    return rc == SQLITE_DONE ? STATUS_NOT_FOUND : fail(d, rc);
}

enum status db_run(struct db *d, sqlite3_stmt *s)
{
    enum status st;

    do
        st = db_step(d, s);
    while (st == STATUS_OK);
    sqlite3_reset(s);
    sqlite3_clear_bindings(s);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

enum status db_number(struct db *d, const char *sql, int64_t *v)
{
    sqlite3_stmt *s = NULL;
    enum status st = db_prepare(d, &s, sql);

    if (st == STATUS_OK)
        st = db_step(d, s);
    if (st == STATUS_OK)
        *v = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return st;
}

struct bytes db_column(sqlite3_stmt *s, int column)
{
    const void *at = sqlite3_column_blob(s, column);

    return bytes_of(at, (size_t)sqlite3_column_bytes(s, column));
}

enum status db_damaged(const char *table, int64_t key, const char *why)
{
    log_error("store is damaged", "table=%s key=%lld reason=\"%s\"", table,
              (long long)key, why);
    return STATUS_DAMAGED;
}

bool db_broken(const struct db *d)
{
    return d->failed != STATUS_OK || run_file_failed(d->runs) != STATUS_OK ||
           (d->ckpt != NULL && checkpointer_status(d->ckpt) != STATUS_OK);
}

enum status db_error(const struct db *d)
{
    enum status st = d->failed;

    if (st == STATUS_OK)
        st = run_file_failed(d->runs);
    if (st == STATUS_OK && d->ckpt != NULL)
        st = checkpointer_status(d->ckpt);
    return st != STATUS_OK ? st : STATUS_IO;
}

/* ---- transactions ---- */

/* The log starts over only when all of it has been copied while no transaction
 * is open. A writer that begins its next transaction at once would never allow
 * that, so past a certain length it waits until what its last commit wrote is
 * copied too. If a reader holds the log, waiting does not help; then we wait
 * again only after as much log again. */
static void let_log_start_over(struct db *d)
{
    if (d->ckpt == NULL || d->log_frames < d->wait_at)
        return;
    d->wait_at = d->log_frames + d->checkpoint_frames;
    (void)checkpointer_wait(d->ckpt); /* db_broken reports a failure */
}

enum status db_begin(struct db *d)
{
    enum status st;

    if (!d->held)
        let_log_start_over(d);
    if (db_broken(d))
        return db_error(d);
    run_file_reuse(d->runs, d->ckpt != NULL ? checkpointer_covered(d->ckpt)
                                            : UINT64_MAX);
    st = d->held ? STATUS_OK
                 : db_exec(d, d->mode == DB_READ
                                  ? "BEGIN; SELECT 1 FROM meta LIMIT 1"
                                  : "BEGIN IMMEDIATE");
    if (st != STATUS_OK)
        return st;
    d->held = false;
    d->in_transaction = true;
    if (d->mode != DB_READ)
        fault_point("commit-begin");
    return STATUS_OK;
}

enum status db_hold(struct db *d)
{
    enum status st;

    if (d->in_transaction)
        return STATUS_OK;
    let_log_start_over(d); /* as db_begin, since it may become that */
    if (db_broken(d))
        return db_error(d);
    st = db_exec(d, "BEGIN");
    d->held = d->in_transaction = st == STATUS_OK;
    return st;
}

enum status db_let_go(struct db *d)
{
    enum status st = d->held ? db_exec(d, "COMMIT") : STATUS_OK;

    if (st == STATUS_OK && d->held)
        d->held = d->in_transaction = false;
    return st;
}

static enum status end_transaction(struct db *d)
{
    enum status st = db_exec(d, "COMMIT");

    if (st == STATUS_OK)
        d->in_transaction = false;
    return st;
}

static void count_commit(struct db *d)
{
    uint64_t commits = run_file_commit(d->runs);

    if (d->ckpt != NULL)
        checkpointer_committed(d->ckpt, commits);
}

enum status db_commit(struct db *d)
{
    enum status st;

    if (db_broken(d))
        return db_error(d);
    if (d->mode == DB_READ)
        return end_transaction(d);
    fault_point("commit-before");
    st = run_file_sync(d->runs);
    if (st == STATUS_OK)
        st = end_transaction(d);
    if (st != STATUS_OK)
        return st;
    count_commit(d);
    fault_point("commit-after");
    return STATUS_OK;
}

void db_rollback(struct db *d)
{
    if (!d->in_transaction)
        return;
    d->held = d->in_transaction = false;
    run_file_roll_back(d->runs);
    /* On some errors SQLite has rolled back by itself already. */
    if (sqlite3_get_autocommit(d->h) == 0)
        sqlite3_exec(d->h, "ROLLBACK", NULL, NULL, NULL);
}

/* Called by SQLite after each commit with the log's length in pages. */
static int after_commit(void *ctx, sqlite3 *h, const char *name, int frames)
{
    struct db *d = ctx;

    (void)h, (void)name;
    if ((uint64_t)frames < d->log_frames) /* it has started over */
        d->wait_at = 2 * d->checkpoint_frames;
    d->log_frames = (uint64_t)frames;
    if (d->log_frames >= d->checkpoint_frames)
        checkpointer_ask(d->ckpt);
    return SQLITE_OK;
}

/* ---- opening ---- */

static enum status check_ours(struct db *d)
{
    int64_t id = 0, page = 0, format = 0;
    enum status st = db_number(d, "PRAGMA application_id", &id);

    if (st == STATUS_OK)
        st = db_number(d, "PRAGMA page_size", &page);
    if (st != STATUS_OK)
        return st;
    if (id != d->kind->application_id || page != PAGE) {
        log_error("this is another kind of file", "path=%s expected=\"%s\"",
                  d->path, d->kind->what);
        return STATUS_DAMAGED;
    }
    st = db_number(d, "SELECT value FROM meta WHERE name = 'format'", &format);
    if (st == STATUS_NOT_FOUND || (st == STATUS_OK && format < 1)) {
        log_error("database names no format", "path=%s", d->path);
        return STATUS_DAMAGED;
    }
    if (st == STATUS_OK && format > d->kind->format) {
        log_error("database is of a newer format",
                  "path=%s format=%lld known=%d", d->path, (long long)format,
                  d->kind->format);
        return STATUS_VERSION;
    }
    d->format = (int)format;
    return st;
}

static enum status configure(struct db *d, const struct db_options *o)
{
    uint64_t cache = o->cache_bytes > 0 ? o->cache_bytes : DEFAULT_CACHE;
    char sql[512];

    /* secure_delete: Debian's SQLite overwrites freed pages by default, which
     * would write every merged segment once more. */
    snprintf(sql, sizeof sql,
             "PRAGMA cache_size = -%llu; PRAGMA mmap_size = 0;"
             "PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF;"
             "PRAGMA secure_delete = OFF;"
             "PRAGMA journal_size_limit = " LOG_SIZE_LIMIT ";"
             "PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = %s",
             (unsigned long long)(cache >> 10),
             o->sync_normal ? "NORMAL" : "FULL");
    return db_exec(d, sql);
}

static enum status start_reading(struct db *d)
{
    enum status st =
        d->format < d->kind->format ? migrate_view(d, d->kind) : STATUS_OK;

    return st == STATUS_OK ? db_exec(d, "PRAGMA query_only = ON") : st;
}

/* Called before checkpoints begin, since they use another connection. */
static enum status bring_up_to_date(struct db *d)
{
    enum status st;

    if (d->format == d->kind->format)
        return STATUS_OK;
    st = migrate_store(d, d->kind);
    if (st != STATUS_OK)
        return st;
    log_warn("database brought to a newer format, which older releases refuse",
             "path=%s was=%d is=%d", d->path, d->format, d->kind->format);
    d->format = d->kind->format;
    return STATUS_OK;
}

/* Starts the checkpoint thread. If the file is not in WAL mode, another program
 * has changed it. */
static enum status start_writing(struct db *d, const struct db_options *o)
{
    uint64_t bytes =
        o->checkpoint_bytes > 0 ? o->checkpoint_bytes : DEFAULT_CHECKPOINT;
    enum status st = db_exec(d, "PRAGMA journal_mode = WAL");

    if (st == STATUS_OK)
        st = bring_up_to_date(d);
    if (st == STATUS_OK)
        st = checkpointer_start(&d->ckpt, d->path);
    if (st != STATUS_OK)
        return st;
    d->checkpoint_frames = bytes / PAGE + 1;
    d->wait_at = 2 * d->checkpoint_frames;
    sqlite3_wal_hook(d->h, after_commit, d);
    return STATUS_OK;
}

static enum status check_file(const char *path)
{
    uint64_t size = 0;
    enum status st = file_size(path, &size);

    if (st == STATUS_OK && size < PAGE) {
        log_error("database is empty or cut short", "path=%s bytes=%llu", path,
                  (unsigned long long)size);
        return STATUS_DAMAGED;
    }
    return st;
}

/* No other process sees the file and nothing survives this one, so there is no
 * log, no sync and no lock. SQLite creates the file when its cache is full
 * (https://www.sqlite.org/inmemorydb.html, "Temporary Databases"). */
static enum status open_scratch(struct db *d, const struct db_options *o)
{
    int rc = sqlite3_open_v2("", &d->h,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
                                 SQLITE_OPEN_NOMUTEX,
                             NULL);
    enum status st;

    if (rc != SQLITE_OK)
        return fail(d, rc);
    sqlite3_extended_result_codes(d->h, 1);
    st = db_fill(d->h, d->path, d->kind);
    if (st == STATUS_OK)
        st = configure(d, o);
    if (st == STATUS_OK)
        st = db_exec(d, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF");
    return st;
}

static enum status check_what_is_there(struct db *d)
{
    enum status st = db_verify(d);

    if (st == STATUS_OK && d->mode != DB_READ)
        unsynced_clear(d->path);
    return st;
}

/* The pages that no run has are free. */
static enum status claim_runs(struct db *d, const struct db_options *o)
{
    enum status st =
        o->forget_runs ? db_forget_runs(d, d->kind->runs) : STATUS_OK;

    if (st == STATUS_OK)
        st = run_file_measure(d->runs);
    if (st == STATUS_OK)
        st = db_claim_runs(d, d->kind->runs, d->runs);
    run_file_claimed(d->runs);
    count_commit(d);
    return st;
}

static void choose_run_file(struct db *d)
{
    char *path = run_file_path(d->path);
    struct stat s;

    if (d->mode == DB_CREATE) /* of a store that is gone */
        (void)unlink(path);
    d->runs =
        run_file_new(d->mode == DB_SCRATCH ? NULL : path, d->mode != DB_READ);
    if (d->mode != DB_SCRATCH && stat(d->path, &s) == 0)
        run_file_set_mode(d->runs, s.st_mode);
    free(path);
}

static enum status open_there(struct db *d, const struct db_options *o)
{
    int flags =
        d->mode == DB_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
    /* Must come before SQLite opens the file, which would lose its locks
     * otherwise. */
    bool in_doubt = unsynced_forget_pages(d->path, "-wal");
    enum status st = check_file(d->path);
    int rc;

    if (st != STATUS_OK)
        return st;
    rc = sqlite3_open_v2(d->path, &d->h, flags | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc != SQLITE_OK)
        return fail(d, rc);
    sqlite3_extended_result_codes(d->h, 1);
    sqlite3_busy_timeout(d->h, READER_WAITS_MS);
    st = configure(d, o);
    if (st == STATUS_OK)
        st = check_ours(d);
    if (st == STATUS_OK && in_doubt)
        st = check_what_is_there(d);
    if (st == STATUS_OK)
        st = d->mode == DB_READ ? start_reading(d) : start_writing(d, o);
    if (st == STATUS_OK && d->mode != DB_READ)
        st = claim_runs(d, o);
    return st;
}

enum status db_open(struct db **out, const char *path, enum db_mode mode,
                    const struct db_options *o)
{
    const struct db_kind *kind = o->kind != NULL ? o->kind : &db_frontier;
    struct db *d;
    uint64_t size;
    enum status st = STATUS_OK;

    if (mode == DB_CREATE)
        st = file_size(path, &size) == STATUS_OK ? STATUS_EXISTS
                                                 : db_make(path, kind);
    if (st != STATUS_OK)
        return st;
    d = xcalloc(1, sizeof *d);
    d->path = xstrdup(path);
    d->kind = kind;
    d->mode = mode;
    d->format = kind->format; /* until it is read */
    choose_run_file(d);
    st = mode == DB_SCRATCH ? open_scratch(d, o) : open_there(d, o);
    if (st != STATUS_OK) {
        d->failed = st;
        db_close(d);
        return st;
    }
    *out = d;
    return STATUS_OK;
}

static void close_it(struct db *d, bool checkpoint)
{
    if (d == NULL)
        return;
    db_rollback(d);
    checkpointer_stop(d->ckpt);
    if (!checkpoint && d->h != NULL)
        sqlite3_db_config(d->h, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    else if (d->ckpt != NULL)
        sqlite3_wal_checkpoint_v2(d->h, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL,
                                  NULL);
    sqlite3_close(d->h);
    run_file_free(d->runs);
    free(d->path);
    free(d);
}

void db_close(struct db *d)
{
    /* After a failure we do not write again. */
    close_it(d, d != NULL && !db_broken(d));
}

void db_close_as_is(struct db *d)
{
    close_it(d, false);
}

struct run_file *db_runs(struct db *d)
{
    return d->runs;
}

enum status db_verify_runs(struct db *d)
{
    char *path;
    struct run_file *f;
    enum status st;

    if (d->mode == DB_SCRATCH)
        return STATUS_OK; /* its file has no name */
    path = run_file_path(d->path);
    f = run_file_new(path, false);
    st = run_file_measure(f);
    if (st == STATUS_OK)
        st = db_claim_runs(d, d->kind->runs, f);
    run_file_free(f);
    free(path);
    return st;
}

enum status db_verify(struct db *d)
{
    sqlite3_stmt *s = NULL;
    enum status st = db_prepare(d, &s, "PRAGMA quick_check(1)");

    if (st == STATUS_OK)
        st = db_step(d, s);
    if (st == STATUS_OK) {
        const char *says = (const char *)sqlite3_column_text(s, 0);

        if (says == NULL || strcmp(says, "ok") != 0) {
            log_error("database is damaged", "path=%s error=\"%s\"", d->path,
                      says != NULL ? says : "");
            st = STATUS_DAMAGED;
        }
    }
    sqlite3_finalize(s);
    if (st == STATUS_NOT_FOUND)
        st = STATUS_DAMAGED;
    return st;
}

uint64_t db_memory(const struct db *d)
{
    static const int kinds[] = {SQLITE_DBSTATUS_CACHE_USED,
                                SQLITE_DBSTATUS_SCHEMA_USED,
                                SQLITE_DBSTATUS_STMT_USED};
    uint64_t sum = 0;
    int now = 0, most;

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (sqlite3_db_status(d->h, kinds[i], &now, &most, 0) == SQLITE_OK)
            sum += (uint64_t)now;
    return sum + run_file_memory(d->runs);
}

void db_forget_pages(struct db *d)
{
    sqlite3_db_release_memory(d->h);
    malloc_trim(0); /* gives thousands of pages back to the system at once */
}

enum status db_checkpoint(struct db *d)
{
    return d->ckpt != NULL ? checkpointer_wait(d->ckpt) : STATUS_OK;
}
