/* SPDX-License-Identifier: MIT */
/*
 * retry_failed.c - queues failed URLs again for a person.
 *
 * We read the whole table of tries once, in order, a part of it in each step.
 * Failed tries are a small share of it, but an index would cost something for
 * every page, for a command that is seldom used.
 */
#include "frontier/embedded/retry_failed.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "frontier/embedded/frontier_links.h"

struct failed {
    uint64_t id;
    struct outcome o;
};

struct look {
    const struct failed_retry *r;
    struct failed *found;
    size_t count, looked, most;
    uint64_t last; /* try */
};

static bool is_wanted(const struct failed_retry *r, struct outcome o)
{
    char text[24];

    outcome_reason_text(o, text, sizeof text);
    for (size_t i = 0; i < r->reason_count; i++)
        if (strcmp(text, r->reasons[i]) == 0)
            return true;
    return r->reason_count == 0;
}

static bool take_try(void *ctx, const struct fetch_row *row)
{
    struct look *l = ctx;
    struct outcome o = {(enum outcome_status)row->status,
                        (enum outcome_reason)row->reason, row->http_status};

    if (row->seq > l->r->upto)
        return false;
    l->last = row->seq;
    if (row->final && o.status == OUTCOME_FAILED && is_wanted(l->r, o))
        l->found[l->count++] = (struct failed){row->url, o};
    return ++l->looked < l->most;
}

static enum status queue_again(struct frontier *f, struct failed_retry *r,
                               const struct failed *failed, uint32_t queue,
                               int64_t now, int64_t wall_ms)
{
    struct url_row row;
    bool back = false;
    enum status st = frontier_store_get(f->store, failed->id, &row, &f->text);

    if (st == STATUS_OK && (queue == 0 || row.queue == queue))
        st = frontier_readmit(f, &row, failed->o, now, wall_ms, &back);
    r->queued += back;
    return st;
}

enum status retry_failed(struct engine *e, struct failed_retry *r, size_t most,
                         int64_t now, int64_t wall_ms, bool *over)
{
    struct frontier *f = (struct frontier *)e;
    struct look l = {.r = r, .most = most};
    uint32_t queue = 0;
    enum status st;

    *over = true;
    if (r->host.len > 0) {
        queue = frontier_store_find_queue(f->store, f->o.crawl, r->host);
        if (queue == 0)
            return STATUS_OK;
    }
    if (r->upto == 0)
        r->upto = page_store_last_seq(f->pages);
    l.last = r->upto;
    l.found = xcalloc(most, sizeof *l.found);
    st = frontier_touch(f, now);
    if (st == STATUS_OK)
        st = page_store_each(f->pages, r->after, take_try, &l);
    for (size_t i = 0; st == STATUS_OK && i < l.count; i++)
        st = queue_again(f, r, &l.found[i], queue, now, wall_ms);
    free(l.found);
    *over = l.looked < most;
    r->after = l.last;
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}
