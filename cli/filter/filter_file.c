/* SPDX-License-Identifier: MIT */
/*
 * filter_file.c - a filter in a file, and keys from a stream, for the `filter`
 * commands.
 *
 * The lock is flock(2) on the file itself. The previous holder may have put a
 * new file in its place, so after waiting we check that the path still leads to
 * the locked file. fcntl(2) is not usable: its locks end when any descriptor of
 * the file is closed, and loading opens another.
 */
#include "cli/filter/filter_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file/line_input.h"
#include "base/mem.h"
#include "cli/command.h"
#include "filter/checkpoint.h"
#include "frontier/url/url.h"

bool filter_file_new(struct filter_file *f, const char *command,
                     const char *path, const struct filter_options *o,
                     const char *seed, int *code)
{
    enum status st;

    *f = (struct filter_file){.command = command, .path = path, .lock = -1};
    seeded_id(&f->info.id, &f->key, seed);
    f->info.id.keys = CHECKPOINT_KEYS_URLS; /* it has no other ones yet */
    st = filter_new(&f->filter, o);
    if (st == STATUS_OK)
        return true;
    fprintf(stderr,
            "urlweir %s: there is no filter of that size and rate: "
            "%s\n",
            command, status_text(st));
    *code = st == STATUS_ARG ? EXIT_USAGE : EXIT_CANNOT;
    return false;
}

static bool same_file(int fd, const char *path)
{
    struct stat a, b;

    return fstat(fd, &a) == 0 && stat(path, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

static int lock_file(const char *path)
{
    for (;;) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);

        if (fd < 0)
            return -1;
        while (flock(fd, LOCK_EX) != 0 && errno == EINTR)
            ;
        if (same_file(fd, path))
            return fd;
        close(fd);
    }
}

static int refused(const struct filter_file *f, enum status st)
{
    fprintf(stderr, "urlweir %s: %s: %s\n", f->command, f->path,
            st == STATUS_NOT_FOUND ? "no such file"
            : st == STATUS_FORMAT  ? "not a filter file"
            : st == STATUS_REFUSED
                ? "this filter belongs to a crawl, and its keys depend on that "
                  "crawl's secret"
            : st == STATUS_VERSION ? "written by a newer release"
            : st == STATUS_DAMAGED ? "damaged beyond use; make it again"
                                   : status_text(st));
    return st == STATUS_DAMAGED ? EXIT_DAMAGED : EXIT_CANNOT;
}

bool filter_file_open(struct filter_file *f, const char *command,
                      const char *path, bool change, int *code)
{
    enum status st;

    *f = (struct filter_file){.command = command, .path = path, .lock = -1};
    if (change)
        f->lock = lock_file(path); /* if it fails, reading reports why */
    st = seeded_load(&f->filter, path, 0, &f->info, &f->key);
    if (st == STATUS_OK)
        st = filter_age(f->filter, clock_wall_ms() / 1000);
    if (st == STATUS_OK)
        return true;
    *code = refused(f, st);
    filter_file_close(f);
    return false;
}

int filter_file_save(struct filter_file *f)
{
    enum status st = checkpoint_save(f->path, f->filter, &f->info.id);

    if (st == STATUS_OK)
        return EXIT_DONE;
    fprintf(stderr, "urlweir %s: cannot write %s: %s\n", f->command, f->path,
            status_text(st));
    return EXIT_CANNOT;
}

int filter_file_verdict(const struct filter_file *f)
{
    struct filter_stats s;

    filter_stats(f->filter, &s);
    if (s.lost == 0)
        return EXIT_DONE;
    fprintf(stderr,
            "urlweir %s: %s: damaged parts answer `maybe` to every key; make "
            "the filter anew from its keys\n",
            f->command, f->path);
    return EXIT_DAMAGED;
}

void filter_file_close(struct filter_file *f)
{
    filter_free(f->filter);
    f->filter = NULL;
    if (f->lock >= 0)
        close(f->lock);
    f->lock = -1;
}

