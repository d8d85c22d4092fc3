/* SPDX-License-Identifier: MIT */
/* diff_side.c - a crawl as one side of a difference: lines that sort by URL. */
#include "cli/diff/diff_side.h"

#include <string.h>

#include "cli/diff/diff_row.h"
#include "frontier/outcome.h"
#include "frontier/url/url.h"

struct pass {
    const struct diff_side *side;
    struct line_sort *into;
    struct buf line, url, target;
    uint64_t from; /* page of the links, whose URL is in `url` */
    enum status st;
};

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
    buf_addf(&p->line, "%c%016llx\t", p->side->name,
             (unsigned long long)row->seq);
    diff_state_put(&p->line, row);
    add_line(p);
}

/* ---- fetches ---- */

static struct bytes url_of(struct pass *p, uint64_t id, struct buf *text)
{
    struct url_row row = {.id = 0};

    if (p->st == STATUS_OK)
        p->st = frontier_store_get(p->side->r->store, id, &row, text);
    if (p->st == STATUS_NOT_FOUND)
        p->st = STATUS_DAMAGED;
    return p->st == STATUS_OK ? row.url : bytes_of("", 0);
}

static bool take_fetch(void *ctx, const struct fetch_row *fetch)
{
    struct pass *p = ctx;
    struct fetch_row row = *fetch;
    struct bytes url;

    if (!row.final || (p->side->until != 0 && row.at_ms > p->side->until))
        return true;
    url = url_of(p, row.url, &p->url);
    if (row.reason == REASON_UNCHANGED) { /* 304 stands for what it was */
        row.reason = REASON_NONE;
        row.http_status = 200;
    }
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
    return p->st == STATUS_OK;
}

/* ---- what waits ---- */

static void take_waiting(void *ctx, const struct url_row *row)
{
    struct pass *p = ctx;
    const struct fetch_row queued = {.status = OUTCOME_QUEUED};
    bool then = p->side->until != 0;

    if (p->st != STATUS_OK)
        return;
    if (then ? row->found_at_ms <= p->side->until
             : !frontier_store_is_done(p->side->r->store, row->id))
        put_state(p, row->url, &queued);
}

/* ---- links ---- */

static bool take_link(void *ctx, const struct link_row *l)
{
    struct pass *p = ctx;
    struct bytes to;

    if (l->from != p->from)
        (void)url_of(p, l->from, &p->url);
    p->from = l->from;
    to = url_of(p, l->to, &p->target);
    begin_line(p, buf_bytes(&p->url), DIFF_LINK);
    buf_add_bytes(&p->line, to);
    buf_addf(&p->line, "\t%c", p->side->name);
    add_line(p);
    return p->st == STATUS_OK;
}

enum status diff_side_read(const struct diff_side *side, struct line_sort *into)
{
    struct pass p = {.side = side, .into = into};
    uint64_t last = frontier_store_last_id(side->r->store);
    enum status st;

    buf_init(&p.line, DIFF_LINE_MOST);
    buf_init(&p.url, URL_LENGTH_CEILING + 64);
    buf_init(&p.target, URL_LENGTH_CEILING + 64);
    st = page_store_each(side->r->pages, 0, take_fetch, &p);
    if (st == STATUS_OK && p.st == STATUS_OK && last > 0)
        st = frontier_store_each(side->r->store, 1, last, take_waiting, &p);
    if (st == STATUS_OK && p.st == STATUS_OK && side->links)
        st = link_store_each(side->r->links, take_link, &p);
    buf_fini(&p.line);
    buf_fini(&p.url);
    buf_fini(&p.target);
    return st != STATUS_OK ? st : p.st;
}
