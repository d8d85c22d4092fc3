/* SPDX-License-Identifier: MIT */
/*
 * export_rows.c - rows of `urlweir export` that are put together from several
 * tables: hosts, drops, links, broken links.
 */
#include "cli/export/export_rows.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cli/status/stored_hosts.h"
#include "crawler/html/link_values.h"
#include "frontier/outcome.h"
#include "job/exit_code.h"
#include "storage/db/db_row.h"
#include "storage/rows/drop_log.h"

/*
 * Each host, and what came of its URLs.
 *
 * A fetch row names its URL and not its host, so one pass over the URLs notes
 * the queue of each, and one over the fetches counts.
 */

struct tally {
    uint64_t pages, errors, octets;
    int64_t connections, handshakes, kept;
};

/* Where a URL belongs, in four octets. */
struct owner {
    uint32_t queue : 31, sitemap : 1;
};

struct host_export {
    struct reader *r;
    struct record *out;
    struct owner *owners; /* by id */
    uint64_t last;
    struct tally *tallies; /* by queue */
    uint32_t queues;
    enum status st;
};

static void take_url(void *ctx, const struct url_row *row)
{
    struct host_export *e = ctx;

    if (row->queue <= e->queues)
        e->owners[row->id] =
            (struct owner){.queue = row->queue & 0x7fffffffU,
                           .sitemap = link_is_sitemap(row->kind)};
}

static bool take_fetch(void *ctx, const struct fetch_row *f)
{
    struct host_export *e = ctx;
    struct outcome o = {f->status, f->reason, f->http_status};
    const struct owner *u;
    struct tally *t;

    if (f->url > e->last)
        return true; /* newer than the pass over the URLs */
    u = &e->owners[f->url];
    t = &e->tallies[u->queue];
    t->octets += f->wire_bytes;
    t->connections += (f->flags & FETCH_ROW_CONNECTED) != 0;
    t->handshakes += (f->flags & FETCH_ROW_HANDSHAKE) != 0;
    t->kept += (f->flags & FETCH_ROW_KEPT) != 0;
    if (!reader_is_newest(e->r, f))
        return true;
    t->pages += outcome_counts_as_page(o) && !u->sitemap;
    t->errors += outcome_is_error(o);
    return true;
}

static bool put_host(void *ctx, const struct host_record *host)
{
    struct host_export *e = ctx;
    const struct tally *t = &e->tallies[host->queue];
    struct host_record h = *host;
    struct bytes row;

    h.pages = t->pages;
    h.errors = t->errors;
    h.wire_bytes = t->octets;
    h.connections = t->connections;
    h.handshakes = t->handshakes;
    h.kept = t->kept;
    e->st = column_view_write(&host_views[HOST_VIEW_EXPORT], &h, e->out, &row);
    if (e->st == STATUS_OK && fwrite(row.at, 1, row.len, stdout) < row.len)
        e->st = STATUS_IO;
    return e->st == STATUS_OK;
}

static enum status count_fetches(struct host_export *e)
{
    enum status st = reader_find_newest(e->r);

    if (st != STATUS_OK)
        return st;
    e->owners = try_calloc(e->last + 1, sizeof *e->owners);
    if (e->owners == NULL)
        return STATUS_NOMEM;
    if (e->last > 0)
        st = frontier_store_each(e->r->store, 1, e->last, take_url, e);
    if (st == STATUS_OK)
        st = page_store_each(e->r->pages, 0, take_fetch, e);
    free(e->owners);
    e->owners = NULL;
    return st;
}

enum status export_hosts(struct reader *r, struct record *out)
{
    struct host_export e = {.r = r,
                            .out = out,
                            .last = frontier_store_last_id(r->store),
                            .queues = frontier_store_queue_count(r->store),
                            .st = STATUS_OK};
    struct stored_hosts *hosts = NULL;
    enum status st = stored_hosts_load(&hosts, r);

    e.tallies = xcalloc((size_t)e.queues + 1, sizeof *e.tallies);
    if (st == STATUS_OK)
        st = count_fetches(&e);
    if (st == STATUS_OK) {
        stored_hosts_each(hosts, false, put_host, &e);
        st = e.st;
    }
    stored_hosts_free(hosts);
    free(e.tallies);
    return st;
}

/* ---- `urlweir export` of links that were dropped ---- */

struct drops {
    struct reader *r;
    struct record *out;
    struct buf url, via;
    enum status st;
};

