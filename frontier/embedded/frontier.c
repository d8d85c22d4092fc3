/* SPDX-License-Identifier: MIT */
/*
 * frontier.c - the embedded engine's table: put, turn, stats, close.
 *
 * One transaction holds all changes since the last commit. It is committed
 * when half of the URLs that may be in flight are acknowledged but not yet
 * durable, or when commit_interval has passed: the first keeps the number of
 * pages that a crash makes us fetch again within in_flight, the second bounds
 * their age. What a host said of its delays, or that it wants to be left alone,
 * is committed in the same turn, before its next URL goes out.
 */
#include "frontier/embedded/frontier.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/logger.h"
#include "base/mem.h"
#include "frontier/embedded/frontier_impl.h"

#define HOSTS_LOOKED_AT 256 /* at each commit */

enum status frontier_broke(struct frontier *f, enum status st)
{
    if (st != STATUS_OK && !f->broken) {
        f->broken = true;
        if (f->db != NULL && db_broken(f->db))
            st = db_error(f->db);
    }
    return st;
}

enum status frontier_touch(struct frontier *f, int64_t now)
{
    enum status st;

    if (f->broken)
        return db_error(f->db);
    if (f->in_txn)
        return STATUS_OK;
    st = db_begin(f->db);
    if (st != STATUS_OK)
        return frontier_broke(f, st);
    f->in_txn = true;
    f->dirty_since = now;
    return STATUS_OK;
}

void frontier_wait_once(struct frontier *f, struct host_queue *h)
{
    h->next_due = f->asked_before + frontier_pause(f, h);
}

struct host_queue *frontier_host(struct frontier *f, uint32_t queue)
{
    if (queue >= f->host_room) {
        size_t room = f->host_room > 0 ? f->host_room : 64;

        while (room <= queue)
            room *= 2;
        f->hosts = xrealloc(f->hosts, room * sizeof(struct host_queue *));
        memset(f->hosts + f->host_room, 0,
               (room - f->host_room) * sizeof(struct host_queue *));
        f->host_room = room;
    }
    if (f->hosts[queue] == NULL) {
        f->hosts[queue] = host_queue_new(queue);
        if (queue <= f->queues_before)
            frontier_wait_once(f, f->hosts[queue]);
    }
    return f->hosts[queue];
}

