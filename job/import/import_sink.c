/* SPDX-License-Identifier: MIT */
/* import_sink.c - puts what another crawler knew into a new crawl. */
#include "job/import/import_sink.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/mem.h"
#include "crawler/html/link_kinds.h"
#include "frontier/candidate.h"
#include "job/settings/seeds.h"

#define BATCH     256
#define FILE_MOST 100 /* octets of a file's name in an explanation */

struct import_sink {
    struct engine *engine;
    struct candidate_rules rules;
    const char *format;
    struct import_counts counts;
    struct url url; /* of the record */
    struct buf detail;
    size_t n; /* of the batch */
    struct engine_item items[BATCH];
    struct import_fact facts[BATCH];
    char *urls[BATCH], *details[BATCH];
};

struct import_sink *import_sink_new(struct engine *e, struct crawl_setup *c,
                                    const char *format)
{
    struct import_sink *k = xcalloc(1, sizeof *k);

    k->engine = e;
    k->rules = c->fetch.rules;
    k->rules.digest_key = e->ops->digest_key(e);
    k->format = format;
    url_init(&k->url);
    buf_init(&k->detail, 1000);
    return k;
}

static void clear_batch(struct import_sink *k)
{
    for (size_t i = 0; i < k->n; i++) {
        free(k->urls[i]);
        free(k->details[i]);
    }
    k->n = 0;
}

void import_sink_free(struct import_sink *k)
{
    if (k == NULL)
        return;
    clear_batch(k);
    buf_fini(&k->detail);
    url_fini(&k->url);
    free(k);
}

struct import_counts import_sink_counts(const struct import_sink *k)
{
    struct import_counts c = k->counts;
    struct engine_stats s;

    k->engine->ops->stats(k->engine, &s);
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
    struct engine *e = k->engine;
    int64_t now = clock_mono(), wall = clock_wall_ms();
    enum status st =
        e->ops->import(e, k->items, k->facts, k->n, now, wall, answers);

    for (size_t i = 0; st == STATUS_OK && i < k->n; i++)
        count(k, answers[i], k->facts[i].outcome.status);
    clear_batch(k);
    fault_point("import-batch");
    return st == STATUS_OK ? e->ops->turn(e, false, now, wall, NULL) : st;
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

static void add(struct import_sink *k, struct engine_item item,
                const char *file, const struct import_record *r)
{
    struct import_fact *fact = &k->facts[k->n];

    candidate_identify(&k->rules, &k->url, &item);
    k->urls[k->n] = xstrndup(item.url.at, item.url.len);
    candidate_moved(&item, k->urls[k->n]);
    k->items[k->n] = item;
    *fact = (struct import_fact){.at_ms = r->at_ms};
    k->details[k->n] = NULL;
    if (r->status != OUTCOME_QUEUED) {
        explain(k, file, r);
        k->details[k->n] = xstrdup(buf_str(&k->detail));
        fact->outcome =
            (struct outcome){r->status, REASON_IMPORTED, r->http_status};
        fact->detail = bytes_of_str(k->details[k->n]);
    }
    k->n++;
}

/* A waiting URL that the crawl's own rules keep out. */
static enum status drop(struct import_sink *k, const struct engine_item *item,
                        enum outcome_reason reason)
{
    const struct engine_drop d = {.reason = reason,
                                  .host = url_host(&k->url),
                                  .url = url_text(&k->url),
                                  .whole = true,
                                  .kind = item->kind,
                                  .depth = item->depth};
    struct engine *e = k->engine;

    k->counts.dropped++;
    return e->ops->external_discover(e, NULL, 0, &d, 1, clock_mono(),
                                     clock_wall_ms(), NULL);
}

/* Does the scope keep a waiting URL out? One that is a part of a page may be
 * anywhere, as the other crawler had it. */
static enum outcome_reason why_not(struct import_sink *k,
                                   const struct engine_item *item,
                                   const struct import_record *r)
{
    struct scope_verdict v = {.in = true};

    if (r->status != OUTCOME_QUEUED)
        return REASON_NONE;
    v = scope_check_kind(k->rules.scope, &k->url, item->depth, item->kind);
    if (r->embedded && v.reason == REASON_SCOPE)
        return REASON_NONE;
    return v.in ? REASON_NONE : v.reason;
}

enum status import_sink_put(struct import_sink *k, const char *file,
                            const struct import_record *r, const char **why)
{
    const bool opens = r->status == OUTCOME_QUEUED && !r->embedded;
    const struct engine_item item = {.kind = LINK_IMPORT, .depth = !opens};
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
    dropped = why_not(k, &item, r);
    if (dropped != REASON_NONE)
        return drop(k, &item, dropped);
    if (opens)
        scope_add_seed(k->rules.scope, &k->url);
    add(k, item, file, r);
    return k->n == BATCH ? import_sink_flush(k) : STATUS_OK;
}
