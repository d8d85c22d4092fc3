/* SPDX-License-Identifier: MIT */
/*
 * external_settle.c - what other programs report and ask about a crawl's URLs.
 *
 * A final report is handled like those of our own fetchers (frontier_ack). If
 * the URL was never leased, it is taken out of its queue as if it had been.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "frontier/crawl/external_impl.h"
#include "frontier/crawl/frontier_host.h"
#include "frontier/crawl/frontier_impl.h"
#include "frontier/crawl/frontier_links.h"

/* ---- reports ---- */

enum status external_take(struct frontier *f, uint64_t id,
                          struct lease_record **out)
{
    struct tries_entry *t = map_get(f->tries, bytes_of(&id, sizeof id));
    struct url_row row;
    struct bytes crawl, key;
    struct host_queue *h;
    enum status st = frontier_store_get(f->store, id, &row, &f->text);

    if (st != STATUS_OK)
        return st;
    frontier_store_queue_name(f->store, row.queue, &crawl, &key);
    h = frontier_host(f, row.queue);
    *out = lease_add(f->leases, h, &row, key, t != NULL ? t->tries : 0, NULL);
    politeness_group_lease(h);
    return STATUS_OK;
}

static struct outcome outcome_of(uint16_t http)
{
    if (http >= 400)
        return (struct outcome){OUTCOME_FAILED, REASON_HTTP, http};
    if (http >= 300 && http != 304)
        return (struct outcome){OUTCOME_REDIRECT, REASON_EXTERNAL, http};
    return (struct outcome){OUTCOME_FETCHED, REASON_EXTERNAL, http};
}

static enum status finish(struct frontier *f, uint64_t id,
                          const struct external_report *w, int64_t now,
                          int64_t wall_ms)
{
    struct lease_record *r = lease_find(f->leases, id);
    bool asked = r != NULL;
    struct url_done done = {
        .id = id,
        .outcome = outcome_of(w->http_status),
        .row = {.at_ms = wall_ms,
                .http_status = w->http_status,
                .detail = bytes_of_str("fetched by another program")},
        .host = {.ended = asked ? now : 0,
                 .crawl_delay_ms = -2,
                 .retry_after_ms = -1,
                 .slow_down = asked && outcome_asks_for_pause(w->http_status)},
    };
    enum status st = STATUS_OK;

    if (!asked) {
        st = external_take(f, id, &r);
        if (st == STATUS_OK)
            (void)host_queue_drop_retry(r->host, id);
    }
    return st == STATUS_OK ? frontier_ack(f, &done, 1, now, wall_ms) : st;
}

/* Makes it due at `due`, which is stored for a restart unless it is now. */
static enum status wait_until(struct frontier *f, uint64_t id, int64_t due,
                              int64_t now, int64_t wall_ms)
{
    struct tries_entry *t = map_get(f->tries, bytes_of(&id, sizeof id));

    if (t == NULL && due <= now)
        return STATUS_OK;
    if (t == NULL) {
        t = xcalloc(1, sizeof *t);
        (void)map_put(f->tries, bytes_of(&id, sizeof id), t);
    }
    t->due = due;
    return frontier_store_postpone(f->store, id, t->tries,
                                   wall_ms + (due - now) / NS_PER_MS);
}

static enum status postpone(struct frontier *f, uint64_t id, int64_t due_ms,
                            int64_t now, int64_t wall_ms)
{
    struct lease_record *r = lease_find(f->leases, id);
    bool gone = r != NULL && frontier_is_removed(r->host, id);
    int64_t due =
        due_ms > wall_ms && !gone ? now + (due_ms - wall_ms) * NS_PER_MS : now;
    struct url_row row;
    struct host_queue *h;
    uint64_t seq;
    enum status st = wait_until(f, id, due, now, wall_ms);

    if (st == STATUS_OK && r != NULL) {
        st = served_log_lease(f->external->log, id, wall_ms, wall_ms, &seq);
        external_take_back(f, r, due, now);
        return st;
    }
    if (st == STATUS_OK)
        st = frontier_store_get(f->store, id, &row, &f->text);
    if (st != STATUS_OK)
        return st;
    h = frontier_host(f, row.queue);
    if (host_queue_drop_retry(h, id))
        host_queue_retry(h, id, due);
    frontier_reschedule(f, h);
    return STATUS_OK;
}

