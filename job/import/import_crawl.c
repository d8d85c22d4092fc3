/* SPDX-License-Identifier: MIT */
/* import_crawl.c - reads what a crawl of ours knows, for another one. */
#include "job/import/import_crawl.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "frontier/reader.h"
#include "storage/rows/drop_log.h"
#include "storage/rows/served_log.h"

#define ROWS 1000

struct reading {
    struct import_sink *sink;
    struct reader r;
    struct buf text;
    struct import_host *hosts; /* by queue - 1 */
    uint32_t host_count;
    /* rows of a step, whose URLs are in `text` one after the other */
    struct url_row row[ROWS];
    size_t rows;
    enum status st; /* of a visit */
};

/* ---- URLs ---- */

/* `f`: its last fetch; NULL: it waits. */
static enum status put(struct reading *c, const struct url_row *row,
                       const struct fetch_row *f)
{
    struct url_hint hint;
    struct import_row found = {.depth = row->depth,
                               .hops = row->hops,
                               .kind = row->kind,
                               .seed = (row->flags & URL_ROW_SEED) != 0,
                               .fetch = f};
    const struct import_record r = {
        .url = row->url,
        .status = f != NULL ? (enum outcome_status)f->status : OUTCOME_QUEUED,
        .http_status = f != NULL ? f->http_status : 0,
        .at_ms = f != NULL ? f->at_ms : 0,
        .row = &found};
    const char *wrong = NULL;
    enum status st = hint_store_get(c->r.hints, row->id, &hint);

    if (st == STATUS_OK)
        found.hint = &hint;
    else if (st != STATUS_NOT_FOUND)
        return st;
    st = import_sink_put(c->sink, c->r.dir, &r, &wrong);
    return st == STATUS_OK && wrong != NULL ? STATUS_DAMAGED : st;
}

static void note_row(void *ctx, const struct url_row *row)
{
    struct reading *c = ctx;

    buf_add_bytes(&c->text, row->url);
    c->row[c->rows++] = *row;
}

/* In the order in which they were found, so that they are asked in it. */
static enum status put_waiting(struct reading *c)
{
    uint64_t last = frontier_store_last_id(c->r.store);
    enum status st = STATUS_OK;

    for (uint64_t at = 1; st == STATUS_OK && at <= last; at += ROWS) {
        size_t text = 0;

        c->rows = 0;
        buf_clear(&c->text);
        st = frontier_store_each(c->r.store, at, at + ROWS - 1, note_row, c);
        if (st == STATUS_OK)
            st = buf_failed(&c->text);
        for (size_t i = 0; st == STATUS_OK && i < c->rows; i++) {
            struct url_row *row = &c->row[i];

            row->url = bytes_of(c->text.at + text, row->url.len);
            text += row->url.len;
            if (!frontier_store_is_done(c->r.store, row->id))
                st = put(c, row, NULL);
        }
    }
    return st;
}

static bool put_done(void *ctx, const struct fetch_row *f)
{
    struct reading *c = ctx;
    struct fetch_row last = *f;
    struct url_row row;

    if (!reader_is_newest(&c->r, f))
        return true;
    c->st = frontier_store_get(c->r.store, f->url, &row, &c->text);
    if (c->st == STATUS_OK && f->redirect_to != 0) { /* by its text */
        struct buf target;

        buf_init(&target, URL_LENGTH_CEILING);
        last.redirect_url = reader_url(&c->r, f->redirect_to, &target);
        c->st = put(c, &row, &last);
        buf_fini(&target);
    } else if (c->st == STATUS_OK) {
        c->st = put(c, &row, &last);
    }
    return c->st == STATUS_OK;
}

static enum status put_all_done(struct reading *c)
{
    enum status st = reader_find_newest(&c->r);

    c->st = STATUS_OK;
    if (st == STATUS_OK)
        st = page_store_each(c->r.pages, 0, put_done, c);
    return st == STATUS_OK ? c->st : st;
}

/* ---- links that were kept out ---- */

static enum status put_block(struct reading *c, const struct drop_block *b)
{
    enum status st = STATUS_OK;

