/* SPDX-License-Identifier: MIT */
/*
 * warc_walk.c - the whole records of a crawl's WARC file, even after damage.
 */
#include "storage/warc/warc_walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"

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
