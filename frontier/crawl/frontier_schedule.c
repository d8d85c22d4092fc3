/* SPDX-License-Identifier: MIT */
/*
 * frontier_schedule.c - which host is due first.
 *
 * The schedule is a heap of hosts by the moment they are due. A host leaves it
 * while it has as many URLs leased as its politeness allows, and comes back
 * when one of them is acknowledged; so no host gets too many requests at once,
 * however many fetchers there are. A host without a delay goes before those
 * that wait until it has had a run of URLs, since its connection is open.
 * (Leasing a whole run at once would save round trips between two threads, but
 * a crawl with few transfers would use even fewer hosts, and a host that says
 * "not now" to the first URL would be asked for the others anyway.)
 *
 * With --conns-per-host above 1, a host without a delay has a heap of its own
 * while it has URLs leased, and gets another only if no other host is due, the
 * one with the fewest first. Otherwise the first few hosts would get all URLs
 * that may be in flight, and a connection for each, while the others' wait:
 * 3,115 connections for 6,000 pages of 100 hosts, with 64 to each allowed.
 *
 * When politeness groups hosts (--queue-key domain, ip) there are two heaps:
 * groups, each with a heap of its hosts, and hosts without a known group. When
 * one of the latter is due first, its group is found or looked up, and none of
 * its URLs is leased meanwhile.
 */
#include <stdio.h>

#include "base/clock.h"
#include "base/logger.h"
#include "frontier/crawl/frontier_host.h"
#include "frontier/crawl/frontier_refresh.h"

/*
 * How long we wait for hosts that do not respond.
 *
 *     responds ──unreachable──► waits ──give_up──► given up
 *        ▲                        │                   │
 *        └────────response────────┴─unblocked, new run┘
 *
 * A server that restarts costs nothing: its URLs stay queued, and a request
 * that does not reach it uses up no try of its URL. The pauses grow; the first
 * response ends the wait. A host that is given up keeps its URLs for the next
 * run, and this one ends without them.
 *
 * A host may also respond in a way that does not let us fetch its URLs: 5xx for
 * its robots.txt, a certificate that is not trusted. It is then not `silent`:
 * it waits in the same way, but its URLs use up their tries, and it is dead
 * when one URL has no tries left (frontier_ack.c).
 *
 * None of this survives a restart, since a person who resumes a crawl has a
 * reason to: the row in queue_state is for readers of a crawl that has ended.
 */

#define NEVER INT64_MAX

static bool responds(struct host_queue *h)
{
    struct host_trouble *x = h->trouble;
    bool was_silent;

    if (x == NULL)
        return false;
    was_silent = x->silent.status != OUTCOME_QUEUED;
    x->failures = 0;
    x->silent_since = x->silent_until = 0;
    x->silent = (struct outcome){.status = OUTCOME_QUEUED};
    return was_silent;
}

void frontier_reach_again(struct host_queue *h)
{
    (void)responds(h);
}

static void tell(struct frontier *f, const struct host_queue *h,
                 const char *what)
{
    struct bytes crawl, key;

    frontier_store_queue_name(f->store, h->queue, &crawl, &key);
    log_info(what, "host=%.*s reason=%s urls=%llu", (int)key.len, key.at,
             outcome_reason_name(host_trouble(h)->silent.reason),
             (unsigned long long)frontier_store_pending(f->store, h->queue));
}

/* True: the host's time is over. The last request goes out at its end. */
static bool bound_wait(const struct frontier *f, struct host_trouble *x,
                       int64_t ended)
{
    int64_t most = f->o.schedule.give_up;

    if (most == 0)
        return false;
    if (ended - x->silent_since >= most)
        return true;
    x->silent_until = clock_earlier(x->silent_until, x->silent_since + most);
    return false;
}

