/* SPDX-License-Identifier: MIT */
/* sqlite_error.c - our status for an SQLite result code. */
#include "storage/db/sqlite_error.h"

#include <stdbool.h>
#include <string.h>

#include "base/file/file.h"
#include "base/logger.h"
#include "base/mem.h"

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
