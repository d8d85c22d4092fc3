/* SPDX-License-Identifier: MIT */
/*
 * verify_warc.c - does every row of a crawl point at a whole record?
 *
 * Rows follow each other in a file as their records do, so the file last
 * opened is mostly the right one.
 */
#include "cli/verify_warc.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "storage/warc.h"
#include "storage/warc_reader.h"

struct check {
    const char *dir;
    struct warc_verdict *out;
    struct buf file; /* the one that is open */
    struct warc_reader *records;
    int fd;
};

static void close_file(struct check *c)
{
    warc_reader_free(c->records);
    if (c->fd >= 0)
        close(c->fd);
    c->records = NULL;
    c->fd = -1;
}

static bool open_file(struct check *c, struct bytes file)
{
    if (c->fd >= 0 && bytes_equal(file, buf_bytes(&c->file)))
        return true;
    close_file(c);
    c->fd = warc_open_named(c->dir, file);
    if (c->fd < 0)
        return false;
    buf_clear(&c->file);
    buf_add_bytes(&c->file, file);
    c->records = warc_reader_new(c->fd);
    return true;
}

static bool is_whole(struct check *c, const struct fetch_row *row)
{
    struct warc_found found;

    if (!open_file(c, row->warc_file))
        return false;
    warc_reader_seek(c->records, row->warc_offset);
    return warc_reader_next(c->records, &found) == STATUS_OK &&
           found.length == row->warc_length;
}

static bool check_row(void *ctx, const struct fetch_row *row)
{
    struct check *c = ctx;

    if (row->warc_file.len == 0)
        return true;
    c->out->rows++;
    if (!is_whole(c, row) && c->out->bad++ == 0)
        c->out->bad_seq = row->seq;
    return true;
}

static uint64_t count_open(const struct reader *r)
{
    static const char end[] = ".warc.gz.open";
    char *path = reader_path(r, "warc");
    DIR *d = opendir(path);
    struct dirent *e;
    uint64_t n = 0;

    while (d != NULL && (e = readdir(d)) != NULL) {
        size_t len = strlen(e->d_name);

        n += len >= sizeof end - 1 &&
             strcmp(e->d_name + len - (sizeof end - 1), end) == 0;
    }
    if (d != NULL)
        closedir(d);
    free(path);
    return n;
}

enum status verify_warc(struct reader *r, struct warc_verdict *out)
{
    struct check c = {.dir = r->dir, .out = out, .fd = -1};
    enum status st;

    *out = (struct warc_verdict){.open = count_open(r)};
    buf_init(&c.file, 4096);
    st = page_store_each(r->pages, 0, check_row, &c);
    close_file(&c);
    buf_fini(&c.file);
    return st;
}
