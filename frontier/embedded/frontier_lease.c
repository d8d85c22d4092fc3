/* SPDX-License-Identifier: MIT */
/*
 * frontier_lease.c - chooses the next URL.
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
 * A host that is dead for this run is drained here: its URLs get a final
 * outcome without a request.
 *
 * When politeness groups hosts (--queue-key domain, ip) there are two heaps:
 * groups, each with a heap of its hosts, and hosts without a known group. When
 * one of the latter is due first, its group is found or looked up, and none of
 * its URLs is leased meanwhile.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "frontier/candidate.h"
#include "frontier/embedded/frontier_fetched.h"
#include "frontier/embedded/frontier_host.h"
#include "frontier/embedded/frontier_links.h"
#include "frontier/embedded/frontier_ops.h"
#include "frontier/embedded/frontier_refresh.h"

#define RUN        8    /* consecutive URLs of a host without delay */
#define DRAIN_MOST 1000 /* URLs settled without a request, per call */

static bool without_delay(const struct frontier *f, const struct host_queue *h)
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

static bool draining(const struct host_queue *h)
{
    return host_trouble(h)->dead.status != OUTCOME_QUEUED;
}

static uint64_t may_have_out(const struct frontier *f,
                             const struct host_queue *h)
{
    uint64_t left = frontier_budget_left(f, h, NULL);

    return left < f->o.conns_per_host ? left : f->o.conns_per_host;
}

