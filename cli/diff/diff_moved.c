/* SPDX-License-Identifier: MIT */
/*
 * diff_moved.c - of the pages that are gone and new, those that have moved.
 *
 * Rows go through sorts, each by another key, and leave where they are settled:
 *
 *   redirects   by the old URL: a page that redirects now, then the targets of
 *               its redirects that are pages. Both: it has moved.
 *   found       by URL: the targets of such moves, then new pages. Both: the
 *               page is not new.
 *   bodies      by body_print: gone pages, then new ones
 *   texts       the same by text_digest
 *   out         by URL
 *
 * A line is key, TAB, tag, TAB, and a row or URL; the tag puts those that are
 * waited for first.
 */
#include "cli/diff/diff_moved.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "crawler/html/text_digest.h"
#include "frontier/outcome.h"

#define SORTS     5
#define GONE_MOST ((size_t)8 << 20) /* octets of gone pages with one body */

struct diff_moved {
    struct line_sort *redirects, *found, *bodies, *texts, *out;
    struct buf line, text, other_text; /* a line written; rows read */
    struct digest empty_text;

    /* the pass that runs */
    struct buf key, held; /* that of the latest lines; rows that wait */
    size_t taken;         /* octets of `held` that no longer wait */
    bool matched;
    enum diff_by by;
    enum status (*pass_on)(struct diff_moved *m, const struct diff_row *row);
    struct diff_counts *counts;
    enum status (*visit)(void *ctx, const struct diff_row *row);
    void *ctx;
};

struct diff_moved *diff_moved_new(const char *dir, size_t memory)
{
    struct diff_moved *m = xcalloc(1, sizeof *m);
    struct line_sort **all[SORTS] = {&m->redirects, &m->found, &m->bodies,
                                     &m->texts, &m->out};
    struct text_digest none;

    for (size_t i = 0; i < SORTS; i++)
        *all[i] = line_sort_new(dir, memory / SORTS);
    buf_init(&m->line, DIFF_LINE_MOST);
    buf_init(&m->text, DIFF_LINE_MOST);
    buf_init(&m->other_text, DIFF_LINE_MOST);
    buf_init(&m->key, DIFF_LINE_MOST);
    buf_init(&m->held, DIFF_LINE_MOST + GONE_MOST);
    text_digest_begin(&none, true);
    m->empty_text = text_digest_end(&none);
    return m;
}

void diff_moved_free(struct diff_moved *m)
{
    if (m == NULL)
        return;
    line_sort_free(m->redirects);
    line_sort_free(m->found);
    line_sort_free(m->bodies);
    line_sort_free(m->texts);
    line_sort_free(m->out);
    buf_fini(&m->line);
    buf_fini(&m->text);
    buf_fini(&m->other_text);
    buf_fini(&m->key);
    buf_fini(&m->held);
    free(m);
}

/* ---- lines ---- */

static void begin_line(struct diff_moved *m, struct bytes key, char tag)
{
    buf_clear(&m->line);
    buf_add_bytes(&m->line, key);
    buf_addf(&m->line, "\t%c\t", tag);
}

static enum status add_line(struct diff_moved *m, struct line_sort *to)
{
    enum status st = buf_failed(&m->line);

    return st == STATUS_OK ? line_sort_add(to, buf_bytes(&m->line)) : st;
}

static enum status add_row(struct diff_moved *m, struct line_sort *to,
                           struct bytes key, char tag,
                           const struct diff_row *row)
{
    begin_line(m, key, tag);
    diff_row_put(&m->line, row);
    return add_line(m, to);
}

static enum status settle(struct diff_moved *m, const struct diff_row *row)
{
    return add_row(m, m->out, row->url, '0', row);
}

/* Takes a line apart. True: its key is another one than before; the caller
 * settles what waits, then calls set_key. */
static bool take_apart(const struct diff_moved *m, struct bytes line,
                       struct bytes *key, char *tag, struct bytes *rest)
{
    *rest = bytes_of(line.at, line.len - 1); /* the LF */
    *key = diff_field(rest);
    *tag = rest->len > 0 ? rest->at[0] : '0';
    (void)diff_field(rest);
    return !bytes_equal(*key, buf_bytes(&m->key));
}

