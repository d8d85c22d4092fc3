/* SPDX-License-Identifier: MIT */
/*
 * diff_join.c - two crawls URL by URL.
 *
 * The lines of both are one sorted stream, so all lines of a URL come together:
 * first its states, then who redirects to it, then which sides know its links,
 * then its links, each as often as a side has it. What follows is
 * diff_moved.c's.
 */
#include "cli/diff/diff_join.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/mem.h"
#include "crawler/html/text_digest.h"
#include "frontier/outcome.h"
#include "frontier/url/url.h"

/*
 * Of the pages that are gone and new, those that have moved.
 *
 * Takes differences in any order, and gives all in order of their URLs. Rows
 * wait on disk. For diff_join.c; one thread.
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

struct diff_moved;

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

/* `memory`: octets, for all that is sorted at once. */
static struct diff_moved *diff_moved_new(const char *dir, size_t memory)
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

/* NULL is fine */
static void diff_moved_free(struct diff_moved *m)
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

static void moved_begin_line(struct diff_moved *m, struct bytes key, char tag)
{
    buf_clear(&m->line);
    buf_add_bytes(&m->line, key);
    buf_addf(&m->line, "\t%c\t", tag);
}

static enum status moved_add_line(struct diff_moved *m, struct line_sort *to)
{
    enum status st = buf_failed(&m->line);

    return st == STATUS_OK ? line_sort_add(to, buf_bytes(&m->line)) : st;
}

static enum status add_row(struct diff_moved *m, struct line_sort *to,
                           struct bytes key, char tag,
                           const struct diff_row *row)
{
    moved_begin_line(m, key, tag);
    diff_row_put(&m->line, row);
    return moved_add_line(m, to);
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

/* The new crawl was redirected from `from` to `to`, which is a page. */
static enum status diff_moved_redirect(struct diff_moved *m, struct bytes from,
                                       struct bytes to)
{
    moved_begin_line(m, from, '1');
    buf_add_bytes(&m->line, to);
    return moved_add_line(m, m->redirects);
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
    moved_begin_line(m, row.to, '0');
    st = moved_add_line(m, m->found);
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

static enum status diff_moved_add(struct diff_moved *m,
                                  const struct diff_row *row)
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

/* All rows, once; counts them. */
static enum status diff_moved_each(
    struct diff_moved *m, struct diff_counts *counts,
    enum status (*visit)(void *ctx, const struct diff_row *row), void *ctx)
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

/*
 * One difference between two crawls, and its form as a line.
 *
 *   state   10 numbers in hexadecimal, redirect, title: a space between two
 *   row     URL, state before, state after, target, numbers, links added, links
 *           removed: a tab between two; an absent state is empty
 *
 * Texts are escaped as in URLs: % and two digits for %, space, controls.
 */

const char *const diff_kind_names[DIFF_KINDS] = {[DIFF_NEW] = "new",
                                                 [DIFF_GONE] = "gone",
                                                 [DIFF_CHANGED] = "changed",
                                                 [DIFF_MOVED] = "moved",
                                                 [DIFF_UNFETCHED] =
                                                     "unfetched"};
const char *const diff_what_names[DIFF_WHATS] = {"status", "redirect", "title",
                                                 "body",   "text",     "links"};

const char *diff_by_name(enum diff_by by)
{
    static const char *const names[] = {NULL, "redirect", "body", "text"};

    return names[by];
}

/* ---- writing ---- */

static void put_number(struct buf *out, uint64_t n)
{
    buf_addf(out, "%llx ", (unsigned long long)n);
}

static void put_text(struct buf *out, struct bytes text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];

        if (c <= ' ' || c == '%' || c == 0x7f)
            buf_addf(out, "%%%02x", c);
        else
            buf_add_char(out, (char)c);
    }
}

void diff_state_put(struct buf *out, const struct fetch_row *s)
{
    const uint64_t numbers[] = {s->status,         s->reason,
                                s->http_status,    (uint64_t)s->at_ms,
                                s->body_bytes,     s->body_print,
                                s->text_digest.hi, s->text_digest.lo,
                                s->flags,          s->simhash};

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        put_number(out, numbers[i]);
    put_text(out, s->redirect_url);
    buf_add_char(out, ' ');
    put_text(out, s->title);
}

