/* SPDX-License-Identifier: MIT */
/*
 * cmd_export.c - `urlweir export`: a crawl's data as JSON Lines or CSV.
 *
 * The fetch table has no index by URL (it would cost a page of disk for each
 * URL), so this first reads the outcomes into eight bytes an id.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/record.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/export/export_head.h"
#include "cli/export/export_rows.h"
#include "cli/export/service_export.h"
#include "cli/open_crawl.h"
#include "cli/shards/crawl_dirs.h"
#include "crawler/html/link_values.h"
#include "crawler/url_columns.h"
#include "frontier/outcome.h"
#include "storage/db/db_row.h"

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
};

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
        st = hint_store_get(j->r->hints, row->id, &f.hint);
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
        st = hint_store_any(j->r->hints, &j->hints);
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

int cmd_export(int argc, char **argv)
{
    struct export_settings s;
    struct exporting x = {.s = &s};
    struct option_list operands = {0};
    int code = EXIT_DONE;

    if (!command_line_parse(&export_usage, argc, argv, &s, &operands, &code))
        return code;
    buf_init(&x.j.text, URL_LENGTH_CEILING + 64);
    buf_init(&x.j.via_text, URL_LENGTH_CEILING + 64);
    buf_init(&x.j.same_text, URL_LENGTH_CEILING + 64);
    record_init(&x.j.out, s.format);
    code = crawl_dirs_each("export", operands.item[0], bytes_of("", 0),
                           export_dir, &x);
    if (code == EXIT_DONE && !x.service)
        code = write_head(&x.j, &s);
    record_fini(&x.j.out);
    buf_fini(&x.j.text);
    buf_fini(&x.j.via_text);
    buf_fini(&x.j.same_text);
    option_list_free(&operands);
    option_fini(&table, &s);
    return code;
}