static bool waits(struct frontier *f, struct host_queue *h,
                  const struct host_news *news, struct outcome how)
{
    struct host_trouble *x = host_trouble_of(h);
    bool first = x->silent.status == OUTCOME_QUEUED;

    if (news->ended < x->silent_until)
        return false; /* it was under way with one that failed the same way */
    if (x->failures++ == 0)
        x->silent_since = news->ended;
    x->silent_until =
        news->ended + schedule_silence(&f->o.schedule, x->failures, &f->random);
    /* A URL that was given back, for only robots.txt was asked for, does not
     * say why; the request for the page will. */
    if (!news->silent || how.status == OUTCOME_QUEUED)
        return false;
    x->silent = how;
    if (first)
        tell(f, h, "a host does not respond; its URLs wait");
    if (!bound_wait(f, x, news->ended))
        return first;
    x->silent_until = NEVER;
    tell(f, h, "a host did not respond for --give-up; its URLs stay queued");
    return true;
}

bool frontier_note_reach(struct frontier *f, struct host_queue *h,
                         const struct host_news *news, struct outcome how)
{
    if (news->ended == 0)
        return false;
    return news->unreachable ? waits(f, h, news, how) : responds(h);
}

bool frontier_is_given_up(const struct host_queue *h)
{
    return host_trouble(h)->silent_until == NEVER;
}

const char *frontier_reach_reason(const struct host_queue *h, char *out,
                                  size_t size)
{
    if (host_trouble(h)->silent.status == OUTCOME_QUEUED)
        return NULL;
    snprintf(out, size, "%s:%s",
             frontier_is_given_up(h) ? QUEUE_GIVEN_UP : QUEUE_SILENT,
             outcome_reason_name(host_trouble(h)->silent.reason));
    return out;
}

bool frontier_has_no_delay(const struct frontier *f, const struct host_queue *h)
{
    int64_t set_delay = host_orders(h)->set_delay;
    int64_t all = set_delay >= 0 ? set_delay : f->o.schedule.delay;

    return all == 0 && h->own_delay <= 0 && !schedule_slows(h->errors);
}

struct schedule_options frontier_schedule(const struct frontier *f,
                                          const struct host_queue *h)
{
    struct schedule_options o = f->o.schedule;

    if (host_orders(h)->set_delay >= 0) {
        o.delay = host_orders(h)->set_delay;
        o.random_delay = o.adaptive = false;
    }
    return o;
}

int64_t frontier_pause(struct frontier *f, const struct host_queue *h)
{
    const struct schedule_options o = frontier_schedule(f, h);
    const struct schedule_host host = frontier_schedule_host(h);

    return schedule_pause(&o, &host, &f->random);
}

struct schedule_host frontier_schedule_host(const struct host_queue *h)
{
    return (struct schedule_host){.own = h->own_delay,
                                  .failures = h->errors,
                                  .latency = (int64_t)h->first_us * 1000};
}

bool frontier_is_draining(const struct host_queue *h)
{
    return host_trouble(h)->dead > 0 && !host_trouble(h)->others_live;
}

uint64_t frontier_most_leases(const struct frontier *f,
                              const struct host_queue *h)
{
    uint64_t left = frontier_budget_left(f, h, NULL);

    return left < f->o.conns_per_host ? left : f->o.conns_per_host;
}

int64_t frontier_dated_due(const struct frontier *f, const struct host_queue *h)
{
    if (!h->awake && !host_orders(h)->cross_refresh)
        return INT64_MAX;
    if (frontier_refresh_is_held(h))
        return INT64_MIN;
    return h->leased + h->guests < f->o.conns_per_host ? host_queue_polite(h)
                                                       : INT64_MAX;
}

static struct heap *heap_of(struct frontier *f, const struct host_queue *h)
{
    if (h->group != NULL)
        return &h->group->hosts;
    return h->beside ? &f->beside : &f->due;
}

/* The host's key in the heap; INT64_MAX: in no heap. */
static void set_place(struct heap *heap, struct heap_item *item, int64_t due)
{
    if (due == INT64_MAX)
        heap_remove(heap, item);
    else if (item->place == 0)
        heap_push(heap, item, due);
    else if (item->key != due)
        heap_move(heap, item, due);
}

void frontier_unschedule(struct frontier *f, struct host_queue *h)
{
    heap_remove(heap_of(f, h), &h->place);
    if (h->group != NULL)
        heap_remove(&f->groups_due, &h->group->place);
}

/* Where URLs that are held back for this reason are counted. */
static uint64_t *count_of_held(struct frontier *f, uint8_t reason)
{
    return reason == HOST_HELD_BUDGET     ? &f->withheld
           : reason == HOST_HELD_GIVEN_UP ? &f->given_up
                                          : &f->barred;
}

