/* SPDX-License-Identifier: MIT */
/*
 * cmd_export.c - `urlweir export`: a crawl's data as JSON Lines or CSV.
 *
 * The fetch table has no index by URL (it would cost a page of disk for each
 * URL), so the outcomes are read first into four bytes an id.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/inspect/service_export.h"
#include "cli/open_crawl.h"
#include "cli/report/record.h"
#include "crawler/html/links.h"
#include "frontier/outcome.h"

enum export_what {
    EXPORT_URLS,
    EXPORT_PAGES,
    EXPORT_LINKS,
    EXPORT_ERRORS,
    EXPORT_SKIPS,
    EXPORT_HOSTS,
    EXPORT_QUEUES
};

struct export_settings {
    enum export_what what;
    enum record_format format;
    uint8_t from[2];
};

static const char *const whats[] = {"urls",  "pages", "links",  "errors",
                                    "skips", "hosts", "queues", NULL};
static const char *const formats[] = {"jsonl", "csv", NULL};

static const struct option_spec specs[] = {
    {.name = "what",
     .type = OPTION_CHOICE,
     .at = offsetof(struct export_settings, what),
     .fallback = "urls",
     .words = whats,
     .flags = OPTION_LINE_ONLY,
     .section = "Output",
     .arg = "WHAT",
     .help =
         "every URL; pages that were fetched; links between URLs, where "
         "--record links kept them; URLs that failed, were denied or "
         "skipped; links dropped before admission; hosts, or queues, which is "
         "the same. Of a service's directory: urls or queues"},
    {.name = "format",
     .type = OPTION_CHOICE,
     .at = offsetof(struct export_settings, format),
     .fallback = "jsonl",
     .words = formats,
     .flags = OPTION_LINE_ONLY,
     .section = "Output",
     .arg = "FORMAT",
     .help = "one JSON object a line, or CSV with a head line"},
};

static const struct option_table table = {specs, sizeof specs / sizeof *specs,
                                          offsetof(struct export_settings,
                                                   from)};

static const struct usage usage = {
    .name = "export",
    .synopsis =
        "export DIR [--what urls|pages|links|errors|skips|hosts|queues] "
        "[--format jsonl|csv]",
    .about = "Writes the data of a crawl, or of a service's frontier, to "
             "stdout; the fields are described in docs/formats/export.md. "
             "Works while it runs.",
    .table = &table,
    .least = 1,
    .most = 1,
    .operand = "a directory of crawl or serve",
};

struct final {
    uint8_t status, reason;
    uint16_t http;
};

struct job {
    struct reader *r;
    struct record out;
    struct buf text, via_text;
    struct final *finals; /* by id */
    uint64_t last;
    struct url_row from; /* page whose links are written; its URL in `text` */
    bool hints;          /* some URL has one */
    bool failed;         /* stdout is gone */
    bool damaged;        /* a row names a URL that is not there */
};

static struct outcome outcome_of(const struct final *f)
{
    return (struct outcome){f->status, f->reason, f->http};
}

static void put_outcome(struct record *out, struct outcome o)
{
    char reason[24];

    outcome_reason_text(o, reason, sizeof reason);
    record_str(out, "status", outcome_status_name(o.status));
    record_str(out, "reason", reason[0] != '\0' ? reason : NULL);
    record_some(out, "http_status", o.http_status);
}

static void end_row(struct job *j)
{
    j->failed |= !record_end(&j->out);
}

/* ---- urls ---- */

static bool take_final(void *ctx, const struct fetch_row *row)
{
    struct job *j = ctx;

    if (row->final && row->url <= j->last)
        j->finals[row->url] =
            (struct final){row->status, row->reason, row->http_status};
    return true;
}

/* What a sitemap says of a URL; asked only where there are sitemaps. */
static void put_hint(struct job *j, uint64_t id)
{
    struct url_hint h = {.priority = HINT_NO_PRIORITY,
                         .lastmod_ms = HINT_NO_LASTMOD};
    enum status st =
        j->hints ? hint_store_get(j->r->hints, id, &h) : STATUS_NOT_FOUND;
    bool dated = h.lastmod_ms != HINT_NO_LASTMOD;
    char time[CLOCK_ISO_SIZE];

    j->damaged |= st != STATUS_OK && st != STATUS_NOT_FOUND;
    if (dated)
        clock_iso(time, h.lastmod_ms);
    record_thousandths(&j->out, "priority", h.priority);
    record_str(&j->out, "lastmod", dated ? time : NULL);
    record_str(&j->out, "changefreq",
               h.changefreq != CHANGEFREQ_NONE ? changefreq_name(h.changefreq)
                                               : NULL);
}