static void drops_init(struct drops *d, struct reader *r, struct record *out)
{
    *d = (struct drops){.r = r, .out = out, .st = STATUS_OK};
    buf_init(&d->url, URL_LENGTH_CEILING + 64);
    buf_init(&d->via, URL_LENGTH_CEILING + 64);
}

static enum status drops_end(struct drops *d, enum status st)
{
    buf_fini(&d->url);
    buf_fini(&d->via);
    return st == STATUS_OK ? d->st : st;
}

static void end_row(struct drops *d)
{
    struct bytes row;

    d->st = record_end(d->out, &row);
    if (d->st == STATUS_OK && fwrite(row.at, 1, row.len, stdout) < row.len)
        d->st = STATUS_IO;
}

static struct bytes some(struct bytes b)
{
    return b.len > 0 ? b : bytes_of(NULL, 0);
}

/* The page that has the link: its URL, and its id. */
static void put_via(struct drops *d, uint64_t via)
{
    record_text(d->out, "via", some(reader_url(d->r, via, &d->via)));
    record_some(d->out, "via_id", via);
}

static void put_count(void *ctx, const struct drop_row *row)
{
    struct drops *d = ctx;

    if (d->st != STATUS_OK)
        return;
    record_text(d->out, "reason", row->reason);
    record_text(d->out, "host", some(row->host));
    record_uint(d->out, "count", row->count);
    end_row(d);
}

static void put_example(void *ctx, const struct drop_row *row)
{
    struct drops *d = ctx;

    if (d->st != STATUS_OK)
        return;
    record_text(d->out, "reason", row->reason);
    record_text(d->out, "host", some(row->host));
    record_text(d->out, "url", some(row->url));
    put_via(d, row->via);
    record_time(d->out, "at", row->at_ms);
    end_row(d);
}

static enum status each_drop(struct reader *r, struct record *out,
                             bool examples)
{
    struct drops d;

    drops_init(&d, r, out);
    return drops_end(&d, frontier_store_each_drop(r->store, examples,
                                                  examples ? put_example
                                                           : put_count,
                                                  &d));
}

enum status export_drops(struct reader *r, struct record *out)
{
    return each_drop(r, out, false);
}

enum status export_drop_examples(struct reader *r, struct record *out)
{
    return each_drop(r, out, true);
}

/* ---- one by one ---- */

/* The entry of a URL that has a row holds only its number. */
static enum status put_kept(struct drops *d, const struct kept_drop *k)
{
    struct url_row row = {.url = k->text,
                          .via = k->via,
                          .depth = k->depth,
                          .kind = k->kind};

    if (k->sent || (k->id != 0 && k->reason == REASON_KIND))
        return STATUS_OK; /* a page, some links of which were not looked for */
    if (k->id != 0)
        d->st = frontier_store_get(d->r->store, k->id, &row, &d->url);
    if (d->st != STATUS_OK)
        return d->st;
    record_text(d->out, "url", row.url);
    record_str(d->out, "reason", outcome_reason_name(k->reason));
    record_uint(d->out, "depth", row.depth);
    record_str(d->out, "kind", link_kind_name(row.kind));
    put_via(d, row.via);
    record_some(d->out, "id", k->id);
    end_row(d);
    return d->st;
}

enum status export_dropped(struct reader *r, struct record *out)
{
    struct drop_log *l = NULL;
    struct drop_block b = {.number = 0};
    enum status st = drop_log_open(&l, r->db);
    struct drops d;

    drops_init(&d, r, out);
    while (st == STATUS_OK &&
           (st = drop_log_next(l, b.number, UINT64_MAX, &b)) == STATUS_OK)
        for (size_t i = 0; st == STATUS_OK && i < b.count; i++)
            st = put_kept(&d, &b.at[i]);
    drop_log_close(l);
    return drops_end(&d, st == STATUS_NOT_FOUND ? STATUS_OK : st);
}

/*
 * How many pages link to each URL of a crawl.
 *
 * The links of a page are together, so remembering the last page that counted
 * is enough to count each once.
 */

#define COUNT_MOST ((UINT64_C(1) << 24) - 1)

struct counted {
    uint64_t from : 40, pages : 24; /* stays at COUNT_MOST */
};

struct in_links {
    uint64_t last;
    struct counted *at; /* by id */
};

