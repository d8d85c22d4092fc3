/* SPDX-License-Identifier: MIT */
/*
 * run_file.c - the pages of sorted runs, in a file beside the database.
 *
 *   block  0  content, then zeros
 *       1016  XXH3 of the octets before, seeded with the run's stamp plus the
 *             block's place in the run
 *
 * The file has no header: what it holds, and whose it is, the rows of the
 * database say. SQLite would write a page to its log and to its file, and find
 * it through a b-tree: 4 us of CPU, where a pread of a block takes 0.7.
 *
 * Not mapped into memory: the kernel counts mapped pages as ours, and a read
 * that fails would be a signal.
 */
#include "storage/db/run_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/fault.h"
#include "base/file/file.h"
#include "base/logger.h"
#include "base/mem.h"
#include "storage/db/packed.h"
#include "storage/db/run_space.h"

/* ---- How a file of runs grows ---- */

#define LEAST     1024 /* pages from which on it grows by more at once */
#define STEP      64   /* pages, at least */
#define STEP_MOST (4 * STEP)

/* One write of zeroes from `at` to `end`, at most STEP_MOST pages. */
static bool write_zeroes(int fd, off_t at, off_t end)
{
    static unsigned char zeroes[STEP * RUN_PAGE];
    struct iovec parts[STEP_MOST / STEP];
    int n = 0;

    for (off_t from = at; from < end; n++) {
        off_t some =
            end - from < STEP * RUN_PAGE ? end - from : STEP * RUN_PAGE;

        parts[n] = (struct iovec){zeroes, (size_t)some};
        from += some;
    }
    return pwritev(fd, parts, n, at) == end - at;
}

/* Lengthens a file that needs `pages` pages (RUN_PAGE octets each), if it is
 * large, by zeroes up to the next multiple of a step of about a sixteenth of
 * it. Steps are written at once, and a kernel that can (ext4 since Linux 6.16,
 * XFS since 5.18) then has their pages in its cache as large folios, in which
 * it finds a block sooner; the pages of runs, which lie here and there, it
 * would have one by one. Returns the pages that need no call any more, at least
 * `pages`, or 0 if nothing was done. If writing fails, the write that needs the
 * room meets the error too. */
static off_t run_growth(int fd, off_t pages)
{
    off_t step = STEP, upto;
    struct stat s;

    if (pages < LEAST || fstat(fd, &s) != 0)
        return 0;
    while (step < STEP_MOST && step * 2 <= pages / 16)
        step *= 2;
    upto = (pages + step - 1) / step * step;
    for (off_t at = s.st_size, end; at < upto * RUN_PAGE; at = end) {
        end = (at / (step * RUN_PAGE) + 1) * step * RUN_PAGE;
        if (!write_zeroes(fd, at, end))
            break;
    }
    return upto;
}

#define CHUNK 64 /* pages in one read or write */

struct run_file {
    char *path; /* NULL: unnamed */
    int fd;     /* -1: not opened yet */
    bool writes;
    bool made;  /* its name is not synced yet */
    bool dirty; /* written to since the last sync */
    mode_t mode;
    off_t there; /* pages up to which it was lengthened */
    struct run_space *space;
    unsigned char *chunk;
    enum status failed;
};

/* ---- opening ---- */

struct run_file *run_file_new(const char *path, bool writes)
{
    struct run_file *f = xcalloc(1, sizeof *f);

    f->path = path != NULL ? xstrdup(path) : NULL;
    f->fd = -1;
    f->writes = writes;
    f->mode = 0600;
    f->space = run_space_new();
    return f;
}

void run_file_free(struct run_file *f)
{
    if (f == NULL)
        return;
    if (f->fd >= 0)
        close(f->fd);
    run_space_free(f->space);
    free(f->chunk);
    free(f->path);
    free(f);
}

char *run_file_path(const char *db_path)
{
    static const char db[] = ".db", runs[] = ".runs";
    size_t len = strlen(db_path);
    char *path = xmalloc(len + sizeof runs);

    if (len >= sizeof db && strcmp(db_path + len - strlen(db), db) == 0)
        len -= strlen(db);
    memcpy(path, db_path, len);
    memcpy(path + len, runs, sizeof runs);
    return path;
}

