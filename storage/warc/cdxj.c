/* SPDX-License-Identifier: MIT */
/*
 * cdxj.c - the index of WARC files.
 *
 * Finished files never change, so the index keeps its lines for the files it
 * names; only new files are read. A line goes through an external sort, and the
 * result replaces the index in one step.
 */
#include "storage/warc/cdxj.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/file/file.h"
#include "base/logger.h"
#include "base/map.h"
#include "base/mem.h"
#include "storage/db/line_sort.h"
#include "storage/warc/warc_reader.h"

#define LINE_MOST ((size_t)1 << 20)
#define PATH_ROOM 4096

/* ---- a line ---- */

static void add_char(struct buf *out, uint32_t c)
{
    if (c == '"' || c == '\\')
        buf_addf(out, "\\%c", (int)c);
    else if (c >= ' ' && c < 0x80)
        buf_add_char(out, (char)c);
    else if (c < 0x10000)
        buf_addf(out, "\\u%04x", (unsigned)c);
    else /* RFC 8259 section 7: as a pair of surrogates */
        buf_addf(out, "\\u%04x\\u%04x",
                 (unsigned)(0xd800 + ((c - 0x10000) >> 10)),
                 (unsigned)(0xdc00 + ((c - 0x10000) & 0x3ff)));
}

static uint32_t decode(const unsigned char *s, size_t n)
{
    uint32_t c = n == 1 ? s[0] : s[0] & (0xffu >> (n + 1));

    for (size_t i = 1; i < n; i++)
        c = c << 6 | (s[i] & 0x3f);
    return c;
}

/* Appends an ASCII JSON string; if `s` is not UTF-8, it is read as Latin-1. */
static void add_json(struct buf *out, struct bytes s)
{
    bool utf8 = bytes_is_utf8(s);

    buf_add_char(out, '"');
    for (size_t i = 0; i < s.len;) {
        size_t n = utf8 ? bytes_utf8_length(bytes_of(s.at + i, s.len - i)) : 1;

        add_char(out, decode((const unsigned char *)s.at + i, n));
        i += n;
    }
    buf_add_char(out, '"');
}

static void add_field(struct buf *out, const char *name, struct bytes value)
{
    if (value.len == 0)
        return;
    if (out->at[out->len - 1] != '{')
        buf_add_str(out, ", ");
    buf_addf(out, "\"%s\": ", name);
    add_json(out, value);
}

static void add_number(struct buf *out, const char *name, uint64_t n)
{
    buf_addf(out, ", \"%s\": \"%llu\"", name, (unsigned long long)n);
}

/* "2026-01-31T23:59:59.123Z" to "20260131235959"; false: it is no date. */
static bool add_timestamp(struct buf *out, struct bytes date)
{
    static const char shape[] = "dddd-dd-ddTdd:dd:dd";

    if (date.len < sizeof shape - 1)
        return false;
    for (size_t i = 0; shape[i] != '\0'; i++) {
        bool digit = ascii_is_digit(date.at[i]);

        if (shape[i] == 'd' ? !digit : date.at[i] != shape[i])
            return false;
        if (digit)
            buf_add_char(out, date.at[i]);
    }
    return true;
}

/* The head of the HTTP message that the block begins with. */
static struct bytes http_head(const struct warc_found *r)
{
    const char *end = r->block.len > 0
                          ? memmem(r->block.at, r->block.len, "\r\n\r\n", 4)
                          : NULL;

    if (end == NULL || !bytes_starts_with(r->block, "HTTP/"))
        return bytes_of("", 0);
    return bytes_of(r->block.at, (size_t)(end - r->block.at) + 2);
}

/* "text/html" of "text/html; charset=utf-8". */
static struct bytes mime_of(struct bytes type)
{
    size_t n = 0;

    while (n < type.len && strchr("; \t\r\n\f\v", type.at[n]) == NULL)
        n++;
    return bytes_of(type.at, n);
}

static struct bytes status_of(struct bytes head)
{
    const char *space = head.len > 0 ? memchr(head.at, ' ', head.len) : NULL;
    size_t at = space != NULL ? (size_t)(space - head.at) + 1 : 0, n = 0;

    if (space == NULL)
        return bytes_of("", 0);
    while (at + n < head.len && head.at[at + n] >= '0' &&
           head.at[at + n] <= '9')
        n++;
    return bytes_of(head.at + at, n);
}

