/* SPDX-License-Identifier: MIT */
/*
 * warc.c - the WARC files of a crawl.
 *
 * Appends are gathered in memory: a write call for each page of a few kilobytes
 * costs more than copying it.
 *
 * A file is finished in an order that a crash cannot upset: its content is
 * synced, then it is renamed, then the directory is synced. A row names the
 * file without `.open`, whichever name it still has.
 */
#include "storage/warc/warc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fault.h"
#include "base/file/file.h"
#include "base/logger.h"
#include "base/mem.h"
#include "storage/warc/warc_reader.h"
#include "storage/warc/warc_record.h"

#define SUFFIX       ".warc.gz"
#define OPEN_SUFFIX  ".warc.gz.open"
#define NAME_MOST    ((size_t)255)

#define PENDING_MOST ((size_t)256 << 10)
#define ALONE_LEAST  ((size_t)32 << 10) /* larger appends are written directly */

struct warc {
    char *dir; /* DIR/warc */
    char *prefix, *host, *user_agent, *robots;
    uint64_t size_most;
    struct warc_maker *maker;
    unsigned serial; /* of the last file begun */
    /* the file being written */
    int fd;              /* -1: none */
    char *path;          /* with .open */
    char *finished;      /* without */
    struct bytes *names; /* of all files of this run, "warc/NAME" */
    size_t name_count;
    uint64_t written;           /* octets written to the file */
    struct buf pending;         /* octets that follow, not written yet */
    bool empty;                 /* holds only its warcinfo record */
    char info_id[WARC_ID_SIZE]; /* its id, or the next file's if none is open */
    bool unsynced, new_name;
    enum status broken;
};

static enum status complain(const char *event, const char *path)
{
    int err = errno;

    log_error(event, "path=%s error=\"%s\"", path, strerror(err));
    return status_of_errno(err);
}

static char *text_of(const char *fmt, ...) PRINTF_LIKE(1, 2);
static char *text_of(const char *fmt, ...)
{
    va_list ap;
    char *out = NULL;
    int n;

    va_start(ap, fmt);
    n = vasprintf(&out, fmt, ap);
    va_end(ap);
    if (n < 0)
        mem_out(strlen(fmt)); /* for a path */
    return out;
}

/* ---- repair after a crash ---- */

/* *whole: end of the last whole record; *size: end of the file. */
static enum status find_torn_tail(int fd, const char *path, uint64_t *whole,
                                  uint64_t *size)
{
    struct warc_walk *w = warc_walk_new(fd);
    struct warc_found found;
    uint64_t damaged = 0, first = 0;
    enum status st;

    while ((st = warc_walk_next(w, &found, whole)) == STATUS_OK)
        if (found.offset > *whole && damaged++ == 0)
            first = *whole;
    st = st == STATUS_NOT_FOUND ? STATUS_OK
                                : complain("cannot read WARC file", path);
    warc_walk_free(w);
    *size = found.offset;
    if (damaged > 0)
        log_warn("a WARC file is damaged, the records behind it are kept",
                 "path=%s offset=%llu places=%llu", path,
                 (unsigned long long)first, (unsigned long long)damaged);
    return st;
}

enum status warc_mend(const char *path, uint64_t *size)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    uint64_t whole = 0, now = 0;
    enum status st;

    if (fd < 0)
        return complain("cannot open WARC file", path);
    (void)unsynced_forget_pages(path, NULL);
    st = find_torn_tail(fd, path, &whole, &now);
    if (st == STATUS_OK && whole < now) {
        log_warn("cutting a torn record", "path=%s offset=%llu", path,
                 (unsigned long long)whole);
        if (ftruncate(fd, (off_t)whole) != 0)
            st = complain("cannot cut WARC file", path);
    }
    if (st == STATUS_OK && fsync(fd) != 0)
        st = unsynced_failed("cannot sync WARC file", path);
    close(fd);
    if (st == STATUS_OK)
        unsynced_clear(path);
    if (st == STATUS_OK)
        *size = whole;
    return st;
}

