/*
 * db_impl.h - the connection's own struct, for its files alone.
 *
 *   db.c         statements, transactions, group commit
 *   db_open.c    opens a database and checks what it is
 */
#ifndef URLWEIR_STORAGE_DB_DB_IMPL_H
#define URLWEIR_STORAGE_DB_DB_IMPL_H

#include "storage/db/db.h"

#define DB_PAGE 4096

/* A statement that is kept, by the address of its text. */
struct db_kept {
    const char *sql; /* NULL: a free place */
    sqlite3_stmt *s;
};

struct db {
    sqlite3 *h;
    struct db_kept *kept; /* open addressing, at most half full */
    size_t kept_count, kept_room;
    enum status unprepared; /* why db_statement has returned NULL */
    char *path;
    const struct db_kind *kind;
    enum db_mode mode;
    bool in_transaction;
    bool held;                   /* and in one for reading, see db_hold */
    enum status failed;          /* the first final failure */
    struct checkpointer *ckpt;   /* NULL for readers */
    struct db_follower follower; /* ctx NULL: none */
    uint64_t checkpoint_frames;
    uint64_t log_frames; /* length of the log after the last commit */
    uint64_t wait_at;    /* a log this long makes the next db_begin wait */
};

/* Any error but BUSY may have left the file, or SQLite's cache of it, half
 * changed: the connection is not used again. */
enum status db_fail(struct db *d, int rc);
/* Logs SQLite's text with the path, and maps `rc`, which is an error:
 * STATUS_FULL, STATUS_DAMAGED, STATUS_BUSY or STATUS_IO. Memory that ran out
 * ends the process (mem_out). */
enum status sqlite_error(sqlite3 *h, int rc, const char *path);
/* Puts the log to use, and starts the thread that copies it. */
MUST_CHECK enum status db_start_writing(struct db *d,
                                        const struct db_options *o);

#endif