void diff_row_put(struct buf *out, const struct diff_row *r)
{
    buf_add_bytes(out, r->url);
    buf_add_char(out, '\t');
    if (r->has_before)
        diff_state_put(out, &r->before);
    buf_add_char(out, '\t');
    if (r->has_after)
        diff_state_put(out, &r->after);
    buf_add_char(out, '\t');
    buf_add_bytes(out, r->to);
    buf_add_char(out, '\t');
    put_number(out, r->kind);
    put_number(out, r->by);
    put_number(out, r->what);
    put_number(out, r->links_added);
    put_number(out, r->links_removed);
    buf_add_char(out, '\t');
    buf_add_bytes(out, r->added);
    buf_add_char(out, '\t');
    buf_add_bytes(out, r->removed);
}

/* ---- reading ---- */

static struct bytes until(struct bytes *line, char end)
{
    const char *at = memchr(line->at, end, line->len);
    size_t len = at != NULL ? (size_t)(at - line->at) : line->len;
    struct bytes field = bytes_of(line->at, len);
    size_t used = at != NULL ? len + 1 : len;

    *line = bytes_of(line->at + used, line->len - used);
    return field;
}

struct bytes diff_field(struct bytes *line)
{
    return until(line, '\t');
}

static uint64_t get_number(struct bytes *line)
{
    struct bytes field = until(line, ' ');
    uint64_t n = 0;

    for (size_t i = 0; i < field.len; i++) {
        int digit = ascii_hex(field.at[i]);

        n = n << 4 | (digit >= 0 ? (unsigned)digit : 0);
    }
    return n;
}

static void get_text(struct buf *out, struct bytes field)
{
    for (size_t i = 0; i < field.len; i++) {
        if (field.at[i] == '%' && i + 2 < field.len) {
            unsigned high = (unsigned)ascii_hex(field.at[i + 1]);
            unsigned low = (unsigned)ascii_hex(field.at[i + 2]);

            buf_add_char(out, (char)(high << 4 | low));
            i += 2;
        } else {
            buf_add_char(out, field.at[i]);
        }
    }
}

static enum status diff_state_get(struct fetch_row *out, struct bytes line,
                                  struct buf *text)
{
    size_t begin = text->len, middle;

    *out = (struct fetch_row){0};
    out->status = (uint8_t)get_number(&line);
    out->reason = (uint8_t)get_number(&line);
    out->http_status = (uint16_t)get_number(&line);
    out->at_ms = (int64_t)get_number(&line);
    out->body_bytes = get_number(&line);
    out->body_print = get_number(&line);
    out->text_digest.hi = get_number(&line);
    out->text_digest.lo = get_number(&line);
    out->flags = (uint8_t)get_number(&line);
    out->simhash = get_number(&line);
    get_text(text, until(&line, ' '));
    middle = text->len;
    get_text(text, line);
    if (buf_failed(text) != STATUS_OK)
        return STATUS_FORMAT;

    out->redirect_url = bytes_of(text->at + begin, middle - begin);
    out->title = bytes_of(text->at + middle, text->len - middle);
    return STATUS_OK;
}

/* `text` has room for all of the line first, and does not move any more. */
enum status diff_row_get(struct diff_row *out, struct bytes line,
                         struct buf *text)
{
    struct bytes field;
    enum status st;

    buf_clear(text);
    st = buf_room(text, line.len + 1) != NULL ? STATUS_OK : STATUS_NOMEM;
    *out = (struct diff_row){.url = diff_field(&line)};
    field = diff_field(&line);
    out->has_before = field.len > 0;
    if (st == STATUS_OK && out->has_before)
        st = diff_state_get(&out->before, field, text);
    field = diff_field(&line);
    out->has_after = field.len > 0;
    if (st == STATUS_OK && out->has_after)
        st = diff_state_get(&out->after, field, text);
    out->to = diff_field(&line);
    field = diff_field(&line);
    out->kind = (enum diff_kind)(get_number(&field) % DIFF_KINDS);
    out->by = (enum diff_by)(get_number(&field) & 3);
    out->what = (unsigned)get_number(&field);
    out->links_added = get_number(&field);
    out->links_removed = get_number(&field);
    out->added = diff_field(&line);
    out->removed = diff_field(&line);
    return st;
}

/* ---- a crawl as one side of a difference: lines that sort by URL ---- */

struct pass {
    const struct diff_side *side;
    struct line_sort *into;
    struct buf line, url, target;
    uint64_t last;  /* URL of the crawl */
    uint64_t *met;  /* a bit for each: its last fetch was met */
    bool has_links; /* of some pages */
    enum status st;
};