/* Renames the file to its final name, or removes it if it has no whole
 * record. */
static enum status finish_file(const char *path, const char *finished,
                               uint64_t size)
{
    if (size == 0) {
        if (unlink(path) != 0)
            return complain("cannot remove empty WARC file", path);
        return STATUS_OK;
    }
    if (rename(path, finished) != 0)
        return complain("cannot rename WARC file", path);
    return file_sync_parent(finished);
}

static enum status mend_and_finish(const char *dir, const char *name)
{
    char *path = text_of("%s/%s", dir, name);
    char *finished = xstrndup(path, strlen(path) - strlen(".open"));
    uint64_t size = 0;
    enum status st = warc_mend(path, &size);

    if (st == STATUS_OK)
        st = finish_file(path, finished, size);
    free(finished);
    free(path);
    return st;
}

/* The serial in a name, 0 if it has none: PREFIX-TIME-SERIAL-HOST. */
static unsigned serial_of(const char *prefix, const char *name)
{
    size_t n = strlen(prefix);
    unsigned serial = 0;

    if (strncmp(name, prefix, n) != 0 ||
        sscanf(name + n, "-%*17[0-9]-%7u-", &serial) != 1)
        return 0;
    return serial;
}

/* Finishes what a crash has left in DIR/warc, if that is there. *serial: the
 * largest in the names that begin with `prefix`, 0 if there is none. */
static enum status look_around(const char *dir, const char *prefix,
                               unsigned *serial)
{
    DIR *d = opendir(dir);
    enum status st = STATUS_OK;
    struct dirent *e;

    *serial = 0;
    if (d == NULL)
        return errno == ENOENT ? STATUS_OK
                               : complain("cannot read directory", dir);
    while (st == STATUS_OK && (e = readdir(d)) != NULL) {
        unsigned n = serial_of(prefix, e->d_name);

        if (n > *serial)
            *serial = n;
        if (bytes_ends_with(bytes_of_str(e->d_name), OPEN_SUFFIX))
            st = mend_and_finish(dir, e->d_name);
    }
    closedir(d);
    return st;
}

enum status warc_finish_left(const char *crawl_dir)
{
    char *dir = text_of("%s/warc", crawl_dir);
    unsigned serial;
    enum status st = look_around(dir, "", &serial);

    free(dir);
    return st;
}

/* ---- writing ---- */

static enum status broke(struct warc *w, enum status st)
{
    if (w->broken == STATUS_OK)
        w->broken = st;
    return st;
}

static uint64_t size_of(const struct warc *w)
{
    return w->written + w->pending.len;
}

static enum status write_all(struct warc *w, struct bytes b)
{
    size_t done = 0;

    while (done < b.len) {
        ssize_t n = pwrite(w->fd, b.at + done, b.len - done,
                           (off_t)(w->written + done));

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return broke(w, complain("cannot write WARC file", w->path));
        done += (size_t)n;
    }
    w->written += b.len;
    return STATUS_OK;
}

static enum status flush(struct warc *w)
{
    enum status st = write_all(w, buf_bytes(&w->pending));

    buf_clear(&w->pending);
    return st;
}

static enum status put(struct warc *w, struct bytes b)
{
    enum status st = STATUS_OK;

    w->unsynced = true;
    if (w->pending.len + b.len > PENDING_MOST || b.len >= ALONE_LEAST)
        st = flush(w);
    if (st == STATUS_OK && b.len >= ALONE_LEAST)
        return write_all(w, b);
    if (st == STATUS_OK)
        buf_add_bytes(&w->pending, b);
    if (st == STATUS_OK && buf_failed(&w->pending) != STATUS_OK)
        st = broke(w, STATUS_NOMEM);
    return st;
}

/* ---- opening and closing ---- */