static bool take_link(void *ctx, const struct link_row *row)
{
    struct in_links *l = ctx;
    struct counted *c = &l->at[row->to <= l->last ? row->to : 0];

    if (row->kind == LINK_REDIRECT || row->from == row->to ||
        row->from == c->from)
        return true;
    c->from = row->from & DB_ID_MOST;
    if (c->pages < COUNT_MOST)
        c->pages++;
    return true;
}

enum status in_links_load(struct in_links **out, struct reader *r)
{
    struct in_links *l;
    enum status st;

    *out = NULL;
    if (link_store_recorded(r->links) == LINK_RECORD_NONE)
        return STATUS_OK;
    l = xcalloc(1, sizeof *l);
    l->last = frontier_store_last_id(r->store);
    l->at = try_calloc(l->last + 1, sizeof *l->at);
    st = l->at != NULL ? link_store_each(r->links, take_link, l) : STATUS_NOMEM;
    if (st == STATUS_OK)
        *out = l;
    else
        in_links_free(l);
    return st;
}

void in_links_free(struct in_links *l)
{
    if (l == NULL)
        return;
    free(l->at);
    free(l);
}

int64_t in_links_of(const struct in_links *l, uint64_t id)
{
    return l != NULL && id <= l->last ? (int64_t)l->at[id].pages : -1;
}

/* ---- `urlweir export --what links` ---- */

struct link_export {
    struct reader *r;
    struct record *out;
    struct buf text, to_text;
    struct url_row from; /* page of the current links; its URL in `text` */
    bool failed, damaged;
};

static void links_end_row(struct link_export *j)
{
    struct bytes row;
    enum status st = record_end(j->out, &row);

    j->failed |=
        st != STATUS_OK || fwrite(row.at, 1, row.len, stdout) < row.len;
}

static bool put_link(void *ctx, const struct link_row *l)
{
    struct link_export *j = ctx;
    struct url_row to = {.url = l->said.dropped};
    struct outcome o = {.reason = (enum outcome_reason)l->said.reason};
    char reason[24];
    enum status st = STATUS_OK;

    if (l->from != j->from.id)
        st = frontier_store_get(j->r->store, l->from, &j->from, &j->text);
    if (st == STATUS_OK && l->to != 0)
        st = frontier_store_get(j->r->store, l->to, &to, &j->to_text);
    if (st != STATUS_OK) {
        j->damaged = true;
        return false;
    }
    record_text(j->out, "src", j->from.url);
    record_text(j->out, "dst", to.url);
    record_str(j->out, "kind", link_kind_name(l->kind));
    record_text(j->out, "rel", l->said.rel);
    record_text(j->out, "text", l->said.text);
    outcome_reason_text(o, reason, sizeof reason);
    record_str(j->out, "reason", l->to == 0 ? reason : NULL);
    links_end_row(j);
    return !j->failed;
}

enum status export_links(struct reader *r, struct record *out)
{
    struct link_export j = {.r = r, .out = out};
    enum status st;

    buf_init(&j.text, URL_LENGTH_CEILING + 64);
    buf_init(&j.to_text, URL_LENGTH_CEILING + 64);
    st = link_store_each_whole(r->links, put_link, &j);
    buf_fini(&j.text);
    buf_fini(&j.to_text);
    if (j.damaged)
        return STATUS_DAMAGED;
    return j.failed ? STATUS_IO : st;
}

bool export_has_links(const struct reader *r, int *code)
{
    switch (link_store_recorded(r->links)) {
    case LINK_RECORD_ALL:
        break;
    case LINK_RECORD_PART:
        fprintf(stderr, "urlweir export: a part of the crawl ran without "
                        "--record links; the links of its pages are missing\n");
        break;
    case LINK_RECORD_NONE:
        fprintf(stderr,
                "urlweir export: the crawl in %s did not record its links; "
                "`urlweir crawl --record links` does\n",
                r->dir);
        *code = EXIT_USAGE;
        return false;
    }
    return true;
}

/*
 * `urlweir export --what broken`: links that lead nowhere.
 *
 * One pass over the fetches for the outcome of each URL, one over the links.
 * The rows are in the order of the links, so those of a page are together;
 * sorted by line they are together by target, which is the first field.
 */

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

static bool broken_take_link(void *ctx, const struct link_row *l)
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
        st = link_store_each_whole(r->links, broken_take_link, &b);
    buf_fini(&b.src);
    buf_fini(&b.target);
    buf_fini(&b.end);
    url_fini(&b.found);
    free(b.own.at);
    free(b.checked.at);
    return st == STATUS_OK ? b.st : st;
}