/* Sets the bit of URL `id`; was it set? */
static bool is_met(struct pass *p, uint64_t id, bool now)
{
    uint64_t *word = &p->met[id / 64], bit = UINT64_C(1) << id % 64;
    bool was = (*word & bit) != 0;

    if (now)
        *word |= bit;
    return was;
}

static bool is_sortable(struct bytes url)
{
    for (size_t i = 0; i < url.len; i++)
        if ((unsigned char)url.at[i] <= ' ')
            return false;
    return url.len > 0;
}

static void add_line(struct pass *p)
{
    if (p->st == STATUS_OK)
        p->st = buf_failed(&p->line);
    if (p->st == STATUS_OK)
        p->st = line_sort_add(p->into, buf_bytes(&p->line));
}

static void begin_line(struct pass *p, struct bytes url, enum diff_tag tag)
{
    if (p->st == STATUS_OK && !is_sortable(url))
        p->st = STATUS_DAMAGED;
    buf_clear(&p->line);
    buf_add_bytes(&p->line, url);
    buf_addf(&p->line, "\t%c", tag);
}

static void put_state(struct pass *p, struct bytes url,
                      const struct fetch_row *row)
{
    begin_line(p, url, DIFF_STATE);
    buf_add_char(&p->line, p->side->name);
    buf_add_char(&p->line, '\t');
    diff_state_put(&p->line, row);
    add_line(p);
}

static struct bytes url_of(struct pass *p, uint64_t id, struct buf *text)
{
    struct url_row row = {.id = 0};

    if (p->st == STATUS_OK)
        p->st = frontier_store_get(p->side->r->store, id, &row, text);
    if (p->st == STATUS_NOT_FOUND)
        p->st = STATUS_DAMAGED;
    return p->st == STATUS_OK ? row.url : bytes_of("", 0);
}

/* ---- links ---- */

/* The page in `url` links to `to`; empty: its links are known. */
static void put_link(struct pass *p, struct bytes to)
{
    begin_line(p, buf_bytes(&p->url), DIFF_LINK);
    buf_add_bytes(&p->line, to);
    buf_addf(&p->line, "\t%c", p->side->name);
    add_line(p);
}

static void take_link(void *ctx, const struct link_row *l)
{
    struct pass *p = ctx;

    if (l->to != 0) /* 0: dropped */
        put_link(p, url_of(p, l->to, &p->target));
}

/* Fetch `seq` was of the page in `url`. */
static void put_links(struct pass *p, uint64_t seq)
{
    struct link_range rows;
    enum status st = link_store_page(p->side->r->links, seq, &rows);

    if (st == STATUS_NOT_FOUND || (st == STATUS_OK && rows.partial))
        return;
    if (st == STATUS_OK) {
        put_link(p, bytes_of("", 0));
        st = link_store_each_in(p->side->r->links, &rows, take_link, p);
    }
    if (p->st == STATUS_OK)
        p->st = st;
}

/* ---- states ---- */

/* The last one until the moment comes first. */
static bool take_fetch(void *ctx, const struct fetch_row *fetch)
{
    struct pass *p = ctx;
    struct fetch_row row = *fetch;
    struct bytes url;

    if (!row.final || (p->side->until != 0 && row.at_ms > p->side->until))
        return true;
    if (row.url > p->last)
        p->st = STATUS_DAMAGED;
    else if (is_met(p, row.url, true))
        return true;
    url = url_of(p, row.url, &p->url);
    if (row.http_status == 304 && row.status != OUTCOME_FAILED)
        row.http_status = 200; /* it stands for what it was */
    if (row.reason == REASON_UNCHANGED)
        row.reason = REASON_NONE;
    if (row.redirect_to != 0)
        row.redirect_url = url_of(p, row.redirect_to, &p->target);
    put_state(p, url, &row);
    if (p->side->name == '1' && row.status == OUTCOME_REDIRECT &&
        is_sortable(row.redirect_url)) {
        begin_line(p, row.redirect_url, DIFF_FROM);
        buf_add_char(&p->line, '\t');
        buf_add_bytes(&p->line, url);
        add_line(p);
    }
    if (p->st == STATUS_OK && p->has_links && row.status == OUTCOME_FETCHED)
        put_links(p, row.seq);
    return p->st == STATUS_OK;
}

