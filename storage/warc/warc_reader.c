/* SPDX-License-Identifier: MIT */
/*
 * warc_reader.c - the records of a WARC file, strictly.
 *
 * Members are inflated through a small window: of a record only the first
 * octets are kept; the rest is counted, and its last four octets are checked.
 */
#include "storage/warc/warc_reader.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/mem.h"

#define READ_SIZE  ((size_t)64 << 10)
#define PLAIN_SIZE ((size_t)64 << 10)

static const char version[] = "WARC/1.";

struct warc_reader {
    int fd;
    z_stream z;
    uint64_t offset; /* file offset of the next read into `in` */
    unsigned char in[READ_SIZE], plain[PLAIN_SIZE];
    /* the record being read */
    struct buf first;
    uint64_t length; /* inflated octets */
    unsigned char last[4];
};

struct warc_reader *warc_reader_new(int fd)
{
    struct warc_reader *r = xcalloc(1, sizeof *r);
    int rc;

    r->fd = fd;
    buf_init(&r->first, WARC_FIRST_MOST);
    rc = inflateInit2(&r->z, 15 + 16); /* accept gzip only */
    assert(rc == Z_OK);
    (void)rc;
    return r;
}

void warc_reader_free(struct warc_reader *r)
{
    if (r == NULL)
        return;
    inflateEnd(&r->z);
    buf_fini(&r->first);
    free(r);
}

void warc_reader_seek(struct warc_reader *r, uint64_t offset)
{
    r->offset = offset;
    r->z.avail_in = 0;
}

/* File offset of the next octet that inflate has not consumed. */
static uint64_t place(const struct warc_reader *r)
{
    return r->offset - r->z.avail_in;
}

/* STATUS_NOT_FOUND: the end of the file. */
static enum status fill(struct warc_reader *r)
{
    ssize_t n;

    if (r->z.avail_in > 0)
        return STATUS_OK;
    do
        n = pread(r->fd, r->in, sizeof r->in, (off_t)r->offset);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return status_of_errno(errno);
    if (n == 0)
        return STATUS_NOT_FOUND;
    r->z.next_in = r->in;
    r->z.avail_in = (uInt)n;
    r->offset += (uint64_t)n;
    return STATUS_OK;
}

static void consume(struct warc_reader *r, size_t n)
{
    size_t room = WARC_FIRST_MOST - r->first.len, tail = n < 4 ? n : 4;

    buf_add(&r->first, r->plain, n < room ? n : room);
    r->length += n;
    memmove(r->last, r->last + tail, 4 - tail);
    memcpy(r->last + 4 - tail, r->plain + n - tail, tail);
}

/* Checked early, so that a member that holds something else is not inflated to
 * its end. */
static bool may_be_record(const struct warc_reader *r)
{
    size_t n = sizeof version - 1;

    if (r->first.len < n)
        n = r->first.len;
    return n == 0 || memcmp(r->first.at, version, n) == 0;
}

static enum status inflate_member(struct warc_reader *r)
{
    int rc = Z_OK;

    inflateReset(&r->z);
    buf_clear(&r->first);
    r->length = 0;
    memset(r->last, 0, sizeof r->last);
    while (rc != Z_STREAM_END) {
        enum status st = fill(r);

        if (st != STATUS_OK)
            return st == STATUS_NOT_FOUND ? STATUS_FORMAT : st;
        r->z.next_out = r->plain;
        r->z.avail_out = PLAIN_SIZE;
        rc = inflate(&r->z, Z_NO_FLUSH);
        if (rc != Z_OK && rc != Z_STREAM_END)
            return STATUS_FORMAT;
        consume(r, PLAIN_SIZE - r->z.avail_out);
        if (!may_be_record(r))
            return STATUS_FORMAT;
    }
    return STATUS_OK;
}

/* Decimal digits alone, at most 18 of them. */
static bool read_number(struct bytes s, uint64_t *out)
{
    uint64_t n = 0;

    if (s.len == 0 || s.len > 18)
        return false;
    for (size_t i = 0; i < s.len; i++) {
        if (s.at[i] < '0' || s.at[i] > '9')
            return false;
        n = n * 10 + (uint64_t)(s.at[i] - '0');
    }
    *out = n;
    return true;
}

static enum status read_record(struct warc_reader *r, struct warc_found *found)
{
    struct bytes all = buf_bytes(&r->first);
    const char *end =
        all.len == 0
            ? NULL
            : memmem(all.at,
                     all.len < WARC_HEAD_MOST ? all.len : WARC_HEAD_MOST,
                     "\r\n\r\n", 4);
    size_t head;

    if (end == NULL || !bytes_starts_with(all, version))
        return STATUS_FORMAT;
    head = (size_t)(end - all.at) + 4;
    found->head = bytes_of(all.at, head);
    if (!read_number(warc_field(found->head, "Content-Length"),
                     &found->block_length) ||
        r->length != head + found->block_length + 4 ||
        memcmp(r->last, "\r\n\r\n", 4) != 0)
        return STATUS_FORMAT;
    found->block = bytes_of(all.at + head, all.len - head);
    if (found->block.len > found->block_length)
        found->block.len = (size_t)found->block_length;
    return STATUS_OK;
}