enum status external_settle(struct frontier *f, uint64_t id,
                            const struct external_report *w, int64_t now,
                            int64_t wall_ms, enum external_result *said)
{
    const struct lease_record *r;
    enum status st = external_open(f);

    if (st == STATUS_OK)
        st = frontier_touch(f, now);
    if (st != STATUS_OK)
        return frontier_broke(f, st);
    external_tick(f, now);
    r = lease_find(f->leases, id);
    *said = EXTERNAL_SETTLED;
    if (frontier_store_is_done(f->store, id))
        *said = EXTERNAL_WAS_DONE;
    else if (r != NULL && r->external == NULL)
        *said = EXTERNAL_OURS;
    if (*said != EXTERNAL_SETTLED)
        return STATUS_OK;
    st = w->final ? finish(f, id, w, now, wall_ms)
                  : postpone(f, id, w->due_ms, now, wall_ms);
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}

enum status external_discover(struct frontier *f, const struct url_item *items,
                              size_t n, const struct url_drop *drops,
                              size_t drop_count, int64_t now, int64_t wall_ms,
                              uint64_t *ids)
{
    const struct url_done dropped = {.drops = drops, .drop_count = drop_count};
    uint64_t named = 0;
    struct admission *list = xcalloc(n + 1, sizeof *list);
    uint64_t repeats = 0;
    enum status st = frontier_touch(f, now);

    for (size_t i = 0; i < n; i++)
        list[i] = (struct admission){.item = &items[i]};
    if (st == STATUS_OK && n > 0)
        st = frontier_admit(f, list, n, false, wall_ms);
    for (size_t i = 0; st == STATUS_OK && i < n; i++) {
        ids[i] = list[i].fresh ? list[i].id : 0;
        repeats += !list[i].fresh && !list[i].dropped;
    }
    for (size_t i = 0; i < drop_count; i++)
        named += !drops[i].is_guess;
    if (st == STATUS_OK) {
        st = frontier_take_drops(f, &dropped, wall_ms);
        frontier_store_add(f->store, "links", n + named);
        frontier_store_add(f->store, "duplicates", repeats);
    }
    free(list);
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}

/* ---- queries ---- */

enum status frontier_identify(struct frontier *f, struct bytes key,
                              struct bytes url, uint64_t *id)
{
    uint32_t queue = frontier_store_find_queue(f->store, f->o.crawl, key);
    struct url_row row;
    struct digest d;
    enum status st = STATUS_OK;

    for (uint8_t salt = 0; st == STATUS_OK && salt <= URL_ROW_SALT_MOST;
         salt++) {
        d = digest_url_salted(&f->base->key, f->o.crawl, key, url, salt);
        st = exact_set_find(f->base->exact, &d, 1, id);
        if (st != STATUS_OK || *id == 0 || !f->o.compare_text)
            return st;
        st = frontier_store_get(f->store, *id, &row, &f->text);
        if (st == STATUS_OK && row.queue == queue && bytes_equal(row.url, url))
            return STATUS_OK;
    }
    *id = 0;
    return st;
}

void external_get_facts(struct frontier *f, uint64_t id, int64_t now,
                        struct external_facts *out)
{
    const struct lease_record *r = lease_find(f->leases, id);
    const struct tries_entry *t = map_get(f->tries, bytes_of(&id, sizeof id));

    *out = (struct external_facts){.done = frontier_store_is_done(f->store, id),
                                   .leased = r != NULL};
    if (r != NULL && r->external != NULL && r->external->until.key > now) {
        out->ends_in = r->external->until.key - now;
        out->number = r->external->number;
    }
    if (t != NULL && t->due > now)
        out->due_for = t->due - now;
}

void external_get_queue(struct frontier *f, uint32_t queue, int64_t now,
                        struct external_queue *out)
{
    const struct host_queue *h = host_table_get(&f->hosts, queue);
    struct host_queue none = {.own_delay = -1};
    const struct host_orders *x;

    *out = (struct external_queue){.pending =
                                       frontier_store_pending(f->store, queue)};
    if (h == NULL)
        h = &none;
    x = host_orders(h);
    out->leased = h->leased;
    out->limit = x->set_limit;
    if (host_trouble(h)->blocked_until > now)
        out->blocked_for = host_trouble(h)->blocked_until - now;
    out->delay =
        clock_later(x->set_delay >= 0 ? x->set_delay : f->o.schedule.delay,
                    h->own_delay);
}
