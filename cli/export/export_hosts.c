/* SPDX-License-Identifier: MIT */
/*
 * export_hosts.c - `urlweir export --what hosts`: each host, and what came of
 * its URLs.
 *
 * A fetch row names its URL and not its host, so one pass over the URLs notes
 * the queue of each, and one over the fetches counts.
 */
#include "cli/export/export_hosts.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cli/status/stored_hosts.h"
#include "crawler/html/link_kinds.h"
#include "frontier/outcome.h"

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
