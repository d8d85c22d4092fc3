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
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/logger.h"
#include "base/map.h"
#include "base/mem.h"
#include "frontier/crawl/frontier_impl.h"
#include "frontier/url/host.h"

/*
 * Hosts of one address: a heap of them inside the heap of all.
 *
 * A group of a thousand hosts is one item of the schedule, so a host of a busy
 * group costs nothing while it waits.
 */
void politeness_group_free(void *group)
{
    struct politeness_group *m = group;

    heap_fini(&m->hosts);
    free(m);
}

/* The group with that name, made if missing; *made, if not NULL, says so. */
static struct politeness_group *politeness_group_get(struct map *groups,
                                                     struct bytes name,
                                                     bool *made)
{
    struct politeness_group *m = map_get(groups, name);

    if (made != NULL)
        *made = m == NULL;
    if (m != NULL)
        return m;
    m = xcalloc(1, sizeof *m + name.len);
    heap_init(&m->hosts);
    m->name_len = (uint32_t)name.len;
    memcpy(m->name, name.at, name.len);
    (void)map_put(groups, name, m);
    return m;
}

static struct bytes politeness_group_name(const struct politeness_group *m)
{
    return bytes_of(m->name, m->name_len);
}

/* Adds `h`, which is in no group and no heap. The group waits at least as long
 * as `h`. */
static void politeness_group_join(struct politeness_group *m,
                                  struct host_queue *h)
{
    assert(h->group == NULL && h->place.place == 0);
    h->group = m;
    m->members++;
    m->leased += h->leased + h->guests;
    m->next_due = clock_later(m->next_due, h->next_due);
    if (h->backoffs > 0)
        m->blocked_until =
            clock_later(m->blocked_until, host_trouble(h)->blocked_until);
}

struct politeness_group *politeness_group_leave(struct map *groups,
                                                struct host_queue *h,
                                                int64_t now)
{
    struct politeness_group *m = h->group;

    if (m == NULL)
        return NULL;
    assert(h->place.place == 0);
    h->group = NULL;
    m->members--;
    m->leased -= h->leased + h->guests;
    if (m->members > 0 || m->next_due > now || m->blocked_until > now)
        return m;
    assert(m->place.place == 0);
    (void)map_remove(groups, politeness_group_name(m));
    politeness_group_free(m);
    return NULL;
}

void politeness_group_lease(struct host_queue *h)
{
    h->leased++;
    if (h->group != NULL)
        h->group->leased++;
}

void politeness_group_give_back(struct host_queue *h)
{
    h->leased--;
    if (h->group != NULL)
        h->group->leased--;
}

/* When one of its hosts may be asked, with at most `most` URLs leased.
 * INT64_MAX: none has a URL; INT64_MIN: one must be drained. */
static int64_t politeness_group_due(const struct politeness_group *m,
                                    uint32_t most)
{
    const struct heap_item *first = heap_top(&m->hosts);

    if (first == NULL)
        return INT64_MAX;
    if (first->key == INT64_MIN)
        return INT64_MIN;
    if (m->leased >= most)
        return INT64_MAX;
    return clock_later(clock_later(first->key, m->expects_until),
                       clock_later(m->next_due, m->blocked_until));
}

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

static void frontier_reschedule_group(struct frontier *f,
                                      struct politeness_group *m);

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

static void frontier_reschedule_group(struct frontier *f,
                                      struct politeness_group *m)
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

/*
 * Requests of a URL to another host than its own.
 *
 * A robots.txt may be redirected to any host (RFC 9309 section 2.3.1.2), often
 * to one for many. That host has its own URLs, delay and back-off, and to it
 * this is one more request: so it is sent when both hosts may be asked, counts
 * as one of that host's while open, and its response sets that host's delay. It
 * does not use up its own host's delay.
 *
 *     given back,           B may be
 *     robots_host B ──► A waits ──────────► lease with robots_host B
 *                       ▲   │ asked                  │
 *                       └───┘ B is busy: it keeps    └─► B's news
 *                             a place free until A
 *                             asks again
 *
 * A URL that waits for another host holds no host meanwhile, so that two hosts
 * whose robots.txt lead to each other do not wait for ever. A's request is not
 * stored: after a restart its robots.txt is fetched from the beginning.
 */
/*
 * Finds the politeness group of a host.
 *
 * By domain, the host's name tells the group. By address:
 *
 *     due ──► literal address? ──► remembered? ──► set aside ──► looked up
 *                  │                   │                            │
 *                  └───────────────────┴──────────► its group ◄─────┘
 *
 * A host's address is stored, so that a restart knows it without a look-up: if
 * one host of a group said Retry-After before a crash, the others wait after it
 * too. It is the address of its last response; so a host that moves, or has
 * several addresses, counts for the one that was really asked.
 */

