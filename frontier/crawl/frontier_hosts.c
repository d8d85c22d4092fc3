/* SPDX-License-Identifier: MIT */
/*
 * frontier_hosts.c - the hosts of a crawl: which are in memory, and lists of
 * them for display.
 *
 * Nothing is kept sorted for a list: a bounded number of queues is scanned, and
 * the first few in the wanted order go into a short sorted list. Finished hosts
 * are forgotten, so only those with work or some state are found; of one that
 * rests, how many URLs it has.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "frontier/crawl/frontier_impl.h"
#include "frontier/stats.h"

/* ---- a host in memory ---- */

struct host_queue *host_queue_new(uint32_t queue)
{
    struct host_queue *h = xcalloc(1, sizeof *h);

    h->queue = queue;
    h->own_delay = -1;
    return h;
}

void host_queue_free(struct host_queue *h)
{
    if (h == NULL)
        return;
    free(h->window);
    free(h->retries);
    free(host_spent(h)->sources);
    free(h->spent);
    free(h->front);
    host_origins_revive(h);
    free(h->trouble);
    free(h->orders);
    free(h);
}

static size_t octets_of(const void *piece, size_t octets)
{
    return piece != NULL ? octets + 16 : 0;
}

/* What it takes of memory, what malloc adds to each piece included. */
static size_t host_queue_octets(const struct host_queue *h)
{
    return octets_of(h, sizeof *h) +
           octets_of(h->window, h->window_count * sizeof *h->window) +
           octets_of(h->retries, h->retry_room * sizeof *h->retries) +
           octets_of(h->trouble, sizeof *h->trouble) +
           octets_of(h->orders, sizeof *h->orders) +
           octets_of(h->front, sizeof *h->front) +
           octets_of(h->spent, sizeof *h->spent) +
           octets_of(host_spent(h)->sources, sizeof *host_spent(h)->sources);
}

/* True: it has no state that a new one would lack: no URLs, leases, delay,
 * back-off or failures. */
static bool host_queue_is_idle(const struct host_queue *h, int64_t now)
{
    const struct host_trouble *t = host_trouble(h);
    const struct host_orders *o = host_orders(h);
    const struct host_spent *s = host_spent(h);

    return !h->active && !h->awake && !h->set_aside && h->place.place == 0 &&
           h->leased == 0 && h->guests == 0 && h->retry_count == 0 &&
           h->next_due <= now && o->expects_until <= now &&
           t->blocked_until <= now && h->own_delay < 0 && o->set_delay < 0 &&
           o->set_limit == 0 && h->backoffs == 0 && h->errors == 0 &&
           t->failures == 0 && s->pages == 0 && s->octets == 0 &&
           s->sources == NULL && t->origins == NULL;
}

/* True: all that is known of it is which URLs of its queue were taken, and it
 * waits for its turn alone (frontier_impl.h). It may be in the schedule. */
static bool host_queue_may_rest(const struct host_queue *h, int64_t now)
{
    return h->active && !h->awake && !h->set_aside && !h->beside &&
           h->leased == 0 && h->guests == 0 && h->refreshing == 0 &&
           h->retry_count == 0 && h->next_due <= now && h->own_delay < 0 &&
           h->backoffs == 0 && h->errors == 0 && h->group == NULL &&
           h->held_by == HOST_HELD_NOT && h->trouble == NULL &&
           h->orders == NULL && h->spent == NULL && h->front == NULL;
}

/* The last id of the queue before the next one to be taken. */
static uint64_t host_queue_read_upto(const struct host_queue *h)
{
    return h->window_at < h->window_count ? h->window[h->window_at] - 1
                                          : h->cursor;
}

/* ---- the table, and hosts that rest ---- */

#define PLACES 1016 /* so that a part takes a page */

/* Places in the order of the line. */
struct host_line_part {
    struct host_line_part *next;
    struct host_turn turn; /* of the first; the others come later, or nearly */
    uint32_t count;
    uint32_t queues[PLACES];
};

