/* SPDX-License-Identifier: MIT */
/*
 * frontier.c - the frontier of a crawl: put, turn, checkpoints, stats, queries.
 *
 * One transaction holds all changes since the last commit. It is committed
 * when as many URLs are acknowledged but not yet durable as are leased, but at
 * least commit_least and at most half of in_flight, or when commit_interval has
 * passed: the first keeps the number of pages that a crash makes us fetch again
 * near those under way and within in_flight, the second bounds their age. If a
 * host asks for a delay, or to be left alone, that is committed in the same
 * turn, before its next URL is leased.
 */
#include "frontier/crawl/frontier_open.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "frontier/crawl/frontier_fetched.h"
#include "frontier/crawl/frontier_host.h"
#include "frontier/crawl/frontier_impl.h"
#include "frontier/crawl/frontier_links.h"
#include "frontier/crawl/frontier_refresh.h"

enum status frontier_broke(struct frontier *f, enum status st)
{
    return seen_store_broke(f->base, st);
}

enum status frontier_touch(struct frontier *f, int64_t now)
{
    bool was_open = f->base->in_txn;
    enum status st = seen_store_touch(f->base);

    if (st == STATUS_OK && !was_open)
        f->dirty_since = now;
    return st;
}

enum status frontier_put(struct frontier *f, uint64_t via,
                         const struct url_item *items, size_t n,
                         int64_t wall_ms, enum put_answer *answers)
{
    struct admission *list = xcalloc(n, sizeof *list);
    uint64_t given = 0;
    enum status st = frontier_touch(f, INT64_MIN);

    for (size_t i = 0; i < n; i++)
        list[i] = (struct admission){.item = &items[i], .via = via};
    if (st == STATUS_OK)
        st = frontier_admit(f, list, n, false, wall_ms);
    for (size_t i = 0; st == STATUS_OK && i < n; i++) {
        given += list[i].fresh || list[i].dropped;
        if (answers != NULL)
            answers[i] = list[i].fresh ? PUT_NEW : PUT_SEEN;
    }
    if (given > 0)
        frontier_store_add(f->store, "given", given);
    free(list);
    return st;
}

static void store_blocklist_counts(struct frontier *f)
{
    struct blocklist_counts c = blocklist_counts(f->o.blocklist);

    frontier_store_add(f->store, "blocklist_false_positives",
                       c.false_positives - f->blocks_counted.false_positives);
    frontier_store_add(f->store, "blocklist_unsure",
                       c.unsure - f->blocks_counted.unsure);
    f->blocks_counted = c;
}

static enum status commit(struct frontier *f, int64_t now, uint64_t *durable)
{
    enum status st;

    if (f->o.blocklist != NULL)
        store_blocklist_counts(f);
    st = drop_log_flush(f->drop_log);
    if (st == STATUS_OK && f->traps != NULL)
        st = trap_table_flush(f->traps);
    frontier_store_add(f->store, "drops_kept",
                       drop_log_count(f->drop_log) -
                           frontier_store_counter(f->store, "drops_kept"));
    if (st == STATUS_OK)
        st = page_store_step(f->pages);
    if (st == STATUS_OK)
        st = frontier_note_identity(f);
    if (st == STATUS_OK && f->external != NULL)
        st = external_step(f);
    if (st != STATUS_OK)
        return frontier_broke(f, st);
    st = seen_store_commit(f->base);
    if (st != STATUS_OK)
        return st;
    if (durable != NULL)
        *durable = f->uncommitted;
    f->uncommitted = 0;
    f->urgent = false;
    frontier_tend_hosts(f, now);
    return STATUS_OK;
}

static bool enough_to_commit(const struct frontier *f)
{
    uint64_t under_way = lease_count(f->leases) - external_count(f->external);
    uint64_t most =
        under_way > f->o.commit_least ? under_way : f->o.commit_least;

    return f->uncommitted > 0 &&
           (f->uncommitted >= most || f->uncommitted * 2 >= f->o.in_flight);
}

