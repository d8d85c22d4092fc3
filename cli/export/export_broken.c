/* SPDX-License-Identifier: MIT */
/*
 * export_broken.c - `urlweir export --what broken`: links that lead nowhere.
 *
 * One pass over the fetches for the outcome of each URL, one over the links.
 * The rows are in the order of the links, so those of a page are together;
 * sorted by line they are together by target, which is the first field.
 */
#include "cli/export/export_broken.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "crawler/html/link_kinds.h"
#include "frontier/outcome.h"
#include "storage/db/db_row.h"

#define REDIRECTS_MOST 100 /* a longer chain counts as broken */

/* The outcome of a URL in eight octets. */
struct final {
    uint64_t redirect_to : 40; /* id, 0: none that was admitted */
    uint64_t status : 3, reason : 7, http : 10;
};

/* What came of the URLs of a crawl. */
struct finals {
    struct reader *r; /* NULL: there is no such crawl */
    struct final *at; /* by id */
    uint64_t last;
};

struct broken {
    struct record *out;
    struct finals own, checked;
    struct url found; /* of a dropped link */
    struct buf src, target, end;
    uint64_t src_id; /* whose URL is in `src` */
    enum status st;
};

static bool take_final(void *ctx, const struct fetch_row *row)
{
    struct finals *f = ctx;

    if (row->final && row->url <= f->last)
        f->at[row->url] =
            (struct final){.redirect_to = row->redirect_to & DB_ID_MOST,
                           .status = row->status & 7U,
                           .reason = row->reason & 127U,
                           .http = row->http_status & 1023U};
    return true;
}

/* A redirect that was not followed to its end for what it is, and not for the
 * crawl's scope. */
static bool is_bad_redirect(const struct final *f)
{
    return f->reason == REASON_REDIRECT_LOOP ||
           f->reason == REASON_REDIRECT_LIMIT ||
           f->reason == REASON_REDIRECT_INVALID;
}

/* The id where `id` leads; *broken: that has failed. */
static uint64_t end_of(const struct finals *of, uint64_t id, bool *broken)
{
    *broken = true;
    for (unsigned n = 0; n < REDIRECTS_MOST && id <= of->last; n++) {
        const struct final *f = &of->at[id];

        if (f->status != OUTCOME_REDIRECT || is_bad_redirect(f) ||
            f->redirect_to == 0 || f->redirect_to > of->last) {
            *broken = f->status == OUTCOME_FAILED || is_bad_redirect(f);
            break;
        }
        id = f->redirect_to;
    }
    return id;
}

static struct bytes url_of(struct broken *b, const struct finals *of,
                           uint64_t id, struct buf *text)
{
    struct bytes url = reader_url(of->r, id, text);

    if (url.len == 0)
        b->st = STATUS_DAMAGED;
    return url;
}

/* The target of the link is URL `to`, which leads to `end`. */
static void put(struct broken *b, const struct link_row *l,
                const struct finals *of, uint64_t to, uint64_t end)
{
    struct record *out = b->out;
    const struct final *f = &of->at[end];
    struct outcome o = {f->status, f->reason, (uint16_t)f->http};
    char reason[24];
    struct bytes row;

    outcome_reason_text(o, reason, sizeof reason);
    record_text(out, "url", url_of(b, of, to, &b->target));
    record_str(out, "status", outcome_status_name(o.status));
    record_str(out, "reason", reason);
    record_some(out, "http_status", o.http_status);
    record_text(out, "redirect_to",
                end != to ? url_of(b, of, end, &b->end) : bytes_of(NULL, 0));
    if (l->from != b->src_id)
        (void)url_of(b, &b->own, l->from, &b->src);
    b->src_id = l->from;
    record_text(out, "src", buf_bytes(&b->src));
    record_str(out, "kind", link_kind_name(l->kind));
    record_text(out, "rel", l->said.rel);
    record_text(out, "text", l->said.text);
    if (b->st == STATUS_OK)
        b->st = record_end(out, &row);
    if (b->st == STATUS_OK && fwrite(row.at, 1, row.len, stdout) < row.len)
        b->st = STATUS_IO;
}

/* The id of a dropped URL in that crawl; 0: it does not know it. */
static uint64_t find(struct broken *b, const struct finals *in,
                     struct bytes url)
{
    uint64_t id = 0;

    if (in->r == NULL || url_canonical(&b->found, url, NULL, NULL) != URL_OK)
        return 0;
    b->st = reader_find(in->r, &b->found, &id);
    return b->st == STATUS_OK ? id : 0;
}

/* The target of the link, and which of the crawls knows what came of it. One
 * that was dropped may have come into this crawl later, or by another link.
 * 0: nobody has asked for it. */
static uint64_t target_of(struct broken *b, const struct link_row *l,
                          const struct finals **of)
{
    uint64_t to = l->to;

    *of = &b->own;
    if (to == 0)
        to = find(b, &b->own, l->said.dropped);
    if (to == 0 && b->st == STATUS_OK) {
        *of = &b->checked;
        to = find(b, &b->checked, l->said.dropped);
    }
    return to;
}

static bool take_link(void *ctx, const struct link_row *l)
{
    struct broken *b = ctx;
    const struct finals *of;
    uint64_t to = target_of(b, l, &of), end;
    bool broken = false;

    if (to == 0)
        return b->st == STATUS_OK;
    end = end_of(of, to, &broken);
    /* a redirect is on the way from a page that has its link, and a row */
    if (broken && end <= of->last && l->kind != LINK_REDIRECT)
        put(b, l, of, to, end);
    return b->st == STATUS_OK;
}

static enum status finals_load(struct finals *f, struct reader *r)
{
    f->r = r;
    if (r == NULL)
        return STATUS_OK;
    f->last = frontier_store_last_id(r->store);
    f->at = try_calloc(f->last + 1, sizeof *f->at);
    return f->at != NULL ? page_store_each(r->pages, 0, take_final, f)
                         : STATUS_NOMEM;
}

enum status export_broken(struct reader *r, struct reader *checked,
                          struct record *out)
{
    struct broken b = {.out = out, .st = STATUS_OK};
    enum status st;

    url_init(&b.found);
    buf_init(&b.src, URL_LENGTH_CEILING + 64);
    buf_init(&b.target, URL_LENGTH_CEILING + 64);
    buf_init(&b.end, URL_LENGTH_CEILING + 64);
    st = finals_load(&b.own, r);
    if (st == STATUS_OK)
        st = finals_load(&b.checked, checked);
    if (st == STATUS_OK)
        st = link_store_each_whole(r->links, take_link, &b);
    buf_fini(&b.src);
    buf_fini(&b.target);
    buf_fini(&b.end);
    url_fini(&b.found);
    free(b.own.at);
    free(b.checked.at);
    return st == STATUS_OK ? b.st : st;
}
