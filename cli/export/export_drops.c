/* SPDX-License-Identifier: MIT */
/* export_drops.c - `urlweir export` of links that were dropped. */
#include "cli/export/export_drops.h"

#include <stdio.h>

#include "crawler/html/link_kinds.h"
#include "frontier/outcome.h"
#include "storage/rows/drop_log.h"

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
