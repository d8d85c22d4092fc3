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
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/mem.h"
#include "frontier/crawl/frontier_impl.h"
#include "frontier/crawl/frontier_open.h"
#include "frontier/crawl/past_crawl.h"
#include "frontier/seen/seen_store.h"

/*
 * A new crawl, or one found on disk.
 *
 * The store and its seen check come first (seen/seen_store_open.c), then tries,
 * queues and leases are read from the store. Politeness comes last: after a
 * crash we do not know which hosts had just been asked, so every host with work
 * left waits for its delay once.
 */
/* Room for a URL from the store: other programs may put longer ones than we
 * crawl (URL_LENGTH_CEILING). */
#define TEXT_MOST ((size_t)16 << 20)
/* Texts of one fetch row, each of which is far shorter. */
#define WEIGHED_EACH    4096 /* queues */
#define LAST_TEXTS_MOST ((size_t)1 << 20)

static struct frontier *frontier_alloc(const struct frontier_options *o)
{
    struct frontier *f = xcalloc(1, sizeof *f);

    host_table_init(&f->hosts);
    f->o = *o;
    f->random.state = o->random_seed;
    if (f->random.state == 0 &&
        getrandom(&f->random.state, sizeof f->random.state, 0) < 0)
        f->random.state = 1;
    f->host_memory = o->host_memory > 0 ? o->host_memory
                                        : seen_store_shares(&o->store).queues;
    heap_init(&f->due);
    heap_init(&f->beside);
    heap_init(&f->groups_due);
    f->groups = o->group != QUEUE_KEY_HOST ? map_new() : NULL;
    f->aside_end = &f->aside;
    f->leases = map_new();
    f->tries = map_new();
    frontier_budget_open(f);
    buf_init(&f->text, TEXT_MOST);
    f->last_texts = arena_new(LAST_TEXTS_MOST);
    return f;
}

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)

/* Sets up what our own fetchers need besides URLs and the seen check. */
static enum status open_parts(struct frontier *f, int64_t wall_ms)
{
    struct seen_store *s = f->base;
    enum status st =
        page_store_watch_bodies(s->pages,
                                seen_store_share(s, 1, 256 * KIB, 256 * MIB));

    if (st == STATUS_OK && f->o.watch_near)
        st = page_store_watch_near(s->pages,
                                   seen_store_share(s, 1, 256 * KIB, 80 * MIB));
    f->store = s->store;
    f->pages = s->pages;
    if (st == STATUS_OK)
        st =
            frontier_open_last(f, seen_store_share(s, 2, 256 * KIB, 128 * MIB));
    if (st == STATUS_OK)
        st = link_store_open(&f->links, s->db);
    if (st == STATUS_OK)
        st = frontier_history_open(f);
    if (st == STATUS_OK)
        st = drop_log_open(&f->drop_log, s->db);
    if (st == STATUS_OK)
        st = path_log_open(&f->path_log, s->db);
    if (st == STATUS_OK)
        st = frontier_trap_open(f);
    if (st == STATUS_OK)
        st = frontier_order_open(f);
    if (st == STATUS_OK)
        frontier_refresh_open(f, wall_ms);
    return st;
}

/* Sets *out, or on failure frees the frontier. */
static enum status done_opening(struct frontier *f, enum status st,
                                struct frontier **out)
{
    if (st == STATUS_OK)
        *out = f;
    else
        frontier_close(f);
    return st;
}

enum status frontier_create(struct frontier **out, const char *dir,
                            const struct frontier_options *o, int64_t wall_ms)
{
    struct frontier *f = frontier_alloc(o);
    enum status st = seen_store_create(&f->base, dir, &o->store, wall_ms);

    if (st == STATUS_OK)
        st = open_parts(f, wall_ms);
    if (st == STATUS_OK && o->refresh.every_ms != 0)
        st = frontier_redate_note(f);
    f->cut_off = o->taken_at != 0;
    f->asked_before = o->taken_at;
    return done_opening(f, st, out);
}

/* ---- an existing crawl ---- */

struct restart {
    struct frontier *f;
    int64_t now, wall_ms;
    int64_t later_ms; /* wall_ms, or when the manifest was written */
};

/* The last run wrote its deadlines by its own clock: if that was ahead of ours,
 * the remaining times stay the same. The ceiling helps if the clock was set
 * back to before the last manifest. */
static struct restart restart_of(struct frontier *f, int64_t now,
                                 int64_t wall_ms)
{
    return (struct restart){f, now, wall_ms,
                            clock_later(wall_ms, f->base->found.written_at_ms)};
}

static void take_tries(void *ctx, uint64_t id, uint32_t tries, int64_t due_ms)
{
    struct restart *r = ctx;
    struct tries_entry *t = xcalloc(1, sizeof *t);
    const struct schedule_options *o = &r->f->o.schedule;
    int64_t most = clock_later(o->max_delay, o->retry_delay) / NS_PER_MS * 2;

    if (tries == 0) /* another program postponed it */
        most = SCHEDULE_PUT_OFF_MOST_MS;
    t->tries = tries;
    t->due =
        r->now + schedule_left(due_ms, r->later_ms,
                               clock_later(most, SCHEDULE_BACKOFF_MOST_MS));
    free(map_put(r->f->tries, bytes_of(&id, sizeof id), t));
}

const char frontier_by_person[] = "blocked";

static const char *block_reason(const struct queue_state *s)
{
    return strcmp(s->reason, "retry_after") == 0 ? "retry_after"
           : strcmp(s->reason, "back_off") == 0  ? "back_off"
                                                 : frontier_by_person;
}

/* How much longer a server wanted no request. If that is no more than it may
 * be, the clock has not been set back since; otherwise it has. */
