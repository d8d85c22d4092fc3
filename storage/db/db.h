/*
 * db.h - the SQLite connection: schema versions, pragmas, group commit.
 *
 * One thread writes (the frontier thread); other connections and processes may
 * read the file meanwhile (WAL). Checkpoints of the WAL run on a thread and a
 * connection of their own, so that a commit never waits for one. A write or
 * sync that failed is final: db_broken() stays true, and the only way on is to
 * stop and open again (fsyncgate: a failed fsync may have dropped pages).
 */
#ifndef URLWEIR_STORAGE_DB_DB_H
#define URLWEIR_STORAGE_DB_DB_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"

/* Points in storage/ at which base/fault.h can end the process, for crash
 * tests. */
#define STORAGE_FAULT_POINTS                                                   \
    "store-made",          /* a new file is filled, not yet in its place */    \
        "commit-begin",    /* a transaction is open, nothing is in it */       \
        "exact-merge",     /* rows of one part written */                      \
        "exact-merge-old", /* the old run is written, the young one there */   \
        "queue-flush",     /* rows of a new segment written, not its qmeta */  \
        "queue-merge",     /* some rows of a merged segment written */         \
        "queue-switch",    /* four segments replaced by the merged one */      \
        "queue-drop",      /* some rows of a replaced segment deleted */       \
        "status-sweep",    /* a block of done bits written */                  \
        "commit-before",   /* all is written, COMMIT not yet asked */          \
        "commit-after",    /* COMMIT has returned */                           \
        "wal-checkpoint", "wal-checkpointed" /* other thread: around one */

#define DB_FORMAT 1 /* meta.format; another one is refused */

struct db;

enum db_mode {
    DB_CREATE, /* STATUS_EXISTS if the file is there */
    DB_WRITE,  /* STATUS_NOT_FOUND if it is not, never makes one */
    DB_READ,   /* read-only, works beside a writer */
    /* A new database of this process alone: in memory while it fits into the
     * cache, then in an unnamed file in $TMPDIR, which vanishes when the
     * process ends in any way. `path` is for messages; after a failed commit or
     * a rollback its content is unspecified. */
    DB_SCRATCH
};

/* A kind of database file: frontier.db is one, another database of the program
 * is another. Every kind has a table meta(name, value) with the rows format,
 * store_id and created_ms, written when the file is made. */
struct db_kind {
    const char *what;       /* for messages: "frontier database" */
    int32_t application_id; /* octet 68 of the file */
    int format;             /* meta.format; another one is refused */
    /* Statements that fill an empty file, each with one CREATE TABLE or CREATE
     * VIEW; NULL ends the list. */
    const char *const *sql;
    /* Tables whose rows can be made again from those of the others. NULL ends
     * the list; NULL: there are none. */
    const char *const *derived;
};
extern const struct db_kind db_frontier;

/* Sees each transaction of a writer before it is committed, and may forbid it:
 * a copy of the rows elsewhere is never behind this one. */
struct db_follower {
    void *ctx;
    /* The database is open; nothing was written to it through db_begin yet. */
    enum status (*opened)(void *ctx, struct db *d);
    /* All rows of the transaction are written. What it returns other than
     * STATUS_OK makes the commit fail, and is final. */
    enum status (*before_commit)(void *ctx);
    /* The database is about to be closed. */
    void (*closing)(void *ctx);
};

struct db_options {
    uint64_t cache_bytes;      /* SQLite's page cache */
    uint64_t checkpoint_bytes; /* WAL size that asks for a checkpoint; 16 MiB */
    bool sync_normal;          /* false: synchronous=FULL, the default */
    /* DB_WRITE: the derived tables of the kind are emptied; what they held is
     * to be put in again. */
    bool forget_derived;
    const struct db_kind *kind;         /* NULL: db_frontier */
    const struct db_follower *follower; /* of a writer; copied; NULL: none */
};

/* STATUS_DAMAGED: not a database, cut short, or not one of ours.
 * STATUS_VERSION: of another format. */
MUST_CHECK enum status db_open(struct db **out, const char *path,
                               enum db_mode mode, const struct db_options *o);
