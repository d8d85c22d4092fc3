/* SPDX-License-Identifier: MIT */
/* diff_side.c - a crawl as one side of a difference: lines that sort by URL. */
#include "cli/diff/diff_side.h"

#include <stdlib.h>

#include "base/mem.h"
#include "cli/diff/diff_row.h"
#include "frontier/outcome.h"
#include "frontier/url/url.h"

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