/* This machine's name, without characters that do not belong in a file name. */
static char *host_name(const char *given)
{
    char name[65] = "localhost";

    if (given != NULL)
        return xstrdup(given);
    if (gethostname(name, sizeof name - 1) != 0)
        snprintf(name, sizeof name, "localhost");
    for (char *p = name; *p != '\0'; p++)
        if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                   "0123456789.-",
                   *p) == NULL)
            *p = '_';
    return xstrdup(name);
}

static void warc_free(struct warc *w)
{
    for (size_t i = 0; i < w->name_count; i++)
        free((char *)w->names[i].at);
    warc_maker_free(w->maker);
    buf_fini(&w->pending);
    free(w->names);
    free(w->path);
    free(w->finished);
    free(w->dir);
    free(w->prefix);
    free(w->host);
    free(w->user_agent);
    free(w->robots);
    free(w);
}

enum status warc_open(struct warc **out, const struct warc_options *o)
{
    struct warc *w = xcalloc(1, sizeof *w);
    enum status st;

    w->fd = -1;
    w->dir = text_of("%s/warc", o->dir);
    w->prefix = xstrdup(o->prefix);
    w->host = host_name(o->host);
    w->user_agent = xstrdup(o->user_agent != NULL ? o->user_agent : "");
    w->robots = xstrdup(o->robots != NULL ? o->robots : "");
    w->size_most = o->size_most;
    w->maker = warc_maker_new();
    buf_init(&w->pending, PENDING_MOST);
    warc_new_id(w->info_id);
    st = file_make_dir(w->dir);
    if (st == STATUS_OK)
        st = look_around(w->dir, w->prefix, &w->serial);
    if (st != STATUS_OK)
        warc_free(w);
    else
        *out = w;
    return st;
}

/* Truncates a half-written append and finishes the file. */
static enum status close_file(struct warc *w)
{
    enum status st = STATUS_OK;

    if (w->fd < 0)
        return STATUS_OK;
    if (w->broken == STATUS_OK)
        (void)flush(w); /* a failure is in w->broken */
    if (w->broken != STATUS_OK && ftruncate(w->fd, (off_t)w->written) != 0)
        st = complain("cannot cut WARC file", w->path);
    if (st == STATUS_OK && (w->unsynced || w->broken != STATUS_OK) &&
        fsync(w->fd) != 0)
        st = unsynced_failed("cannot sync WARC file", w->path);
    close(w->fd);
    w->fd = -1;
    warc_new_id(w->info_id);
    w->unsynced = w->new_name = false;
    /* A file that could not be truncated keeps its suffix, and is repaired when
     * the crawl is opened again. */
    if (st == STATUS_OK)
        st = finish_file(w->path, w->finished, w->written);
    free(w->path);
    free(w->finished);
    w->path = w->finished = NULL;
    return st;
}

enum status warc_close(struct warc *w)
{
    enum status st;

    if (w == NULL)
        return STATUS_OK;
    st = close_file(w);
    if (w->broken != STATUS_OK)
        st = w->broken;
    warc_free(w);
    return st;
}

/* ---- records ---- */

static enum status write_warcinfo(struct warc *w, const char *name,
                                  int64_t wall_ms)
{
    struct warc_record r = {.type = "warcinfo",
                            .id = w->info_id,
                            .date_ms = wall_ms,
                            .filename = name,
                            .content_type = "application/warc-fields"};
    struct buf text, member;
    enum status st;

    buf_init(&text, 64 << 10);
    buf_init(&member, 256 << 10);
    buf_addf(&text,
             "software: urlweir/%s\r\n"
             "format: WARC File Format 1.1\r\n"
             "conformsTo: http://iipc.github.io/warc-specifications/"
             "specifications/warc-format/warc-1.1/\r\n"
             "hostname: %s\r\n",
             URLWEIR_VERSION, w->host);
    if (w->user_agent[0] != '\0')
        buf_addf(&text, "http-header-user-agent: %s\r\n", w->user_agent);
    if (w->robots[0] != '\0')
        buf_addf(&text, "robots: %s\r\n", w->robots);
    r.block = buf_bytes(&text);
    st = warc_maker_add(w->maker, &r, &member);
    st = st == STATUS_OK ? put(w, buf_bytes(&member)) : broke(w, st);
    buf_fini(&member);
    buf_fini(&text);
    return st;
}