    for (size_t i = 0; st == STATUS_OK && i < b->count; i++) {
        const struct kept_drop *k = &b->at[i];

        if (k->id == 0 && !k->sent) /* others come with their rows */
            st = import_sink_drop(
                c->sink,
                (struct url_drop){.reason = (enum outcome_reason)k->reason,
                                  .url = k->text,
                                  .kind = k->kind,
                                  .hops = k->hops,
                                  .depth = k->depth,
                                  .place = (uint32_t)k->place});
    }
    return st;
}

static enum status put_drops(struct reading *c)
{
    struct drop_log *log = NULL;
    struct drop_block b = {.number = 0};
    enum status st = drop_log_open(&log, c->r.db);

    while (st == STATUS_OK) {
        st = drop_log_next(log, b.number, UINT64_MAX, &b);
        if (st == STATUS_OK)
            st = put_block(c, &b);
    }
    drop_log_close(log);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

/* ---- hosts ---- */

static struct import_host *host_of(struct reading *c, uint32_t queue)
{
    return queue >= 1 && queue <= c->host_count ? &c->hosts[queue - 1] : NULL;
}

static void take_state(void *ctx, uint32_t queue, const struct queue_state *s)
{
    struct import_host *h = host_of(ctx, queue);

    if (h != NULL)
        h->blocked_until_ms = s->blocked_until_ms;
}

static void take_set(void *ctx, uint32_t queue,
                     const struct served_queue_row *row)
{
    struct import_host *h = host_of(ctx, queue);

    if (h == NULL)
        return;
    h->delay_ms = row->delay_ms;
    h->most = row->completed_most;
    h->done = row->completed;
}

static enum status put_hosts(struct reading *c)
{
    struct served_log *log = NULL;
    enum status st;

    c->host_count = frontier_store_queue_count(c->r.store);
    c->hosts = xcalloc(c->host_count + 1, sizeof *c->hosts);
    for (uint32_t i = 0; i < c->host_count; i++)
        c->hosts[i].delay_ms = -1;
    st = frontier_store_each_queue_state(c->r.store, take_state, c);
    if (st == STATUS_OK)
        st = served_log_open(&log, c->r.db);
    if (st == STATUS_OK)
        st = served_log_each_queue(log, take_set, c);
    served_log_close(log);
    for (uint32_t i = 0; st == STATUS_OK && i < c->host_count; i++) {
        struct bytes crawl;

        frontier_store_queue_name(c->r.store, i + 1, &crawl, &c->hosts[i].key);
        st = import_sink_host(c->sink, &c->hosts[i]);
    }
    free(c->hosts);
    return st;
}

/* ---- all ---- */

static enum status may_read(struct reading *c, struct buf *why)
{
    if (c->r.holder == 0)
        return STATUS_OK;
    buf_addf(why, "%s: process %ld runs that crawl; stop it first", c->r.dir,
             c->r.holder);
    return STATUS_REFUSED;
}

enum status import_crawl(struct import_sink *k, const char *dir,
                         struct buf *why)
{
    struct reading *c = xcalloc(1, sizeof *c);
    enum status st = reader_open(&c->r, dir);

    c->sink = k;
    buf_init(&c->text, (size_t)ROWS * URL_LENGTH_CEILING);
    if (st != STATUS_OK) {
        buf_addf(why, "%s: %s", dir, status_text(st));
        buf_fini(&c->text);
        free(c);
        return st;
    }
    st = may_read(c, why);
    if (st == STATUS_OK)
        st = put_waiting(c);
    if (st == STATUS_OK)
        st = put_all_done(c);
    if (st == STATUS_OK)
        st = import_sink_flush(k);
    if (st == STATUS_OK)
        st = put_drops(c);
    if (st == STATUS_OK)
        st = put_hosts(c);
    if (st != STATUS_OK && why->len == 0)
        buf_addf(why, "%s: %s", dir, status_text(st));
    reader_close(&c->r);
    buf_fini(&c->text);
    free(c);
    return st;
}
