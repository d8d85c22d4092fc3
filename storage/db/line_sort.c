/* SPDX-License-Identifier: MIT */
/*
 * line_sort.c - sorts more lines than fit into memory.
 *
 * There are few runs (one per `memory` bytes), so a linear search finds the
 * least of their heads.
 */
#include "storage/db/line_sort.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/logger.h"
#include "base/mem.h"

/* A sorted file; `head` is its next line, with its LF. */
struct run {
    FILE *f;
    char *head;
    size_t room;
    ssize_t length; /* below 0: end of file */
};

struct line_sort {
    char *dir;
    size_t memory;
    struct buf text;     /* lines, each with its LF */
    struct bytes *lines; /* into `text`, once it no longer grows */
    size_t count, room;
    struct run *runs;
    size_t run_count;
};

struct line_sort *line_sort_new(const char *dir, size_t memory)
{
    struct line_sort *s = xcalloc(1, sizeof *s);

    s->dir = xstrdup(dir);
    s->memory = memory;
    buf_init(&s->text, SIZE_MAX / 2);
    return s;
}

void line_sort_free(struct line_sort *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->run_count; i++) {
        fclose(s->runs[i].f);
        free(s->runs[i].head);
    }
    buf_fini(&s->text);
    free(s->runs);
    free(s->lines);
    free(s->dir);
    free(s);
}

static enum status complain(const struct line_sort *s, const char *event)
{
    int err = errno;

    log_error(event, "dir=%s error=\"%s\"", s->dir, strerror(err));
    return status_of_errno(err);
}

static int compare(struct bytes a, struct bytes b)
{
    int order = memcmp(a.at, b.at, a.len < b.len ? a.len : b.len);

    if (order != 0)
        return order;
    return a.len < b.len ? -1 : a.len > b.len;
}

static int compare_lines(const void *a, const void *b)
{
    return compare(*(const struct bytes *)a, *(const struct bytes *)b);
}

static void add_run(struct line_sort *s, FILE *f)
{
    s->runs = xrealloc(s->runs, (s->run_count + 1) * sizeof *s->runs);
    s->runs[s->run_count++] = (struct run){.f = f};
}

/* Makes an unnamed file, which vanishes when it is closed or the process
 * ends. */
static FILE *nameless(const char *dir)
{
    struct buf path;
    FILE *f = NULL;
    int fd;

    buf_init(&path, 4096);
    buf_addf(&path, "%s/.sort-XXXXXX", dir);
    fd = path.len > 0 ? mkstemp(path.at) : -1;
    if (fd >= 0) {
        (void)unlink(path.at);
        f = fdopen(fd, "w+");
        if (f == NULL)
            close(fd);
    }
    buf_fini(&path);
    return f;
}

/* Points s->lines into the text, which no longer moves, and sorts them. */
static void sort_lines(struct line_sort *s)
{
    struct bytes left = buf_bytes(&s->text);

    s->count = 0;
    while (left.len > 0) {
        const char *end = memchr(left.at, '\n', left.len);
        size_t len = (size_t)(end - left.at);

        if (s->count == s->room) {
            s->room = s->room > 0 ? s->room * 2 : 1024;
            s->lines = xrealloc(s->lines, s->room * sizeof *s->lines);
        }
        s->lines[s->count++] = bytes_of(left.at, len);
        left = bytes_of(end + 1, left.len - len - 1);
    }
    if (s->count > 0)
        qsort(s->lines, s->count, sizeof *s->lines, compare_lines);
}

static enum status set_aside(struct line_sort *s)
{
    FILE *f;

    if (s->text.len == 0)
        return STATUS_OK;
    f = nameless(s->dir);
    if (f == NULL)
        return complain(s, "cannot make a file to sort in");
    add_run(s, f);
    sort_lines(s);
    for (size_t i = 0; i < s->count; i++) /* includes the LF behind it */
        fwrite(s->lines[i].at, 1, s->lines[i].len + 1, f);
    buf_clear(&s->text);
    if (fflush(f) != 0 || ferror(f))
        return complain(s, "cannot write a file to sort in");
    rewind(f);
    return STATUS_OK;
}

enum status line_sort_add(struct line_sort *s, struct bytes line)
{
    buf_add_bytes(&s->text, line);
    buf_add_char(&s->text, '\n');
    if (buf_failed(&s->text) != STATUS_OK)
        return STATUS_NOMEM;
    return s->text.len >= s->memory ? set_aside(s) : STATUS_OK;
}

enum status line_sort_add_sorted(struct line_sort *s, const char *path)
{
    FILE *f = fopen(path, "re");

    if (f != NULL)
        add_run(s, f);
    else if (errno != ENOENT)
        return complain(s, "cannot read a sorted file");
    return STATUS_OK;
}

static struct bytes head_of(const struct run *r)
{
    size_t len = (size_t)r->length;

    if (len > 0 && r->head[len - 1] == '\n')
        len--;
    return bytes_of(r->head, len);
}

static enum status advance(const struct line_sort *s, struct run *r)
{
    errno = 0;
    r->length = getline(&r->head, &r->room, r->f);
    if (r->length < 0 && ferror(r->f))
        return complain(s, "cannot read a sorted file");
    return STATUS_OK;
}

/* The run whose head comes first; NULL when all runs are at their ends. */
static struct run *least(struct line_sort *s)
{
    struct run *first = NULL;

    for (size_t i = 0; i < s->run_count; i++) {
        struct run *r = &s->runs[i];

        if (r->length >= 0 &&
            (first == NULL || compare(head_of(r), head_of(first)) < 0))
            first = r;
    }
    return first;
}

enum status line_sort_each(struct line_sort *s,
                           enum status (*visit)(void *ctx, struct bytes line),
                           void *ctx)
{
    enum status st = set_aside(s);
    struct run *r;

    for (size_t i = 0; st == STATUS_OK && i < s->run_count; i++)
        st = advance(s, &s->runs[i]);
    while (st == STATUS_OK && (r = least(s)) != NULL) {
        struct bytes line = head_of(r);

        r->head[line.len] = '\n'; /* overwrites the zero byte */
        st = visit(ctx, bytes_of(line.at, line.len + 1));
        if (st == STATUS_OK)
            st = advance(s, r);
    }
    return st;
}
