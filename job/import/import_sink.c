/* SPDX-License-Identifier: MIT */
/* import_sink.c - puts what another crawler knew into a new crawl, and reads
 * what a crawl of ours knew. */
#include "job/import/import_sink.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/mem.h"
#include "crawler/html/link_values.h"
#include "frontier/candidate.h"
#include "frontier/crawl/schedule.h"
#include "frontier/reader.h"
#include "job/settings/seeds.h"
#include "storage/rows/drop_log.h"
#include "storage/rows/served_log.h"

#define BATCH     256
#define FILE_MOST 100 /* octets of a file's name in an explanation */
#define ROWS_MOST ((size_t)64 << 20) /* octets of the rows of a batch */

struct import_sink {
    struct frontier *frontier;
    struct candidate_rules rules;
    const char *format;
    struct import_counts counts;
    struct url url; /* of the record */
    struct buf detail;
    size_t n; /* of the batch */
    struct url_item items[BATCH];
    struct import_fact facts[BATCH];
    struct fetch_row rows[BATCH];
    struct url_hint hints[BATCH];
    struct shard_number shard; /* the others' URLs are left out */
    struct arena *texts;       /* of the batch */
};

struct import_sink *import_sink_new(struct frontier *f, struct crawl_setup *c,
                                    const char *format)
{
    struct import_sink *k = xcalloc(1, sizeof *k);

    k->frontier = f;
    k->rules = c->fetch.rules;
    k->rules.digest_key = frontier_get_digest_key(f);
    k->format = format;
    k->shard = c->frontier.shard;
    k->texts = arena_new(ROWS_MOST);
    url_init(&k->url);
    buf_init(&k->detail, 1000);
    return k;
}

void import_sink_free(struct import_sink *k)
{
    if (k == NULL)
        return;
    arena_free(k->texts);
    buf_fini(&k->detail);
    url_fini(&k->url);
    free(k);
}

struct import_counts import_sink_counts(const struct import_sink *k)
{
    struct import_counts c = k->counts;
    struct frontier_counts s;

    frontier_get_counts(k->frontier, &s);
    c.waiting = s.queued; /* seeds too, if they are not done */
    return c;
}

void import_sink_other(struct import_sink *k)
{
    k->counts.other++;
}

/* ---- batches ---- */

static void count(struct import_sink *k, enum import_answer answer,
                  enum outcome_status status)
{
    struct import_counts *c = &k->counts;

    if (answer == IMPORT_KNOWN || answer == IMPORT_DROPPED) {
        c->repeated += answer == IMPORT_KNOWN;
        c->dropped += answer == IMPORT_DROPPED;
        return;
    }
    c->known += status == OUTCOME_SKIPPED;
    c->failed += status == OUTCOME_FAILED;
    c->done += status != OUTCOME_QUEUED && status != OUTCOME_SKIPPED;
}

enum status import_sink_flush(struct import_sink *k)
{
    enum import_answer answers[BATCH];
    struct frontier *f = k->frontier;
    int64_t now = clock_mono(), wall = clock_wall_ms();
    enum status st =
        frontier_import(f, k->items, k->facts, k->n, now, wall, answers);

    for (size_t i = 0; st == STATUS_OK && i < k->n; i++)
        count(k, answers[i], k->facts[i].outcome.status);
    k->n = 0;
    arena_reset(k->texts);
    fault_point("import-batch");
    return st == STATUS_OK ? frontier_turn(f, false, now, wall, NULL) : st;
}

/* ---- one record ---- */

/* "nutch-dump: db_gone, crawldb.txt line 12" */
static void explain(struct import_sink *k, const char *file,
                    const struct import_record *r)
{
    const char *slash = strrchr(file, '/');
    struct bytes name = bytes_of_str(slash != NULL ? slash + 1 : file);

    if (name.len > FILE_MOST || !bytes_is_utf8(name))
        name = bytes_of_str("a file");
    buf_clear(&k->detail);
    buf_addf(&k->detail, "%s: %s, ", k->format, r->word);
    buf_add_bytes(&k->detail, name);
    buf_addf(&k->detail, " line %" PRIu64, r->line);
}

/* Borrowed until the batch is put. STATUS_LIMIT: no room for it. */
static enum status keep(struct import_sink *k, struct bytes *text)
{
    text->at = arena_try_copy(k->texts, text->at, text->len);
    return text->at != NULL ? STATUS_OK : STATUS_LIMIT;
}

static enum status keep_row(struct import_sink *k, struct fetch_row *row)
{
    struct bytes *const all[] = {&row->redirect_url, &row->mime, &row->charset,
                                 &row->title,        &row->lang, &row->ip,
                                 &row->detail,       &row->etag, &row->meta,
                                 &row->last_modified};
    const size_t count = sizeof all / sizeof all[0];
    enum status st = STATUS_OK;

    for (size_t i = 0; st == STATUS_OK && i < count; i++)
        st = keep(k, all[i]);
    row->warc_file = bytes_of("", 0); /* it stays where it is */
    row->warc_offset = row->warc_length = 0;
    return st;
}