/* Ends the checkpoint thread. A write connection checkpoints the WAL first, so
 * that a clean stop leaves one file. NULL is fine. */
void db_close(struct db *d);
/* Closes, but leaves file and log as a crash would, with all that was
 * committed. */
void db_close_as_is(struct db *d);

/* On a reader, all modules see one snapshot from here to db_commit. */
MUST_CHECK enum status db_begin(struct db *d);
MUST_CHECK enum status db_commit(struct db *d);
void db_rollback(struct db *d);
/* Several reads of a writer as one transaction, which saves SQLite's locks for
 * each. Between the two db_begin makes it one for writing, which db_let_go then
 * leaves open; nobody else may write meanwhile. */
MUST_CHECK enum status db_hold(struct db *d);
MUST_CHECK enum status db_let_go(struct db *d);
bool db_broken(const struct db *d);
/* STATUS_FULL after a failure that a full disk caused, STATUS_DAMAGED after one
 * that the file itself caused, STATUS_NOMEM, else STATUS_IO. */
enum status db_error(const struct db *d);

/* Moves committed data from the WAL into the main file, as far as readers
 * allow, and waits for it. Any thread may call this, as long as the writer has
 * no transaction open or goes on committing. On a reader it does nothing and
 * returns STATUS_OK. */
MUST_CHECK enum status db_checkpoint(struct db *d);

/* Octets of SQLite's page cache and statements. */
uint64_t db_memory(const struct db *d);
/* Frees the memory of cached pages, for example after a start, which reads all
 * pages and needs few of them again. Call it with no transaction open. */
void db_forget_pages(struct db *d);

/* For the other modules of storage/. */
sqlite3 *db_handle(struct db *d);
MUST_CHECK enum status db_exec(struct db *d, const char *sql);
/* The statement of `sql`, a string constant: it is prepared the first time and
 * kept until the database is closed. Whoever steps through it resets it, by
 * db_run or db_end, before it is used again. NULL, which binding and db_step
 * accept: it cannot be prepared, and db_step says why. */
sqlite3_stmt *db_statement(struct db *d, const char *sql);
/* A statement of the caller's own: for text that is made, or for a visit during
 * which the same may begin again. Logs SQLite's text on error. */
MUST_CHECK enum status db_prepare(struct db *d, sqlite3_stmt **out,
                                  const char *sql);
/* STATUS_OK for a row, STATUS_NOT_FOUND for done. */
MUST_CHECK enum status db_step(struct db *d, sqlite3_stmt *s);
/* Resets a kept statement. Of `st`, the result of its last step, STATUS_NOT_FOUND
 * becomes STATUS_OK. */
MUST_CHECK enum status db_end(sqlite3_stmt *s, enum status st);
/* Steps to the end, resets, and makes all parameters NULL: for statements that
 * return no rows. */
MUST_CHECK enum status db_run(struct db *d, sqlite3_stmt *s);
/* The first column of the first row. STATUS_NOT_FOUND: no row. */
MUST_CHECK enum status db_number(struct db *d, const char *sql, int64_t *v);
/* The content of a text or blob column; lives until the next step. */
struct bytes db_column(sqlite3_stmt *s, int column);
/* Logs that a row is not valid and returns STATUS_DAMAGED. */
enum status db_damaged(const char *table, int64_t key, const char *why);

/* Reads octets [at, at + len) of a blob by a handle that serves several rows:
 * half the CPU of a statement. *handle is NULL at first; db_blob_close() ends
 * it, before the transaction does. STATUS_NOT_FOUND: there is no such row, or
 * its blob ends earlier. */
struct db_blob {
    const char *table, *column;
    sqlite3_blob *handle;
};
MUST_CHECK enum status db_blob_read(struct db *d, struct db_blob *b, int64_t id,
                                    size_t at, size_t len, void *to);
void db_blob_close(struct db_blob *b);

/* PRAGMA quick_check; the first complaint is logged. STATUS_DAMAGED. */
MUST_CHECK enum status db_verify(struct db *d);

#endif