static enum status turn(struct frontier *f, bool force, int64_t now,
                        int64_t wall_ms, uint64_t *durable)
{
    enum status st;

    if (f->base->broken)
        return db_error(f->base->db);
    seen_store_poll(f->base);
    f->cut_off = f->cut_off && now < f->asked_before + 2 * f->o.schedule.delay;
    st = rejudge_step(f, now, wall_ms);
    if (st == STATUS_OK)
        st = frontier_order_step(f, now);
    if (st == STATUS_OK)
        st = frontier_redate_step(f, now, wall_ms);
    if (st == STATUS_OK)
        st = frontier_refresh_count_step(f);
    if (st == STATUS_OK)
        st = frontier_refresh_hints_step(f, now, wall_ms);
    if (st == STATUS_OK)
        st = frontier_history_step(f, now);
    if (st != STATUS_OK)
        return st;
    frontier_refresh_wake(f, now, wall_ms);
    if (f->external != NULL)
        external_tick(f, now);
    if (!f->base->in_txn)
        return STATUS_OK;
    if (f->dirty_since == INT64_MIN) /* a put has no `now` */
        f->dirty_since = now;
    if (!force && !enough_to_commit(f) && !f->urgent &&
        now - f->dirty_since < f->o.commit_interval)
        return STATUS_OK;
    return commit(f, now, durable);
}

static enum status checkpoint(struct frontier *f,
                              const struct seen_store_checkpoint *c,
                              int64_t now, int64_t wall_ms, uint64_t *durable)
{
    enum status st = seen_store_prepare(f->base, c);

    if (st == STATUS_OK)
        st = turn(f, true, now, wall_ms, durable);
    return st == STATUS_OK ? seen_store_save(f->base, c, wall_ms) : st;
}

enum status frontier_turn(struct frontier *f, bool force, int64_t now,
                          int64_t wall_ms, uint64_t *durable)
{
    const struct seen_store_checkpoint c = {.state = "running"};
    enum status st = STATUS_OK;

    if (durable != NULL)
        *durable = 0;
    if (f->around != NULL)
        st = f->around->before_turn(f->around->ctx, now, wall_ms);
    if (st != STATUS_OK)
        return st == STATUS_AGAIN ? STATUS_OK : st;
    /* The caller asks for checkpoints by time. */
    return !f->base->broken && seen_store_is_due(f->base)
               ? checkpoint(f, &c, now, wall_ms, durable)
               : turn(f, force, now, wall_ms, durable);
}

enum status frontier_checkpoint(struct frontier *f, int64_t now,
                                int64_t wall_ms)
{
    const struct seen_store_checkpoint c = {.state = "running"};

    return checkpoint(f, &c, now, wall_ms, NULL);
}

enum status frontier_checkpoint_now(struct frontier *f, const char *state,
                                    bool clean, int64_t now, int64_t wall_ms)
{
    const struct seen_store_checkpoint c = {state, clean, true};

    return checkpoint(f, &c, now, wall_ms, NULL);
}

enum status frontier_block(struct frontier *f, struct bytes key, int64_t until,
                           int64_t now, int64_t wall_ms)
{
    uint32_t queue = frontier_store_find_queue(f->store, f->o.crawl, key);
    struct host_news none = {.crawl_delay_ms = -2, .retry_after_ms = -1};
    struct host_queue *h;
    struct host_trouble *x;
    enum status st;

    if (queue == 0)
        return STATUS_NOT_FOUND;
    st = frontier_touch(f, now);
    if (st != STATUS_OK)
        return st;
    h = frontier_host(f, queue);
    x = host_trouble_of(h);
    x->blocked_until = until;
    x->why_blocked = until > now ? frontier_by_person : NULL;
    if (until <= now)
        frontier_reach_again(h);
    st = frontier_host_news(f, h, &none, now, wall_ms);
    frontier_reschedule(f, h);
    frontier_cross_hosts_again(f);
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}

enum status frontier_delay(struct frontier *f, struct bytes key,
                           int64_t delay_ms, int64_t now)
{
    uint32_t queue = frontier_store_find_queue(f->store, f->o.crawl, key);
    struct host_queue *h;
    int64_t latest;
    enum status st;

    if (queue == 0)
        return STATUS_NOT_FOUND;
    st = frontier_touch(f, now);
    if (st != STATUS_OK)
        return st;
    h = frontier_host(f, queue);
    host_orders_of(h)->set_delay = delay_ms >= 0 ? delay_ms * NS_PER_MS : -1;
    latest = now + frontier_pause(f, h);
    if (h->next_due > latest) /* a shorter delay applies from now on */
        h->next_due = latest;
    st = external_set_queue(f, h);
    frontier_reschedule(f, h);
    frontier_cross_hosts_again(f);
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}

