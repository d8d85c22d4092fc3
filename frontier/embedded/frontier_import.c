/* SPDX-License-Identifier: MIT */
/*
 * frontier_import.c - URLs as another crawler had them.
 *
 * All URLs of a call pass the seen check as one batch, like the links of a
 * page. Those that are done there get a final fetch row here, so that done
 * bits, explain and export know them; the row and the admission are in one
 * transaction. The same URL may come several times, in a call or later: it
 * waits until one of them says that it is done, and that is its outcome.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "frontier/embedded/frontier_host.h"
#include "frontier/embedded/frontier_ops.h"
#include "frontier/embedded/frontier_refresh.h"

/* Numbers of rows are another crawl's; what this page repeats is found anew. */
static struct fetch_row row_of(const struct import_fact *fact, int64_t wall_ms)
{
    struct fetch_row row = {.at_ms = fact->at_ms != 0 ? fact->at_ms : wall_ms,
                            .detail = fact->detail};

    if (fact->row != NULL) {
        row = *fact->row;
        row.seq = row.same_as = row.near_dup_of = row.redirect_to = 0;
    }
    return row;
}

/* Settles a URL that waits. */
static enum status settle(struct frontier *f, const struct url_row *url,
                          const struct import_fact *fact, int64_t wall_ms)
{
    struct fetch_row row = row_of(fact, wall_ms);
    struct host_queue *h = frontier_host(f, url->queue);
    enum status st =
        frontier_settle(f, url->id, (url->flags & URL_ROW_SEED) != 0, url->kind,
                        &row, fact->outcome);

    if (st == STATUS_OK)
        st = frontier_refresh_date(f, url->queue, url->kind, &row,
                                   fact->outcome, -1);
    if (st == STATUS_OK)
        st = frontier_count_done(f, h);
    host_queue_forget_done(h, f->store);
    frontier_reschedule(f, h);
    return st;
}

static enum status take(struct frontier *f, const struct admission *a,
                        const struct import_fact *fact, int64_t wall_ms,
                        enum import_answer *answer)
{
    struct url_row row;
    enum status st;

    *answer = a->fresh     ? IMPORT_NEW
              : a->id == 0 ? IMPORT_DROPPED
                           : IMPORT_KNOWN;
    if (fact->outcome.status == OUTCOME_QUEUED || *answer == IMPORT_DROPPED ||
        frontier_store_is_done(f->store, a->id))
        return STATUS_OK;
    st = frontier_store_get(f->store, a->id, &row, &f->text);
    if (st == STATUS_OK)
        st = settle(f, &row, fact, wall_ms);
    if (st == STATUS_OK && !a->fresh)
        *answer = IMPORT_SETTLED;
    return st;
}

enum status frontier_import(struct engine *e, const struct engine_item *items,
                            const struct import_fact *facts, size_t n,
                            int64_t now, int64_t wall_ms,
                            enum import_answer *answers)
{
    struct frontier *f = (struct frontier *)e;
    struct admission *list = xcalloc(n + 1, sizeof *list);
    enum status st = frontier_touch(f, now);

    for (size_t i = 0; i < n; i++)
        list[i] = (struct admission){.item = &items[i]};
    if (st == STATUS_OK)
        st = frontier_admit(f, f->o.crawl, list, n, true, wall_ms);
    for (size_t i = 0; st == STATUS_OK && i < n; i++)
        st = take(f, &list[i], &facts[i], wall_ms, &answers[i]);
    free(list);
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}