/* What a resting host leaves: the last id that was read from its queue, then
 * these bits. */
#define RESTS      1U
#define HANDED_OUT 2U /* a URL of it was leased in this run */
#define ANSWERED   4U
#define STATE_BITS 3

void host_table_init(struct host_table *t)
{
    *t = (struct host_table){0};
}

static void line_fini(struct host_line *l)
{
    while (l->first != NULL) {
        struct host_line_part *p = l->first;

        l->first = p->next;
        free(p);
    }
}

void host_table_fini(struct host_table *t)
{
    for (uint32_t q = 0; q < t->room; q++)
        host_queue_free(host_table_get(t, q));
    free(t->at);
    line_fini(&t->at_once);
    line_fini(&t->rested);
}

static uintptr_t *entry_of(struct host_table *t, uint32_t queue)
{
    if (queue >= t->room) {
        size_t room = t->room > 0 ? t->room : 64;

        while (room <= queue)
            room *= 2;
        t->at = xrealloc(t->at, room * sizeof *t->at);
        memset(t->at + t->room, 0, (room - t->room) * sizeof *t->at);
        t->room = room;
    }
    return &t->at[queue];
}

/* Makes the host of a queue that has none; one that rested goes on where it
 * was. */
static struct host_queue *host_table_make(struct host_table *t, uint32_t queue)
{
    uintptr_t *at = entry_of(t, queue);
    struct host_queue *h = host_queue_new(queue);

    assert(host_table_get(t, queue) == NULL);
    if ((*at & RESTS) != 0) {
        h->cursor = *at >> STATE_BITS;
        h->handed_out = (*at & HANDED_OUT) != 0;
        h->answers = (*at & ANSWERED) != 0;
        h->active = true;
        t->resting--;
    }
    *at = (uintptr_t)h;
    t->awake++;
    return h;
}

/* Frees the host of a queue. */
static void host_table_forget(struct host_table *t, uint32_t queue)
{
    host_queue_free(host_table_get(t, queue));
    t->at[queue] = 0;
    t->awake--;
}

/* ---- lines ---- */

static void line_up(struct host_table *t, struct host_line *l, uint32_t queue,
                    struct host_turn turn)
{
    if (l->last == NULL || l->last->count == PLACES) {
        struct host_line_part *p = xmalloc(sizeof *p);

        p->next = NULL;
        p->turn = turn;
        p->count = 0;
        if (l->last != NULL)
            l->last->next = p;
        else
            l->first = p;
        l->last = p;
        t->parts++;
    }
    l->last->queues[l->last->count++] = queue;
}

/* Removes the first part once all its places were taken. */
static void drop_taken(struct host_table *t, struct host_line *l)
{
    struct host_line_part *p = l->first;

    if (p == NULL || l->taken < p->count)
        return;
    l->first = p->next;
    l->taken = 0;
    if (l->first == NULL)
        l->last = NULL;
    free(p);
    t->parts--;
}

static void line_pass(struct host_table *t, struct host_line *l)
{
    l->taken++;
    drop_taken(t, l);
}

/* 0: it is empty. */
static uint32_t line_first(struct host_table *t, struct host_line *l)
{
    while (l->first != NULL) {
        uint32_t queue = l->first->queues[l->taken];

        if (host_table_rests(t, queue))
            return queue;
        line_pass(t, l);
    }
    return 0;
}

/* A queue without a host rests until it is asked for the first time; it would
 * have entered the schedule as number `order`. */
static void host_table_rest_unasked(struct host_table *t, uint32_t queue,
                                    uint64_t order)
{
    uintptr_t *at = entry_of(t, queue);

    assert(*at == 0);
    *at = RESTS;
    t->resting++;
    line_up(t, &t->at_once, queue, (struct host_turn){.order = order});
}