void frontier_get_own_counts(struct frontier *f, struct frontier_counts *out)
{
    frontier_counts_of_store(f->store, out);
    out->leased = lease_count(f->leases);
    out->withheld = f->withheld;
    out->rejudging = rejudge_is_due(f) || frontier_redate_is_due(f) ||
                     frontier_history_is_due(f);
    out->given_up = f->given_up;
    out->blocked = f->barred;
    out->queues_active = f->hosts_active;
    out->due = frontier_refresh_waiting(f);
    out->dates_given_up = frontier_refresh_is_given_up(f);
    out->due_given_up = f->refresh.silent > 0;
    out->retrying = frontier_store_counter(f->store, "refresh_retries") > 0 &&
                    f->refresh.held == 0;
    frontier_refresh_stats(f, out);
    out->commits = f->base->commits;
}

void frontier_get_counts(struct frontier *f, struct frontier_counts *out)
{
    frontier_get_own_counts(f, out);
    if (f->around != NULL)
        f->around->counts(f->around->ctx, out);
}

void frontier_set_around(struct frontier *f, const struct frontier_around *a)
{
    f->around = a;
}

struct frontier_memory frontier_get_memory(struct frontier *f)
{
    struct frontier_memory m = seen_store_memory(f->base);
    uint64_t own = frontier_host_memory(f);

    m.queues += own;
    m.all += own;
    return m;
}

void frontier_close(struct frontier *f)
{
    if (f == NULL)
        return;
    heap_fini(&f->due);
    heap_fini(&f->beside);
    heap_fini(&f->groups_due);
    politeness_groups_free(f->groups);
    host_table_fini(&f->hosts);
    external_free(f->external);
    lease_table_free(f->leases);
    map_free(f->tries, free);
    history_close(f->history);
    link_store_close(f->links);
    revisit_store_close(f->revisits);
    hint_store_close(f->hints);
    drop_log_close(f->drop_log);
    path_log_close(f->path_log);
    trap_table_close(f->traps);
    trap_store_close(f->trap_store);
    frontier_order_close(f);
    frontier_budget_close(f);
    frontier_refresh_close(f);
    levels_free(f);
    seen_store_close(f->base);
    frontier_forget_drops(f);
    free(f->scratch.digests);
    free(f->scratch.answers);
    free(f->scratch.fresh);
    free(f->scratch.found);
    free(f->scratch.open);
    free(f->scratch.asked);
    free(f->scratch.blocked);
    free(f->scratch.queues);
    buf_fini(&f->text);
    arena_free(f->last_texts);
    free(f->known_links);
    free(f);
}

struct bytes frontier_leased_url(struct frontier *f, uint64_t id)
{
    const struct lease_record *l = lease_find(f->leases, id);

    return l != NULL ? l->lease.url : bytes_of("", 0);
}

/* ---- queries ---- */

const struct digest_key *frontier_get_digest_key(struct frontier *f)
{
    return &f->base->key;
}

enum status frontier_url(struct frontier *f, uint64_t id, struct url_row *row,
                         struct buf *text)
{
    return frontier_store_get(f->store, id, row, text);
}

enum status frontier_each_url(struct frontier *f, uint64_t first, uint64_t last,
                              url_row_visit visit, void *ctx)
{
    return frontier_store_each(f->store, first, last, visit, ctx);
}

enum status frontier_each_seed(struct frontier *f, url_row_visit visit,
                               void *ctx)
{
    enum status st = frontier_store_each_root(f->store, visit, ctx);

    return st == STATUS_OK ? frontier_each_dropped_seed(f, visit, ctx) : st;
}

uint32_t frontier_find_queue(struct frontier *f, struct bytes key)
{
    return frontier_store_find_queue(f->store, f->o.crawl, key);
}

struct bytes frontier_queue_key(struct frontier *f, uint32_t queue)
{
    struct bytes crawl, key;

    frontier_store_queue_name(f->store, queue, &crawl, &key);
    return key;
}

enum status frontier_robots(struct frontier *f, struct bytes origin,
                            struct robots_row *row, struct buf *text)
{
    return page_store_robots(f->pages, origin, row, text);
}

enum status frontier_first_body(struct frontier *f, struct digest body,
                                struct first_body *out)
{
    return page_store_first_with_body(f->pages, body, out);
}

enum status frontier_meta(struct frontier *f, const char *name, struct buf *out)
{
    return frontier_store_meta(f->store, name, out);
}

enum status frontier_set_meta(struct frontier *f, const char *name,
                              struct bytes value)
{
    return frontier_store_set_meta(f->store, name, value);
}
