/* SPDX-License-Identifier: MIT */
/*
 * db_make.c - makes a new database, whole or not at all.
 *
 * SQLite would fill a new file step by step, and a crash in between would leave
 * a file that looks like a store that lost everything.
 */
#include "storage/db/db_make.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/file/file.h"
#include "base/logger.h"
#include "base/mem.h"
#include "storage/db/db.h"
#include "storage/db/sqlite_error.h"

static enum status random_hex(char out[33])
{
    unsigned char octets[16];

    if (getrandom(octets, sizeof octets, 0) != (ssize_t)sizeof octets)
        return STATUS_IO;
    for (size_t i = 0; i < sizeof octets; i++)
        snprintf(out + 2 * i, 3, "%02x", octets[i]);
    return STATUS_OK;
}

static void remove_with(const char *path, const char *suffix)
{
    char *p = xmalloc(strlen(path) + strlen(suffix) + 1);

    sprintf(p, "%s%s", path, suffix);
    unlink(p);
    free(p);
}

static void remove_unfinished(const char *path)
{
    remove_with(path, "");
    remove_with(path, "-journal");
    remove_with(path, "-wal");
    remove_with(path, "-shm");
}

static enum status run_sql(sqlite3 *h, const char *sql, const char *path)
{
    int rc = sqlite3_exec(h, sql, NULL, NULL, NULL);

    return rc == SQLITE_OK ? STATUS_OK : sqlite_error(h, rc, path);
}

enum status db_fill(sqlite3 *h, const char *path, const struct db_kind *kind)
{
    char facts[256], id[33];
    enum status st = random_hex(id);

    if (st != STATUS_OK)
        return st;
    snprintf(facts, sizeof facts,
             "PRAGMA application_id = %d; INSERT INTO meta VALUES"
             "('format', %d), ('store_id', '%s'), ('created_ms', %lld)",
             (int)kind->application_id, kind->format, id,
             (long long)clock_wall_ms());
    st = run_sql(h,
                 "PRAGMA page_size = 4096; PRAGMA encoding = 'UTF-8';"
                 "PRAGMA synchronous = FULL; BEGIN IMMEDIATE",
                 path);
    for (size_t i = 0; st == STATUS_OK && kind->sql[i] != NULL; i++)
        st = run_sql(h, kind->sql[i], path);
    if (st == STATUS_OK)
        st = run_sql(h, facts, path);
    if (st == STATUS_OK)
        st = run_sql(h, "COMMIT", path);
    return st;
}

static enum status put_in_place(const char *unfinished, const char *path)
{
    fault_point("store-made");
    if (rename(unfinished, path) != 0) {
        log_error("cannot rename database", "path=%s error=\"%s\"", unfinished,
                  strerror(errno));
        return status_of_errno(errno);
    }
    return file_sync_parent(path);
}

/* URLs and settings may hold secrets. SQLite gives its log and shared memory
 * the mode of the file (sqlite.org/src: findCreateFileMode). */
static enum status make_private(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd < 0) {
        log_error("cannot make database", "path=%s error=\"%s\"", path,
                  strerror(errno));
        return status_of_errno(errno);
    }
    close(fd);
    return STATUS_OK;
}

enum status db_make(const char *path, const struct db_kind *kind)
{
    size_t len = strlen(path) + sizeof ".new";
    char *unfinished = xmalloc(len);
    sqlite3 *h = NULL;
    enum status st;

    snprintf(unfinished, len, "%s.new", path);
    remove_unfinished(unfinished);
    st = make_private(unfinished);
    if (st == STATUS_OK) {
        int rc = sqlite3_open_v2(unfinished, &h, SQLITE_OPEN_READWRITE, NULL);

        if (rc != SQLITE_OK)
            st = sqlite_error(h, rc, unfinished);
    }
    if (st == STATUS_OK)
        st = db_fill(h, unfinished, kind);
    if (st == STATUS_OK)
        st = run_sql(h, "PRAGMA journal_mode = WAL", unfinished);
    sqlite3_close(h);
    if (st == STATUS_OK)
        st = put_in_place(unfinished, path);
    else
        remove_unfinished(unfinished);
    free(unfinished);
    return st;
}
