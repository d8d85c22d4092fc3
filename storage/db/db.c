/* SPDX-License-Identifier: MIT */
/*
 * db.c - the SQLite connection: statements, transactions, group commit.
 *
 * Checkpoints of the write-ahead log run on a thread and a connection of their
 * own: on the writer's connection one took up to 127 ms out of a commit. They
 * are PASSIVE, so they wait for no reader or writer. The writer is outside the
 * database between two commits, which is enough for the log to start over.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/file/file.h"
#include "base/logger.h"
#include "base/mem.h"
#include "storage/db/db_impl.h"

#define DEFAULT_CHECKPOINT (UINT64_C(16) << 20)

/* ---- errors ---- */

/* The index of the log is mapped; SQLite gives no errno where that fails. */
static bool is_memory(int code)
{
    return (code & 0xff) == SQLITE_NOMEM || code == SQLITE_IOERR_NOMEM ||
           code == SQLITE_IOERR_SHMMAP;
}

/* A full disk gives SQLITE_FULL for the log, but an I/O error if the
 * shared-memory file cannot grow or a limit on file size is reached. */
static enum status meaning(sqlite3 *h, int rc)
{
    int err = h != NULL ? sqlite3_system_errno(h) : 0;

    switch (rc & 0xff) {
    case SQLITE_FULL:
        return STATUS_FULL;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_CONSTRAINT: /* rows contradict our copy in memory */
        return STATUS_DAMAGED;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return STATUS_BUSY;
    default:
        return status_of_errno(err) == STATUS_FULL ? STATUS_FULL : STATUS_IO;
    }
}

enum status sqlite_error(sqlite3 *h, int rc, const char *path)
{
    int err = h != NULL ? sqlite3_system_errno(h) : 0;
    int code = h != NULL ? sqlite3_extended_errcode(h) : rc;

    log_error("database error", "path=%s error=\"%s\" code=%d system=\"%s\"",
              path, h != NULL ? sqlite3_errmsg(h) : sqlite3_errstr(rc), code,
              err != 0 ? strerror(err) : "");
    if (is_memory(code))
        mem_out(0);
    if (code == SQLITE_IOERR_FSYNC || code == SQLITE_IOERR_DIR_FSYNC)
        unsynced_note(path);
    return meaning(h, rc);
}

/* ---- checkpoints ---- */

struct checkpointer {
    char *path;
    sqlite3 *h; /* used by the thread alone once it runs */
    pthread_t thread;
    bool running;
    /* shared, under mtx */
    pthread_mutex_t mtx;
    pthread_cond_t wake, done;
    bool asked, stopping, ended;
    uint64_t begun, finished; /* checkpoints */
    enum status st;
};

static enum status checkpoint(struct checkpointer *c)
{
    int rc;

    fault_point("wal-checkpoint");
    rc = sqlite3_wal_checkpoint_v2(c->h, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL,
                                   NULL);
    fault_point("wal-checkpointed");
    if (rc == SQLITE_OK || rc == SQLITE_BUSY)
        return STATUS_OK;
    return sqlite_error(c->h, rc, c->path);
}

static void *checkpoint_thread(void *arg)
{
    struct checkpointer *c = arg;
    enum status st;

    pthread_mutex_lock(&c->mtx);
    for (;;) {
        while (!c->asked && !c->stopping)
            pthread_cond_wait(&c->wake, &c->mtx);
        if (c->stopping || c->st != STATUS_OK)
            break;
        c->asked = false;
        c->begun++;
        pthread_mutex_unlock(&c->mtx);
        st = checkpoint(c);
        pthread_mutex_lock(&c->mtx);
        if (st != STATUS_OK)
            c->st = st;
        c->finished = c->begun;
        pthread_cond_broadcast(&c->done);
    }
    c->ended = true;
    pthread_cond_broadcast(&c->done);
    pthread_mutex_unlock(&c->mtx);
    return NULL;
}

/* Until a connection has read something, SQLite has not opened the log for it,
 * and its checkpoints silently do nothing. */
static enum status connect(struct checkpointer *c)
{
    int rc = sqlite3_open_v2(c->path, &c->h,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);

    if (rc == SQLITE_OK)
        rc = sqlite3_exec(c->h,
                          "PRAGMA synchronous = FULL;"
                          "SELECT count(*) FROM sqlite_schema",
                          NULL, NULL, NULL);
    return rc == SQLITE_OK ? STATUS_OK : sqlite_error(c->h, rc, c->path);
}

