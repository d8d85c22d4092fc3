/* SPDX-License-Identifier: MIT */
/*
 * verify_warc.c - are the WARC files of a crawl whole, and do its rows agree?
 *
 * Rows come in the same order as their records, so one walk through a file
 * meets both. A row that is out of order is looked up by itself.
 */
#include "cli/verify/verify_warc.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "storage/warc/warc.h"
#include "storage/warc/warc_walk.h"

#define NAME_SIZE sizeof((struct warc_verdict){0}.damaged_file)

/* A file that was in DIR/warc when the check began. */
struct warc_file {
    char *name; /* as rows name it */
    bool finished, read;
};

struct check {
    const char *dir;
    struct warc_verdict *out;
    struct warc_file *files; /* sorted by name */
    size_t file_count;
    /* the file that is open */
    struct buf name;
    int fd;                 /* -1: none */
    struct warc_file *file; /* of the walk; NULL: only rows are looked up */
    struct warc_walk *walk;
    uint64_t offset, length; /* of the current record of the walk */
    bool ended;
};

/* ---- the list of files ---- */

static int by_name(const void *a, const void *b)
{
    const struct warc_file *x = a, *y = b;

    return strcmp(x->name, y->name);
}

/* Skips names that are too long for a row. */
static void add_file(struct check *c, const char *name)
{
    struct bytes s = bytes_of_str(name);
    bool finished = bytes_ends_with(s, ".warc.gz");
    char text[NAME_SIZE];

    if (!finished && !bytes_ends_with(s, ".warc.gz.open"))
        return;
    c->out->open += !finished;
    s.len -= finished ? 0 : strlen(".open");
    if (snprintf(text, sizeof text, "warc/%.*s", (int)s.len, s.at) >=
        (int)sizeof text)
        return;
    c->files = xrealloc(c->files, (c->file_count + 1) * sizeof *c->files);
    c->files[c->file_count++] =
        (struct warc_file){.name = xstrdup(text), .finished = finished};
}

static enum status list_files(struct check *c, const struct reader *r)
{
    char *path = reader_path(r, "warc");
    DIR *d = opendir(path);
    enum status st = STATUS_OK;
    struct dirent *e;

    if (d == NULL && errno != ENOENT)
        st = status_of_errno(errno);
    while (d != NULL && (e = readdir(d)) != NULL)
        add_file(c, e->d_name);
    if (d != NULL)
        closedir(d);
    free(path);
    if (c->file_count > 0)
        qsort(c->files, c->file_count, sizeof *c->files, by_name);
    return st;
}

/* ---- the walk through one of them ---- */

static void tell_damage(struct check *c, const char *name, uint64_t at)
{
    if (c->out->damaged++ > 0)
        return;
    snprintf(c->out->damaged_file, sizeof c->out->damaged_file, "%s", name);
    c->out->damaged_at = at;
}

static void step(struct check *c)
{
    struct warc_found found;
    uint64_t end;
    enum status st = warc_walk_next(c->walk, &found, &end);

    if (found.offset > end || (st != STATUS_OK && st != STATUS_NOT_FOUND))
        tell_damage(c, c->file->name, end);
    c->ended = st != STATUS_OK;
    c->offset = found.offset;
    c->length = found.length;
    c->out->records += st == STATUS_OK;
}

static void begin_walk(struct check *c, struct warc_file *file)
{
    c->file = file;
    c->file->read = true;
    c->walk = warc_walk_new(c->fd);
    c->out->files++;
    step(c);
}

static void close_file(struct check *c)
{
    while (c->file != NULL && c->file->finished && !c->ended)
        step(c);
    warc_walk_free(c->walk);
    if (c->fd >= 0)
        close(c->fd);
    c->file = NULL;
    c->walk = NULL;
    c->fd = -1;
}

static bool open_file(struct check *c, struct bytes name)
{
    struct warc_file key, *file = NULL;

    if (c->fd >= 0 && bytes_equal(name, buf_bytes(&c->name)))
        return true;
    close_file(c);
    c->fd = warc_open_named(c->dir, name);
    if (c->fd < 0)
        return false;
    buf_clear(&c->name);
    buf_add_bytes(&c->name, name);
    key.name = (char *)buf_str(&c->name);
    if (c->file_count > 0)
        file = bsearch(&key, c->files, c->file_count, sizeof key, by_name);
    if (file != NULL && !file->read)
        begin_walk(c, file);
    return true;
}

/* Reads all finished files that no row named. */
static void read_others(struct check *c)
{
    for (size_t i = 0; i < c->file_count; i++) {
        struct warc_file *f = &c->files[i];

        if (f->finished && !f->read && !open_file(c, bytes_of_str(f->name)))
            tell_damage(c, f->name, 0);
    }
    close_file(c);
}

/* ---- rows ---- */

static bool look_up(const struct check *c, const struct fetch_row *row)
{
    struct warc_reader *records = warc_reader_new(c->fd);
    struct warc_found found;
    bool whole;

    warc_reader_seek(records, row->warc_offset);
    whole = warc_reader_next(records, &found) == STATUS_OK &&
            found.length == row->warc_length;
    warc_reader_free(records);
    return whole;
}

static bool is_whole(struct check *c, const struct fetch_row *row)
{
    if (!open_file(c, row->warc_file))
        return false;
    if (c->file == NULL || row->warc_offset < c->offset)
        return look_up(c, row);
    while (!c->ended && c->offset < row->warc_offset)
        step(c);
    return !c->ended && c->offset == row->warc_offset &&
           c->length == row->warc_length;
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

enum status verify_warc(struct reader *r, struct warc_verdict *out)
{
    struct check c = {.dir = r->dir, .out = out, .fd = -1};
    enum status st;

    *out = (struct warc_verdict){0};
    buf_init(&c.name, 4096);
    st = list_files(&c, r);
    if (st == STATUS_OK)
        st = page_store_each(r->pages, 0, check_row, &c);
    if (st == STATUS_OK)
        read_others(&c);
    close_file(&c);
    for (size_t i = 0; i < c.file_count; i++)
        free(c.files[i].name);
    free(c.files);
    buf_fini(&c.name);
    return st;
}