/* Frees `h`, for which host_queue_may_rest holds and which is in no heap. Hosts
 * rest in the order of their turns, or nearly. */
static void host_table_rest(struct host_table *t, struct host_queue *h,
                            struct host_turn turn)
{
    uint32_t queue = h->queue;
    uintptr_t left = (uintptr_t)host_queue_read_upto(h) << STATE_BITS | RESTS;

    if (h->handed_out)
        left |= HANDED_OUT;
    if (h->answers > 0)
        left |= ANSWERED;
    line_up(t, turn.due > 0 ? &t->rested : &t->at_once, queue, turn);
    host_table_forget(t, queue);
    t->at[queue] = left;
    t->resting++;
}

/* The line that goes first. */
static struct host_line *line_of(struct host_table *t)
{
    return line_first(t, &t->at_once) != 0 ? &t->at_once : &t->rested;
}

/* The resting queue whose turn is next, 0 if there is none; its turn was no
 * sooner than *turn. */
static uint32_t host_table_first(struct host_table *t, struct host_turn *turn)
{
    struct host_line *l = line_of(t);
    uint32_t queue = line_first(t, l);

    if (queue != 0)
        *turn = l->first->turn;
    return queue;
}

/* Removes that place, since its host is woken. */
static void host_table_pass(struct host_table *t)
{
    line_pass(t, line_of(t));
}

/* Octets, without those of hosts. */
static uint64_t host_table_memory(const struct host_table *t)
{
    return t->room * sizeof *t->at + t->parts * sizeof(struct host_line_part);
}

/*
 * Which hosts are held in memory.
 *
 * A host that is finished is forgotten. While all hosts, and what the store has
 * of queues, take more than their part of --memory, hosts that wait for nothing
 * but their turn rest (frontier_impl.h): at each commit those that have waited
 * longest, and new ones at once. The schedule wakes them when no other host has
 * been due for longer (frontier_wake).
 *
 * With budgets, politeness groups or other programs each host has more to
 * remember than a resting one can; then none rests.
 */

#define MEMORY_HOSTS_LOOKED_AT 256                 /* at each commit */
#define REST_MOST              4096                /* the same */
#define KEEP_MOST              1024                /* of these, that may not */
#define WAKE_MOST              64                  /* in one go */
#define STEP_TOLD              (UINT64_C(1) << 20) /* octets */

void frontier_wait_once(struct frontier *f, struct host_queue *h)
{
    h->next_due = f->asked_before + frontier_pause(f, h);
}

struct host_queue *frontier_host(struct frontier *f, uint32_t queue)
{
    struct host_queue *h = host_table_get(&f->hosts, queue);
    bool rested = host_table_rests(&f->hosts, queue);

    if (h != NULL)
        return h;
    h = host_table_make(&f->hosts, queue);
    if (queue <= f->queues_before || f->cut_off)
        frontier_wait_once(f, h);
    frontier_budget_join(f, h);
    if (rested) {
        h->next_due = clock_later(h->next_due, f->rested_due);
        frontier_reschedule(f, h);
    }
    return h;
}

static bool may_rest(const struct frontier *f)
{
    return f->hosts_beyond && f->groups == NULL && f->external == NULL &&
           !frontier_budget_counts(f);
}

void frontier_queue_grew(struct frontier *f, uint32_t queue)
{
    if (host_table_rests(&f->hosts, queue))
        return;
    if (host_table_get(&f->hosts, queue) == NULL && may_rest(f)) {
        host_table_rest_unasked(&f->hosts, queue, f->due.entered);
        f->hosts_active++;
        return;
    }
    frontier_reschedule(f, frontier_host(f, queue));
}

/* Also if both turns are the same: then the one on top was woken from the same
 * part of the line, and has not been asked yet. */
static bool goes_before(const struct heap_item *top, struct host_turn turn)
{
    return top->key != turn.due ? top->key < turn.due
                                : top->order <= turn.order;
}