static void put_url(void *ctx, const struct url_row *row)
{
    struct job *j = ctx;

    if (j->failed)
        return;
    record_text(&j->out, "url", row->url);
    put_outcome(&j->out, outcome_of(&j->finals[row->id]));
    record_uint(&j->out, "depth", row->depth);
    record_str(&j->out, "kind", link_kind_name(row->kind));
    record_bool(&j->out, "seed", (row->flags & URL_ROW_SEED) != 0);
    record_bool(&j->out, "false_positive",
                (row->flags & URL_ROW_FALSE_POSITIVE) != 0);
    record_time(&j->out, "found_at", row->found_at_ms);
    record_uint(&j->out, "id", row->id);
    record_some(&j->out, "via", row->via);
    put_hint(j, row->id);
    end_row(j);
}

static enum status export_urls(struct job *j)
{
    enum status st;

    j->finals = try_calloc(j->last + 1, sizeof *j->finals);
    if (j->finals == NULL)
        return STATUS_NOMEM;
    st = page_store_each(j->r->pages, 0, take_final, j);
    if (st == STATUS_OK)
        st = hint_store_any(j->r->hints, &j->hints);
    if (st == STATUS_OK && j->last > 0)
        st = frontier_store_each(j->r->store, 1, j->last, put_url, j);
    return st;
}

/* ---- pages and errors ---- */

static struct bytes some(struct bytes b)
{
    return b.len > 0 ? b : bytes_of(NULL, 0);
}

/* The URL that row was found on; absent for seeds. */
static void put_via(struct job *j, const struct url_row *row)
{
    struct url_row via = {.url = {NULL, 0}};

    if (row->via != 0 && frontier_store_get(j->r->store, row->via, &via,
                                            &j->via_text) != STATUS_OK)
        via.url = bytes_of(NULL, 0);
    record_text(&j->out, "via", via.url);
}

/* The URL whose body this one repeats. */
static void put_same(struct job *j, const struct fetch_row *f)
{
    uint64_t id =
        f->same_as != 0 ? page_store_url_of(j->r->pages, f->same_as) : 0;
    struct url_row first = {.url = {NULL, 0}};

    if (id != 0 &&
        frontier_store_get(j->r->store, id, &first, &j->via_text) != STATUS_OK)
        first.url = bytes_of(NULL, 0);
    record_text(&j->out, "same_as", first.url);
}

static void put_page(struct job *j, const struct fetch_row *f,
                     const struct url_row *u)
{
    char digest[33];
    struct outcome o = {f->status, f->reason, f->http_status};

    snprintf(digest, sizeof digest, "%016llx%016llx",
             (unsigned long long)f->body_digest.hi,
             (unsigned long long)f->body_digest.lo);
    record_text(&j->out, "url", u->url);
    put_outcome(&j->out, o);
    record_text(&j->out, "mime", some(f->mime));
    record_text(&j->out, "charset", some(f->charset));
    record_text(&j->out, "title", some(f->title));
    record_text(&j->out, "lang", some(f->lang));
    record_uint(&j->out, "body_bytes", f->body_bytes);
    record_uint(&j->out, "wire_bytes", f->wire_bytes);
    record_str(&j->out, "body_digest",
               (f->body_digest.hi | f->body_digest.lo) != 0 ? digest : NULL);
    record_uint(&j->out, "links", f->links);
    record_uint(&j->out, "depth", u->depth);
    record_uint(&j->out, "tries", f->tries);
    record_time(&j->out, "fetched_at", f->at_ms);
    record_seconds(&j->out, "elapsed", f->elapsed_ms);
    record_text(&j->out, "ip", some(f->ip));
    record_text(&j->out, "etag", some(f->etag));
    record_text(&j->out, "last_modified", some(f->last_modified));
    put_via(j, u);
    record_seconds(&j->out, "first_byte", f->first_byte_ms);
    put_same(j, f);
    end_row(j);
}

static void put_error(struct job *j, const struct fetch_row *f,
                      const struct url_row *u)
{
    struct outcome o = {f->status, f->reason, f->http_status};

    record_text(&j->out, "url", u->url);
    put_outcome(&j->out, o);
    record_text(&j->out, "detail", some(f->detail));
    record_uint(&j->out, "depth", u->depth);
    record_uint(&j->out, "tries", f->tries);
    record_time(&j->out, "at", f->at_ms);
    put_via(j, u);
    end_row(j);
}

