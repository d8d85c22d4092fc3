/* SPDX-License-Identifier: MIT */
/*
 * cmd_export.c - `urlweir export`: a crawl's data as JSON Lines or CSV.
 *
 * The fetch table has no index by URL (it would cost a page of disk for each
 * URL), so this first reads the outcomes into eight bytes an id.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/record.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/open_crawl.h"
#include "cli/shards/crawl_dirs.h"
#include "cli/status/stored_hosts.h"
#include "crawler/html/link_values.h"
#include "crawler/url_columns.h"
#include "frontier/host_columns.h"
#include "frontier/outcome.h"
#include "frontier/reader.h"
#include "frontier/served/served.h"
#include "frontier/served/served_reader.h"
#include "job/exit_code.h"
#include "service/http/http_text.h"
#include "storage/db/db_row.h"
#include "storage/rows/drop_log.h"

/*
 * What `urlweir export` writes, and the names of its fields.
 *
 * The first row brings the head line of CSV (base/record.h); where there is no
 * row, a program still wants to know the fields.
 *
 * Fields that are no columns of a view stand here a second time;
 * tests/cli/export.sh compares with the head of rows.
 */

enum export_what { /* in the order of the words of --what */
                   EXPORT_URLS,
                   EXPORT_PAGES,
                   EXPORT_FETCHES,
                   EXPORT_LINKS,
                   EXPORT_BROKEN,
                   EXPORT_ERRORS,
                   EXPORT_DROPS,
                   EXPORT_EXAMPLES,
                   EXPORT_DROPPED,
                   EXPORT_HOSTS,
                   EXPORT_QUEUES
};

static const char *const fields[] = {
    [EXPORT_LINKS] = "src,dst,kind,rel,text,reason",
    [EXPORT_BROKEN] =
        "url,status,reason,http_status,redirect_to,src,kind,rel,text",
    [EXPORT_DROPS] = "reason,host,count",
    [EXPORT_EXAMPLES] = "reason,host,url,via,via_id,at",
    [EXPORT_DROPPED] = "url,reason,depth,kind,via,via_id,id",
    [EXPORT_QUEUES] = NULL,
};

static const struct column_view *view_of(enum export_what what)
{
    switch (what) {
    case EXPORT_URLS:
        return &row_views[ROW_VIEW_URLS];
    case EXPORT_PAGES:
        return &row_views[ROW_VIEW_PAGES];
    case EXPORT_FETCHES:
        return &row_views[ROW_VIEW_FETCHES];
    case EXPORT_ERRORS:
        return &row_views[ROW_VIEW_ERRORS];
    default:
        return &host_views[HOST_VIEW_EXPORT];
    }
}

/* Adds the head line of a crawl's rows. */
static void export_head(enum export_what what, struct buf *out)
{
    const struct column_view *v = view_of(what);

    if (fields[what] != NULL)
        buf_add_str(out, fields[what]);
    for (size_t i = 0; fields[what] == NULL && i < v->count; i++)
        buf_addf(out, "%s%s", i > 0 ? "," : "", column_of(v, i)->name);
    buf_add_str(out, "\r\n");
}

/*
 * Rows of `urlweir export` that are put together from several
 * tables: hosts, drops, links, broken links.
 */

/*
 * `urlweir export` of links that were dropped.
 *
 * The rows are those of docs/formats/export.md. Each returns STATUS_IO if
 * stdout is gone.
 */

/*
 * How many pages link to each URL of a crawl.
 *
 * Counted from the recorded links when asked: a count that is kept would be a
 * random write for each link. Eight octets a URL.
 */

struct in_links;
/* ---- `urlweir export --what links` ---- */

/* ---- `urlweir export --what broken`: links that lead nowhere ---- */

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

static bool hosts_take_fetch(void *ctx, const struct fetch_row *f)
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
        st = page_store_each(e->r->pages, 0, hosts_take_fetch, e);
    free(e->owners);
    e->owners = NULL;
    return st;
}