/* Adds `h`, which is in no group. A group made after a restart may have been
 * asked just before, through a host that we do not know to be in it. */
static void join(struct frontier *f, struct host_queue *h, struct bytes name)
{
    bool made;
    struct politeness_group *m = politeness_group_get(f->groups, name, &made);

    if (made && (f->queues_before > 0 || f->cut_off))
        m->next_due =
            f->asked_before + schedule_pause(&f->o.schedule,
                                             &(struct schedule_host){.own = -1},
                                             &f->random);
    frontier_unschedule(f, h);
    politeness_group_join(m, h);
    frontier_reschedule(f, h);
}

static struct bytes host_name(struct frontier *f, const struct host_queue *h)
{
    struct bytes crawl, key;

    frontier_store_queue_name(f->store, h->queue, &crawl, &key);
    return key;
}

static void join_ip(struct frontier *f, struct host_queue *h,
                    const struct ip *ip)
{
    struct buf name;

    buf_init(&name, IP_TEXT);
    ip_add(&name, ip);
    join(f, h, buf_bytes(&name));
    buf_fini(&name);
}

/* Queues of other programs' crawls have names that mean nothing to us. */
static bool is_ours(struct frontier *f, const struct host_queue *h)
{
    struct bytes crawl, key;

    frontier_store_queue_name(f->store, h->queue, &crawl, &key);
    return bytes_equal(crawl, f->o.crawl);
}

static enum status keep_place(struct frontier *f, const struct host_queue *h,
                              int64_t now)
{
    enum status st = frontier_touch(f, now);

    return st == STATUS_OK
               ? frontier_store_set_place(f->store, h->queue,
                                          politeness_group_name(h->group))
               : st;
}

enum status frontier_recall_place(struct frontier *f, struct host_queue *h)
{
    struct bytes name = host_name(f, h);
    enum status st = STATUS_OK;
    struct buf text;
    struct ip ip;

    buf_init(&text, IP_TEXT);
    if (!is_ours(f, h))
        join(f, h, name);
    else if (f->o.group == QUEUE_KEY_DOMAIN)
        join(f, h, host_registrable(name));
    else if (ip_parse(&ip, name))
        join_ip(f, h, &ip);
    else if ((st = frontier_store_place(f->store, h->queue, &text)) ==
                 STATUS_OK &&
             ip_parse(&ip, buf_bytes(&text)))
        join_ip(f, h, &ip);
    buf_fini(&text);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

static void set_aside(struct frontier *f, struct host_queue *h)
{
    frontier_unschedule(f, h);
    h->set_aside = true;
    h->after = NULL;
    *f->aside_end = h;
    f->aside_end = &h->after;
    f->aside_count++;
}

enum status frontier_find_place(struct frontier *f, struct host_queue *h)
{
    enum status st = frontier_recall_place(f, h);

    if (st == STATUS_OK && h->group == NULL)
        set_aside(f, h);
    return st;
}

uint32_t frontier_next_unplaced(struct frontier *f, struct bytes *host)
{
    struct host_queue *h = f->aside;

    if (h == NULL)
        return 0;
    f->aside = h->after;
    if (f->aside == NULL)
        f->aside_end = &f->aside;
    *host = host_name(f, h);
    return h->queue;
}

enum status frontier_place(struct frontier *f, uint32_t queue,
                           const struct ip *address, int64_t now)
{
    struct host_queue *h = frontier_host(f, queue);
    enum status st = STATUS_OK;

    if (f->base->broken)
        return db_error(f->base->db);
    if (!h->set_aside)
        return STATUS_NOT_FOUND;
    h->set_aside = false;
    f->aside_count--;
    if (address == NULL) {
        join(f, h, host_name(f, h)); /* not stored: it may get an address */
        return STATUS_OK;
    }
    join_ip(f, h, address);
    st = keep_place(f, h, now);
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}

enum status frontier_answered_from(struct frontier *f, struct host_queue *h,
                                   struct bytes text, int64_t now)
{
    struct politeness_group *left;
    struct ip was, is;

