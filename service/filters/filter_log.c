/* SPDX-License-Identifier: MIT */
/*
 * filter_log.c - what was added to named filters and removed from them since
 * they were last saved.
 *
 * A file of its own rather than rows of the store: a record is a few keys of 8
 * octets, lives until the next checkpoint, and is never looked up.
 */
#include "service/filters/filter_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/buf.h"
#include "base/fault.h"
#include "base/file/file.h"
#include "base/logger.h"
#include "base/mem.h"

#define HEAD        16
#define RECORD_HEAD 32
#define AT_SUM      24
#define VERSION     1

static const char magic[8] = {'u', 'r', 'l', 'w', 'e', 'i', 'r', 'L'};
static const char mark[4] = {'F', 'R', 'E', 'C'};

struct filter_log {
    char *path;
    int fd;
    uint64_t size; /* of the file */
    struct buf waiting;
    enum status failed;
};

/* ---- numbers ---- */

static uint64_t get_number(const unsigned char *from, unsigned octets)
{
    uint64_t v = 0;

    while (octets-- > 0)
        v = v << 8 | from[octets];
    return v;
}

static void log_put_number(unsigned char *to, unsigned octets, uint64_t v)
{
    for (unsigned i = 0; i < octets; i++)
        to[i] = (unsigned char)(v >> (8 * i));
}

/* ---- reading ---- */

static size_t padded(size_t n)
{
    return (n + 7) & ~(size_t)7;
}

static uint64_t sum_of(const unsigned char *record, size_t length)
{
    return XXH3_64bits_withSeed(record + RECORD_HEAD, length - RECORD_HEAD,
                                XXH3_64bits(record, AT_SUM));
}

/* Its length; 0: no whole, valid record begins here. */
static size_t record_at(const unsigned char *at, size_t left)
{
    size_t length, name;

    if (left < RECORD_HEAD || memcmp(at, mark, sizeof mark) != 0)
        return 0;
    length = (size_t)get_number(at + 4, 4);
    name = padded(at[17]);
    if (length > left || length % 8 != 0 || length < RECORD_HEAD + name ||
        (length - RECORD_HEAD - name) / 8 > FILTER_LOG_KEYS ||
        (at[16] != FILTER_LOG_ADDED && at[16] != FILTER_LOG_REMOVED) ||
        get_number(at + AT_SUM, 8) != sum_of(at, length))
        return 0;
    return length;
}

struct reading {
    const unsigned char *at;
    size_t len;
    void (*visit)(void *ctx, const struct filter_log_record *r);
    void *ctx;
    uint64_t *number;
    uint64_t keys[FILTER_LOG_KEYS];
};

static void log_take_record(struct reading *r, const unsigned char *at,
                            size_t length)
{
    size_t name = at[17], first = RECORD_HEAD + padded(name);
    struct filter_log_record one = {.number = get_number(at + 8, 8),
                                    .op = (enum filter_log_op)at[16],
                                    .name =
                                        bytes_of((const char *)at + RECORD_HEAD,
                                                 name),
                                    .keys = r->keys,
                                    .n = (length - first) / 8};

    for (size_t i = 0; i < one.n; i++)
        r->keys[i] = get_number(at + first + i * 8, 8);
    if (one.number > *r->number)
        *r->number = one.number;
    r->visit(r->ctx, &one);
}

/* Visits all records that verify; *end: behind the last one. STATUS_DAMAGED:
 * octets before it do not verify. */
static enum status read_records(struct reading *r, uint64_t *end)
{
    enum status st = STATUS_OK;
    size_t at = HEAD;
    bool gap = false;

    *end = HEAD;
    while (at < r->len) {
        size_t length = record_at(r->at + at, r->len - at);

        if (length == 0) {
            gap = true;
            at += 8;
            continue;
        }
        if (gap)
            st = STATUS_DAMAGED;
        log_take_record(r, r->at + at, length);
        at += length;
        *end = at;
    }
    return st;
}

static enum status check_head(const struct filter_log *l,
                              const unsigned char *at)
{
    if (memcmp(at, magic, sizeof magic) != 0) {
        log_error("not a log of filters", "path=%s", l->path);
        return STATUS_FORMAT;
    }
    if (get_number(at + 8, 4) > VERSION) {
        log_error("log of filters of a newer release", "path=%s", l->path);
        return STATUS_VERSION;
    }
    return STATUS_OK;
}

static enum status log_read_file(struct filter_log *l, struct reading *r,
                                 uint64_t *end)
{
    void *map = mmap(NULL, (size_t)l->size, PROT_READ, MAP_PRIVATE, l->fd, 0);
    enum status st;

    if (map == MAP_FAILED)
        return status_of_errno(errno);
    r->at = map;
    r->len = (size_t)l->size;
    st = check_head(l, r->at);
    if (st == STATUS_OK)
        st = read_records(r, end);
    munmap(map, (size_t)l->size);
    if (st == STATUS_DAMAGED)
        log_error("log of filters is damaged", "path=%s", l->path);
    else if (st == STATUS_OK && *end < l->size)
        log_warn("the end of a log was not written whole",
                 "path=%s octets=%llu", l->path,
                 (unsigned long long)(l->size - *end));
    return st;
}