static bool take_fetch(void *ctx, const struct fetch_row *f, bool errors)
{
    struct job *j = ctx;
    struct outcome o = {f->status, f->reason, f->http_status};
    bool is_error = o.status == OUTCOME_FAILED || o.status == OUTCOME_DENIED ||
                    o.status == OUTCOME_SKIPPED;
    struct url_row u;

    if (!f->final || (errors ? !is_error : !outcome_counts_as_page(o)))
        return true;
    if (frontier_store_get(j->r->store, f->url, &u, &j->text) != STATUS_OK) {
        j->damaged = true;
        return false;
    }
    if (!errors && link_is_sitemap(u.kind))
        return true;
    if (errors)
        put_error(j, f, &u);
    else
        put_page(j, f, &u);
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

/* ---- links ---- */

static bool put_link(void *ctx, const struct link_row *l)
{
    struct job *j = ctx;
    struct url_row to;
    enum status st = STATUS_OK;

    if (l->from != j->from.id)
        st = frontier_store_get(j->r->store, l->from, &j->from, &j->text);
    if (st == STATUS_OK)
        st = frontier_store_get(j->r->store, l->to, &to, &j->via_text);
    if (st != STATUS_OK) {
        j->damaged = true;
        return false;
    }
    record_text(&j->out, "src", j->from.url);
    record_text(&j->out, "dst", to.url);
    record_str(&j->out, "kind", link_kind_name(l->kind));
    end_row(j);
    return !j->failed;
}

/* Is there a link graph? Says so where it is not whole. */
static bool has_links(const struct reader *r, int *code)
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

/* ---- skips and hosts ---- */

static void put_skip(void *ctx, const struct skip_row *row)
{
    struct job *j = ctx;

    if (j->failed)
        return;
    record_text(&j->out, "reason", row->reason);
    record_text(&j->out, "host", some(row->host));
    record_some(&j->out, "count", row->count);
    record_text(&j->out, "example", some(row->url));
    record_some(&j->out, "via", row->via);
    record_time(&j->out, "at", row->at_ms);
    end_row(j);
}

static enum status export_skips(struct job *j)
{
    enum status st = frontier_store_each_skip(j->r->store, false, put_skip, j);

    if (st == STATUS_OK)
        st = frontier_store_each_skip(j->r->store, true, put_skip, j);
    return st;
}

static enum status export_hosts(struct job *j)
{
    uint32_t n = frontier_store_queue_count(j->r->store);

    for (uint32_t q = 1; q <= n && !j->failed; q++) {
        struct bytes crawl, key;

        frontier_store_queue_name(j->r->store, q, &crawl, &key);
        record_text(&j->out, "host", key);
        record_uint(&j->out, "queued", frontier_store_pending(j->r->store, q));
        end_row(j);
    }
    return STATUS_OK;
}

static enum status run(struct job *j, enum export_what what)
{
    switch (what) {
    case EXPORT_URLS:
        return export_urls(j);
    case EXPORT_PAGES:
        return page_store_each(j->r->pages, 0, visit_page, j);
    case EXPORT_LINKS:
        return link_store_each(j->r->links, put_link, j);
    case EXPORT_ERRORS:
        return page_store_each(j->r->pages, 0, visit_error, j);
    case EXPORT_SKIPS:
        return export_skips(j);
    case EXPORT_HOSTS:
    case EXPORT_QUEUES:
        break;
    }
    return export_hosts(j);
}

static int export(struct reader *r, const struct export_settings *s)
{
    struct job j = {.r = r, .last = frontier_store_last_id(r->store)};
    int code = EXIT_DONE;
    enum status st;

    if (s->what == EXPORT_LINKS && !has_links(r, &code))
        return code;
    buf_init(&j.text, URL_LENGTH_CEILING + 64);
    buf_init(&j.via_text, URL_LENGTH_CEILING + 64);
    record_init(&j.out, stdout, s->format);
    st = run(&j, s->what);
    if (st != STATUS_OK || j.damaged) {
        fprintf(stderr, "urlweir export: cannot read %s\n", r->dir);
        code = st == STATUS_DAMAGED || j.damaged ? EXIT_DAMAGED : EXIT_CANNOT;
    } else if (fflush(stdout) != 0 || j.failed) {
        fprintf(stderr, "urlweir export: cannot write the output\n");
        code = EXIT_CANNOT;
    }
    record_fini(&j.out);
    buf_fini(&j.text);
    buf_fini(&j.via_text);
    free(j.finals);
    return code;
}

static int export_service(struct reader *r, const struct export_settings *s)
{
    bool queues = s->what == EXPORT_HOSTS || s->what == EXPORT_QUEUES;

    if (queues || s->what == EXPORT_URLS)
        return service_export(r, queues, s->format);
    fprintf(stderr,
            "urlweir export: %s is the directory of a service, which fetches "
            "nothing itself; --what urls and --what queues are there\n",
            r->dir);
    return EXIT_USAGE;
}

int cmd_export(int argc, char **argv)
{
    struct export_settings s;
    struct option_list operands = {0};
    struct reader r;
    int code = EXIT_DONE;

    if (!command_line_parse(&usage, argc, argv, &s, &operands, &code))
        return code;
    if (open_crawl(&r, "export", operands.item[0], &code)) {
        code = is_service(&r) ? export_service(&r, &s) : export(&r, &s);
        reader_close(&r);
    }
    option_list_free(&operands);
    return code;
}
