/* SPDX-License-Identifier: MIT */
/*
 * frontier_ops.c - the embedded engine's table, and its queries of the store.
 */
#include "frontier/embedded/frontier_ops.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "frontier/embedded/external.h"
#include "frontier/embedded/frontier_links.h"
#include "frontier/embedded/removal.h"
#include "frontier/engine.h"

/*
 * Queues failed URLs again for a person, in the embedded
 * engine. engine_calls.h says what that means.
 *
 * A step is durable with the next commit. After a crash in between, some URLs
 * are queued and the rest are still failed; a new request takes the rest.
 *
 * `e` is an embedded engine. Frontier thread only. After an error, the engine
 * may only be closed.
 *
 * person names, again.
 *
 * We read the whole table of fetches once, the newest first, a part of it in
 * each step: the first final row that we meet of a URL has its outcome.
 * Outcomes that are asked for are a small share of it, but an index would cost
 * something for every page, for a command that is seldom used.
 */

struct look {
    struct failed_retry *r;
    struct final_fetch *found;
    size_t count, looked;
};

static struct outcome outcome_of(const struct final_fetch *row)
{
    return (struct outcome){(enum outcome_status)row->status,
                            (enum outcome_reason)row->reason, row->http_status};
}

static bool is_wanted(const struct failed_retry *r, struct outcome o)
{
    char text[24];

    outcome_reason_text(o, text, sizeof text);
    for (size_t i = 0; i < r->reason_count; i++)
        if (strcmp(text, r->reasons[i]) == 0)
            return true;
    return r->reason_count == 0 && o.status == OUTCOME_FAILED;
}

/* False: the URL was met before, and has a newer outcome. */
static bool meet(struct failed_retry *r, uint64_t id)
{
    unsigned char bit = (unsigned char)(1 << (id & 7));
    bool fresh;

    if (id > r->ids)
        return false;
    fresh = (r->seen[id >> 3] & bit) == 0;
    r->seen[id >> 3] |= bit;
    return fresh;
}

static void take_final(void *ctx, const struct final_fetch *row)
{
    struct look *l = ctx;

    l->looked++;
    l->r->before = row->seq;
    if (meet(l->r, row->url) && is_wanted(l->r, outcome_of(row)))
        l->found[l->count++] = *row;
}

static enum status queue_again(struct frontier *f, struct failed_retry *r,
                               const struct final_fetch *was, uint32_t queue,
                               int64_t now, int64_t wall_ms)
{
    struct url_row row;
    bool back = false;
    enum status st = frontier_store_get(f->store, was->url, &row, &f->text);

    if (st == STATUS_OK && (queue == 0 || row.queue == queue))
        st = frontier_readmit(f, &row, outcome_of(was), now, wall_ms, &back);
    r->queued += back;
    return st;
}

static enum status retry_failed(struct engine *e, struct failed_retry *r,
                                size_t most, int64_t now, int64_t wall_ms,
                                bool *over)
{
    struct frontier *f = (struct frontier *)e;
    struct look l = {.r = r};
    uint32_t queue = 0;
    enum status st;

    *over = true;
    if (r->host.len > 0) {
        queue = frontier_store_find_queue(f->store, f->o.crawl, r->host);
        if (queue == 0)
            return STATUS_OK;
    }
    if (r->seen == NULL) {
        r->before = page_store_last_seq(f->pages) + 1;
        r->ids = frontier_store_last_id(f->store);
        r->seen = xcalloc(r->ids / 8 + 1, 1);
    }
    l.found = xcalloc(most, sizeof *l.found);
    st = frontier_touch(f, now);
    if (st == STATUS_OK)
        st =
            page_store_finals_before(f->pages, r->before, most, take_final, &l);
    for (size_t i = 0; st == STATUS_OK && i < l.count; i++)
        st = queue_again(f, r, &l.found[i], queue, now, wall_ms);
    free(l.found);
    *over = l.looked < most;
    if (*over || st != STATUS_OK) {
        free(r->seen);
        r->seen = NULL;
    }
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}

struct frontier_store *frontier_store_of(struct engine *e)
{
    return ((struct frontier *)e)->store;
}

struct page_store *frontier_pages_of(struct engine *e)
{
    return ((struct frontier *)e)->pages;
}

/* ---- queries ---- */

static const struct digest_key *get_digest_key(struct engine *e)
{
    return &((struct frontier *)e)->base->key;
}