void frontier_wake(struct frontier *f)
{
    for (unsigned i = 0; i < WAKE_MOST && f->hosts.resting > 0; i++) {
        const struct heap_item *top = heap_top(&f->due);
        struct host_turn turn;
        uint32_t queue = host_table_first(&f->hosts, &turn);
        struct host_queue *h;

        if (queue == 0 || (top != NULL && goes_before(top, turn)))
            return;
        host_table_pass(&f->hosts);
        h = frontier_host(f, queue);
        if (h->place.place > 0)
            heap_date_back(&f->due, &h->place, turn.order);
    }
}

/* A host in the middle of a run of URLs has a negative key
 * (frontier_schedule.c); its connection is open. */
static bool may_rest_now(const struct host_queue *h, int64_t now)
{
    return h->place.key >= 0 && host_queue_may_rest(h, now);
}

/* Those that have been due for longest; those among them that may not rest keep
 * their places. */
static void rest_some(struct frontier *f, int64_t now)
{
    struct host_queue *kept[KEEP_MOST];
    unsigned n = 0;

    for (unsigned i = 0; i < REST_MOST && n < KEEP_MOST; i++) {
        struct heap_item *top = heap_top(&f->due);
        struct host_queue *h;

        if (top == NULL || top->key > now)
            break;
        h = host_queue_at(top);
        heap_remove(&f->due, top);
        if (may_rest_now(h, now))
            host_table_rest(&f->hosts, h,
                            (struct host_turn){top->key, top->order});
        else
            kept[n++] = h;
    }
    for (unsigned i = 0; i < n; i++) {
        uint64_t order = kept[i]->place.order;

        heap_push(&f->due, &kept[i]->place, kept[i]->place.key);
        heap_date_back(&f->due, &kept[i]->place, order);
    }
}

static void look_from_the_first(struct frontier *f)
{
    f->host_octets = f->hosts_seen > 0 ? f->octets_seen / f->hosts_seen : 0;
    f->host_looked = 0;
    f->hosts_seen = f->octets_seen = 0;
}

/* Forgets hosts that are finished, a few at a time, and measures the others. */
static void forget_idle(struct frontier *f, int64_t now)
{
    for (unsigned i = 0; i < MEMORY_HOSTS_LOOKED_AT && f->hosts.room > 0; i++) {
        struct host_queue *h = host_table_get(&f->hosts, f->host_looked);

        if (h != NULL && host_queue_is_idle(h, now)) {
            (void)politeness_group_leave(f->groups, h, now);
            frontier_budget_leave(h);
            host_table_forget(&f->hosts, f->host_looked);
        } else if (h != NULL) {
            f->hosts_seen++;
            f->octets_seen += host_queue_octets(h);
        }
        if (++f->host_looked == f->hosts.room)
            look_from_the_first(f);
    }
}

uint64_t frontier_host_memory(const struct frontier *f)
{
    uint64_t each = f->host_octets > 0  ? f->host_octets
                    : f->hosts_seen > 0 ? f->octets_seen / f->hosts_seen
                                        : sizeof(struct host_queue);

    return f->hosts.awake * each + host_table_memory(&f->hosts) +
           link_sketch_memory(f->ordering.links) + frontier_refresh_memory(f) +
           history_memory(f->history);
}

void frontier_weigh_hosts(struct frontier *f)
{
    uint64_t octets = frontier_host_memory(f), told = f->octets_told;
    uint64_t step = told / 64 + STEP_TOLD;
    uint64_t all = octets + frontier_store_memory(f->store);

    f->hosts_beyond = all > f->host_memory;
    if (octets < told + step && octets + step > told)
        return;
    f->octets_told = octets;
    seen_store_note_queues(f->base, all);
}

void frontier_tend_hosts(struct frontier *f, int64_t now)
{
    forget_idle(f, now);
    frontier_weigh_hosts(f);
    if (may_rest(f))
        rest_some(f, now);
}