static void take_waiting(void *ctx, const struct url_row *row)
{
    struct pass *p = ctx;
    const struct fetch_row queued = {.status = OUTCOME_QUEUED};

    if (p->st == STATUS_OK && !is_met(p, row->id, false) &&
        (p->side->until == 0 || row->found_at_ms <= p->side->until))
        put_state(p, row->url, &queued);
}

/* ---- rows that later ones replaced ---- */

/* A URL that was queued again has a row of its own for that, with the same
 * digest; until the moment, the last of its rows is the URL. */
struct again {
    uint64_t digest, id; /* id: the last row met, 0: none */
};

struct replacing {
    struct pass *p;
    struct again *all;
    size_t count, room;
};

static int by_digest(const void *a, const void *b)
{
    const struct again *x = a, *y = b;

    return x->digest < y->digest ? -1 : x->digest > y->digest;
}

static bool is_later(const struct pass *p, const struct url_row *row)
{
    return p->side->until != 0 && row->found_at_ms > p->side->until;
}

static void gather_again(void *ctx, const struct url_row *row)
{
    struct replacing *r = ctx;

    if ((row->flags & URL_ROW_AGAIN) == 0 || is_later(r->p, row))
        return;
    if (r->count == r->room) {
        r->room = r->room > 0 ? 2 * r->room : 64;
        r->all = xrealloc(r->all, r->room * sizeof *r->all);
    }
    r->all[r->count++] =
        (struct again){.digest = reader_digest(r->p->side->r, row).hi};
}

/* Rows are in order of arrival, so the one before is replaced. */
static void meet_again(void *ctx, const struct url_row *row)
{
    struct replacing *r = ctx;
    const struct again key = {.digest = reader_digest(r->p->side->r, row).hi};
    struct again *a;

    if (is_later(r->p, row))
        return;
    a = bsearch(&key, r->all, r->count, sizeof key, by_digest);
    if (a == NULL)
        return;
    if (a->id != 0)
        (void)is_met(r->p, a->id, true);
    a->id = row->id;
}

/* Marks rows that were replaced as met. */
static enum status meet_replaced(struct pass *p)
{
    struct frontier_store *s = p->side->r->store;
    struct replacing r = {.p = p};
    size_t n = 0;
    enum status st = STATUS_OK;

    if (frontier_store_counter(s, "readmitted") > 0 && p->last > 0)
        st = frontier_store_each(s, 1, p->last, gather_again, &r);
    if (r.count > 0)
        qsort(r.all, r.count, sizeof *r.all, by_digest);
    for (size_t i = 0; i < r.count; i++) /* some came again several times */
        if (n == 0 || r.all[i].digest != r.all[n - 1].digest)
            r.all[n++] = r.all[i];
    r.count = n;
    if (st == STATUS_OK && n > 0)
        st = frontier_store_each(s, 1, p->last, meet_again, &r);
    free(r.all);
    return st;
}

enum status diff_side_read(const struct diff_side *side, struct line_sort *into)
{
    const struct reader *r = side->r;
    struct pass p = {.side = side, .into = into};
    enum status st;

    p.last = frontier_store_last_id(r->store);
    p.met = xcalloc((size_t)(p.last / 64) + 1, sizeof *p.met);
    p.has_links = link_store_recorded(r->links) != LINK_RECORD_NONE;
    buf_init(&p.line, DIFF_LINE_MOST);
    buf_init(&p.url, URL_LENGTH_CEILING + 64);
    buf_init(&p.target, URL_LENGTH_CEILING + 64);
    st = meet_replaced(&p);
    if (st == STATUS_OK)
        st = page_store_each_newest(r->pages, take_fetch, &p);
    if (st == STATUS_OK && p.st == STATUS_OK && p.last > 0)
        st = frontier_store_each(r->store, 1, p.last, take_waiting, &p);
    buf_fini(&p.line);
    buf_fini(&p.url);
    buf_fini(&p.target);
    free(p.met);
    return st != STATUS_OK ? st : p.st;
}

#define LINKS_LISTED ((size_t)64 << 10) /* octets of a list of links */

/* The lines of one URL. */
struct group {
    struct buf url;
    struct buf states[2],
        texts[2]; /* the line of each side, what it points to */
    bool there[2];
    struct fetch_row state[2];
    unsigned known;  /* which sides know its links: bits */
    struct buf link; /* the latest, */
    unsigned sides;  /* and which sides have it: bits */
    uint64_t added, removed;
    struct buf added_list, removed_list;
};

