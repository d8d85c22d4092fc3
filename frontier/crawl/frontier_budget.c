/* SPDX-License-Identifier: MIT */
/*
 * frontier_budget.c - how much of a host or registrable domain is fetched.
 *
 * A URL beyond a budget waits in its queue: its host leaves the schedule until
 * the budget is larger, and the crawl goes on without it. Nothing is dropped,
 * so nothing has to be judged again when the budget grows: the host comes back
 * into the schedule, and its queue is read on from where it was.
 *
 *   pages of a host     --per-host
 *   octets of a host    --per-host-bytes; the response that passes it is kept
 *   pages of a domain   --per-domain, over all its hosts (Public Suffix List)
 *   URLs of a queue     what a person has set (frontier_budget.c)
 *
 * --budget inlinks multiplies the first three (frontier/budget.h).
 *
 * A lease counts as a page until it has ended, so that no budget is passed by
 * what is in flight. If one host's lease fills the budget of its domain, the
 * others leave the schedule when they are next due; when it ends as no page,
 * they come back. What was spent and the domains that link to a host are stored
 * with the host (table queue_state), in the transaction of the page; those of a
 * domain are the sum and the union of its hosts'.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "frontier/crawl/frontier_impl.h"
#include "frontier/url/host.h"

/*
 * Options that change while the frontier is open.
 *
 * A host's due time was computed with the old delay: it is moved by the change
 * of the delay. With random delays we do not know what was drawn, so a host
 * never waits longer than a new delay from now, and its wait is shortened by no
 * more than the difference.
 */

void frontier_recheck(struct frontier *f, struct scope *scope)
{
    f->o.recheck = scope;
}

/* The pause after a response of `h`, without randomness. */
static int64_t plain_pause(const struct schedule_options *o,
                           const struct host_queue *h)
{
    struct schedule_random none = {.state = 1};
    struct schedule_options plain = *o;
    const struct schedule_host host = frontier_schedule_host(h);

    plain.random_delay = false;
    return schedule_pause(&plain, &host, &none);
}

static int64_t moved(int64_t due, int64_t change, int64_t latest)
{
    if (due == 0 || due == INT64_MAX)
        return due; /* never asked */
    if (change >= 0)
        return due + change;
    return due < latest ? due : latest;
}

static void move_host(struct frontier *f, struct host_queue *h,
                      const struct schedule_options *o, int64_t now)
{
    const struct schedule_options *was = &f->o.schedule;
    int64_t change = plain_pause(o, h) - plain_pause(was, h);

    if (!was->random_delay && !o->random_delay && h->next_due != 0)
        h->next_due += change;
    else
        h->next_due = moved(h->next_due, change, now + plain_pause(o, h));
}

/* A group waits after the host that was asked last. */
static void move_machine(struct host_queue *h, int64_t before)
{
    struct politeness_group *m = h->group;

    if (m == NULL)
        return;
    if (m->next_due == before || h->next_due > m->next_due)
        m->next_due = h->next_due;
}

/* Of hosts that rest it is not known when they were asked, but they were due.
 */
static void move_rested(struct frontier *f, const struct schedule_options *o,
                        int64_t now)
{
    int64_t was = f->o.schedule.delay;
    int64_t most = o->random_delay ? o->delay + o->delay / 2 : o->delay;

    if (f->o.schedule.random_delay)
        was /= 2;
    if (f->hosts.resting > 0 && most > was)
        f->rested_due = clock_later(f->rested_due, now + most - was);
}

void frontier_set_schedule(struct frontier *f, const struct schedule_options *o,
                           int64_t now)
{
    for (uint32_t q = 0; q < f->hosts.room; q++) {
        struct host_queue *h = host_table_get(&f->hosts, q);
        int64_t before;

        if (h == NULL)
            continue;
        before = h->next_due;
        move_host(f, h, o, now);
        move_machine(h, before);
    }
    move_rested(f, o, now);
    f->o.schedule = *o;
    for (uint32_t q = 0; q < f->hosts.room; q++)
        if (host_table_get(&f->hosts, q) != NULL)
            frontier_reschedule(f, host_table_get(&f->hosts, q));
    frontier_cross_hosts_again(f);
}

/*
 * Limits that people set for single queues.
 *
 * As beyond a budget (frontier_budget.c), URLs beyond it stay queued. The
 * store does not count the done URLs of a queue, so the caller that sets the
 * limit counts them once, and the count is kept up to date from then on.
 */