/*
 * Stats of the frontier, for monitoring.
 *
 * Those of the store and its seen check (stored_stats.c), and the hosts.
 */

#define HOSTS_LOOKED_AT 20000 /* of a census, at once: some two milliseconds */

/* ---- hosts ---- */

static bool is_ready(const struct host_queue *h, int64_t now)
{
    return h->place.place != 0 && h->place.key <= now &&
           (h->group == NULL ||
            (h->group->place.place != 0 && h->group->place.key <= now));
}

static void count_host(struct host_stats *c, const struct host_queue *h,
                       int64_t now)
{
    c->ready += is_ready(h, now);
    c->blocked +=
        host_trouble(h)->blocked_until > now ||
        (host_trouble(h)->silent_until > now && !frontier_is_given_up(h));
    c->dead += frontier_is_draining(h) || frontier_is_given_up(h);
}

/* Goes on with the lap; at its end its counts become the ones shown. */
static void take_census(struct frontier *f, int64_t now)
{
    struct frontier_census *c = &f->census;

    for (unsigned i = 0; i < HOSTS_LOOKED_AT && c->at < f->hosts.room; i++) {
        const struct host_queue *h = host_table_get(&f->hosts, c->at++);

        if (h != NULL)
            count_host(&c->counting, h, now);
    }
    if (c->at < f->hosts.room)
        return;
    c->last = c->counting;
    c->last.ready += f->hosts.resting;
    c->counting = (struct host_stats){0};
    c->at = 0;
}

/* ---- the whole ---- */

void frontier_get_stats(struct frontier *f, int64_t now,
                        struct frontier_stats *out)
{
    frontier_stats_of_seen(f->base, out);
    take_census(f, now);
    out->hosts = f->census.last;
}

#define WALK_MOST 200000 /* most queues scanned: some milliseconds */

struct order {
    struct frontier *f;
    enum host_order by;
    int64_t now;
};

static bool is_blocked(const struct host_queue *h, int64_t now)
{
    const struct host_trouble *x;

    if (h == NULL)
        return false;
    x = host_trouble(h);
    return x->blocked_until > now || x->silent_until > now ||
           frontier_is_draining(h) || h->held_by == HOST_HELD_BUDGET;
}

/* The sort key, larger first; 0: do not show. */
static uint64_t weight(const struct order *o, uint32_t queue)
{
    const struct host_queue *h = host_table_get(&o->f->hosts, queue);

    switch (o->by) {
    case HOSTS_SLOWEST:
        return h != NULL ? h->latency_us : 0;
    case HOSTS_BLOCKED:
        return is_blocked(h, o->now)
                   ? 1 + frontier_store_pending(o->f->store, queue)
                   : 0;
    case HOSTS_BIGGEST:
        break;
    }
    return frontier_store_pending(o->f->store, queue);
}

static enum host_state state_of(const struct frontier *f,
                                const struct host_queue *h, int64_t now,
                                int64_t due)
{
    if (frontier_is_draining(h) || frontier_is_given_up(h))
        return HOST_DEAD;
    if (host_trouble(h)->blocked_until > now ||
        host_trouble(h)->silent_until > now || h->held_by == HOST_HELD_BUDGET)
        return HOST_BLOCKED;
    if (h->leased + h->guests >= f->o.conns_per_host)
        return HOST_BUSY;
    return due > now ? HOST_WAITING : HOST_READY;
}

static const char *why_of(const struct frontier *f, const struct host_queue *h,
                          int64_t now)
{
    const char *which = NULL;

    if (frontier_is_draining(h))
        return outcome_reason_name(host_trouble(h)->origins->why.reason);
    if (h->held_by == HOST_HELD_BUDGET &&
        frontier_budget_left(f, h, &which) == 0)
        return which;
    if (host_trouble(h)->silent_until > now)
        return outcome_reason_name(host_trouble(h)->silent.reason);
    if (host_trouble(h)->blocked_until <= now ||
        host_trouble(h)->why_blocked == NULL)
        return "";
    return strcmp(host_trouble(h)->why_blocked, "blocked") == 0
               ? "operator"
               : host_trouble(h)->why_blocked;
}