static uint64_t over_budget(const struct host_queue *h)
{
    return h->held_by == HOST_HELD_BUDGET ? h->held : 0;
}

/* Counts the URLs that wait for nothing but one of three things: the end of a
 * limit, another run, a person. */
static void count_held_back(struct frontier *f, struct host_queue *h,
                            uint64_t pending)
{
    bool rests = !frontier_is_draining(h) && h->leased == 0;
    uint64_t before = over_budget(h);

    *count_of_held(f, h->held_by) -= h->held;
    h->held_by = HOST_HELD_NOT;
    if (rests && frontier_budget_left(f, h, NULL) == 0)
        h->held_by = HOST_HELD_BUDGET;
    else if (rests && frontier_is_given_up(h))
        h->held_by = HOST_HELD_GIVEN_UP;
    else if (rests && host_trouble(h)->why_blocked == frontier_by_person)
        h->held_by = HOST_HELD_BLOCKED;
    h->held = h->held_by != HOST_HELD_NOT ? pending : 0;
    *count_of_held(f, h->held_by) += h->held;
    frontier_store_add(f->store, "over_budget", over_budget(h) - before);
}

/* Moves a host that may be asked at once behind those that have no request
 * under way, or before all that wait. */
static int64_t place_among_others(struct frontier *f, struct host_queue *h,
                                  int64_t due)
{
    bool at_once = due == h->next_due && frontier_has_no_delay(f, h);
    bool beside = at_once && h->leased > 0 && h->group == NULL;

    if (h->beside != beside) {
        heap_remove(heap_of(f, h), &h->place);
        h->beside = beside;
    }
    if (beside)
        return h->leased;
    return at_once && h->run > 0 ? -1 : due;
}

void frontier_reschedule(struct frontier *f, struct host_queue *h)
{
    uint64_t pending = frontier_store_pending(f->store, h->queue);
    int64_t due = INT64_MAX;

    frontier_budget_look(f, h);
    if (h->active != (pending > 0)) {
        h->active = pending > 0;
        f->hosts_active += h->active ? 1 : UINT64_MAX;
    }
    count_held_back(f, h, pending);
    if (frontier_is_draining(h))
        due = pending + h->refreshing > h->leased ? INT64_MIN : INT64_MAX;
    else if (h->leased + h->guests < frontier_most_leases(f, h))
        due = host_queue_due(h, pending);
    due = clock_earlier(due, frontier_dated_due(f, h));
    if (h->set_aside)
        return; /* until its group is known */
    due = place_among_others(f, h, due);
    set_place(heap_of(f, h), &h->place, due);
    if (h->group != NULL)
        frontier_reschedule_group(f, h->group);
}

void frontier_reschedule_group(struct frontier *f, struct politeness_group *m)
{
    set_place(&f->groups_due, &m->place,
              politeness_group_due(m, f->o.conns_per_host));
}

static struct politeness_group *politeness_group_of(struct heap_item *item)
{
    return (struct politeness_group *)(void *)((char *)item -
                                               offsetof(struct politeness_group,
                                                        place));
}

bool frontier_stands_nowhere(const struct frontier *f,
                             const struct host_queue *h)
{
    return f->groups != NULL && h->group == NULL && !frontier_is_draining(h);
}

/* Looks up as many hosts at once as URLs may be in flight; other hosts without
 * a group are skipped. */
struct host_queue *frontier_first_host(struct frontier *f, int64_t now,
                                       int64_t *due)
{
    struct heap_item *host, *group;

    frontier_wake(f);
    host = heap_top(&f->due);
    group = heap_top(&f->groups_due);
    if (f->aside_count >= f->o.in_flight)
        host = NULL;
    else if ((host == NULL || host->key > now) && heap_count(&f->beside) > 0)
        host = heap_top(&f->beside);
    if (group != NULL && (host == NULL || group->key < host->key)) {
        *due = group->key;
        return host_queue_at(heap_top(&politeness_group_of(group)->hosts));
    }
    if (host == NULL)
        return NULL;
    *due = host->key;
    return host_queue_at(host);
}
