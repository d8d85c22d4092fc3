/* SPDX-License-Identifier: MIT */
/*
 * db_open.c - opens a database and checks what it is.
 *
 * An existing file is opened and never filled (db_make makes a file whole),
 * so an empty one, or one that lacks a table, is damaged. We ask for its size
 * with stat(2) and for the rest through SQLite: opening and closing the file
 * ourselves would drop the locks that SQLite holds on it for another connection
 * of this process (fcntl(2), "Record locking").
 */
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/file/file.h"
#include "base/logger.h"
#include "base/mem.h"
#include "base/status.h"
#include "storage/db/db.h"
#include "storage/db/db_impl.h"
#include "storage/db/schema.h"

/*
 * Makes a new database, whole or not at all. For db.c alone.
 *
 * SQLite would fill a new file step by step, and a crash in between would leave
 * a file that looks like a store that lost everything.
 */

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

/* Makes the same tables and rows in `h`, an open and empty scratch database. */
static enum status db_fill(sqlite3 *h, const char *path,
                           const struct db_kind *kind)
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

/* Fills PATH.new with every table, syncs it and renames it to `path`, which
 * must not exist. Removes what an earlier attempt left at PATH.new. */
static enum status db_make(const char *path, const struct db_kind *kind)
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

#define PAGE            DB_PAGE
#define DEFAULT_CACHE   (UINT64_C(32) << 20)
#define LOG_SIZE_LIMIT  "67108864" /* the log file is truncated to this */
#define READER_WAITS_MS 5000

const struct db_kind db_frontier = {
    .what = "frontier database",
    .application_id = SCHEMA_APPLICATION_ID,
    .format = DB_FORMAT,
    .sql = schema_sql,
    .derived = schema_derived,
};

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
    if (st == STATUS_OK && format != d->kind->format) {
        log_error("database is of another format",
                  "path=%s format=%lld known=%d", d->path, (long long)format,
                  d->kind->format);
        return STATUS_VERSION;
    }
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
        return db_fail(d, rc);
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

static enum status forget_derived(struct db *d)
{
    const char *const *table = d->kind->derived;
    enum status st = db_exec(d, "BEGIN IMMEDIATE");
    char sql[64];

    for (; st == STATUS_OK && table != NULL && *table != NULL; table++) {
        snprintf(sql, sizeof sql, "DELETE FROM %s", *table);
        st = db_exec(d, sql);
    }
    return st == STATUS_OK ? db_exec(d, "COMMIT") : st;
}

/* ---- a directory that this process cannot write to ----
 *
 * A reader of a database in WAL mode needs the files -wal and -shm, and makes
 * them if they are not there, as after a clean stop. Where it cannot, and no
 * process writes:
 *
 *     -wal   -shm   it was             so it is opened
 *     no     any    stopped            immutable: the file is all there is
 *     yes    no     killed, and       with the log's index in memory, which
 *                   copied            SQLite has for a connection that locks
 *                                     nobody out, and so needs no lock
 *     yes    yes    killed, or runs   as usual: SQLite can read both
 *
 * Somebody else may write there and begin to while we read; on a medium or a
 * mount that is read-only to all, nobody does.
 */

static bool is_in_place_to_write(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *dir = slash == NULL ? xstrdup(".")
                              : xstrndup(path, (size_t)(slash - path) + 1);
    bool is = access(dir, W_OK) == 0;

    free(dir);
    return is;
}

static uint64_t size_beside(const char *path, const char *suffix, bool *is)
{
    uint64_t size = 0;
    struct buf name;

    buf_init(&name, (size_t)64 << 10);
    buf_addf(&name, "%s%s", path, suffix);
    *is = file_size(buf_str(&name), &size) == STATUS_OK;
    buf_fini(&name);
    return size;
}

/* As a URI (https://www.sqlite.org/uri.html). */
static int open_immutable(struct db *d, int flags)
{
    struct buf uri;
    int rc;

    buf_init(&uri, (size_t)256 << 10);
    buf_add_str(&uri, "file:");
    for (const char *at = d->path; *at != '\0'; at++)
        if (strchr("%?#", *at) != NULL)
            buf_addf(&uri, "%%%02X", (unsigned char)*at);
        else
            buf_add_char(&uri, *at);
    buf_add_str(&uri, "?immutable=1");
    rc = buf_failed(&uri) == STATUS_OK
             ? sqlite3_open_v2(buf_str(&uri), &d->h, flags | SQLITE_OPEN_URI,
                               NULL)
             : SQLITE_CANTOPEN;
    buf_fini(&uri);
    return rc;
}

static int open_alone(struct db *d, int flags)
{
    int rc = sqlite3_open_v2(d->path, &d->h, flags, "unix-none");

    return rc == SQLITE_OK
               ? sqlite3_exec(d->h, "PRAGMA locking_mode = EXCLUSIVE", NULL,
                              NULL, NULL)
               : rc;
}

static int open_file(struct db *d)
{
    int flags =
        SQLITE_OPEN_NOMUTEX |
        (d->mode == DB_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE);
    bool log, index;

    if (d->mode != DB_READ || is_in_place_to_write(d->path))
        return sqlite3_open_v2(d->path, &d->h, flags, NULL);
    if (size_beside(d->path, "-wal", &log) == 0)
        return open_immutable(d, flags);
    (void)size_beside(d->path, "-shm", &index);
    return index ? sqlite3_open_v2(d->path, &d->h, flags, NULL)
                 : open_alone(d, flags);
}

static enum status open_there(struct db *d, const struct db_options *o)
{
    /* Must come before SQLite opens the file, which would lose its locks
     * otherwise. */
    bool in_doubt = unsynced_forget_pages(d->path, "-wal");
    enum status st = check_file(d->path);
    int rc;

    if (st != STATUS_OK)
        return st;
    rc = open_file(d);
    if (rc != SQLITE_OK)
        return db_fail(d, rc);
    sqlite3_extended_result_codes(d->h, 1);
    sqlite3_busy_timeout(d->h, READER_WAITS_MS);
    st = configure(d, o);
    if (st == STATUS_OK)
        st = check_ours(d);
    if (st == STATUS_OK && in_doubt)
        st = check_what_is_there(d);
    if (st == STATUS_OK)
        st = d->mode == DB_READ ? db_exec(d, "PRAGMA query_only = ON")
                                : db_start_writing(d, o);
    if (st == STATUS_OK && d->mode != DB_READ && o->forget_derived)
        st = forget_derived(d);
    return st;
}

static enum status tell_follower(struct db *d, const struct db_options *o)
{
    if (o->follower == NULL || d->mode == DB_READ)
        return STATUS_OK;
    d->follower = *o->follower;
    return d->follower.opened(d->follower.ctx, d);
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
    st = mode == DB_SCRATCH ? open_scratch(d, o) : open_there(d, o);
    if (st == STATUS_OK)
        st = tell_follower(d, o);
    if (st != STATUS_OK) {
        d->failed = st;
        db_close(d);
        return st;
    }
    *out = d;
    return STATUS_OK;
}