/* Prints the rows of docs/formats/hosts.md. Holds four octets for each URL of
 * the crawl while it reads. STATUS_IO: stdout is gone. */
static enum status export_hosts(struct reader *r, struct record *out)
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

/* Counts by reason and host. */
static enum status export_drops(struct reader *r, struct record *out)
{
    return each_drop(r, out, false);
}

/* Some URLs of each reason. */
static enum status export_drop_examples(struct reader *r, struct record *out)
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

/* Each drop that is kept (--keep-dropped). */
static enum status export_dropped(struct reader *r, struct record *out)
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

/* NULL is fine */
static void in_links_free(struct in_links *l)
{
    if (l == NULL)
        return;
    free(l->at);
    free(l);
}

/* STATUS_OK with *out NULL: no links were recorded. The caller frees *out. */
static enum status in_links_load(struct in_links **out, struct reader *r)
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

/* The pages that link to URL `id`, but itself, and not by redirects; -1: not
 * known. `l` may be NULL. */
static int64_t in_links_of(const struct in_links *l, uint64_t id)
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

/* Writes it to stdout. STATUS_IO: stdout is gone; STATUS_DAMAGED: a link names
 * a URL that is not there. */
static enum status export_links(struct reader *r, struct record *out)
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

/* Is there a link graph? Prints a message if it is incomplete or missing. */
static bool export_has_links(const struct reader *r, int *code)
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
struct broken_final {
    uint64_t redirect_to : 40; /* id, 0: none that was admitted */
    uint64_t status : 3, reason : 7, http : 10;
};