static enum status add_fact(struct import_sink *k, const char *file,
                            const struct import_record *r)
{
    struct import_fact *fact = &k->facts[k->n];

    *fact = (struct import_fact){.at_ms = r->at_ms};
    if (r->status == OUTCOME_QUEUED)
        return STATUS_OK;
    fact->outcome =
        (struct outcome){r->status, REASON_IMPORTED, r->http_status};
    if (r->row != NULL) {
        fact->outcome.reason = (enum outcome_reason)r->row->fetch->reason;
        fact->row = &k->rows[k->n];
        k->rows[k->n] = *r->row->fetch;
        return keep_row(k, &k->rows[k->n]);
    }
    explain(k, file, r);
    fact->detail = buf_bytes(&k->detail);
    return keep(k, &fact->detail);
}

static enum status add(struct import_sink *k, struct url_item item,
                       const char *file, const struct import_record *r)
{
    struct bytes url;
    enum status st;

    candidate_identify(&k->rules, &k->url, &item);
    url = item.url;
    st = keep(k, &url);
    if (st == STATUS_OK)
        st = add_fact(k, file, r);
    if (st != STATUS_OK)
        return st;
    candidate_moved(&item, url.at);
    if (item.hint != NULL) {
        k->hints[k->n] = *item.hint;
        item.hint = &k->hints[k->n];
    }
    k->items[k->n++] = item;
    return k->n == BATCH ? import_sink_flush(k) : STATUS_OK;
}

/* A link that a setting of the other crawl kept out, without `host`. */
static enum status import_sink_drop(struct import_sink *k, struct url_drop d)
{
    struct frontier *f = k->frontier;

    if (candidate_read(&k->rules, &k->url, d.url, NULL) != URL_OK ||
        shard_is_other(k->shard, url_host(&k->url)))
        return STATUS_OK;
    d.host = url_host(&k->url);
    d.url = url_text(&k->url);
    d.whole = true;
    return external_discover(f, NULL, 0, &d, 1, clock_mono(), clock_wall_ms(),
                             NULL);
}

static enum status import_sink_host(struct import_sink *k,
                                    const struct import_host *h)
{
    struct frontier *f = k->frontier;
    int64_t now = clock_mono(), wall = clock_wall_ms();
    uint32_t queue = frontier_find_queue(f, h->key);
    enum status st = STATUS_OK;

    if (queue == 0) /* another shard's, or without URLs */
        return STATUS_OK;
    if (h->delay_ms >= 0)
        st = frontier_delay(f, h->key, h->delay_ms, now);
    if (st == STATUS_OK && h->most > 0)
        st = frontier_limit_queue(f, queue, h->most, h->done, now);
    if (st == STATUS_OK && h->blocked_until_ms > wall)
        st = frontier_block(f, h->key,
                            now + schedule_left(h->blocked_until_ms, wall,
                                                SCHEDULE_PUT_OFF_MOST_MS),
                            now, wall);
    return st;
}

/* A waiting URL that the crawl's own rules keep out. */
static enum status drop(struct import_sink *k, const struct url_item *item,
                        enum outcome_reason reason)
{
    const struct url_drop d = {.reason = reason,
                               .host = url_host(&k->url),
                               .url = url_text(&k->url),
                               .whole = true,
                               .kind = item->kind,
                               .hops = item->hops,
                               .depth = item->depth};
    struct frontier *f = k->frontier;

    k->counts.dropped++;
    return external_discover(f, NULL, 0, &d, 1, clock_mono(), clock_wall_ms(),
                             NULL);
}

/* Does the scope keep a waiting URL out? One that is a part of a page may be
 * anywhere, as the other crawler had it. */
static enum outcome_reason why_not(struct import_sink *k,
                                   const struct url_item *item,
                                   const struct import_record *r)
{
    struct scope_verdict v = {.in = true};

    if (r->status != OUTCOME_QUEUED || (r->row != NULL && !r->row->unjudged))
        return REASON_NONE;
    v = scope_check_kind(k->rules.scope, &k->url, item->depth, item->kind);
    if (r->embedded && v.reason == REASON_SCOPE)
        return REASON_NONE;
    return v.in ? REASON_NONE : v.reason;
}

enum status import_sink_put(struct import_sink *k, const char *file,
                            const struct import_record *r, const char **why)
{
    const bool opens = r->row != NULL
                           ? r->row->depth == 0
                           : r->status == OUTCOME_QUEUED && !r->embedded;
    struct url_item item = {.kind = LINK_IMPORT, .depth = !opens};
    enum outcome_reason dropped;
    enum url_reason wrong;

    *why = NULL;
    wrong = candidate_read(&k->rules, &k->url, r->url, NULL);
    if (wrong == URL_SCHEME) {
        k->counts.other++;
        return STATUS_OK;
    }
    if (wrong != URL_OK) {
        *why = seeds_explain(wrong);
        return STATUS_OK;
    }
    if (shard_is_other(k->shard, url_host(&k->url)))
        return STATUS_OK;
    if (r->row != NULL)
        item = (struct url_item){.depth = r->row->depth,
                                 .hops = r->row->hops,
                                 .kind = r->row->kind,
                                 .seed = r->row->seed,
                                 .hint = r->row->hint};
    dropped = why_not(k, &item, r);
    if (dropped != REASON_NONE)
        return drop(k, &item, dropped);
    if (opens)
        scope_add_seed(k->rules.scope, &k->url);
    return add(k, item, file, r);
}

/* ---- reads what a crawl of ours knows, for another one ---- */

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
    enum status st = hint_store_get(c->r.db, row->id, &hint);

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