static void set_key(struct diff_moved *m, struct bytes key)
{
    buf_clear(&m->key);
    buf_add_bytes(&m->key, key);
    buf_clear(&m->held);
    m->taken = 0;
    m->matched = false;
}

/* ---- the same content under another URL ---- */

static const struct fetch_row *content(const struct diff_row *row)
{
    return row->kind == DIFF_GONE ? &row->before : &row->after;
}

static enum status wait_for_text(struct diff_moved *m,
                                 const struct diff_row *row)
{
    const struct fetch_row *page = content(row);
    struct digest text = page->text_digest;
    char key[40];

    if (page->status != OUTCOME_FETCHED || (text.hi | text.lo) == 0 ||
        digest_equal(text, m->empty_text))
        return settle(m, row);
    snprintf(key, sizeof key, "%016llx%016llx%d", (unsigned long long)text.hi,
             (unsigned long long)text.lo,
             (page->flags & FETCH_ROW_NO_NUMBERS) != 0);
    return add_row(m, m->texts, bytes_of_str(key),
                   row->kind == DIFF_GONE ? '0' : '1', row);
}

static enum status wait_for_body(struct diff_moved *m,
                                 const struct diff_row *row)
{
    const struct fetch_row *page = content(row);
    char key[20];

    if (page->status != OUTCOME_FETCHED || page->body_print == 0)
        return wait_for_text(m, row);
    snprintf(key, sizeof key, "%016llx", (unsigned long long)page->body_print);
    return add_row(m, m->bodies, bytes_of_str(key),
                   row->kind == DIFF_GONE ? '0' : '1', row);
}

/* The next row that waits; it has an LF at its end. */
static bool next_held(struct diff_moved *m, struct bytes *line)
{
    struct bytes all = buf_bytes(&m->held);
    const char *at = all.at + m->taken, *end;

    if (m->taken == all.len)
        return false;
    end = memchr(at, '\n', all.len - m->taken);
    *line = bytes_of(at, (size_t)(end - at));
    m->taken += line->len + 1;
    return true;
}

static enum status end_content(struct diff_moved *m)
{
    struct bytes line;
    struct diff_row row;
    enum status st = STATUS_OK;

    while (st == STATUS_OK && next_held(m, &line)) {
        st = diff_row_get(&row, line, &m->text);
        if (st == STATUS_OK)
            st = m->pass_on(m, &row);
    }
    return st;
}

static enum status pair(struct diff_moved *m, struct bytes gone,
                        const struct diff_row *found)
{
    struct diff_row row;
    enum status st = diff_row_get(&row, gone, &m->other_text);

    row.kind = DIFF_MOVED;
    row.by = m->by;
    row.to = found->url;
    row.has_after = true;
    row.after = found->after;
    return st == STATUS_OK ? settle(m, &row) : st;
}

static enum status take_content(void *ctx, struct bytes line)
{
    struct diff_moved *m = ctx;
    struct bytes key, rest, gone;
    struct diff_row row;
    enum status st = STATUS_OK;
    char tag;

    if (take_apart(m, line, &key, &tag, &rest)) {
        st = end_content(m);
        set_key(m, key);
    }
    if (st == STATUS_OK && tag == '0' && m->held.len + rest.len < GONE_MOST) {
        buf_add_bytes(&m->held, rest);
        buf_add_char(&m->held, '\n');
        return buf_failed(&m->held);
    }
    if (st == STATUS_OK)
        st = diff_row_get(&row, rest, &m->text);
    if (st != STATUS_OK)
        return st;
    if (tag == '1' && next_held(m, &gone))
        return pair(m, gone, &row);
    return m->pass_on(m, &row);
}

static enum status pair_all(struct diff_moved *m, struct line_sort *s,
                            enum diff_by by,
                            enum status (*pass_on)(struct diff_moved *m,
                                                   const struct diff_row *row))
{
    enum status st;

    m->by = by;
    m->pass_on = pass_on;
    set_key(m, bytes_of("", 0));
    st = line_sort_each(s, take_content, m);
    return st == STATUS_OK ? end_content(m) : st;
}

/* ---- redirects ---- */

enum status diff_moved_redirect(struct diff_moved *m, struct bytes from,
                                struct bytes to)
{
    begin_line(m, from, '1');
    buf_add_bytes(&m->line, to);
    return add_line(m, m->redirects);
}