static void keep_name(struct warc *w, const char *name)
{
    char *text = text_of("warc/%s", name);

    w->names = xrealloc(w->names, (w->name_count + 1) * sizeof *w->names);
    w->names[w->name_count++] = bytes_of_str(text);
}

static char *new_name(struct warc *w, int64_t wall_ms)
{
    time_t s = (time_t)(wall_ms / 1000);
    struct tm tm;
    char when[32];

    gmtime_r(&s, &tm);
    strftime(when, sizeof when, "%Y%m%d%H%M%S", &tm);
    return text_of("%s-%s%03d-%05u-%s" SUFFIX, w->prefix, when,
                   (int)(wall_ms % 1000), ++w->serial, w->host);
}

/* Private, since requests are recorded with cookies and Authorization. */
#define WARC_FILE_MODE 0600

static enum status begin_file(struct warc *w, int64_t wall_ms)
{
    char *name = new_name(w, wall_ms);
    enum status st = STATUS_OK;

    w->finished = text_of("%s/%s", w->dir, name);
    w->path = text_of("%s.open", w->finished);
    w->written = 0;
    w->fd =
        open(w->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, WARC_FILE_MODE);
    if (w->fd < 0) {
        st = broke(w, complain("cannot make WARC file", w->path));
        free(w->path);
        free(w->finished);
        w->path = w->finished = NULL;
    } else {
        w->new_name = true;
        keep_name(w, name);
        st = write_warcinfo(w, name, wall_ms);
    }
    free(name);
    return st;
}

enum status warc_make_room(struct warc *w, uint64_t octets, int64_t wall_ms)
{
    enum status st = w->broken;

    if (st == STATUS_OK && w->fd >= 0 && !w->empty &&
        size_of(w) + octets > w->size_most) {
        st = close_file(w);
        if (st != STATUS_OK)
            (void)broke(w, st);
    }
    if (st == STATUS_OK && w->fd < 0) {
        st = begin_file(w, wall_ms);
        w->empty = true;
    }
    return st;
}

const char *warc_info_id(const struct warc *w)
{
    return w->info_id;
}

enum status warc_append(struct warc *w, struct bytes members, int64_t wall_ms,
                        struct bytes *file, uint64_t *offset)
{
    enum status st = warc_make_room(w, members.len, wall_ms);

    if (st != STATUS_OK)
        return st;
    w->empty = false;
    *offset = size_of(w);
    *file = w->names[w->name_count - 1];
    st = put(w, members);
    fault_point("warc-appended");
    return st;
}

enum status warc_sync(struct warc *w)
{
    enum status st = STATUS_OK;

    if (w->broken != STATUS_OK || w->fd < 0)
        return w->broken;
    st = flush(w);
    if (st == STATUS_OK && w->unsynced && fdatasync(w->fd) != 0)
        st = broke(w, unsynced_failed("cannot sync WARC file", w->path));
    if (st == STATUS_OK && w->new_name) {
        st = file_sync_parent(w->path);
        if (st != STATUS_OK)
            (void)broke(w, st);
    }
    if (st == STATUS_OK)
        w->unsynced = w->new_name = false;
    fault_point("warc-synced");
    return st;
}

static int open_with(const char *dir, struct bytes file, const char *suffix)
{
    char *path = text_of("%s/%.*s%s", dir, (int)file.len, file.at, suffix);
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    free(path);
    return fd;
}

int warc_open_named(const char *dir, struct bytes file)
{
    int fd;

    if (file.len > NAME_MOST || !bytes_starts_with(file, "warc/") ||
        memchr(file.at + 5, '/', file.len - 5) != NULL)
        return -1;
    /* In the order in which it has these names, so that it is found also if it
     * is renamed between the two looks. */
    fd = open_with(dir, file, ".open");
    return fd >= 0 ? fd : open_with(dir, file, "");
}