struct join {
    const struct diff_join_options *o;
    struct diff_counts *counts;
    struct diff_moved *moved;
    struct group g;
};

static void group_init(struct group *g)
{
    struct buf *all[] = {&g->url,      &g->states[0], &g->states[1],
                         &g->texts[0], &g->texts[1],  &g->link};

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        buf_init(all[i], DIFF_LINE_MOST);
    buf_init(&g->added_list, LINKS_LISTED);
    buf_init(&g->removed_list, LINKS_LISTED);
}

static void group_fini(struct group *g)
{
    struct buf *all[] = {&g->url,        &g->states[0],   &g->states[1],
                         &g->texts[0],   &g->texts[1],    &g->link,
                         &g->added_list, &g->removed_list};

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        buf_fini(all[i]);
}

/* ---- states ---- */

static bool is_known(const struct group *g, int side)
{
    return g->there[side] && g->state[side].status != OUTCOME_QUEUED;
}

/* Does the URL lead to something? */
static bool is_page(const struct group *g, int side)
{
    return g->there[side] && (g->state[side].status == OUTCOME_FETCHED ||
                              g->state[side].status == OUTCOME_REDIRECT);
}

static bool is_gone(const struct group *g, int side)
{
    const struct fetch_row *s = &g->state[side];

    return g->there[side] && s->status == OUTCOME_FAILED &&
           (s->http_status == 404 || s->http_status == 410);
}

static enum status take_state(struct group *g, struct bytes rest)
{
    int side = rest.len > 0 && rest.at[0] == '1';

    (void)diff_field(&rest);
    buf_clear(&g->states[side]);
    buf_add_bytes(&g->states[side], rest);
    g->there[side] = true;
    return buf_failed(&g->states[side]);
}

static enum status read_states(struct group *g)
{
    enum status st = STATUS_OK;

    for (int side = 0; side < 2 && st == STATUS_OK; side++) {
        struct bytes line = buf_bytes(&g->states[side]);

        buf_clear(&g->texts[side]);
        if (g->there[side])
            st = diff_state_get(&g->state[side], line, &g->texts[side]);
    }
    return st;
}

/* ---- links ---- */

static void list_link(struct buf *list, struct bytes url)
{
    if (list->len + url.len + 1 > LINKS_LISTED)
        return; /* the count tells that there are more */
    if (list->len > 0)
        buf_add_char(list, ' ');
    buf_add_bytes(list, url);
}

/* A link counts only if both sides know all links of the page. */
static void end_link(struct group *g)
{
    bool counts = g->known == 3;

    if (counts && g->sides == 1) {
        g->removed++;
        list_link(&g->removed_list, buf_bytes(&g->link));
    } else if (counts && g->sides == 2) {
        g->added++;
        list_link(&g->added_list, buf_bytes(&g->link));
    }
    g->sides = 0;
}

static enum status join_take_link(struct group *g, struct bytes rest)
{
    struct bytes to = diff_field(&rest);
    unsigned side = rest.len > 0 && rest.at[0] == '1' ? 2 : 1;

    if (to.len == 0) {
        g->known |= side;
        return STATUS_OK;
    }
    if (!bytes_equal(to, buf_bytes(&g->link))) {
        end_link(g);
        buf_clear(&g->link);
        buf_add_bytes(&g->link, to);
    }
    g->sides |= side;
    return buf_failed(&g->link);
}

/* ---- what has become of a URL ---- */

static unsigned what_changed(const struct join *j)
{
    const struct group *g = &j->g;
    const struct fetch_row *a = &g->state[0], *b = &g->state[1];
    enum changed_by by = j->o->changed_by;
    unsigned what = 0;

    if (a->status != b->status || a->reason != b->reason ||
        a->http_status != b->http_status)
        what |= DIFF_STATUS;
    if (!bytes_equal(a->redirect_url, b->redirect_url))
        what |= DIFF_REDIRECT;
    if (a->status != OUTCOME_FETCHED || b->status != OUTCOME_FETCHED)
        return what;
    if (!bytes_equal(a->title, b->title))
        what |= DIFF_TITLE;
    if (!page_same_content(a, b, by)) {
        if (!page_same_body(a, b))
            what |= DIFF_BODY;
        if (page_texts_compare(a, b) && !page_same_text(a, b))
            what |= DIFF_TEXT;
    }
    if (g->added + g->removed > 0)
        what |= DIFF_LINKS;
    return what;
}

