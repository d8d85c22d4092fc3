/*
 * db.h - the SQLite connection: schema versions, pragmas, group commit.
 *
 * One thread writes (the frontier thread); anybody may open the same file
 * read-only beside it (WAL). Checkpoints of the WAL run on a thread and a
 * connection of their own, so that a commit never waits for one. A write or
 * sync that failed is final: db_broken() stays true, and the only way on is
 * to stop and open again (fsyncgate: a failed fsync may have dropped pages).
 */
#ifndef URLWEIR_STORAGE_DB_DB_H
#define URLWEIR_STORAGE_DB_DB_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"

/* Where base/fault.h may end the process in storage/, for crash tests. */
#define STORAGE_FAULT_POINTS                                                   \
    "store-made",        /* a new file is filled, not yet in its place */      \
        "commit-begin",  /* a transaction is open, nothing is in it */         \
        "exact-merge",   /* pages and row of one part written */               \
        "queue-flush",   /* rows of a new segment written, not its qmeta */    \
        "queue-merge",   /* some rows of a merged segment written */           \
        "queue-switch",  /* four segments replaced by the merged one */        \
        "queue-drop",    /* some rows of a replaced segment deleted */         \
        "status-sweep",  /* a block of done bits written */                    \
        "commit-before", /* all is written, COMMIT not yet asked */            \
        "commit-after",  /* COMMIT has returned */                             \
        "wal-checkpoint", "wal-checkpointed" /* other thread: around one */

/* Those that only a file of an older format has to pass (migrate.h). */
#define MIGRATE_FAULT_POINTS                                                   \
    "migrate-added",    /* a table or column of those added since is there */  \
        "migrate-views" /* all is changed but the number of the format */

#define DB_FORMAT 3 /* meta.format; older is migrated, newer refused */

struct db;

enum db_mode {
    DB_CREATE, /* STATUS_EXISTS if the file is there */
    DB_WRITE,  /* STATUS_NOT_FOUND if it is not, never makes one */
    DB_READ,   /* read-only, works beside a writer */
    /* A new database of this process alone: in memory as far as its cache goes,
     * then in a file of $TMPDIR that has no name, so that it is gone with the
     * process, however that ends. `path` is for messages; after a failed
     * commit or a rollback its content is unspecified. */
    DB_SCRATCH
};

/* A table or a column that files of an older format may lack. */
struct db_added {
    const char *table;  /* NULL ends a list */
    const char *column; /* a number; NULL: the table as a whole */
    const char *before; /* SQL: what readers see in its place */
    const char *was;    /* a table\'s name before, or NULL */
    const char *fill;   /* SQL that a writer runs after adding it, or NULL */
};

/* What is in the file: frontier.db is one kind, a program's other database
 * another. Every kind has a table meta(name, value) with the rows format,
 * store_id and created_ms, which are written when the file is made. */
struct db_kind {
    const char *what;       /* for messages: "frontier database" */
    int32_t application_id; /* octet 68 of the file */
    int format;             /* meta.format; a newer one is refused */
    /* Makes everything in an empty file, one CREATE TABLE or CREATE VIEW in
     * each; NULL ends the list. */
    const char *const *sql;
    const struct db_added *added; /* since format 1; NULL where that is all */
};
extern const struct db_kind db_frontier;

struct db_options {
    uint64_t cache_bytes;      /* SQLite's page cache */
    uint64_t checkpoint_bytes; /* WAL size that asks for a checkpoint; 16 MiB */
    bool sync_normal;          /* false: synchronous=FULL, the default */
    const struct db_kind *kind; /* NULL: db_frontier */
};

/* STATUS_DAMAGED: not a database, cut short, or not one of ours.
 * STATUS_VERSION: a newer format. A file of an older one is brought up to date
 * by DB_WRITE, whole or not at all and with a log line; DB_READ shows it as if
 * it had been (migrate.h). */
MUST_CHECK enum status db_open(struct db **out, const char *path,
                               enum db_mode mode, const struct db_options *o);
/* Of the file; an older one than db_kind.format on a reader alone. */
int db_format(const struct db *d);
/* Ends the checkpoint thread. A write connection checkpoints the WAL first, so
 * that a clean stop leaves one file. NULL is fine. */
void db_close(struct db *d);
/* Leaves file and log as a crash would, all that is committed in them. */
void db_close_as_is(struct db *d);

/* On a reader: from here to db_commit every module sees one moment. */
MUST_CHECK enum status db_begin(struct db *d);
MUST_CHECK enum status db_commit(struct db *d);
void db_rollback(struct db *d);
bool db_broken(const struct db *d);
/* STATUS_FULL after a failure that a full disk caused, STATUS_DAMAGED after one
 * that the file itself caused, STATUS_NOMEM, else STATUS_IO. */
enum status db_error(const struct db *d);

/* Move what is committed from the WAL into the main file and wait for it, as
 * far as readers allow. Any thread, while the writer has no transaction open or
 * goes on committing. STATUS_OK on a reader, which has nothing to move. */
MUST_CHECK enum status db_checkpoint(struct db *d);

/* Gives back the memory of the pages that were read, as after a start, which
 * reads all of them and needs few again. No transaction is open. */
void db_forget_pages(struct db *d);

/* For the other modules of storage/. db_prepare logs SQLite's text on error,
 * and makes nothing of a change where an older format is read, which is seen
 * through views: *out stays as it is. db_step maps a result: STATUS_OK for a
 * row, STATUS_NOT_FOUND for done. */
sqlite3 *db_handle(struct db *d);
MUST_CHECK enum status db_exec(struct db *d, const char *sql);
MUST_CHECK enum status db_prepare(struct db *d, sqlite3_stmt **out,
                                  const char *sql);
MUST_CHECK enum status db_step(struct db *d, sqlite3_stmt *s);
/* Step to the end and reset: for statements that return no rows. */
MUST_CHECK enum status db_run(struct db *d, sqlite3_stmt *s);
/* The first column of the first row. STATUS_NOT_FOUND: no row. */
MUST_CHECK enum status db_number(struct db *d, const char *sql, int64_t *v);
/* What stands in a column, text or blob; lives until the next step. */
struct bytes db_column(sqlite3_stmt *s, int column);
/* Logs that a row cannot be right; STATUS_DAMAGED. */
enum status db_damaged(const char *table, int64_t key, const char *why);

/* PRAGMA quick_check; the first complaint is logged. STATUS_DAMAGED. */
MUST_CHECK enum status db_verify(struct db *d);

#endif