/* When one of its done URLs may be fetched again. */
static int64_t refresh_due(const struct frontier *f, const struct host_queue *h)
{
    if (!h->awake)
        return INT64_MAX;
    if (frontier_refresh_is_held(h))
        return INT64_MIN;
    return h->leased + h->guests < f->o.conns_per_host &&
                   frontier_limit_left(h) > 0
               ? host_queue_polite(h)
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
    bool rests = !draining(h) && h->leased == 0;
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
    bool at_once = due == h->next_due && without_delay(f, h);
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
    if (draining(h))
        due = pending + h->refreshing > h->leased ? INT64_MIN : INT64_MAX;
    else if (h->leased + h->guests < may_have_out(f, h))
        due = host_queue_due(h, pending);
    due = clock_earlier(due, refresh_due(f, h));
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

static struct host_queue *host_of(struct heap_item *item)
{
    return (struct host_queue *)(void *)((char *)item -
                                         offsetof(struct host_queue, place));
}

static struct politeness_group *politeness_group_of(struct heap_item *item)
{
    return (struct politeness_group *)(void *)((char *)item -
                                               offsetof(struct politeness_group,
                                                        place));
}

/* Settles a URL without a request. */
static enum status settle_unasked(struct frontier *f, struct host_queue *h,
                                  const struct url_row *row, struct outcome o,
                                  const char *detail, int64_t wall_ms)
{
    struct fetch_row r = {.url = row->id,
                          .at_ms = wall_ms,
                          .flags = o.status == host_trouble(h)->dead.status
                                       ? host_trouble(h)->dead_flags
                                       : 0,
                          .detail = bytes_of_str(detail)};
    enum status st =
        frontier_settle(f, row->id, (row->flags & URL_ROW_SEED) != 0, row->kind,
                        &r, o);

    if (st == STATUS_OK)
        frontier_log_done(row->url, &r, o);
    if (st == STATUS_OK)
        st = o.reason == REASON_REMOVED ? frontier_count_removed(f, h, 1)
                                        : frontier_count_done(f, h);
    frontier_reschedule(f, h);
    return st;
}

/* The rules for URLs have changed since the one of the row was queued; `u` gets
 * the form of today. */
static bool has_other_form(const struct frontier *f, const struct url_row *row,
                           struct url *u)
{
    const struct candidate_rules rules = frontier_rules(f);

    candidate_form(&rules, u);
    return !bytes_equal(url_text(u), row->url);
}

/* The URL of the row in the form that it has now, unless it is known. */
static enum status admit_new_form(struct frontier *f, const struct url_row *row,
                                  int64_t wall_ms)
{
    const struct candidate_rules rules = frontier_rules(f);
    struct engine_item item = {.depth = row->depth,
                               .hops = row->hops,
                               .kind = row->kind,
                               .seed = (row->flags & URL_ROW_SEED) != 0};
    struct admission a = {.item = &item, .via = row->via};
    enum status st = STATUS_OK;
    struct url u;

    url_init(&u);
    if (candidate_read(&rules, &u, row->url, NULL) == URL_OK &&
        candidate_take(&rules, &u, &item) == REASON_NONE)
        st = frontier_admit(f, f->o.crawl, &a, 1, false, wall_ms);
    url_fini(&u);
    return st;
}

/* Scope and other rules may have changed since the URL was queued. */
static struct outcome by_rules(struct frontier *f, struct bytes key,
                               const struct url_row *row, const char **detail)
{
    struct outcome yes = {.status = OUTCOME_QUEUED};

    if (f->o.blocklist != NULL && row->id <= f->old_urls) {
        bool blocked = false;

        if (blocklist_check(f->o.blocklist, &row->url, 1, &blocked) ==
                STATUS_OK &&
            blocked)
            return (struct outcome){OUTCOME_SKIPPED, REASON_BLOCKLIST, 0};
    }
    if (frontier_trap_has(f, key, row)) {
        *detail = f->trap_text;
        return (struct outcome){OUTCOME_SKIPPED, REASON_TRAP, 0};
    }
    if (f->o.recheck != NULL) {
        struct scope_verdict v = {.in = true};
        struct url u;

        url_init(&u);
        if (url_parse(&u, row->url, NULL, NULL) == URL_OK &&
            has_other_form(f, row, &u))
            v = (struct scope_verdict){false, REASON_URL_FORM, "url form"};
        else if (url_text(&u).len > 0)
            v = scope_check_kind(f->o.recheck, &u, row->depth, row->kind);
        url_fini(&u);
        if (!v.in) {
            *detail = v.rule;
            return (struct outcome){OUTCOME_SKIPPED, v.reason, 0};
        }
    }
    return yes;
}

/* Is the URL still wanted? */
static struct outcome still_wanted(struct frontier *f,
                                   const struct host_queue *h, struct bytes key,
                                   const struct url_row *row,
                                   const char **detail)
{
    if (frontier_is_removed(h, row->id)) {
        *detail = REMOVED_TEXT;
        return frontier_removed;
    }
    if (host_trouble(h)->dead.status != OUTCOME_QUEUED) {
        *detail = "host given up after repeated failures";
        return host_trouble(h)->dead;
    }
    return by_rules(f, key, row, detail);
}

bool frontier_is_wanted_again(struct frontier *f, const struct host_queue *h,
                              struct bytes key, const struct url_row *row)
{
    const char *why;

    return !frontier_is_removed(h, row->id) &&
           by_rules(f, key, row, &why).status == OUTCOME_QUEUED;
}

/* False: it is not due yet, and is now among the host's retries. */
static bool may_try_now(struct frontier *f, struct host_queue *h, uint64_t id,
                        int64_t now, uint32_t *tries)
{
    const struct tries_entry *t = NULL;

    if (map_count(f->tries) > 0)
        t = map_get(f->tries, bytes_of(&id, sizeof id));
    *tries = t != NULL ? t->tries : 0;
    if (t == NULL || t->due <= now || draining(h))
        return true;
    host_queue_retry(h, id, t->due);
    return false;
}

struct lease_record *frontier_begin_lease(struct frontier *f,
                                          struct host_queue *h,
                                          const struct url_row *row,
                                          struct bytes key, uint32_t tries,
                                          const struct engine_last *last,
                                          int64_t now)
{
    struct lease_record *l = lease_add(f->leases, h, row, key, tries, last);

    politeness_group_lease(h);
    h->run = (h->run + 1) % RUN;
    if (!without_delay(f, h)) {
        h->next_due = now + frontier_pause(f, h); /* the response sets it */
        if (h->group != NULL)
            h->group->next_due = h->next_due;
    }
    return l;
}

enum status frontier_lease_from(struct frontier *f, struct host_queue *h,
                                int64_t now, int64_t wall_ms,
                                struct lease_record **out)
{
    uint64_t id = 0;
    enum status st;

    *out = NULL;
    if (!draining(h) && h->leased + h->guests >= may_have_out(f, h))
        return STATUS_OK; /* others have spent the budget of its domain */
    st = frontier_order_front(f, h, now);
    /* Drains a host's retries too, even if they are not due. */
    if (st == STATUS_OK)
        st = host_queue_take(h, f->store, draining(h) ? INT64_MAX : now, &id);
    if (st == STATUS_OK && id != 0 &&
        !(host_front(h)->out_of_turn && frontier_is_taken(f, h, id)))
        st = frontier_lease_id(f, h, id, now, wall_ms, out);
    h->in_turn = false; /* what is leased by its id is not deferred */
    return st;
}

enum status frontier_lease_id(struct frontier *f, struct host_queue *h,
                              uint64_t id, int64_t now, int64_t wall_ms,
                              struct lease_record **out)
{
    struct url_row row;
    struct bytes crawl, key;
    struct engine_last last;
    struct outcome o;
    const char *detail = "";
    uint32_t tries = 0;
    bool later;
    enum status st;

    *out = NULL;
    if (host_orders(h)->cross_refresh &&
        id == host_orders(h)->cross_id) { /* drained; it stays due */
        frontier_refresh_end_cross(f, h);
        return STATUS_OK;
    }
    if (external_is_elsewhere(f, id) || !may_try_now(f, h, id, now, &tries))
        return STATUS_OK;
    st = frontier_store_get(f->store, id, &row, &f->text);
    if (st != STATUS_OK)
        return st;
    if (row.queue != h->queue && host_front(h)->out_of_turn)
        return STATUS_OK; /* a hint that is wrong */
    frontier_store_queue_name(f->store, h->queue, &crawl, &key);
    o = still_wanted(f, h, key, &row, &detail);
    if (o.status != OUTCOME_QUEUED) {
        st = frontier_touch(f, now);
        if (st == STATUS_OK && o.reason == REASON_URL_FORM)
            st = admit_new_form(f, &row, wall_ms);
        return st == STATUS_OK ? settle_unasked(f, h, &row, o, detail, wall_ms)
                               : st;
    }
    st = frontier_order_defers(f, h, &row, &later);
    if (st == STATUS_OK && !later)
        st = frontier_find_last(f, &row, &last);
    if (st != STATUS_OK || later)
        return st;
    *out = frontier_begin_lease(f, h, &row, key, tries, &last, now);
    return STATUS_OK;
}

size_t frontier_pages_left(const struct frontier *f, size_t most)
{
    uint64_t taken =
        frontier_store_counter(f->store, "pages") + lease_count(f->leases);

    if (f->o.limit_pages == 0)
        return most;
    if (taken >= f->o.limit_pages)
        return 0;
    return most < f->o.limit_pages - taken ? most
                                           : (size_t)(f->o.limit_pages - taken);
}

/* External leases do not count: after a crash their URLs are not fetched again.
 */
static size_t room_for_leases(const struct frontier *f, size_t most)
{
    uint64_t unsettled =
        lease_count(f->leases) - external_count(f->external) + f->uncommitted;

    if (unsettled >= f->o.in_flight)
        return 0;
    if (most > f->o.in_flight - unsettled)
        most = (size_t)(f->o.in_flight - unsettled);
    return frontier_pages_left(f, most);
}

bool frontier_stands_nowhere(const struct frontier *f,
                             const struct host_queue *h)
{
    return f->groups != NULL && h->group == NULL && !draining(h);
}

/* Looks up as many hosts at once as URLs may be in flight; other hosts without
 * a group are skipped. */
struct host_queue *frontier_first_host(struct frontier *f, int64_t now,
                                       int64_t *due)
{
    struct heap_item *host = heap_top(&f->due);
    struct heap_item *group = heap_top(&f->groups_due);

    if (f->aside_count >= f->o.in_flight)
        host = NULL;
    else if ((host == NULL || host->key > now) && heap_count(&f->beside) > 0)
        host = heap_top(&f->beside);
    if (group != NULL && (host == NULL || group->key < host->key)) {
        *due = group->key;
        return host_of(heap_top(&politeness_group_of(group)->hosts));
    }
    if (host == NULL)
        return NULL;
    *due = host->key;
    return host_of(host);
}

static struct engine_lease hand_out(struct frontier *f,
                                    const struct lease_record *r)
{
    struct host_queue *h = frontier_host(f, r->lease.queue);
    struct engine_lease l = r->lease;

    l.first = !h->handed_out;
    l.alone = frontier_store_pending(f->store, h->queue) <= h->leased;
    l.pause = frontier_usual_pause(f, h);
    h->handed_out = true;
    return l;
}

/* A new URL of the host, or one that is fetched again. */
static enum status lease_some(struct frontier *f, struct host_queue *h,
                              int64_t now, int64_t wall_ms,
                              struct lease_record **out)
{
    uint64_t pending = frontier_store_pending(f->store, h->queue);
    bool fresh = draining(h) || (h->leased + h->guests < may_have_out(f, h) &&
                                 host_queue_due(h, pending) <= now);
    enum status st = STATUS_OK;

    if (refresh_due(f, h) <= now &&
        (!fresh || refresh_has_turn(&f->o.refresh, &h->credit)))
        st = frontier_refresh_lease(f, h, 0, now, wall_ms, out);
    return st == STATUS_OK && *out == NULL && fresh
               ? frontier_lease_from(f, h, now, wall_ms, out)
               : st;
}

static enum status lease_due(struct frontier *f, size_t most, int64_t now,
                             int64_t wall_ms, struct engine_lease *out,
                             size_t *n)
{
    unsigned drained = 0;
    enum status st = STATUS_OK;

    while (*n < most && drained < DRAIN_MOST) {
        struct lease_record *r = NULL;
        int64_t due;
        struct host_queue *h = frontier_first_host(f, now, &due);

        if (h == NULL || due > now)
            break;
        if (h->trouble != NULL && h->trouble->blocked_until <= now)
            h->trouble->why_blocked = NULL;
        if (frontier_stands_nowhere(f, h))
            st = frontier_find_place(f, h);
        else if (host_orders(h)->cross_to != 0 && !draining(h))
            st = frontier_cross_host_lease(f, h, now, wall_ms, &r);
        else
            st = lease_some(f, h, now, wall_ms, &r);
        if (st != STATUS_OK)
            return st;
        if (r != NULL)
            out[(*n)++] = hand_out(f, r);
        else
            drained++;
        /* Puts the host after others that are due: round robin. */
        frontier_unschedule(f, h);
        frontier_reschedule(f, h);
    }
    return st;
}

enum status frontier_lease(struct engine *e, size_t most, int64_t now,
                           int64_t wall_ms, struct engine_lease *out, size_t *n)
{
    struct frontier *f = (struct frontier *)e;
    int64_t due;
    enum status st;

    *n = 0;
    if (f->base->broken)
        return db_error(f->base->db);
    frontier_refresh_wake(f, now, wall_ms);
    most = room_for_leases(f, most);
    if (most == 0 || frontier_first_host(f, now, &due) == NULL || due > now)
        return STATUS_OK;
    st = db_hold(f->base->db);
    if (st == STATUS_OK)
        st = lease_due(f, most, now, wall_ms, out, n);
    if (st == STATUS_OK)
        st = db_let_go(f->base->db);
    return st == STATUS_OK ? st : frontier_broke(f, st);
}

int64_t frontier_next_due(struct engine *e, int64_t now, struct bytes *why)
{
    struct frontier *f = (struct frontier *)e;
    int64_t due, wake = frontier_refresh_due(f, now);
    struct host_queue *h = frontier_first_host(f, now, &due);
    struct bytes crawl;

    if (rejudge_is_due(f) || frontier_order_is_due(f) ||
        frontier_redate_is_due(f) || frontier_history_is_due(f))
        return now; /* a turn has work to do */
    if (room_for_leases(f, 1) == 0)
        return INT64_MAX; /* a lease has to end first */
    if (h == NULL || wake < due)
        return wake;
    if (why != NULL)
        frontier_store_queue_name(f->store, h->queue, &crawl, why);
    return due > now ? due : now;
}
