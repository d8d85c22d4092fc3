/* SPDX-License-Identifier: MIT */
/*
 * retry_failed.c - queues failed URLs, and others that ended for reasons that a
 * person names, again.
 *
 * We read the whole table of fetches once, the newest first, a part of it in
 * each step: the first final row that we meet of a URL has its outcome.
 * Outcomes that are asked for are a small share of it, but an index would cost
 * something for every page, for a command that is seldom used.
 */
#include "frontier/embedded/retry_failed.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "frontier/embedded/frontier_links.h"

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

enum status retry_failed(struct engine *e, struct failed_retry *r, size_t most,
                         int64_t now, int64_t wall_ms, bool *over)
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