bool cdxj_line(const struct cdxj_options *o, const struct warc_found *r,
               const char *filename, struct buf *out)
{
    struct bytes type = warc_field(r->head, "WARC-Type");
    struct bytes uri = warc_field(r->head, "WARC-Target-URI");
    struct bytes http = http_head(r);
    bool revisit = bytes_is(type, "revisit");

    if ((!revisit && !bytes_is(type, "response")) || uri.len == 0 ||
        !o->key_of(o->ctx, uri, out))
        return false;
    buf_add_char(out, ' ');
    if (!add_timestamp(out, warc_field(r->head, "WARC-Date")))
        return false;
    buf_add_str(out, " {");
    add_field(out, "url", uri);
    add_field(out, "mime",
              revisit ? bytes_of_str("warc/revisit")
                      : mime_of(warc_field(http, "Content-Type")));
    add_field(out, "status", status_of(http));
    add_field(out, "digest", warc_field(r->head, "WARC-Payload-Digest"));
    add_number(out, "length", r->length);
    add_number(out, "offset", r->offset);
    add_field(out, "filename", bytes_of_str(filename));
    buf_add_char(out, '}');
    return buf_failed(out) == STATUS_OK;
}

/* ---- files ---- */

static enum status index_file(const struct cdxj_options *o, const char *path,
                              const char *name, struct line_sort *sort)
{
    struct warc_walk *records;
    struct warc_found found;
    struct buf line;
    enum status st = STATUS_OK, read = STATUS_OK;
    uint64_t end;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0) {
        log_error("cannot read WARC file", "path=%s", path);
        return status_of_errno(errno);
    }
    buf_init(&line, LINE_MOST);
    records = warc_walk_new(fd);
    while (st == STATUS_OK && read == STATUS_OK) {
        read = warc_walk_next(records, &found, &end);
        if (found.offset > end)
            log_warn("a WARC file is damaged, what is lost is not indexed",
                     "path=%s offset=%" PRIu64 " octets=%" PRIu64, path, end,
                     found.offset - end);
        buf_clear(&line);
        if (read == STATUS_OK && cdxj_line(o, &found, name, &line))
            st = line_sort_add(sort, buf_bytes(&line));
    }
    if (st == STATUS_OK && read != STATUS_NOT_FOUND)
        st = read;
    warc_walk_free(records);
    buf_fini(&line);
    close(fd);
    return st;
}

/* The names of the files in the index, as keys of a map. */
static struct map *indexed_files(const char *index)
{
    static const char before[] = "\"filename\": \"";
    struct map *known = map_new();
    FILE *f = fopen(index, "re");
    char *line = NULL;
    size_t room = 0;

    while (f != NULL && getline(&line, &room, f) > 0) {
        char *at = strstr(line, before), *next = at;

        while (next != NULL && (next = strstr(next + 1, before)) != NULL)
            at = next; /* a URL cannot contain this; make sure anyway */
        if (at == NULL)
            continue;
        at += sizeof before - 1;
        map_put(known, bytes_of(at, strcspn(at, "\"")), known);
    }
    if (f != NULL)
        fclose(f);
    free(line);
    return known;
}

/* *found: there was a file that the index did not know. */
static enum status index_new(const struct cdxj_options *o, const char *dir,
                             const struct map *known, struct line_sort *sort,
                             bool *found)
{
    DIR *d = opendir(dir);
    enum status st = STATUS_OK;
    struct dirent *e;

    if (d == NULL) {
        log_error("cannot read directory", "path=%s", dir);
        return status_of_errno(errno);
    }
    while (st == STATUS_OK && (e = readdir(d)) != NULL) {
        char path[PATH_ROOM];

        if (!bytes_ends_with(bytes_of_str(e->d_name), ".warc.gz") ||
            map_get(known, bytes_of_str(e->d_name)) != NULL)
            continue;
        *found = true;
        if (snprintf(path, sizeof path, "%s/%s", dir, e->d_name) >= PATH_ROOM)
            st = STATUS_LIMIT;
        else
            st = index_file(o, path, e->d_name, sort);
    }
    closedir(d);
    return st;
}

static enum status write_line(void *ctx, struct bytes line)
{
    return file_writer_write(ctx, line.at, line.len);
}

static enum status write_index(struct line_sort *sort, const char *index)
{
    struct file_writer *w = NULL;
    enum status st = file_writer_open_private(&w, index);

    if (st == STATUS_OK)
        st = line_sort_each(sort, write_line, w);
    if (st == STATUS_OK)
        st = file_writer_commit(w);
    file_writer_close(w);
    return st;
}

enum status cdxj_update(const struct cdxj_options *o)
{
    char dir[PATH_ROOM - 32], index[PATH_ROOM];
    struct line_sort *sort;
    struct map *known;
    enum status st;
    bool found = false;

    if (snprintf(dir, sizeof dir, "%s/warc", o->dir) >= (int)sizeof dir)
        return STATUS_LIMIT;
    snprintf(index, sizeof index, "%s/index.cdxj", dir);
    sort = line_sort_new(dir, o->memory);
    known = indexed_files(index);
    st = index_new(o, dir, known, sort, &found);
    if (st == STATUS_OK && found) {
        st = line_sort_add_sorted(sort, index);
        if (st == STATUS_OK)
            st = write_index(sort, index);
    }
    map_free(known, NULL);
    line_sort_free(sort);
    return st;
}