enum status frontier_put(struct engine *e, struct bytes crawl, uint64_t via,
                         const struct engine_item *items, size_t n,
                         int64_t wall_ms, enum engine_answer *answers)
{
    struct frontier *f = (struct frontier *)e;
    struct admission *list = xcalloc(n, sizeof *list);
    enum status st = frontier_touch(f, INT64_MIN);

    for (size_t i = 0; i < n; i++)
        list[i] = (struct admission){.item = &items[i], .via = via};
    if (st == STATUS_OK)
        st = frontier_admit(f, crawl, list, n, false, wall_ms);
    for (size_t i = 0; st == STATUS_OK && answers != NULL && i < n; i++)
        answers[i] = list[i].fresh ? ENGINE_NEW : ENGINE_SEEN;
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

/* Moves what the seen check has counted since into the store's counters. */
static void store_seen_counts(struct frontier *f)
{
    struct seen_counts c = seen_counts(f->seen);

    frontier_store_add(f->store, "filter_new",
                       c.filter_new - f->counted.filter_new);
    frontier_store_add(f->store, "filter_maybe",
                       c.filter_maybe - f->counted.filter_maybe);
    frontier_store_add(f->store, "false_positives",
                       c.false_positives - f->counted.false_positives);
    frontier_store_add(f->store, "answered_in_batch",
                       c.in_batch - f->counted.in_batch);
    frontier_store_add(f->store, "answered_hot", c.hot - f->counted.hot);
    frontier_store_add(f->store, "filter_unsure", c.unsure - f->counted.unsure);
    if (f->o.blocklist != NULL)
        store_blocklist_counts(f);
    f->counted = c;
}

/* Hosts that are through are forgotten, a few at each commit, so that memory
 * goes with the hosts that have work and not with all that ever had. */
static void forget_idle_hosts(struct frontier *f, int64_t now)
{
    for (unsigned i = 0; i < HOSTS_LOOKED_AT && f->host_room > 0; i++) {
        struct host_queue **h = &f->hosts[f->host_looked % f->host_room];

        if (*h != NULL && host_queue_is_idle(*h, now)) {
            (void)politeness_group_leave(f->groups, *h, now);
            host_queue_free(*h);
            *h = NULL;
        }
        f->host_looked++;
    }
}

static enum status commit(struct frontier *f, int64_t now, uint64_t *durable)
{
    enum status st = STATUS_OK;
    int64_t began;

    if (!f->in_txn)
        return STATUS_OK;
    began = clock_mono(); /* to be told, not to decide by */
    fault_point("turn-before-commit");
    store_seen_counts(f);
    st = exact_set_step(f->exact, f->admitted);
    if (st == STATUS_OK)
        st = page_store_step(f->pages);
    if (st == STATUS_OK && f->external != NULL)
        st = external_step(f);
    if (st == STATUS_OK)
        st = frontier_store_step(f->store);
    if (st == STATUS_OK && f->o.before_commit != NULL)
        st = f->o.before_commit(f->o.before_commit_ctx);
    if (st == STATUS_OK)
        st = db_commit(f->db);
    if (st != STATUS_OK)
        return frontier_broke(f, st);
    fault_point("turn-after-commit");
    f->in_txn = false;
    f->commits++;
    histogram_note(&f->commit_times, clock_mono() - began);
    if (durable != NULL)
        *durable = f->uncommitted;
    f->uncommitted = 0;
    f->urgent = false;
    f->admitted = 0;
    forget_idle_hosts(f, now);
    return STATUS_OK;
}

static enum status frontier_turn(struct engine *e, bool force, int64_t now,
                                 int64_t wall_ms, uint64_t *durable)
{
    struct frontier *f = (struct frontier *)e;
    bool full = f->uncommitted > 0 && f->uncommitted * 2 >= f->o.in_flight;

    (void)wall_ms;
    if (durable != NULL)
        *durable = 0;
    if (f->broken)
        return db_error(f->db);
    frontier_save_poll(f);
    if (f->external != NULL)
        external_tick(f, now);
    if (!f->in_txn)
        return STATUS_OK;
    if (f->dirty_since == INT64_MIN) /* a put, which knows no time */
        f->dirty_since = now;
    if (!force && !full && !f->urgent &&
        now - f->dirty_since < f->o.commit_interval)
        return STATUS_OK;
    return commit(f, now, durable);
}

static enum status frontier_block(struct engine *e, struct bytes crawl,
                                  struct bytes key, int64_t until, int64_t now,
                                  int64_t wall_ms)
{
    struct frontier *f = (struct frontier *)e;
    uint32_t queue = frontier_store_find_queue(f->store, crawl, key);
    struct engine_host_news none = {.crawl_delay_ms = -2, .retry_after_ms = -1};
    struct host_queue *h;
    enum status st;

    if (queue == 0)
        return STATUS_NOT_FOUND;
    st = frontier_touch(f, now);
    if (st != STATUS_OK)
        return st;
    h = frontier_host(f, queue);
    h->blocked_until = until;
    h->why_blocked = until > now ? "blocked" : NULL;
    st = frontier_host_news(f, h, &none, now, wall_ms);
    frontier_reschedule(f, h);
    frontier_visits_again(f);
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}

static enum status frontier_delay(struct engine *e, struct bytes crawl,
                                  struct bytes key, int64_t delay_ms,
                                  int64_t now)
{
    struct frontier *f = (struct frontier *)e;
    uint32_t queue = frontier_store_find_queue(f->store, crawl, key);
    struct host_queue *h;
    int64_t latest;
    enum status st;

    if (queue == 0)
        return STATUS_NOT_FOUND;
    st = frontier_touch(f, now);
    if (st != STATUS_OK)
        return st;
    h = frontier_host(f, queue);
    h->set_delay = delay_ms >= 0 ? delay_ms * NS_PER_MS : -1;
    latest = now + frontier_pause(f, h);
    if (h->next_due > latest) /* a shorter one holds from now on */
        h->next_due = latest;
    st = external_set_queue(f, h);
    frontier_reschedule(f, h);
    frontier_visits_again(f);
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}

static void engine_stats_now(struct engine *e, struct engine_stats *out)
{
    struct frontier *f = (struct frontier *)e;

    engine_stats_of_store(f->store, out);
    out->leased = lease_count(f->leases);
    out->withheld = f->withheld;
    out->queues_active = f->hosts_active;
    out->memory = frontier_store_memory(f->store) + seen_memory(f->seen) +
                  exact_set_stats(f->exact).memory +
                  page_store_memory(f->pages) + frontier_filter_memory(f);
    out->commits = f->commits;
}

static void frontier_close(struct engine *e)
{
    struct frontier *f = (struct frontier *)e;

    if (f == NULL)
        return;
    if (frontier_save_wait(f) != STATUS_OK)
        log_warn("the last checkpoint did not succeed", "dir=%s", f->dir);
    if (f->in_txn)
        db_rollback(f->db);
    heap_fini(&f->due);
    heap_fini(&f->groups_due);
    politeness_groups_free(f->groups);
    for (size_t i = 0; i < f->host_room; i++)
        host_queue_free(f->hosts[i]);
    free(f->hosts);
    external_free(f->external);
    lease_table_free(f->leases);
    map_free(f->tries, free);
    seen_free(f->seen);
    filter_free(f->filter);
    exact_set_close(f->exact);
    page_store_close(f->pages);
    link_store_close(f->links);
    hint_store_close(f->hints);
    frontier_store_close(f->store);
    db_close(f->db);
    free(f->digests);
    free(f->answers);
    free(f->fresh);
    free(f->found);
    free(f->open);
    free(f->asked);
    free(f->blocked);
    buf_fini(&f->text);
    free(f->dir);
    free(f);
}

struct bytes frontier_leased_url(struct engine *e, uint64_t id)
{
    const struct lease_record *l =
        lease_find(((struct frontier *)e)->leases, id);

    return l != NULL ? l->lease.url : bytes_of("", 0);
}

const struct engine_ops frontier_ops = {
    .put = frontier_put,
    .lease = frontier_lease,
    .ack = frontier_ack,
    .release = frontier_release,
    .block = frontier_block,
    .delay = frontier_delay,
    .turn = frontier_turn,
    .next_due = frontier_next_due,
    .stats = engine_stats_now,
    .close = frontier_close,
};

const struct digest_key *frontier_digest_key(struct engine *e)
{
    return &((struct frontier *)e)->key;
}

struct frontier_store *frontier_store_of(struct engine *e)
{
    return ((struct frontier *)e)->store;
}

struct page_store *frontier_pages_of(struct engine *e)
{
    return ((struct frontier *)e)->pages;
}

bool frontier_first_lease(struct engine *e, uint32_t queue)
{
    struct host_queue *h = frontier_host((struct frontier *)e, queue);
    bool first = !h->told_robots;

    h->told_robots = true;
    return first;
}