void run_file_set_mode(struct run_file *f, unsigned mode)
{
    f->mode = (mode_t)mode & 0666;
}

static const char *name_of(const struct run_file *f)
{
    return f->path != NULL ? f->path : "(unnamed)";
}

static enum status fail(struct run_file *f, const char *event, bool final)
{
    int err = errno;
    enum status st = status_of_errno(err);

    log_error(event, "path=%s error=\"%s\"", name_of(f), strerror(err));
    if (st == STATUS_OK || st == STATUS_NOT_FOUND)
        st = STATUS_IO;
    if (final && f->failed == STATUS_OK)
        f->failed = st;
    return st;
}

static int open_unnamed(void)
{
    const char *dir = getenv("SQLITE_TMPDIR");
    char name[4096];
    int fd;

    if (dir == NULL)
        dir = getenv("TMPDIR");
    if (dir == NULL)
        dir = "/tmp";
    fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
        return fd;
    snprintf(name, sizeof name, "%s/urlweir-runs-XXXXXX", dir);
    fd = mkostemp(name, O_CLOEXEC);
    if (fd >= 0)
        (void)unlink(name);
    return fd;
}

/* STATUS_NOT_FOUND: there is no such file. */
static enum status open_there(struct run_file *f)
{
    if (f->fd >= 0)
        return STATUS_OK;
    if (f->path == NULL)
        return STATUS_NOT_FOUND;
    f->fd = open(f->path, (f->writes ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    if (f->fd >= 0)
        return STATUS_OK;
    return errno == ENOENT ? STATUS_NOT_FOUND
                           : fail(f, "cannot open file", false);
}

static enum status open_or_make(struct run_file *f)
{
    enum status st = open_there(f);

    if (st != STATUS_NOT_FOUND)
        return st;
    f->fd = f->path == NULL
                ? open_unnamed()
                : open(f->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (f->fd < 0 || fchmod(f->fd, f->mode) != 0)
        return fail(f, "cannot make file", true);
    f->made = f->path != NULL;
    return STATUS_OK;
}

/* ---- claiming ---- */

enum status run_file_measure(struct run_file *f)
{
    enum status st = open_there(f);
    struct stat s;
    uint64_t n;

    if (st == STATUS_NOT_FOUND)
        return STATUS_OK;
    if (st != STATUS_OK)
        return st;
    if (fstat(f->fd, &s) != 0)
        return fail(f, "cannot read file", false);
    n = (uint64_t)s.st_size / RUN_PAGE;
    run_space_size(f->space, n < RUN_SPACE_MOST ? (uint32_t)n : RUN_SPACE_MOST);
    return STATUS_OK;
}

enum status run_file_claim(struct run_file *f, const struct run_pages *r,
                           const char *table, int64_t key)
{
    uint32_t pages = run_space_pages(f->space);

    for (uint32_t i = 0; i < r->count; i++) {
        if (run_space_claim(f->space, r->at[i]))
            continue;
        log_error("file of runs is damaged",
                  "path=%s table=%s key=%lld page=%u pages=%u reason=\"%s\"",
                  name_of(f), table, (long long)key, (unsigned)r->at[i],
                  (unsigned)pages,
                  r->at[i] < pages ? "a page is named twice"
                  : pages == 0     ? "it is missing or empty"
                                   : "it is cut short");
        return STATUS_DAMAGED;
    }
    return STATUS_OK;
}

void run_file_claimed(struct run_file *f)
{
    run_space_claimed(f->space);
}

/* ---- writing ---- */

static unsigned char *chunk_of(struct run_file *f)
{
    if (f->chunk == NULL)
        f->chunk = xmalloc((size_t)CHUNK * RUN_PAGE);
    return f->chunk;
}

static uint64_t sum_of(const struct run_pages *r, uint32_t block,
                       const unsigned char *octets)
{
    return XXH3_64bits_withSeed(octets, RUN_BLOCK_ROOM, r->stamp + block);
}

/* How many pages from number `page` on are adjacent, at most a chunk. */
static uint32_t adjacent(const struct run_pages *r, uint32_t page)
{
    uint32_t n = 1;

    while (n < CHUNK && page + n < r->count &&
           r->at[page + n] == r->at[page] + n)
        n++;
    return n;
}

static enum status write_at(struct run_file *f, const unsigned char *from,
                            size_t len, off_t at)
{
    while (len > 0) {
        ssize_t n = pwrite(f->fd, from, len, at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail(f, "cannot write file", true);
        from += n;
        at += n;
        len -= (size_t)n;
    }
    return STATUS_OK;
}

static enum status write_pages(struct run_file *f, const struct run_pages *r,
                               const unsigned char *octets, size_t len,
                               size_t each)
{
    unsigned char *chunk = chunk_of(f);
    enum status st = STATUS_OK;
    uint32_t n;

    f->dirty = true;
    for (uint32_t page = 0; page < r->count && st == STATUS_OK; page += n) {
        n = adjacent(r, page);
        for (uint32_t i = 0; i < n * RUN_BLOCKS; i++) {
            unsigned char *to = chunk + (size_t)i * RUN_BLOCK;
            uint32_t block = page * RUN_BLOCKS + i;
            size_t some = len < each ? len : each;

            memcpy(to, octets, some);
            memset(to + some, 0, RUN_BLOCK_ROOM - some);
            packed_put(to + RUN_BLOCK_ROOM, sum_of(r, block, to), 8);
            octets += some;
            len -= some;
        }
        st = write_at(f, chunk, (size_t)n * RUN_PAGE,
                      (off_t)r->at[page] * RUN_PAGE);
        fault_point("run-write");
    }
    return st;
}

enum status run_file_write(struct run_file *f, struct run_pages *out,
                           const unsigned char *octets, size_t len, size_t each)
{
    const size_t page = each * RUN_BLOCKS;
    struct run_pages r = {.count = (uint32_t)((len + page - 1) / page)};
    enum status st;

    if (len == 0) {
        *out = r;
        return STATUS_OK;
    }
    if (f->failed != STATUS_OK)
        return f->failed;
    if (getrandom(&r.stamp, sizeof r.stamp, 0) != (ssize_t)sizeof r.stamp)
        return STATUS_IO;
    r.at = xmalloc(r.count * sizeof *r.at);
    st = open_or_make(f);
    if (st == STATUS_OK)
        st = run_space_take(f->space, r.at, r.count);
    if (st == STATUS_OK) {
        if (run_space_pages(f->space) > f->there)
            f->there = run_growth(f->fd, run_space_pages(f->space));
        st = write_pages(f, &r, octets, len, each);
    }
    if (st == STATUS_OK)
        *out = r;
    else
        free(r.at);
    return st;
}

/* ---- reading ---- */

static enum status read_at(struct run_file *f, off_t at, size_t len,
                           unsigned char *to)
{
    enum status st = f->fd >= 0 ? STATUS_OK : open_there(f);

    if (st != STATUS_OK)
        return st == STATUS_NOT_FOUND ? STATUS_DAMAGED : st;
    while (len > 0) {
        ssize_t n = pread(f->fd, to, len, at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail(f, "cannot read file", false);
        if (n == 0)
            return STATUS_DAMAGED;
        to += n;
        at += n;
        len -= (size_t)n;
    }
    return STATUS_OK;
}

static bool is_sound(const struct run_pages *r, uint32_t block,
                     const unsigned char *octets)
{
    return packed_get(octets + RUN_BLOCK_ROOM, 8) == sum_of(r, block, octets);
}

enum status run_file_read(struct run_file *f, const struct run_pages *r,
                          uint32_t block, unsigned char *to)
{
    off_t at = (off_t)r->at[block / RUN_BLOCKS] * RUN_PAGE +
               (off_t)(block % RUN_BLOCKS) * RUN_BLOCK;
    enum status st = read_at(f, at, RUN_BLOCK, to);

    return st != STATUS_OK || is_sound(r, block, to) ? st : STATUS_DAMAGED;
}

enum status run_file_read_all(struct run_file *f, const struct run_pages *r,
                              size_t each, unsigned char *to, uint32_t *failed)
{
    unsigned char *chunk = chunk_of(f);
    uint32_t n;

    for (uint32_t page = 0; page < r->count; page += n) {
        enum status st;

        n = adjacent(r, page);
        st = read_at(f, (off_t)r->at[page] * RUN_PAGE, (size_t)n * RUN_PAGE,
                     chunk);
        for (uint32_t i = 0; i < n * RUN_BLOCKS; i++, to += each) {
            const unsigned char *from = chunk + (size_t)i * RUN_BLOCK;

            *failed = page * RUN_BLOCKS + i;
            if (st != STATUS_OK || !is_sound(r, *failed, from))
                return st != STATUS_OK ? st : STATUS_DAMAGED;
            memcpy(to, from, each);
        }
    }
    return STATUS_OK;
}

void run_file_drop(struct run_file *f, struct run_pages *r)
{
    run_space_drop(f->space, r->at, r->count);
    free(r->at);
    *r = (struct run_pages){0};
}

/* ---- the ends of transactions ---- */

/* What a sync that failed may have lost is named by no row: the commit that
 * would have named it is not made. */
enum status run_file_sync(struct run_file *f)
{
    enum status st = f->failed;

    if (st != STATUS_OK || !f->dirty || f->path == NULL)
        return st;
    fault_point("run-written");
    if (fdatasync(f->fd) != 0)
        return fail(f, "cannot sync file", true);
    if (f->made)
        st = file_sync_parent(f->path);
    if (st != STATUS_OK) {
        f->failed = st;
        return st;
    }
    f->made = f->dirty = false;
    fault_point("run-synced");
    return STATUS_OK;
}

uint64_t run_file_commit(struct run_file *f)
{
    return run_space_commit(f->space);
}

void run_file_roll_back(struct run_file *f)
{
    run_space_roll_back(f->space);
}

void run_file_reuse(struct run_file *f, uint64_t commits)
{
    run_space_reuse(f->space, commits);
}

enum status run_file_failed(const struct run_file *f)
{
    return f->failed;
}

/* ---- as octets of a row ---- */

size_t run_pages_packed_most(const struct run_pages *r)
{
    return 8 + (size_t)r->count * 8;
}

size_t run_pages_pack(const struct run_pages *r, unsigned char *to)
{
    unsigned char *end = to + 8;
    uint32_t n;

    packed_put(to, r->stamp, 8);
    for (uint32_t page = 0; page < r->count; page += n) {
        n = 1;
        while (page + n < r->count && r->at[page + n] == r->at[page] + n)
            n++;
        packed_put(end, r->at[page], 4);
        packed_put(end + 4, n, 4);
        end += 8;
    }
    return (size_t)(end - to);
}

bool run_pages_unpack(struct run_pages *out, struct bytes packed,
                      uint32_t count)
{
    const unsigned char *at = (const unsigned char *)packed.at;
    struct run_pages r = {.count = count};
    uint32_t page = 0;

    if (packed.len < 8 || packed.len % 8 != 0 || count == 0)
        return false;
    r.stamp = packed_get(at, 8);
    r.at = xmalloc((size_t)count * sizeof *r.at);
    for (size_t i = 8; i < packed.len; i += 8) {
        uint32_t first = (uint32_t)packed_get(at + i, 4);
        uint32_t n = (uint32_t)packed_get(at + i + 4, 4);

        if (n > count - page || n > UINT32_MAX - first) {
            page = 0;
            break;
        }
        while (n-- > 0)
            r.at[page++] = first++;
    }
    if (page != count) {
        free(r.at);
        return false;
    }
    *out = r;
    return true;
}

uint64_t run_file_size(const struct run_file *f)
{
    return (uint64_t)run_space_pages(f->space) * RUN_PAGE;
}

uint64_t run_file_memory(const struct run_file *f)
{
    return sizeof *f + run_space_memory(f->space) +
           (f->chunk != NULL ? (uint64_t)CHUNK * RUN_PAGE : 0);
}