uint64_t frontier_limit_left(const struct host_queue *h)
{
    const struct host_orders *x = host_orders(h);

    if (x->set_limit == 0)
        return UINT64_MAX;
    return x->set_limit > x->done ? x->set_limit - x->done : 0;
}

enum status frontier_count_done(struct frontier *f, struct host_queue *h)
{
    if (host_orders(h)->set_limit == 0)
        return STATUS_OK;
    host_orders_of(h)->done++;
    return external_set_queue(f, h);
}

enum status frontier_limit_queue(struct frontier *f, uint32_t queue,
                                 uint32_t most, uint64_t done, int64_t now)
{
    struct host_queue *h;
    struct host_orders *x;
    enum status st = frontier_touch(f, now);

    if (st != STATUS_OK)
        return st;
    h = frontier_host(f, queue);
    x = host_orders_of(h);
    x->set_limit = most;
    x->done = most > 0 ? done : 0;
    st = external_set_queue(f, h);
    frontier_refresh_unhold(f, h);
    frontier_reschedule(f, h);
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}

struct domain {
    uint64_t pages;
    uint64_t leased;
    struct source_bits sources;
    struct host_queue *hosts; /* a list */
    bool full;                /* some were kept back for it */
};

bool frontier_budget_counts(const struct frontier *f)
{
    const struct budgets *b = &f->o.budgets;

    return b->host_pages > 0 || b->host_octets > 0 || b->domain_pages > 0;
}

static struct budget_spent spent_of(const struct host_queue *h)
{
    const struct host_spent *own = host_spent(h);
    const struct domain *d = own->domain;
    struct budget_spent s = {
        .host_pages = own->pages,
        .host_octets = own->octets,
        .host_sources = source_bits_count(own->sources),
    };

    if (d != NULL) {
        s.domain_pages = d->pages + (d->leased - own->domain_leased);
        s.domain_sources = source_bits_count(&d->sources);
    }
    return s;
}

static uint64_t domain_left(const struct frontier *f,
                            const struct host_queue *h)
{
    const struct budgets of_domain = {
        .domain_pages = f->o.budgets.domain_pages,
        .inlinks = f->o.budgets.inlinks,
    };
    const struct budget_spent s = spent_of(h);

    return budget_left(&of_domain, &s, NULL);
}

uint64_t frontier_budget_left(const struct frontier *f,
                              const struct host_queue *h, const char **which)
{
    const struct budget_spent s = spent_of(h);
    uint64_t set = frontier_limit_left(h);
    uint64_t left = budget_left(&f->o.budgets, &s, which);

    if (set > left)
        return left;
    if (which != NULL && set < UINT64_MAX)
        *which = "limit";
    return set;
}

/* ---- domains ---- */

static struct bytes domain_name(struct frontier *f, const struct host_queue *h)
{
    struct bytes crawl, key;

    frontier_store_queue_name(f->store, h->queue, &crawl, &key);
    return host_registrable(key);
}

static struct domain *domain_of(struct frontier *f, const struct host_queue *h)
{
    struct bytes name = domain_name(f, h);
    struct domain *d = map_get(f->domains, name);

    if (d == NULL) {
        d = xcalloc(1, sizeof *d);
        (void)map_put(f->domains, name, d);
    }
    return d;
}

void frontier_budget_join(struct frontier *f, struct host_queue *h)
{
    struct host_spent *own;
    struct domain *d;

    if (f->o.budgets.domain_pages == 0 || host_spent(h)->domain != NULL)
        return;
    own = host_spent_of(h);
    own->domain = d = domain_of(f, h);
    own->domain_next = d->hosts;
    d->hosts = h;
    d->pages += own->pages;
    d->leased += h->leased;
    own->domain_leased = h->leased;
    if (own->sources != NULL)
        (void)source_bits_join(&d->sources, own->sources);
}

void frontier_budget_leave(struct host_queue *h)
{
    struct host_spent *own = h->spent;
    struct host_queue **at;

    if (own == NULL || own->domain == NULL)
        return;
    for (at = &own->domain->hosts; *at != h;)
        at = &(*at)->spent->domain_next;
    *at = own->domain_next;
    own->domain->pages -= own->pages;
    own->domain->leased -= own->domain_leased;
    own->domain = NULL;
}

static void look_at_others(struct frontier *f, const struct host_queue *h)
{
    struct domain *d = host_spent(h)->domain;

    if (!d->full)
        return;
    d->full = false; /* first: each of them looks as well */
    for (struct host_queue *o = d->hosts; o != NULL; o = o->spent->domain_next)
        if (o != h)
            frontier_reschedule(f, o);
}