static struct schedule_options usual(const struct frontier *f,
                                     const struct host_queue *h,
                                     struct schedule_host *host)
{
    struct schedule_options o =
        h != NULL ? frontier_schedule(f, h) : f->o.schedule;

    *host = (struct schedule_host){.own = -1};
    if (h != NULL)
        *host = frontier_schedule_host(h);
    o.random_delay = false;
    return o;
}

int64_t frontier_usual_pause(const struct frontier *f,
                             const struct host_queue *h)
{
    struct schedule_random none = {.state = 1};
    struct schedule_host host;
    const struct schedule_options o = usual(f, h, &host);

    return schedule_pause(&o, &host, &none);
}

/* Sets the delay in force, and why it is that. */
static void set_delay(const struct frontier *f, const struct host_queue *h,
                      struct host_report *row)
{
    struct schedule_host host;
    const struct schedule_options o = usual(f, h, &host);

    row->delay = frontier_usual_pause(f, h);
    row->delay_why = schedule_why(&o, &host);
    row->crawl_delay = host.own;
    row->set_delay = h != NULL ? host_orders(h)->set_delay : -1;
    if (row->set_delay >= 0 && strcmp(row->delay_why, "delay") == 0)
        row->delay_why = "operator";
}

static void fill_row(struct frontier *f, uint32_t queue, int64_t now,
                     struct host_report *row)
{
    const struct host_queue *h = host_table_get(&f->hosts, queue);
    struct bytes crawl;

    *row = (struct host_report){
        .queued = frontier_store_pending(f->store, queue),
        .latency_us = h != NULL ? h->latency_us : 0,
        .due = now,
        .why = "",
    };
    set_delay(f, h, row);
    frontier_store_queue_name(f->store, queue, &crawl, &row->host);
    if (h == NULL)
        return;
    row->fetched = h->answers;
    row->requests = h->requests;
    row->connections = h->connections;
    row->handshakes = h->handshakes;
    row->http_status = h->http_status;
    row->failures = h->errors > host_trouble(h)->failures
                        ? h->errors
                        : host_trouble(h)->failures;
    row->limit = host_orders(h)->set_limit;
    row->over_budget = h->held_by == HOST_HELD_BUDGET;
    row->due = h->held_by == HOST_HELD_BUDGET ? INT64_MAX
                                              : host_queue_due(h, row->queued);
    if (h->group != NULL && row->due < h->group->next_due)
        row->due = h->group->next_due;
    row->state = state_of(f, h, now, row->due);
    row->why = why_of(f, h, now);
}

size_t frontier_hosts(struct frontier *f, enum host_order by, size_t most,
                      int64_t now, struct host_report *out, bool *all)
{
    struct order o = {f, by, now};
    uint32_t last = frontier_store_queue_count(o.f->store);
    uint64_t *weights = xcalloc(most + 1, sizeof *weights);
    uint32_t *queues = xcalloc(most + 1, sizeof *queues);
    size_t n = 0;

    *all = last <= WALK_MOST;
    for (uint32_t q = 1; q <= last && q <= WALK_MOST; q++) {
        uint64_t w = weight(&o, q);
        size_t at = n;

        if (w == 0 || most == 0 || (n == most && w <= weights[n - 1]))
            continue;
        for (; at > 0 && weights[at - 1] < w; at--) {
            weights[at] = weights[at - 1];
            queues[at] = queues[at - 1];
        }
        weights[at] = w;
        queues[at] = q;
        n += n < most;
    }
    for (size_t i = 0; i < n; i++)
        fill_row(o.f, queues[i], now, &out[i]);
    free(weights);
    free(queues);
    return n;
}
