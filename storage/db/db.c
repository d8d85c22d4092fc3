/* SPDX-License-Identifier: MIT */
/*
 * db.c - the SQLite connection: statements, transactions, group commit.
 */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/logger.h"
#include "storage/db/db_impl.h"
#include "storage/db/sqlite_error.h"

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
    return rc == SQLITE_DONE ? STATUS_NOT_FOUND : db_fail(d, rc);
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
int db_after_commit(void *ctx, sqlite3 *h, const char *name, int frames)
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