static enum status get_url(struct engine *e, uint64_t id, struct url_row *row,
                           struct buf *text)
{
    return frontier_store_get(frontier_store_of(e), id, row, text);
}

static enum status each_url(struct engine *e, uint64_t first, uint64_t last,
                            url_row_visit visit, void *ctx)
{
    return frontier_store_each(frontier_store_of(e), first, last, visit, ctx);
}

/* Those among the drops have no row. */
static enum status each_dropped_seed(struct frontier *f, url_row_visit visit,
                                     void *ctx)
{
    uint64_t last = frontier_store_counter(f->store, "last_dropped_root");
    struct drop_block b = {.number = 0};
    enum status st = last > 0 ? drop_log_flush(f->drop_log) : STATUS_OK;

    while (st == STATUS_OK && b.number < last) {
        st = drop_log_next(f->drop_log, b.number, ENGINE_MAY_RETURN, &b);
        for (size_t i = 0; st == STATUS_OK && i < b.count; i++) {
            const struct kept_drop *k = &b.at[i];

            if (k->id == 0 && k->via == 0 && k->depth == 0)
                visit(ctx, &(struct url_row){.url = k->text, .kind = k->kind});
        }
    }
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

static enum status each_seed(struct engine *e, url_row_visit visit, void *ctx)
{
    enum status st = frontier_store_each_root(frontier_store_of(e), visit, ctx);

    return st == STATUS_OK ? each_dropped_seed((struct frontier *)e, visit, ctx)
                           : st;
}

static uint32_t find_queue(struct engine *e, struct bytes crawl,
                           struct bytes key)
{
    return frontier_store_find_queue(frontier_store_of(e), crawl, key);
}

static struct bytes get_queue_key(struct engine *e, uint32_t queue)
{
    struct bytes crawl, key;

    frontier_store_queue_name(frontier_store_of(e), queue, &crawl, &key);
    return key;
}

static enum status get_robots(struct engine *e, struct bytes origin,
                              struct robots_row *row, struct buf *text)
{
    return page_store_robots(frontier_pages_of(e), origin, row, text);
}

static enum status get_first_body(struct engine *e, struct digest body,
                                  struct first_body *out)
{
    return page_store_first_with_body(frontier_pages_of(e), body, out);
}

static enum status get_meta(struct engine *e, const char *name, struct buf *out)
{
    return frontier_store_meta(frontier_store_of(e), name, out);
}

static enum status set_meta(struct engine *e, const char *name,
                            struct bytes value)
{
    return frontier_store_set_meta(frontier_store_of(e), name, value);
}

/* ---- the table ---- */

const struct engine_ops frontier_ops = {
    .put = frontier_put,
    .lease = frontier_lease,
    .ack = frontier_ack,
    .release = frontier_release,
    .leased_url = frontier_leased_url,
    .blame = frontier_blame,
    .turn = frontier_turn,
    .next_due = frontier_next_due,
    .checkpoint = frontier_checkpoint,
    .checkpoint_now = frontier_checkpoint_now,
    .close = frontier_close,
    .block = frontier_block,
    .delay = frontier_delay,
    .limit_queue = frontier_limit_queue,
    .hosts = frontier_hosts,
    .next_unplaced = frontier_next_unplaced,
    .place = frontier_place,
    .recheck = frontier_recheck,
    .rejudge = frontier_rejudge,
    .set_schedule = frontier_set_schedule,
    .set_limits = frontier_set_limits,
    .set_refresh = frontier_set_refresh,
    .set_order = frontier_set_order,
    .set_traps = frontier_set_traps,
    .external_grant = external_grant,
    .external_find = external_find,
    .external_extend = external_extend,
    .external_settle = external_settle,
    .external_discover = external_discover,
    .external_get_facts = external_get_facts,
    .external_get_queue = external_get_queue,
    .removal_begin = removal_begin,
    .removal_step = removal_step,
    .removal_count = removal_count,
    .retry_failed = retry_failed,
    .import = frontier_import,
    .refresh_urls = frontier_refresh_urls,
    .digest_key = get_digest_key,
    .identify = frontier_identify,
    .url = get_url,
    .each_url = each_url,
    .each_seed = each_seed,
    .find_queue = find_queue,
    .queue_key = get_queue_key,
    .robots = get_robots,
    .first_body = get_first_body,
    .meta = get_meta,
    .set_meta = set_meta,
    .stats = frontier_engine_stats,
    .memory = frontier_memory,
    .get_stats = frontier_get_stats,
};