    if (h->group == NULL || !ip_parse(&is, text) ||
        (ip_parse(&was, politeness_group_name(h->group)) &&
         ip_equal(&was, &is)))
        return STATUS_OK;
    log_info("a host answered from another address", "host=%.*s address=%.*s",
             (int)host_name(f, h).len, host_name(f, h).at, (int)text.len,
             text.at);
    frontier_unschedule(f, h);
    left = politeness_group_leave(f->groups, h, now);
    if (left != NULL)
        frontier_reschedule_group(f, left);
    join_ip(f, h, &is);
    return keep_place(f, h, now);
}

#define LOOK_AGAIN (100 * NS_PER_MS)

enum status frontier_cross_host_ask(struct frontier *f, struct host_queue *h,
                                    uint64_t id, struct bytes key)
{
    struct bytes crawl, own;
    struct host_orders *x;
    uint32_t queue;
    enum status st;

    frontier_store_queue_name(f->store, h->queue, &crawl, &own);
    st = frontier_store_queue(f->store, crawl, key, &queue);
    if (st != STATUS_OK || queue == h->queue)
        return st;
    if (host_orders(h)->cross_refresh) /* it stays due */
        (void)host_queue_drop_retry(h, host_orders(h)->cross_id);
    frontier_refresh_end_cross(f, h);
    x = host_orders_of(h);
    x->cross_to = queue;
    x->cross_id = id;
    x->cross_due = INT64_MIN;
    return STATUS_OK;
}

/* Finds the group if no look-up is needed: a host without a known address is a
 * group of its own. */
static enum status find_machine(struct frontier *f, struct host_queue *h)
{
    return frontier_stands_nowhere(f, h) && !h->set_aside
               ? frontier_recall_place(f, h)
               : STATUS_OK;
}

/* When `h` may be asked, or checked again if too many of its requests are open.
 * Until then it begins none of its own: otherwise a host without a delay would
 * never be idle. */
static int64_t may_be_asked(struct frontier *f, struct host_queue *h,
                            int64_t now)
{
    struct politeness_group *m = h->group;
    bool busy = h->leased + h->guests >= f->o.conns_per_host ||
                (m != NULL && m->leased >= f->o.conns_per_host);
    int64_t due = clock_later(h->next_due, host_trouble(h)->blocked_until);

    if (m != NULL)
        due = clock_later(due, clock_later(m->next_due, m->blocked_until));
    if (!busy)
        return due;
    host_orders_of(h)->expects_until = now + 2 * LOOK_AGAIN;
    if (m != NULL)
        m->expects_until = host_orders(h)->expects_until;
    frontier_reschedule(f, h);
    return clock_later(due, now + LOOK_AGAIN);
}

static void begin(struct frontier *f, struct lease_record *l,
                  struct host_queue *to)
{
    struct bytes crawl;

    frontier_store_queue_name(f->store, to->queue, &crawl,
                              &l->lease.robots_host);
    l->asked = to;
    to->guests++;
    if (to->orders != NULL)
        to->orders->expects_until = 0;
    if (to->group != NULL) {
        to->group->leased++;
        to->group->expects_until = 0;
    }
    frontier_reschedule(f, to);
}

enum status frontier_cross_host_lease(struct frontier *f, struct host_queue *h,
                                      int64_t now, int64_t wall_ms,
                                      struct lease_record **out)
{
    struct host_orders *x = host_orders_of(h);
    struct host_queue *to = frontier_host(f, x->cross_to);
    uint64_t id = x->cross_id;
    enum status st = find_machine(f, to);
    bool again = x->cross_refresh;

    if (st != STATUS_OK)
        return st;
    if (!host_queue_drop_retry(h, id)) {
        x->cross_to = 0; /* leased to another program since, or removed */
        frontier_refresh_end_cross(f, h);
        return STATUS_OK;
    }
    x->cross_due = again && frontier_refresh_is_held(h)
                       ? now /* this run does not ask any more */
                       : may_be_asked(f, to, now);
    if (x->cross_due > now) {
        host_queue_retry(h, id, 0);
        return STATUS_OK;
    }
    x->cross_to = 0;
    frontier_refresh_end_cross(f, h);
    st = again ? frontier_refresh_lease(f, h, id, now, wall_ms, out)
               : frontier_lease_id(f, h, id, now, wall_ms, out);
    if (st == STATUS_OK && *out != NULL)
        begin(f, *out, to);
    return st;
}

enum status frontier_cross_host_end(struct frontier *f, struct lease_record *l,
                                    struct host_news *news, int64_t now,
                                    int64_t wall_ms)
{
    struct host_queue *to = l->asked;
    struct host_news there = {.ended = news->ended,
                              .retry_after_ms = news->retry_after_ms,
                              .slow_down = news->slow_down,
                              .connections = news->connections,
                              .handshake = news->handshake};
    enum status st = STATUS_OK;

    if (to == NULL)
        return STATUS_OK;
    l->asked = NULL;
    to->guests--;
    if (to->group != NULL)
        to->group->leased--;
    if (news->ended != 0) {
        st = frontier_host_news(f, to, &there, now, wall_ms);
        news->ended = 0;
        news->retry_after_ms = -1;
        news->slow_down = false;
    }
    frontier_reschedule(f, to);
    return st;
}

void frontier_cross_hosts_again(struct frontier *f)
{
    for (uint32_t q = 0; q < f->hosts.room; q++) {
        struct host_queue *h = host_table_get(&f->hosts, q);

        if (h == NULL || host_orders(h)->cross_to == 0)
            continue;
        host_orders_of(h)->cross_due = INT64_MIN;
        frontier_reschedule(f, h);
    }
}