/* Waits for a checkpoint in progress. NULL is fine. */
static void checkpointer_stop(struct checkpointer *c)
{
    if (c == NULL)
        return;
    if (c->running) {
        pthread_mutex_lock(&c->mtx);
        c->stopping = true;
        pthread_cond_signal(&c->wake);
        pthread_mutex_unlock(&c->mtx);
        pthread_join(c->thread, NULL);
    }
    sqlite3_close(c->h);
    pthread_cond_destroy(&c->done);
    pthread_cond_destroy(&c->wake);
    pthread_mutex_destroy(&c->mtx);
    free(c->path);
    free(c);
}

static enum status checkpointer_start(struct checkpointer **out,
                                      const char *path)
{
    struct checkpointer *c = xcalloc(1, sizeof *c);
    enum status st;

    c->path = xstrdup(path);
    pthread_mutex_init(&c->mtx, NULL);
    pthread_cond_init(&c->wake, NULL);
    pthread_cond_init(&c->done, NULL);
    st = connect(c);
    if (st != STATUS_OK)
        goto out;
    if (pthread_create(&c->thread, NULL, checkpoint_thread, c) != 0) {
        st = STATUS_NOMEM;
        goto out;
    }
    c->running = true;
    *out = c;
    c = NULL;
out:
    checkpointer_stop(c);
    return st;
}

/* Asks for a checkpoint and returns at once. Requests are merged. */
static void checkpointer_ask(struct checkpointer *c)
{
    pthread_mutex_lock(&c->mtx);
    c->asked = true;
    pthread_cond_signal(&c->wake);
    pthread_mutex_unlock(&c->mtx);
}

/* As above, and waits until a checkpoint that began after this call is done. Do
 * not call it on a thread that holds a transaction open. */
static enum status checkpointer_wait(struct checkpointer *c)
{
    enum status st;
    uint64_t wanted;

    pthread_mutex_lock(&c->mtx);
    wanted = c->begun + 1; /* one in progress may have begun too early */
    c->asked = true;
    pthread_cond_signal(&c->wake);
    while (!c->ended && c->finished < wanted)
        pthread_cond_wait(&c->done, &c->mtx);
    st = c->st;
    pthread_mutex_unlock(&c->mtx);
    return st;
}

/* The first failure, which is final; STATUS_OK. */
static enum status checkpointer_status(struct checkpointer *c)
{
    enum status st;

    pthread_mutex_lock(&c->mtx);
    st = c->st;
    pthread_mutex_unlock(&c->mtx);
    return st;
}

/* ---- statements ---- */

enum status db_fail(struct db *d, int rc)
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

    return rc == SQLITE_OK ? STATUS_OK : db_fail(d, rc);
}

enum status db_prepare(struct db *d, sqlite3_stmt **out, const char *sql)
{
    int rc =
        sqlite3_prepare_v3(d->h, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL);

    if (rc == SQLITE_OK)
        return STATUS_OK;
    if (rc == SQLITE_ERROR) { /* our SQL is correct, so a table is missing */
        log_error("database lacks a table", "path=%s error=\"%s\"", d->path,
                  sqlite3_errmsg(d->h));
        return STATUS_DAMAGED;
    }
    return db_fail(d, rc);
}

static size_t kept_place(const struct db *d, const char *sql)
{
    uint64_t mixed = (uintptr_t)sql * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    size_t i = (size_t)mixed & (d->kept_room - 1);

    while (d->kept[i].sql != NULL && d->kept[i].sql != sql)
        i = (i + 1) & (d->kept_room - 1);
    return i;
}

static void make_kept_room(struct db *d)
{
    struct db_kept *old = d->kept;
    size_t room = d->kept_room;

    if (d->kept_count * 2 < room)
        return;
    d->kept_room = room > 0 ? room * 2 : 64;
    d->kept = xcalloc(d->kept_room, sizeof *d->kept);
    for (size_t i = 0; i < room; i++)
        if (old[i].sql != NULL)
            d->kept[kept_place(d, old[i].sql)] = old[i];
    free(old);
}

sqlite3_stmt *db_statement(struct db *d, const char *sql)
{
    struct db_kept *k;
    enum status st;

    make_kept_room(d);
    k = &d->kept[kept_place(d, sql)];
    if (k->sql != NULL)
        return k->s;
    st = db_prepare(d, &k->s, sql);
    if (st != STATUS_OK) {
        d->unprepared = st;
        return NULL;
    }
    k->sql = sql;
    d->kept_count++;
    return k->s;
}

enum status db_step(struct db *d, sqlite3_stmt *s)
{
    int rc;