enum status warc_reader_next(struct warc_reader *r, struct warc_found *found)
{
    enum status st;

    *found = (struct warc_found){.offset = place(r)};
    st = fill(r);
    if (st == STATUS_OK)
        st = inflate_member(r);
    if (st != STATUS_OK)
        return st;
    found->length = place(r) - found->offset;
    return read_record(r, found);
}

struct bytes warc_field(struct bytes head, const char *name)
{
    struct bytes want = bytes_of_str(name);
    bool first = true;

    while (head.len > 0) {
        const char *end = memchr(head.at, '\n', head.len);
        size_t len = end != NULL ? (size_t)(end - head.at) : head.len;
        const char *colon = memchr(head.at, ':', len);
        size_t passed = end != NULL ? len + 1 : len;

        if (!first && colon != NULL &&
            bytes_equal_nocase(bytes_of(head.at, (size_t)(colon - head.at)),
                               want))
            return bytes_trim(
                bytes_of(colon + 1, len - (size_t)(colon - head.at) - 1));
        first = false;
        head = bytes_of(head.at + passed, head.len - passed);
    }
    return bytes_of("", 0);
}

/* ---- the whole records of a crawl's warc file, even after damage ---- */

#define WINDOW_SIZE ((size_t)64 << 10)
#define TRIALS_MOST 4096u
#define ID_MOST     ((size_t)256)

/* RFC 1952 section 2.3.1: every member begins with these two octets and 8 for
 * deflate; ours have no flags and no time. */
static const unsigned char member[8] = {0x1f, 0x8b, 8};

struct warc_walk {
    int fd;
    struct warc_reader *records;
    uint64_t end; /* of the last whole record */
    unsigned trials;
    struct buf info_id; /* of the file's warcinfo record; empty: not known */
    unsigned char window[WINDOW_SIZE];
};

struct warc_walk *warc_walk_new(int fd)
{
    struct warc_walk *w = xcalloc(1, sizeof *w);

    w->fd = fd;
    w->records = warc_reader_new(fd);
    buf_init(&w->info_id, ID_MOST);
    return w;
}

void warc_walk_free(struct warc_walk *w)
{
    if (w == NULL)
        return;
    warc_reader_free(w->records);
    buf_fini(&w->info_id);
    free(w);
}

static struct bytes info_id_of(const struct warc_found *found)
{
    bool info = bytes_equal(warc_field(found->head, "WARC-Type"),
                            bytes_of_str("warcinfo"));

    return warc_field(found->head,
                      info ? "WARC-Record-ID" : "WARC-Warcinfo-ID");
}

static void take_record(struct warc_walk *w, const struct warc_found *found)
{
    w->end = found->offset + found->length;
    if (w->info_id.len == 0)
        buf_add_bytes(&w->info_id, info_id_of(found));
}

static bool is_of_this_file(const struct warc_walk *w,
                            const struct warc_found *found)
{
    struct bytes id = info_id_of(found);

    return id.len > 0 &&
           (w->info_id.len == 0 || bytes_equal(id, buf_bytes(&w->info_id)));
}

/* Searches from *at for something that looks like a member. STATUS_NOT_FOUND:
 * the file ends at *at. */
static enum status find_member(struct warc_walk *w, uint64_t *at)
{
    for (;;) {
        ssize_t n = pread(w->fd, w->window, sizeof w->window, (off_t)*at);
        const unsigned char *hit;

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return status_of_errno(errno);
        hit = memmem(w->window, (size_t)n, member, sizeof member);
        if (hit != NULL) {
            *at += (uint64_t)(hit - w->window);
            return STATUS_OK;
        }
        if (n < (ssize_t)sizeof member) {
            *at += (uint64_t)n;
            return STATUS_NOT_FOUND;
        }
        /* A member may begin in the last octets of the window. */
        *at += (uint64_t)n - (sizeof member - 1);
    }
}

static enum status find_end(const struct warc_walk *w, uint64_t *at)
{
    struct stat s;

    if (fstat(w->fd, &s) != 0)
        return status_of_errno(errno);
    *at = (uint64_t)s.st_size;
    return STATUS_NOT_FOUND;
}

/* Finds the next whole record of this file after w->end, where none begins. */
static enum status find_record(struct warc_walk *w, struct warc_found *found)
{
    uint64_t at = w->end;
    enum status st;

    for (;;) {
        at++;
        st = w->trials < TRIALS_MOST ? find_member(w, &at) : find_end(w, &at);
        if (st != STATUS_OK) {
            found->offset = at;
            return st;
        }
        w->trials++;
        warc_reader_seek(w->records, at);
        st = warc_reader_next(w->records, found);
        if (st == STATUS_OK && is_of_this_file(w, found))
            return STATUS_OK;
        if (st != STATUS_OK && st != STATUS_FORMAT)
            return st;
    }
}

enum status warc_walk_next(struct warc_walk *w, struct warc_found *found,
                           uint64_t *end)
{
    enum status st = warc_reader_next(w->records, found);

    *end = w->end;
    if (st == STATUS_FORMAT)
        st = find_record(w, found);
    if (st == STATUS_OK)
        take_record(w, found);
    return st;
}