/* ---- writing ---- */

static enum status log_failed(struct filter_log *l, const char *what)
{
    l->failed = status_of_errno(errno);
    log_error(what, "path=%s error=\"%s\"", l->path, strerror(errno));
    return l->failed;
}

static enum status log_write_all(struct filter_log *l, const char *at,
                                 size_t len)
{
    while (len > 0) {
        ssize_t n = pwrite(l->fd, at, len, (off_t)l->size);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return log_failed(l, "cannot write a log of filters");
        at += n;
        len -= (size_t)n;
        l->size += (uint64_t)n;
    }
    return STATUS_OK;
}

static enum status sync_file(struct filter_log *l)
{
    if (fdatasync(l->fd) != 0)
        l->failed = unsynced_failed("cannot sync a log of filters", l->path);
    return l->failed;
}

/* Leaves the first `size` octets. */
static enum status log_cut(struct filter_log *l, uint64_t size)
{
    if (ftruncate(l->fd, (off_t)size) != 0)
        return log_failed(l, "cannot cut a log of filters");
    l->size = size;
    return sync_file(l);
}

static enum status log_begin(struct filter_log *l)
{
    char head[HEAD] = {0};
    enum status st = log_cut(l, 0);

    memcpy(head, magic, sizeof magic);
    log_put_number((unsigned char *)head + 8, 4, VERSION);
    if (st == STATUS_OK)
        st = log_write_all(l, head, sizeof head);
    if (st == STATUS_OK)
        st = sync_file(l);
    return st == STATUS_OK ? file_sync_parent(l->path) : st;
}

void filter_log_append(struct filter_log *l, const struct filter_log_record *r)
{
    size_t first = RECORD_HEAD + padded(r->name.len);
    size_t length = first + r->n * 8;
    unsigned char *at = (unsigned char *)buf_room(&l->waiting, length);

    if (at == NULL) {
        l->failed = STATUS_NOMEM;
        return;
    }
    memset(at, 0, first);
    memcpy(at, mark, sizeof mark);
    log_put_number(at + 4, 4, length);
    log_put_number(at + 8, 8, r->number);
    at[16] = (unsigned char)r->op;
    at[17] = (unsigned char)r->name.len;
    memcpy(at + RECORD_HEAD, r->name.at, r->name.len);
    for (size_t i = 0; i < r->n; i++)
        log_put_number(at + first + i * 8, 8, r->keys[i]);
    log_put_number(at + AT_SUM, 8, sum_of(at, length));
    buf_grew(&l->waiting, length);
}

enum status filter_log_sync(struct filter_log *l)
{
    if (l->failed == STATUS_OK && l->waiting.len > 0) {
        fault_point("filter-log-write");
        if (log_write_all(l, l->waiting.at, l->waiting.len) == STATUS_OK)
            (void)sync_file(l);
        fault_point("filter-log-synced");
    }
    buf_clear(&l->waiting);
    return l->failed;
}

enum status filter_log_clear(struct filter_log *l)
{
    return l->failed != STATUS_OK ? l->failed : log_cut(l, HEAD);
}

uint64_t filter_log_size(const struct filter_log *l)
{
    return l->size;
}

/* ---- open, close ---- */

enum status filter_log_open(struct filter_log **out, const char *path,
                            void (*visit)(void *ctx,
                                          const struct filter_log_record *r),
                            void *ctx, uint64_t *number)
{
    struct filter_log *l = xcalloc(1, sizeof *l);
    struct reading *r = xcalloc(1, sizeof *r);
    uint64_t end = 0;
    struct stat sb;
    enum status st = STATUS_OK;

    *r = (struct reading){.visit = visit, .ctx = ctx, .number = number};
    *number = 0;
    l->path = xstrdup(path);
    buf_init(&l->waiting, (size_t)1 << 30);
    l->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (l->fd < 0 || fstat(l->fd, &sb) != 0)
        st = log_failed(l, "cannot open a log of filters");
    else
        l->size = (uint64_t)sb.st_size;
    if (st == STATUS_OK && l->size < HEAD)
        st = log_begin(l); /* new, or cut short before it held anything */
    else if (st == STATUS_OK)
        st = log_read_file(l, r, &end);
    if (st == STATUS_OK && end != 0 && end < l->size)
        st = log_cut(l, end);
    free(r);
    if (st != STATUS_OK && st != STATUS_DAMAGED) {
        filter_log_close(l);
        return st;
    }
    *out = l;
    return st;
}

void filter_log_close(struct filter_log *l)
{
    if (l == NULL)
        return;
    if (l->fd >= 0)
        close(l->fd);
    buf_fini(&l->waiting);
    free(l->path);
    free(l);
}