    if (s == NULL)
        return d->unprepared;
    rc = sqlite3_step(s);
    if (rc == SQLITE_ROW)
        return STATUS_OK;
    return rc == SQLITE_DONE ? STATUS_NOT_FOUND : db_fail(d, rc);
}

enum status db_end(sqlite3_stmt *s, enum status st)
{
    sqlite3_reset(s);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

enum status db_run(struct db *d, sqlite3_stmt *s)
{
    enum status st;

    do
        st = db_step(d, s);
    while (st == STATUS_OK);
    if (s != NULL)
        sqlite3_clear_bindings(s);
    return db_end(s, st);
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

/* A handle that failed is of no use any more. */
static enum status blob_failed(struct db *d, struct db_blob *b, int rc)
{
    db_blob_close(b);
    return rc == SQLITE_ERROR ? STATUS_NOT_FOUND : db_fail(d, rc);
}

enum status db_blob_read(struct db *d, struct db_blob *b, int64_t id, size_t at,
                         size_t len, void *to)
{
    int rc = b->handle != NULL
                 ? sqlite3_blob_reopen(b->handle, id)
                 : sqlite3_blob_open(d->h, "main", b->table, b->column, id, 0,
                                     &b->handle);

    if (rc == SQLITE_OK)
        rc = sqlite3_blob_read(b->handle, to, (int)len, (int)at);
    return rc == SQLITE_OK ? STATUS_OK : blob_failed(d, b, rc);
}

void db_blob_close(struct db_blob *b)
{
    sqlite3_blob_close(b->handle);
    b->handle = NULL;
}

enum status db_damaged(const char *table, int64_t key, const char *why)
{
    log_error("store is damaged", "table=%s key=%lld reason=\"%s\"", table,
              (long long)key, why);
    return STATUS_DAMAGED;
}

bool db_broken(const struct db *d)
{
    return d->failed != STATUS_OK ||
           (d->ckpt != NULL && checkpointer_status(d->ckpt) != STATUS_OK);
}

enum status db_error(const struct db *d)
{
    enum status st = d->failed;

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

static enum status ask_follower(struct db *d)
{
    enum status st = d->follower.ctx != NULL
                         ? d->follower.before_commit(d->follower.ctx)
                         : STATUS_OK;

    if (st != STATUS_OK && d->failed == STATUS_OK)
        d->failed = st;
    return st;
}

enum status db_commit(struct db *d)
{
    enum status st;

    if (db_broken(d))
        return db_error(d);
    if (d->mode == DB_READ)
        return end_transaction(d);
    fault_point("commit-before");
    st = ask_follower(d);
    if (st == STATUS_OK)
        st = end_transaction(d);
    if (st != STATUS_OK)
        return st;
    fault_point("commit-after");
    return STATUS_OK;
}

void db_rollback(struct db *d)
{
    if (!d->in_transaction)
        return;
    d->held = d->in_transaction = false;
    /* On some errors SQLite has rolled back by itself already. */
    if (sqlite3_get_autocommit(d->h) == 0)
        sqlite3_exec(d->h, "ROLLBACK", NULL, NULL, NULL);
}

/* Called by SQLite after each commit with the log's length in pages. */
static int db_after_commit(void *ctx, sqlite3 *h, const char *name, int frames)
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

/* If the file is not in WAL mode, another program has changed it. */
enum status db_start_writing(struct db *d, const struct db_options *o)
{
    uint64_t bytes =
        o->checkpoint_bytes > 0 ? o->checkpoint_bytes : DEFAULT_CHECKPOINT;
    enum status st = db_exec(d, "PRAGMA journal_mode = WAL");

    if (st == STATUS_OK)
        st = checkpointer_start(&d->ckpt, d->path);
    if (st != STATUS_OK)
        return st;
    d->checkpoint_frames = bytes / DB_PAGE + 1;
    d->wait_at = 2 * d->checkpoint_frames;
    sqlite3_wal_hook(d->h, db_after_commit, d);
    return STATUS_OK;
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
    return sum;
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

/* ---- closing ---- */

static void close_it(struct db *d, bool checkpoint)
{
    if (d == NULL)
        return;
    db_rollback(d);
    if (d->follower.ctx != NULL)
        d->follower.closing(d->follower.ctx);
    checkpointer_stop(d->ckpt);
    for (size_t i = 0; i < d->kept_room; i++)
        sqlite3_finalize(d->kept[i].s);
    free(d->kept);
    if (!checkpoint && d->h != NULL)
        sqlite3_db_config(d->h, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    else if (d->ckpt != NULL)
        sqlite3_wal_checkpoint_v2(d->h, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL,
                                  NULL);
    sqlite3_close(d->h);
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