static bool is_ours(const struct join *j, enum diff_kind *kind, unsigned *what)
{
    const struct group *g = &j->g;
    bool before = is_page(g, 0), after = is_page(g, 1);

    *kind = DIFF_CHANGED;
    *what = is_known(g, 0) && is_known(g, 1) ? what_changed(j) : 0;
    if (before && !after) {
        if (is_gone(g, 1) || (!g->there[1] && !j->o->after_unfinished))
            *kind = DIFF_GONE;
        else if (!is_known(g, 1))
            *kind = DIFF_UNFETCHED;
    } else if (after && !before) {
        if (is_gone(g, 0) || (!g->there[0] && !j->o->before_unfinished))
            *kind = DIFF_NEW;
        else if (!is_known(g, 0))
            *kind = DIFF_UNFETCHED;
    }
    if (*kind != DIFF_CHANGED)
        *what = 0; /* its kind says it all */
    return *kind != DIFF_CHANGED || *what != 0;
}

static void count(struct join *j)
{
    const struct group *g = &j->g;

    if (!is_page(g, 0) || !is_page(g, 1))
        return;
    j->counts->same++;
    j->counts->other_body += g->state[0].status == OUTCOME_FETCHED &&
                             !page_same_body(&g->state[0], &g->state[1]);
}

static enum status end_group(struct join *j)
{
    struct group *g = &j->g;
    struct diff_row row = {.url = buf_bytes(&g->url)};
    enum status st;

    if (row.url.len == 0)
        return STATUS_OK;
    end_link(g);
    st = read_states(g);
    if (st != STATUS_OK)
        return st;
    if (!is_ours(j, &row.kind, &row.what)) {
        count(j);
        return STATUS_OK;
    }
    row.has_before = is_known(g, 0);
    row.has_after = is_known(g, 1);
    row.before = g->state[0];
    row.after = g->state[1];
    if (row.kind == DIFF_CHANGED && (row.what & DIFF_LINKS) != 0) {
        row.links_added = g->added;
        row.links_removed = g->removed;
        row.added = buf_bytes(&g->added_list);
        row.removed = buf_bytes(&g->removed_list);
    }
    return diff_moved_add(j->moved, &row);
}

static enum status begin_group(struct join *j, struct bytes url)
{
    struct group *g = &j->g;

    g->there[0] = g->there[1] = false;
    g->added = g->removed = 0;
    g->known = 0;
    buf_clear(&g->link);
    buf_clear(&g->added_list);
    buf_clear(&g->removed_list);
    buf_clear(&g->url);
    buf_add_bytes(&g->url, url);
    return buf_failed(&g->url);
}

static enum status take_line(void *ctx, struct bytes line)
{
    struct join *j = ctx;
    struct bytes rest = bytes_of(line.at, line.len - 1); /* the LF */
    struct bytes url = diff_field(&rest);
    enum status st = STATUS_OK;
    char tag;

    if (rest.len == 0)
        return STATUS_FORMAT;
    if (!bytes_equal(url, buf_bytes(&j->g.url))) {
        st = end_group(j);
        if (st == STATUS_OK)
            st = begin_group(j, url);
    }
    if (st != STATUS_OK)
        return st;
    tag = rest.at[0];
    rest = bytes_of(rest.at + 1, rest.len - 1);
    if (tag == DIFF_STATE)
        return take_state(&j->g, rest);
    if (tag == DIFF_LINK)
        return join_take_link(&j->g, rest);
    (void)diff_field(&rest);
    st = read_states(&j->g);
    return st == STATUS_OK && is_page(&j->g, 1)
               ? diff_moved_redirect(j->moved, rest, url)
               : st;
}

enum status diff_join(
    struct line_sort *lines, const struct diff_join_options *o,
    struct diff_counts *counts,
    enum status (*visit)(void *ctx, const struct diff_row *row), void *ctx)
{
    struct join j = {.o = o, .counts = counts};
    enum status st;

    *counts = (struct diff_counts){0};
    j.moved = diff_moved_new(o->dir, o->memory);
    group_init(&j.g);
    st = line_sort_each(lines, take_line, &j);
    if (st == STATUS_OK)
        st = end_group(&j);
    if (st == STATUS_OK)
        st = diff_moved_each(j.moved, counts, visit, ctx);
    group_fini(&j.g);
    diff_moved_free(j.moved);
    return st;
}