/* ---- keys from a stream, in batches ---- */

#define READ_SIZE ((size_t)256 << 10)
/* Canonical forms of a batch: it is handed over at 1 MiB, and one more URL has
 * three times the length of its line at most. */
#define FORMS_FULL ((size_t)1 << 20)
#define FORMS_MOST (FORMS_FULL + 4 * LINE_MOST)

struct stream {
    const struct filter_keys_form *form;
    bool nameless; /* a line had no tab */
    const struct digest_key *k;
    void (*visit)(void *ctx, const struct filter_keys *keys);
    void *ctx;
    struct bytes text[FILTER_KEY_BATCH];
    uint64_t key[FILTER_KEY_BATCH];
    size_t n;
    /* of a list of URLs */
    struct bytes given[FILTER_KEY_BATCH]; /* the lines */
    struct buf forms;                     /* their canonical forms, ... */
    size_t form_end[FILTER_KEY_BATCH];    /* one behind the other */
    struct url url;
    uint64_t line; /* its number */
    struct filter_keys_report *report;
};

static void keys_hand_over(struct stream *s)
{
    const bool urls = s->form->urls;
    struct filter_keys keys = {s->text, urls ? s->given : s->text, s->key,
                               s->n};

    for (size_t i = 0, at = 0; urls && i < s->n; at = s->form_end[i++])
        s->text[i] = bytes_of(s->forms.at + at, s->form_end[i] - at);

    if (s->n > 0)
        s->visit(s->ctx, &keys);
    s->n = 0;
    buf_clear(&s->forms);
}

static uint64_t named_key(const struct stream *s, struct bytes text)
{
    struct bytes name = s->form->name != NULL ? bytes_of_str(s->form->name)
                                              : bytes_of(text.at, 0);

    if (s->form->named) {
        name.len = (size_t)((char *)memchr(text.at, '\t', text.len) - text.at);
        text = bytes_skip(text, name.len + 1);
    }
    return seeded_named_key(s->k, name, text);
}

static uint64_t digest_of(const struct stream *s, struct bytes text)
{
    return s->form->named || s->form->name != NULL
               ? named_key(s, text)
               : digest_bytes(s->k, text).hi;
}

static void take_key(struct stream *s, struct bytes text)
{
    if (s->form->named &&
        (text.len == 0 || memchr(text.at, '\t', text.len) == NULL)) {
        s->nameless = true;
        return;
    }
    s->text[s->n] = text;
    s->key[s->n++] = digest_of(s, text);
    if (s->n == FILTER_KEY_BATCH)
        keys_hand_over(s);
}

/* Finds the key at the start of `in`; *whole includes the octets around it.
 * False: the key is not complete. */
static bool find_key(struct bytes in, bool binary, struct bytes *key,
                     size_t *whole)
{
    if (binary) {
        size_t len = 0;

        if (in.len < 4)
            return false;
        for (int i = 3; i >= 0; i--)
            len = len << 8 | (unsigned char)in.at[i];
        *whole = len + 4;
        *key = bytes_of(in.at + 4, len);
        return in.len - 4 >= len;
    }
    const char *lf = in.len > 0 ? memchr(in.at, '\n', in.len) : NULL;

    if (lf == NULL)
        return false;
    *key = bytes_of(in.at, (size_t)(lf - in.at));
    *whole = key->len + 1;
    return true;
}

/* Takes all whole keys of the buffer; returns the octets used. */
static size_t take_keys(struct stream *s, struct bytes in)
{
    struct bytes key;
    size_t whole, used = 0;

    while (!s->nameless && find_key(bytes_of(in.at + used, in.len - used),
                                    s->form->binary, &key, &whole)) {
        take_key(s, key);
        used += whole;
    }
    keys_hand_over(s);
    return used;
}