static int64_t back_off_left(const struct restart *r, int64_t until_ms,
                             const char *why)
{
    const struct schedule_options *o = &r->f->o.schedule;
    int64_t most = strcmp(why, "back_off") == 0
                       ? clock_later(o->max_delay, o->retry_delay) / NS_PER_MS
                       : SCHEDULE_BACKOFF_MOST_MS;

    return schedule_left(until_ms,
                         until_ms - r->wall_ms <= most + 2 ? r->wall_ms
                                                           : r->later_ms,
                         SCHEDULE_BACKOFF_MOST_MS);
}

static void take_queue_state(void *ctx, uint32_t queue,
                             const struct queue_state *s)
{
    struct restart *r = ctx;
    struct host_queue *h = frontier_host(r->f, queue);

    const char *why = block_reason(s);
    int64_t left = why == frontier_by_person
                       ? schedule_left(s->blocked_until_ms, r->wall_ms,
                                       SCHEDULE_PUT_OFF_MOST_MS)
                       : back_off_left(r, s->blocked_until_ms, why);

    h->own_delay =
        s->delay_ms < 0
            ? -1
            : clock_earlier(s->delay_ms, SCHEDULE_PUT_OFF_MOST_MS) * NS_PER_MS;
    h->backoffs = s->backoffs;
    frontier_budget_restore(r->f, h, s);
    if (left > 0) {
        host_trouble_of(h)->blocked_until = r->now + left;
        host_trouble_of(h)->why_blocked = why;
    }
}

/* After a clean stop no host was asked after the manifest was written. */
static int64_t last_asked(const struct frontier *f, int64_t now,
                          int64_t wall_ms)
{
    int64_t ago_ms =
        wall_ms - f->base->found.written_at_ms - 1; /* it was rounded down */

    return f->base->found.clean && ago_ms > 0
               ? now -
                     clock_earlier(ago_ms, SCHEDULE_PUT_OFF_MOST_MS) * NS_PER_MS
               : now;
}

/* Makes hosts with stored state or URLs left; others get their struct, and wait
 * in the same way, when one of their URLs is found. */
static enum status schedule_all(struct frontier *f, int64_t now,
                                int64_t wall_ms)
{
    uint32_t queues = frontier_store_queue_count(f->store);
    enum status st = STATUS_OK;

    /* Whether anything was asked is not known: a request for robots.txt has no
     * row. */
    f->queues_before = queues;
    f->cut_off = !f->base->found.clean;
    f->asked_before = last_asked(f, now, wall_ms);
    for (uint32_t q = 1; st == STATUS_OK && q <= queues; q++) {
        struct host_queue *h = host_table_get(&f->hosts, q);

        if (q % WEIGHED_EACH == 1)
            frontier_weigh_hosts(f);
        if (h == NULL && frontier_store_pending(f->store, q) == 0)
            continue;
        if (h != NULL && f->queues_before > 0) /* made before that was known */
            frontier_wait_once(f, h);
        if (h != NULL && f->groups != NULL) /* it may block others as well */
            st = frontier_recall_place(f, h);
        frontier_queue_grew(f, q);
    }
    return st;
}

struct roots {
    struct frontier *f;
    enum status st;
};

static void tell_root(void *ctx, const struct url_row *row)
{
    struct roots *r = ctx;

    if (r->st == STATUS_OK)
        r->st = past_crawl_root(r->f->o.past,
                                row_digest(&r->f->base->key, r->f->store, row),
                                row->url);
}

static enum status tell_roots(struct frontier *f)
{
    struct roots r = {f, STATUS_OK};
    enum status st = f->o.past != NULL
                         ? frontier_store_each_root(f->store, tell_root, &r)
                         : STATUS_OK;

    return st == STATUS_OK ? r.st : st;
}

static enum status restore(struct frontier *f, int64_t now, int64_t wall_ms)
{
    struct restart r = restart_of(f, now, wall_ms);
    enum status st = frontier_store_each_tries(f->store, take_tries, &r);

    if (st == STATUS_OK)
        st = tell_roots(f);
    if (st == STATUS_OK)
        st = rejudge_restore(f);
    if (st == STATUS_OK)
        st = frontier_store_each_queue_state(f->store, take_queue_state, &r);
    if (st == STATUS_OK)
        st = external_restore(f, now, r.later_ms);
    if (st != STATUS_OK)
        return st;
    st = frontier_refresh_restore(f);
    if (st != STATUS_OK)
        return st;
    f->old_urls = frontier_store_last_id(f->store);
    frontier_store_add(f->store, "over_budget",
                       f->withheld -
                           frontier_store_counter(f->store, "over_budget"));
    return schedule_all(f, now, wall_ms);
}

enum status frontier_open(struct frontier **out, const char *dir,
                          const struct frontier_options *o, int64_t now,
                          int64_t wall_ms)
{
    struct frontier *f = frontier_alloc(o);
    enum status st = seen_store_open(&f->base, dir, &o->store);

    if (st == STATUS_OK)
        st = open_parts(f, wall_ms);
    if (st == STATUS_OK)
        st = restore(f, now, wall_ms);
    return done_opening(f, st, out);
}

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
    uint64_t under_way = map_count(f->leases) - external_count(f->external);
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
    struct host_news none = {.retry_after_ms = -1};
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
    out->leased = map_count(f->leases);
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
    map_free(f->groups, politeness_group_free);
    host_table_fini(&f->hosts);
    external_free(f->external);
    map_free(f->leases, lease_free);
    map_free(f->tries, free);
    history_close(f->history);
    link_store_close(f->links);
    drop_log_close(f->drop_log);
    path_log_close(f->path_log);
    trap_table_close(f->traps);
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
    return robots_store_get(f->base->db, origin, row, text);
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