void frontier_budget_look(struct frontier *f, struct host_queue *h)
{
    struct domain *d = host_spent(h)->domain;
    uint64_t left;

    if (d == NULL)
        return;
    d->leased += (uint64_t)h->leased - h->spent->domain_leased;
    h->spent->domain_leased = h->leased;
    left = domain_left(f, h);
    if (left == 0)
        d->full = true;
    else if (left > h->leased)
        look_at_others(f, h);
}

/* ---- what is spent ---- */

void frontier_budget_restore(struct frontier *f, struct host_queue *h,
                             const struct queue_state *s)
{
    frontier_budget_leave(h);
    if (s->fetched > 0 || s->octets > 0 || s->linked || h->spent != NULL) {
        host_spent_of(h)->pages = s->fetched;
        h->spent->octets = s->octets;
    }
    if (s->linked) {
        free(h->spent->sources);
        h->spent->sources = xcalloc(1, sizeof *h->spent->sources);
        memcpy(h->spent->sources->octet, s->sources, sizeof s->sources);
    }
    frontier_budget_join(f, h);
}

void frontier_budget_spend(struct frontier *f, struct host_queue *h,
                           uint64_t pages, uint64_t octets)
{
    struct host_spent *spent;

    if (!frontier_budget_counts(f))
        return;
    spent = host_spent_of(h);
    spent->pages += pages;
    spent->octets += octets;
    if (spent->domain != NULL)
        spent->domain->pages += pages;
}

enum status frontier_budget_return(struct frontier *f, struct host_queue *h,
                                   int64_t now, int64_t wall_ms)
{
    if (host_spent(h)->pages == 0)
        return STATUS_OK;
    h->spent->pages--;
    if (h->spent->domain != NULL)
        h->spent->domain->pages--;
    return frontier_remember(f, h, now, wall_ms);
}

/* ---- which domains link to a host ---- */

static enum status note_source(struct frontier *f, struct host_queue *h,
                               uint64_t source, int64_t now, int64_t wall_ms)
{
    struct host_spent *own = host_spent_of(h);
    enum status st;

    if (own->sources == NULL)
        own->sources = xcalloc(1, sizeof *own->sources);
    if (!source_bits_add(own->sources, source))
        return STATUS_OK;
    st = frontier_remember(f, h, now, wall_ms);
    if (own->domain != NULL &&
        source_bits_join(&own->domain->sources, own->sources))
        look_at_others(f, h);
    frontier_reschedule(f, h);
    return st;
}

enum status frontier_budget_links(struct frontier *f,
                                  const struct url_done *done, int64_t now,
                                  int64_t wall_ms)
{
    const struct lease_record *page = lease_find(f->leases, done->id);
    struct bytes own, last = {"", 0};
    uint64_t source;
    enum status st = STATUS_OK;

    if (!f->o.budgets.inlinks || page == NULL ||
        done->outcome.status == OUTCOME_REDIRECT)
        return STATUS_OK;
    own = host_registrable(page->lease.key);
    source = digest_bytes(&f->base->key, own).hi;
    for (size_t i = 0; st == STATUS_OK && i < done->outlink_count; i++) {
        struct bytes key = done->outlinks[i].key;
        uint32_t queue;

        if (bytes_equal(key, page->lease.key) || bytes_equal(key, last))
            continue;
        last = key;
        queue = frontier_store_find_queue(f->store, f->o.crawl, key);
        if (queue != 0 && !bytes_equal(host_registrable(key), own))
            st = note_source(f, frontier_host(f, queue), source, now, wall_ms);
    }
    return st;
}

/* ---- settings ---- */

void frontier_set_limits(struct frontier *f, uint64_t limit_pages,
                         const struct budgets *b)
{
    f->o.limit_pages = limit_pages;
    f->o.budgets = *b;
    for (uint32_t q = 0; q < f->hosts.room; q++)
        if (host_table_get(&f->hosts, q) != NULL)
            frontier_budget_join(f, host_table_get(&f->hosts, q));
    for (uint32_t q = 0; q < f->hosts.room; q++)
        if (host_table_get(&f->hosts, q) != NULL)
            frontier_reschedule(f, host_table_get(&f->hosts, q));
    if (f->around != NULL)
        f->around->limits_set(f->around->ctx);
}

void frontier_budget_open(struct frontier *f)
{
    f->domains = map_new();
}

void frontier_budget_close(struct frontier *f)
{
    map_free(f->domains, free);
}