static enum status end_redirect(struct diff_moved *m)
{
    struct bytes line;
    struct diff_row row;
    enum status st;

    m->taken = 0;
    if (!next_held(m, &line))
        return STATUS_OK;
    st = diff_row_get(&row, line, &m->text);
    if (st != STATUS_OK || !m->matched)
        return st == STATUS_OK ? settle(m, &row) : st;
    row.kind = DIFF_MOVED;
    row.by = DIFF_BY_REDIRECT;
    row.to = row.after.redirect_url;
    begin_line(m, row.to, '0');
    st = add_line(m, m->found);
    return st == STATUS_OK ? settle(m, &row) : st;
}

static enum status take_redirect(void *ctx, struct bytes line)
{
    struct diff_moved *m = ctx;
    struct bytes key, rest;
    struct diff_row row;
    enum status st = STATUS_OK;
    char tag;

    if (take_apart(m, line, &key, &tag, &rest)) {
        st = end_redirect(m);
        set_key(m, key);
    }
    if (st == STATUS_OK && tag == '0') {
        buf_add_bytes(&m->held, rest);
        buf_add_char(&m->held, '\n');
        return buf_failed(&m->held);
    }
    if (st != STATUS_OK || m->held.len == 0)
        return st;
    st = diff_row_get(&row, bytes_of(m->held.at, m->held.len - 1), &m->text);
    m->matched |= st == STATUS_OK && bytes_equal(row.after.redirect_url, rest);
    return st;
}

/* ---- new pages ---- */

static enum status take_found(void *ctx, struct bytes line)
{
    struct diff_moved *m = ctx;
    struct bytes key, rest;
    struct diff_row row;
    enum status st;
    char tag;

    if (take_apart(m, line, &key, &tag, &rest))
        set_key(m, key);
    if (tag == '0')
        m->matched = true;
    if (tag == '0' || m->matched)
        return STATUS_OK;
    st = diff_row_get(&row, rest, &m->text);
    return st == STATUS_OK ? wait_for_body(m, &row) : st;
}

enum status diff_moved_add(struct diff_moved *m, const struct diff_row *row)
{
    bool redirects = row->kind == DIFF_CHANGED &&
                     row->before.status == OUTCOME_FETCHED &&
                     row->after.status == OUTCOME_REDIRECT;

    if (redirects)
        return add_row(m, m->redirects, row->url, '0', row);
    if (row->kind == DIFF_NEW)
        return add_row(m, m->found, row->url, '1', row);
    return row->kind == DIFF_GONE ? wait_for_body(m, row) : settle(m, row);
}

/* ---- all of them ---- */

static enum status show(void *ctx, struct bytes line)
{
    struct diff_moved *m = ctx;
    struct bytes key, rest;
    struct diff_row row;
    enum status st;
    char tag;

    (void)take_apart(m, line, &key, &tag, &rest);
    st = diff_row_get(&row, rest, &m->text);
    if (st != STATUS_OK)
        return st;
    m->counts->kinds[row.kind]++;
    for (unsigned i = 0; i < DIFF_WHATS && row.kind == DIFF_CHANGED; i++)
        m->counts->whats[i] += row.what >> i & 1;
    return m->visit(m->ctx, &row);
}

enum status diff_moved_each(struct diff_moved *m, struct diff_counts *counts,
                            enum status (*visit)(void *ctx,
                                                 const struct diff_row *row),
                            void *ctx)
{
    enum status st;

    m->counts = counts;
    m->visit = visit;
    m->ctx = ctx;
    set_key(m, bytes_of("", 0));
    st = line_sort_each(m->redirects, take_redirect, m);
    if (st == STATUS_OK)
        st = end_redirect(m);
    set_key(m, bytes_of("", 0));
    if (st == STATUS_OK)
        st = line_sort_each(m->found, take_found, m);
    if (st == STATUS_OK)
        st = pair_all(m, m->bodies, DIFF_BY_BODY, wait_for_text);
    if (st == STATUS_OK)
        st = pair_all(m, m->texts, DIFF_BY_TEXT, settle);
    return st == STATUS_OK ? line_sort_each(m->out, show, m) : st;
}