static void drop_front(struct buf *b, size_t n)
{
    memmove(b->at, b->at + n, b->len - n);
    buf_truncate(b, b->len - n);
}

/* Takes the rest at the end of the stream: a last line without LF. */
static enum status take_rest(struct stream *s, const struct buf *b)
{
    if (b->len == 0)
        return STATUS_OK;
    if (s->form->binary)
        return STATUS_FORMAT;
    take_key(s, buf_bytes(b));
    keys_hand_over(s);
    return s->nameless ? STATUS_ARG : STATUS_OK;
}

static enum status read_keys(struct stream *s)
{
    enum status st = STATUS_OK;
    struct buf b;

    buf_init(&b, FILTER_KEY_CEILING + READ_SIZE);
    for (;;) {
        char *room = buf_room(&b, READ_SIZE);
        ssize_t n = room != NULL ? read(STDIN_FILENO, room, READ_SIZE) : 0;

        if (room == NULL) {
            st = STATUS_LIMIT;
            break;
        }
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            st = STATUS_IO;
        if (n <= 0)
            break;
        buf_grew(&b, (size_t)n);
        drop_front(&b, take_keys(s, buf_bytes(&b)));
        if (s->nameless) {
            st = STATUS_ARG;
            break;
        }
    }
    if (st == STATUS_OK)
        st = take_rest(s, &b);
    buf_fini(&b);
    return st;
}

/* ---- lists of URLs ---- */

static void keys_take_url(struct stream *s, struct bytes line, bool too_long)
{
    struct bytes entry = line_entry(line);
    enum url_reason r = URL_LENGTH;

    s->line++;
    if (entry.len == 0 && !too_long)
        return;
    if (!too_long)
        r = url_canonical(&s->url, entry, NULL, NULL);
    if (r != URL_OK) {
        if (s->report->refused++ == 0) {
            s->report->first = s->line;
            s->report->why = url_reason_text(r);
        }
        return;
    }
    buf_add_bytes(&s->forms, url_text(&s->url));
    s->form_end[s->n] = s->forms.len;
    s->given[s->n] = line;
    s->key[s->n++] = digest_of(s, url_text(&s->url));
    if (s->n == FILTER_KEY_BATCH || s->forms.len >= FORMS_FULL)
        keys_hand_over(s);
}

/* By batches of lines and not by line_input_each(), so that a program that
 * writes a line gets its answer. */
static enum status read_urls(struct stream *s)
{
    struct line_input *in = line_input_new(NULL, 0);
    struct line_batch *b = xmalloc(sizeof *b);
    enum status st;

    line_batch_init(b);
    while ((st = line_input_fill(in, b)) == STATUS_OK) {
        for (size_t i = 0; i < b->count; i++) {
            const struct line *l = &b->lines[i];

            if (l->kind != LINE_LONG_MORE)
                keys_take_url(s, bytes_of(b->text + l->at, l->len),
                              l->kind == LINE_LONG_START);
        }
        keys_hand_over(s);
    }
    snprintf(s->report->error, sizeof s->report->error, "%s",
             line_input_error(in));
    line_batch_fini(b);
    free(b);
    line_input_free(in);
    return st == STATUS_CLOSED ? STATUS_OK : st;
}

enum status filter_keys_each(const struct filter_keys_form *form,
                             const struct digest_key *k,
                             void (*visit)(void *ctx,
                                           const struct filter_keys *keys),
                             void *ctx, struct filter_keys_report *report)
{
    struct stream *s = xcalloc(1, sizeof *s);
    enum status st;

    *report = (struct filter_keys_report){.refused = 0};
    s->form = form;
    s->k = k;
    s->visit = visit;
    s->ctx = ctx;
    s->report = report;
    buf_init(&s->forms, FORMS_MOST);
    url_init(&s->url);
    st = form->urls ? read_urls(s) : read_keys(s);
    url_fini(&s->url);
    buf_fini(&s->forms);
    free(s);
    return st;
}
