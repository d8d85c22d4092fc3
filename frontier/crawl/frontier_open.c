/* SPDX-License-Identifier: MIT */
/*
 * frontier_open.c - a new crawl, or one found on disk.
 *
 * The store and its seen check come first (seen/seen_store_open.c), then tries,
 * queues and leases are read from the store. Politeness comes last: after a
 * crash we do not know which hosts had just been asked, so every host with work
 * left waits for its delay once.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/mem.h"
#include "frontier/crawl/frontier_fetched.h"
#include "frontier/crawl/frontier_host.h"
#include "frontier/crawl/frontier_impl.h"
#include "frontier/crawl/frontier_links.h"
#include "frontier/crawl/frontier_refresh.h"
#include "frontier/past_crawl.h"
#include "frontier/seen/row_digest.h"

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
    f->groups = o->group != QUEUE_KEY_HOST ? politeness_groups_new() : NULL;
    f->aside_end = &f->aside;
    f->leases = lease_table_new();
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
        st = hint_store_open(&f->hints, s->db);
    if (st == STATUS_OK)
        st = drop_log_open(&f->drop_log, s->db);
    if (st == STATUS_OK)
        st = path_log_open(&f->path_log, s->db);
    if (st == STATUS_OK)
        st = frontier_trap_open(f);
    if (st == STATUS_OK)
        st = frontier_order_open(f);
    if (st == STATUS_OK)
        st = frontier_refresh_open(f, wall_ms);
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
