/*
 * db_impl.h - the connection's own struct, for its files alone.
 *
 *   db.c         statements, transactions, group commit
 *   db_open.c    opens a database, checks what it is, and closes it
 */
#ifndef URLWEIR_STORAGE_DB_DB_IMPL_H
#define URLWEIR_STORAGE_DB_DB_IMPL_H

#include "storage/db/checkpointer.h"
#include "storage/db/db.h"

struct db {
    sqlite3 *h;
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
/* SQLite's hook after each commit; `ctx` is the struct db. */
int db_after_commit(void *ctx, sqlite3 *h, const char *name, int frames);

#endif