/* What came of the URLs of a crawl. */
struct finals {
    struct reader *r;        /* NULL: there is no such crawl */
    struct broken_final *at; /* by id */
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

static bool broken_take_final(void *ctx, const struct fetch_row *row)
{
    struct finals *f = ctx;

    if (row->final && row->url <= f->last)
        f->at[row->url] =
            (struct broken_final){.redirect_to = row->redirect_to & DB_ID_MOST,
                                  .status = row->status & 7U,
                                  .reason = row->reason & 127U,
                                  .http = row->http_status & 1023U};
    return true;
}

/* A redirect that was not followed to its end for what it is, and not for the
 * crawl's scope. */
static bool is_bad_redirect(const struct broken_final *f)
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
        const struct broken_final *f = &of->at[id];

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
    const struct broken_final *f = &of->at[end];
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
static uint64_t broken_target_of(struct broken *b, const struct link_row *l,
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
    uint64_t to = broken_target_of(b, l, &of), end;
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
    return f->at != NULL ? page_store_each(r->pages, 0, broken_take_final, f)
                         : STATUS_NOMEM;
}

/* Prints a row for each recorded link whose target failed, itself or behind
 * redirects, as docs/formats/export.md describes. `checked`, which may be NULL,
 * is another crawl, which says what came of targets of dropped links. Holds
 * eight octets for each URL of either crawl. STATUS_IO: stdout is gone. */
static enum status export_broken(struct reader *r, struct reader *checked,
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

/*
 * `urlweir export` of a directory of `urlweir serve`.
 *
 * The store keeps metadata as the octets that came in, so this decodes it.
 * Looks up the latest row of each URL by number, one after the other.
 */

#define ARENA_MOST ((size_t)64 << 20)

struct served_export {
    struct reader *r;
    struct served_reader *served;
    struct record out;
    struct arena *arena;
    struct buf metadata;
    enum status st;
    bool failed; /* stdout is gone */
};

static void put_view(struct served_export *j, enum served_view_id view,
                     const struct served_record *f)
{
    struct bytes row;

    j->st = column_view_write(&served_views[view], f, &j->out, &row);
    if (j->st == STATUS_OK)
        j->failed |= fwrite(row.at, 1, row.len, stdout) < row.len;
}

static json_t *metadata_of(struct served_export *j, uint64_t id)
{
    buf_clear(&j->metadata);
    arena_reset(j->arena);
    j->st = served_reader_metadata(j->served, id, &j->metadata);
    return j->st == STATUS_OK
               ? http_metadata_json(buf_bytes(&j->metadata), j->arena)
               : NULL;
}

static void served_put_url(void *ctx, const struct url_row *row)
{
    struct served_export *j = ctx;
    enum url_state state = served_reader_get(j->served, row->id).state;
    struct served_record f;

    if (j->failed || j->st != STATUS_OK || state == URL_STATE_NONE ||
        state == URL_STATE_REMOVED)
        return;
    f = served_reader_record(j->served, row);
    f.metadata = metadata_of(j, row->id);
    if (j->st == STATUS_OK)
        put_view(j, SERVED_VIEW_URLS, &f);
    json_decref(f.metadata);
}

static enum status served_export_urls(struct served_export *j)
{
    uint64_t last = frontier_store_last_id(j->r->store);

    return last > 0
               ? frontier_store_each(j->r->store, 1, last, served_put_url, j)
               : STATUS_OK;
}

static void put_one_queue(struct served_export *j, uint32_t number)
{
    struct served_record f;

    if (!served_reader_queue(j->served, number).there)
        return;
    f = served_reader_queue_record(j->served, number);
    put_view(j, SERVED_VIEW_QUEUES, &f);
}

static enum status export_queues(struct served_export *j)
{
    uint32_t n = frontier_store_queue_count(j->r->store);

    for (uint32_t q = 1; q <= n && !j->failed && j->st == STATUS_OK; q++)
        put_one_queue(j, q);
    return STATUS_OK;
}

/* Prints the service's URLs, or with `queues` its queues, as
 * docs/formats/export.md describes. Returns an enum exit_code. */
static int service_export(struct reader *r, bool queues,
                          enum record_format format)
{
    struct served_export j = {.r = r, .st = STATUS_OK};
    int code = EXIT_DONE;
    enum status st = served_reader_open(&j.served, r, clock_wall_ms());

    if (st != STATUS_OK)
        return cannot_read("export", r->dir, st);
    buf_init(&j.metadata, SERVED_BYTES_MOST);
    j.arena = arena_new(ARENA_MOST);
    record_init(&j.out, format);
    st = queues ? export_queues(&j) : served_export_urls(&j);
    if (st == STATUS_OK)
        st = j.st;
    if (st != STATUS_OK) {
        code = cannot_read("export", r->dir, st);
    } else if (fflush(stdout) != 0 || j.failed) {
        fprintf(stderr, "urlweir export: cannot write the output\n");
        code = EXIT_CANNOT;
    }
    record_fini(&j.out);
    arena_free(j.arena);
    buf_fini(&j.metadata);
    served_reader_close(j.served);
    return code;
}

struct export_settings {
    enum export_what what;
    enum record_format format;
    char *checked; /* directory of a crawl, or NULL */
    uint8_t from[3];
};

static const char *const whats[] = {"urls",    "pages",  "fetches", "links",
                                    "broken",  "errors", "drops",   "examples",
                                    "dropped", "hosts",  "queues",  NULL};
static const char *const formats[] = {"jsonl", "csv", NULL};

#define AT(f) .at = offsetof(struct export_settings, f)

/* clang-format off */
static const struct option_spec specs[] = {
    {.name = "what", .type = OPTION_CHOICE, AT(what), .fallback = "urls",
     .words = whats, .section = "Output", .arg = "WHAT",
     .help = "every URL; pages that were fetched; every fetch of a URL, tries "
             "included; links with their texts, and those that lead nowhere, "
             "if --record links kept them; URLs that failed, were denied or "
             "skipped; drops by reason and host, examples of them; dropped: "
             "one by one, those that a setting may let in; hosts or queues, "
             "which are the same. For a service's directory: urls or queues"},
    {.name = "format", .type = OPTION_CHOICE, AT(format), .fallback = "jsonl",
     .words = formats, .section = "Output", .arg = "FORMAT",
     .help = "one JSON object a line, or CSV with a header line"},
    {.name = "checked", .type = OPTION_TEXT, AT(checked), .section = "Output",
     .arg = "DIR",
     .help = "broken: links that were not followed, too, by what `urlweir "
             "crawl --check -o DIR` found out about them"},
};
/* clang-format on */

static const struct option_table table =
    OPTION_TABLE(specs, struct export_settings);

/* The outcome of a URL in eight octets, since there is one for each URL. `seq`
 * is that of its row, if it is a redirect. */
struct final {
    uint64_t seq : 40, status : 3, reason : 7, http : 10, flags : 4;
};

struct export
{
    struct reader *r;
    struct reader *checked; /* or NULL */
    struct record out;
    struct buf text, via_text, same_text;
    struct final *finals; /* by id */
    uint64_t last;
    struct in_links *in_links; /* of pages; NULL: not known */
    bool hints;                /* some URL has one */
    bool failed;               /* stdout is gone */
    bool damaged;              /* a row names a URL that is not there */
};

static void write_row(struct export *j, enum status st, struct bytes row)
{
    j->failed |=
        st != STATUS_OK || fwrite(row.at, 1, row.len, stdout) < row.len;
}

static void put_record(struct export *j, enum row_view_id view,
                       const struct url_record *f)
{
    struct bytes row;
    enum status st;

    st = column_view_write(&row_views[view], f, &j->out, &row);

    write_row(j, st, row);
}

/* ---- urls ---- */

static bool take_final(void *ctx, const struct fetch_row *row)
{
    struct export *j = ctx;

    if (row->final && row->url <= j->last)
        j->finals[row->url] =
            (struct final){.seq = row->status == OUTCOME_REDIRECT
                                      ? row->seq & DB_ID_MOST
                                      : 0,
                           .status = row->status & 7U,
                           .reason = row->reason & 127U,
                           .http = row->http_status & 1023U,
                           .flags = row->flags & 15U};
    return true;
}

/* The target of the redirect in row `seq`; the text is in j->via_text. */
static struct bytes target_of(struct export *j, uint64_t seq)
{
    uint64_t id;

    j->damaged |=
        page_store_redirect(j->r->pages, seq, &id, &j->via_text) != STATUS_OK;
    return id != 0 ? reader_url(j->r, id, &j->via_text)
                   : buf_bytes(&j->via_text);
}

/* This row has its final outcome: has a later row of the same URL replaced it?
 */
static bool came_back(struct export *j, const struct url_row *row)
{
    bool is = false;

    j->damaged |= reader_is_replaced(j->r, row, &is) != STATUS_OK;
    return is;
}

static void put_url(void *ctx, const struct url_row *row)
{
    struct export *j = ctx;
    const struct final *final = &j->finals[row->id];
    struct url_record f = url_record_empty();
    enum status st = STATUS_NOT_FOUND;

    if (j->failed || (final->status != OUTCOME_QUEUED && came_back(j, row)))
        return;
    f.url = *row;
    f.fetch.status = final->status;
    f.fetch.reason = final->reason;
    f.fetch.http_status = (uint16_t) final->http;
    f.fetch.flags = (uint8_t) final->flags;
    if (final->seq != 0)
        f.redirect_to = target_of(j, final->seq);
    if (j->hints)
        st = hint_store_get(j->r->db, row->id, &f.hint);
    j->damaged |= st != STATUS_OK && st != STATUS_NOT_FOUND;
    put_record(j, ROW_VIEW_URLS, &f);
}

static enum status export_urls(struct export *j)
{
    enum status st;

    j->finals = try_calloc(j->last + 1, sizeof *j->finals);
    if (j->finals == NULL)
        return STATUS_NOMEM;
    st = page_store_each(j->r->pages, 0, take_final, j);
    if (st == STATUS_OK)
        st = hint_store_any(j->r->db, &j->hints);
    if (st == STATUS_OK && j->last > 0)
        st = frontier_store_each(j->r->store, 1, j->last, put_url, j);
    return st;
}

/* ---- pages and errors ---- */

static void put_fetch(struct export *j, enum row_view_id view,
                      const struct fetch_row *fetch, const struct url_row *url)
{
    struct url_record f = url_record_empty();

    f.url = *url;
    f.fetch = *fetch;
    f.in_links = in_links_of(j->in_links, url->id);
    if (view == ROW_VIEW_FETCHES && fetch->status == OUTCOME_REDIRECT)
        f.redirect_to = target_of(j, fetch->seq); /* also in via_text */
    else
        f.via = reader_url(j->r, url->via, &j->via_text);
    reader_same_page(j->r, &f, &j->same_text);
    put_record(j, view, &f);
}

static bool take_fetch(void *ctx, const struct fetch_row *f, bool errors)
{
    struct export *j = ctx;
    struct outcome o = {f->status, f->reason, f->http_status};
    struct url_row u;

    if (!reader_is_newest(j->r, f) ||
        (errors ? !outcome_is_error(o) : !outcome_counts_as_page(o)))
        return true;
    if (frontier_store_get(j->r->store, f->url, &u, &j->text) != STATUS_OK) {
        j->damaged = true;
        return false;
    }
    if (!errors && link_is_sitemap(u.kind))
        return true;
    put_fetch(j, errors ? ROW_VIEW_ERRORS : ROW_VIEW_PAGES, f, &u);
    return !j->failed;
}

static bool visit_page(void *ctx, const struct fetch_row *f)
{
    return take_fetch(ctx, f, false);
}

static bool visit_error(void *ctx, const struct fetch_row *f)
{
    return take_fetch(ctx, f, true);
}

static enum status export_pages(struct export *j)
{
    enum status st = in_links_load(&j->in_links, j->r);

    return st == STATUS_OK ? page_store_each(j->r->pages, 0, visit_page, j)
                           : st;
}

/* Every try, in order of commit. */
static bool visit_fetch(void *ctx, const struct fetch_row *f)
{
    struct export *j = ctx;
    struct url_row u;

    if (frontier_store_get(j->r->store, f->url, &u, &j->text) != STATUS_OK) {
        j->damaged = true;
        return false;
    }
    put_fetch(j, ROW_VIEW_FETCHES, f, &u);
    return !j->failed && !j->damaged;
}

static enum status run_export(struct export *j, enum export_what what)
{
    enum status st = STATUS_OK;

    if (what != EXPORT_URLS && what != EXPORT_FETCHES)
        st = reader_find_newest(j->r);
    if (st != STATUS_OK)
        return st;
    switch (what) {
    case EXPORT_URLS:
        return export_urls(j);
    case EXPORT_PAGES:
        return export_pages(j);
    case EXPORT_FETCHES:
        return page_store_each(j->r->pages, 0, visit_fetch, j);
    case EXPORT_LINKS:
        return export_links(j->r, &j->out);
    case EXPORT_BROKEN:
        return export_broken(j->r, j->checked, &j->out);
    case EXPORT_ERRORS:
        return page_store_each(j->r->pages, 0, visit_error, j);
    case EXPORT_DROPS:
        return export_drops(j->r, &j->out);
    case EXPORT_EXAMPLES:
        return export_drop_examples(j->r, &j->out);
    case EXPORT_DROPPED:
        return export_dropped(j->r, &j->out);
    case EXPORT_HOSTS:
    case EXPORT_QUEUES:
        break;
    }
    return export_hosts(j->r, &j->out);
}

/* Without rows nothing has been written yet. */
static int write_head(struct export *j, const struct export_settings *s)
{
    struct buf head;

    if (s->format != RECORD_CSV || record_has_rows(&j->out))
        return EXIT_DONE;
    buf_init(&head, 4096);
    export_head(s->what, &head);
    write_row(j, buf_failed(&head), buf_bytes(&head));
    buf_fini(&head);
    if (fflush(stdout) == 0 && !j->failed)
        return EXIT_DONE;
    fprintf(stderr, "urlweir export: cannot write the output\n");
    return EXIT_CANNOT;
}

static int export(struct export *j, struct reader *r, struct reader *checked,
                  const struct export_settings *s)
{
    int code = EXIT_DONE;
    enum status st;

    if ((s->what == EXPORT_LINKS || s->what == EXPORT_BROKEN) &&
        !export_has_links(r, &code))
        return code;
    j->r = r;
    j->checked = checked;
    j->last = frontier_store_last_id(r->store);
    st = run_export(j, s->what);
    if (st == STATUS_IO && ferror(stdout)) {
        j->failed = true;
        st = STATUS_OK;
    }
    if (st != STATUS_OK || j->damaged) {
        fprintf(stderr, "urlweir export: cannot read %s\n", r->dir);
        code = st == STATUS_DAMAGED || j->damaged ? EXIT_DAMAGED : EXIT_CANNOT;
    } else if (fflush(stdout) != 0 || j->failed) {
        fprintf(stderr, "urlweir export: cannot write the output\n");
        code = EXIT_CANNOT;
    }
    free(j->finals);
    j->finals = NULL;
    in_links_free(j->in_links);
    j->in_links = NULL;
    j->hints = false;
    return code;
}

static int export_service(struct reader *r, const struct export_settings *s)
{
    bool queues = s->what == EXPORT_HOSTS || s->what == EXPORT_QUEUES;

    if (queues || s->what == EXPORT_URLS)
        return service_export(r, queues, s->format);
    fprintf(stderr,
            "urlweir export: %s is the directory of a service, which fetches "
            "nothing itself; it has --what urls and --what queues\n",
            r->dir);
    return EXIT_USAGE;
}

/* With the crawl of --checked, if it is given. */
static int export_crawl(struct export *j, struct reader *r,
                        const struct export_settings *s)
{
    struct reader checked;
    int code = EXIT_DONE;

    if (s->checked == NULL)
        return export(j, r, NULL, s);
    if (s->what != EXPORT_BROKEN) {
        fprintf(stderr, "urlweir export: --checked is about --what broken\n");
        return EXIT_USAGE;
    }
    if (open_crawl(&checked, "export", s->checked, &code)) {
        code = export(j, r, &checked, s);
        reader_close(&checked);
    }
    return code;
}

struct exporting {
    const struct export_settings *s;
    struct export j;
    bool service;
};

static int export_dir(void *ctx, const struct crawl_dir *d)
{
    struct exporting *x = ctx;
    struct reader r;
    int code = EXIT_DONE;

    if (!open_crawl(&r, "export", d->path, &code))
        return code;
    x->service = is_service(&r);
    code =
        x->service ? export_service(&r, x->s) : export_crawl(&x->j, &r, x->s);
    reader_close(&r);
    return code;
}

static int export_run(const struct usage *u, void *settings,
                      const struct option_list *operands)
{
    const struct export_settings *s = settings;
    struct exporting x = {.s = s};
    int code;

    buf_init(&x.j.text, URL_LENGTH_CEILING + 64);
    buf_init(&x.j.via_text, URL_LENGTH_CEILING + 64);
    buf_init(&x.j.same_text, URL_LENGTH_CEILING + 64);
    record_init(&x.j.out, s->format);
    code = crawl_dirs_each(u->name, operands->item[0], bytes_of("", 0),
                           export_dir, &x);
    if (code == EXIT_DONE && !x.service)
        code = write_head(&x.j, s);
    record_fini(&x.j.out);
    buf_fini(&x.j.text);
    buf_fini(&x.j.via_text);
    buf_fini(&x.j.same_text);
    return code;
}

const struct usage export_usage = {
    .name = "export",
    .synopsis =
        "export DIR|kafka://HOST/NAME [--what WHAT] [--format jsonl|csv]",
    .about = "Writes the data of a crawl, or of a service's frontier, to "
             "stdout; the fields are described in docs/formats/export.md. "
             "Works while it runs.",
    .table = &table,
    .least = 1,
    .most = 1,
    .operand = "a directory of crawl or serve, or the URL of a crawl in Kafka",
    .run = export_run,
};
