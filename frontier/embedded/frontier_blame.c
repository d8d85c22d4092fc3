/* SPDX-License-Identifier: MIT */
/*
 * frontier_blame.c - URLs whose responses an earlier process was reading when
 * it ended.
 *
 * A lease is not written, so a URL whose response kills the process would be
 * fetched again after each restart, for ever. The crawler records the ids of
 * such URLs (crawler/transfer/in_hand.h); here each costs a try. A person may
 * have killed the process just then, so the host is not slowed down, and the
 * URL is tried again at once.
 */
#include <stdlib.h>

#include "base/logger.h"
#include "base/mem.h"
#include "frontier/embedded/frontier_fetched.h"
#include "frontier/embedded/frontier_host.h"
#include "frontier/embedded/frontier_ops.h"

#define TRIES_LEAST 2 /* before a URL is failed for the death of a process */

static const struct outcome stuck_outcome = {.status = OUTCOME_FAILED,
                                             .reason = REASON_STUCK};

static const char *const details[] = {
    [BLAME_DIED] = "the process ended while it read the response",
    [BLAME_STUCK] =
        "its response was still being read when the process was ended"};

static uint32_t tries_of(const struct frontier *f, uint64_t id)
{
    const struct tries_entry *t = map_get(f->tries, bytes_of(&id, sizeof id));

    return t != NULL ? t->tries : 0;
}

static enum status count_try(struct frontier *f, struct fetch_row *fetch,
                             int64_t now, int64_t wall_ms)
{
    struct tries_entry *t = xcalloc(1, sizeof *t);
    uint64_t id = fetch->url, seq;
    enum status st;

    t->tries = fetch->tries;
    t->due = now;
    free(map_put(f->tries, bytes_of(&id, sizeof id), t));
    frontier_store_add(f->store, "retries", 1);
    fetch->status = (uint8_t)stuck_outcome.status;
    fetch->reason = (uint8_t)stuck_outcome.reason;
    st = frontier_add_fetch(f, fetch, &seq);
    if (st == STATUS_OK)
        st = frontier_store_set_tries(f->store, id, fetch->tries, wall_ms);
    return st;
}

static enum status fail(struct frontier *f, const struct url_row *row,
                        struct fetch_row *fetch)
{
    struct host_queue *h = frontier_host(f, row->queue);
    enum status st =
        frontier_settle(f, row->id, (row->flags & URL_ROW_SEED) != 0, row->kind,
                        fetch, stuck_outcome);

    if (st == STATUS_OK)
        st = frontier_count_done(f, h);
    frontier_reschedule(f, h);
    return st;
}

enum status frontier_blame(struct engine *e, uint64_t id, enum blame why,
                           int64_t now, int64_t wall_ms)
{
    struct frontier *f = (struct frontier *)e;
    struct fetch_row fetch = {.url = id, .at_ms = wall_ms};
    uint32_t tries = tries_of(f, id) + 1;
    struct url_row row;
    enum status st;
    bool failed;

    if (id == 0 || id > frontier_store_last_id(f->store) ||
        frontier_store_is_done(f->store, id))
        return STATUS_OK;
    st = frontier_store_get(f->store, id, &row, &f->text);
    if (st == STATUS_OK)
        st = frontier_touch(f, now);
    if (st != STATUS_OK)
        return frontier_broke(f, st);
    fetch.tries = (uint8_t)(tries < 255 ? tries : 255);
    fetch.detail = bytes_of_str(details[why]);
    failed = why != BLAME_DIED || (tries >= f->o.tries && tries >= TRIES_LEAST);
    log_warn(failed ? "the last process ended over a URL, which has failed"
                    : "the last process ended over a URL, which is tried again",
             "tries=%u url=%.*s", tries, (int)row.url.len, row.url.at);
    st = failed ? fail(f, &row, &fetch) : count_try(f, &fetch, now, wall_ms);
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}
