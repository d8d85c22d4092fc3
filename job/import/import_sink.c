/* SPDX-License-Identifier: MIT */
/* import_sink.c - puts what another crawler knew into a new crawl. */
#include "job/import/import_sink.h"

#include <inttypes.h>
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
    struct bytes *const all[] = {&row->redirect_url,  &row->mime, &row->charset,
                                 &row->title,         &row->lang, &row->ip,
                                 &row->detail,        &row->etag, &row->meta,
                                 &row->last_modified, NULL};
    enum status st = STATUS_OK;

    for (size_t i = 0; st == STATUS_OK && all[i] != NULL; i++)
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

enum status import_sink_drop(struct import_sink *k, struct url_drop d)
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

enum status import_sink_host(struct import_sink *k, const struct import_host *h)
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
