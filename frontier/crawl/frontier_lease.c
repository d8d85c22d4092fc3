/* SPDX-License-Identifier: MIT */
/*
 * frontier_lease.c - chooses the next URL of the hosts that are due.
 *
 * An origin that is dead for this run is drained here: its URLs get a final
 * outcome without a request, at once if the host has no other.
 */
#include <stdlib.h>

#include "base/logger.h"
#include "base/mem.h"
#include "frontier/candidate.h"
#include "frontier/crawl/frontier_fetched.h"
#include "frontier/crawl/frontier_host.h"
#include "frontier/crawl/frontier_impl.h"
#include "frontier/crawl/frontier_links.h"
#include "frontier/crawl/frontier_refresh.h"

/*
 * URLs whose responses an earlier process was reading when
 * it ended.
 *
 * A lease is not written, so a URL whose response kills the process would be
 * fetched again after each restart, for ever. The crawler records the ids of
 * such URLs (crawler/transfer/in_hand.h); here each costs a try. A person may
 * have killed the process just then, so the host is not slowed down, and the
 * URL is tried again at once.
 */

#define TRIES_LEAST 2 /* before a URL is failed for the death of a process */

static const struct outcome stuck_outcome = {.status = OUTCOME_FAILED,
                                             .reason = REASON_STUCK};

static const char *const details[] = {
    [BLAME_DIED] = "the process ended while it read the response",
    [BLAME_STUCK] =
        "its response was still being read when the process was ended"};

static uint32_t tries_of(const struct frontier *f, uint64_t id)
{
    const struct tries_entry *t = map_get(f->tries, bytes_of(&id, sizeof id));

    return t != NULL ? t->tries : 0;
}

static enum status count_try(struct frontier *f, struct fetch_row *fetch,
                             int64_t now, int64_t wall_ms)
{
    struct tries_entry *t = xcalloc(1, sizeof *t);
    uint64_t id = fetch->url, seq;
    enum status st;

    t->tries = fetch->tries;
    t->due = now;
    free(map_put(f->tries, bytes_of(&id, sizeof id), t));
    frontier_store_add(f->store, "retries", 1);
    fetch->status = (uint8_t)stuck_outcome.status;
    fetch->reason = (uint8_t)stuck_outcome.reason;
    st = frontier_add_fetch(f, fetch, &seq);
    if (st == STATUS_OK)
        st = frontier_store_set_tries(f->store, id, fetch->tries, wall_ms);
    return st;
}

static enum status fail(struct frontier *f, const struct url_row *row,
                        struct fetch_row *fetch)
{
    struct host_queue *h = frontier_host(f, row->queue);
    enum status st =
        frontier_settle(f, row->id, (row->flags & URL_ROW_SEED) != 0, row->kind,
                        fetch, stuck_outcome);

    if (st == STATUS_OK)
        st = frontier_count_done(f, h);
    frontier_reschedule(f, h);
    return st;
}

enum status frontier_blame(struct frontier *f, uint64_t id, enum blame why,
                           int64_t now, int64_t wall_ms)
{
    struct fetch_row fetch = {.url = id, .at_ms = wall_ms};
    uint32_t tries = tries_of(f, id) + 1;
    struct url_row row;
    enum status st;
    bool failed;

    if (id == 0 || id > frontier_store_last_id(f->store) ||
        frontier_store_is_done(f->store, id))
        return STATUS_OK;
    st = frontier_store_get(f->store, id, &row, &f->text);
    if (st == STATUS_OK)
        st = frontier_touch(f, now);
    if (st != STATUS_OK)
        return frontier_broke(f, st);
    fetch.tries = (uint8_t)(tries < 255 ? tries : 255);
    fetch.detail = bytes_of_str(details[why]);
    failed = why != BLAME_DIED || (tries >= f->o.tries && tries >= TRIES_LEAST);
    log_warn(failed ? "the last process ended over a URL, which has failed"
                    : "the last process ended over a URL, which is tried again",
             "tries=%u url=%.*s", tries, (int)row.url.len, row.url.at);
    st = failed ? fail(f, &row, &fetch) : count_try(f, &fetch, now, wall_ms);
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}

#define RUN        8    /* consecutive URLs of a host without delay */
#define DRAIN_MOST 1000 /* URLs settled without a request, per call */

/* Settles a URL without a request. */
static enum status settle_unasked(struct frontier *f, struct host_queue *h,
                                  const struct url_row *row, struct outcome o,
                                  const char *detail, int64_t wall_ms)
{
    const struct origin_trouble *dead = host_origin_dead(h, row->url);
    struct fetch_row r = {.url = row->id,
                          .at_ms = wall_ms,
                          .flags = dead != NULL && o.status == dead->why.status
                                       ? dead->flags
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
    struct url_item item = {.depth = row->depth,
                            .hops = row->hops,
                            .kind = row->kind,
                            .seed = (row->flags & URL_ROW_SEED) != 0};
    struct admission a = {.item = &item, .via = row->via};
    enum status st = STATUS_OK;
    struct url u;

    url_init(&u);
    if (candidate_read(&rules, &u, row->url, NULL) == URL_OK &&
        candidate_take(&rules, &u, &item) == REASON_NONE)
        st = frontier_admit(f, &a, 1, false, wall_ms);
    url_fini(&u);
    return st;
}

/* Scope and other rules may have changed since the URL was queued. */
static struct outcome by_rules(struct frontier *f, struct bytes key,
                               const struct url_row *row, const char **detail)
{
    struct outcome yes = {.status = OUTCOME_QUEUED};

    if (f->o.blocklist != NULL &&
        (row->id <= f->old_urls || (row->flags & URL_ROW_AGAIN) != 0)) {
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
    const struct origin_trouble *dead = host_origin_dead(h, row->url);

    if (frontier_is_removed(h, row->id)) {
        *detail = REMOVED_TEXT;
        return frontier_removed;
    }
    if (dead != NULL) {
        *detail = "origin given up after repeated failures";
        return dead->why;
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
    if (t == NULL || t->due <= now || frontier_is_draining(h))
        return true;
    host_queue_retry(h, id, t->due);
    return false;
}

struct lease_record *frontier_begin_lease(
    struct frontier *f, struct host_queue *h, const struct url_row *row,
    struct bytes key, uint32_t tries, const struct url_last *last, int64_t now)
{
    struct lease_record *l = lease_add(f->leases, h, row, key, tries, last);

    politeness_group_lease(h);
    h->run = (h->run + 1) % RUN;
    if (!frontier_has_no_delay(f, h)) {
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
    if (!frontier_is_draining(h) &&
        h->leased + h->guests >= frontier_most_leases(f, h))
        return STATUS_OK; /* others have spent the budget of its domain */
    st = frontier_order_front(f, h, now);
    /* Drains a host's retries too, even if they are not due. */
    if (st == STATUS_OK)
        st = host_queue_take(h, f->store,
                             frontier_is_draining(h) ? INT64_MAX : now, &id);
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
    struct url_last last;
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
    if (frontier_is_draining(h)) { /* it is asked in its turn */
        host_trouble_of(h)->others_live = true;
        host_queue_retry(h, id, now);
        return STATUS_OK;
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

static struct url_lease hand_out(struct frontier *f,
                                 const struct lease_record *r)
{
    struct host_queue *h = frontier_host(f, r->lease.queue);
    struct url_lease l = r->lease;

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
    bool fresh = frontier_is_draining(h)
                     ? pending + h->refreshing > h->leased
                     : h->leased + h->guests < frontier_most_leases(f, h) &&
                           host_queue_due(h, pending) <= now;
    enum status st = STATUS_OK;

    if (frontier_dated_due(f, h) <= now &&
        (!fresh || refresh_has_turn(&f->o.refresh, &h->credit)))
        st = frontier_refresh_lease(f, h, 0, now, wall_ms, out);
    return st == STATUS_OK && *out == NULL && fresh
               ? frontier_lease_from(f, h, now, wall_ms, out)
               : st;
}

static enum status lease_due(struct frontier *f, size_t most, int64_t now,
                             int64_t wall_ms, struct url_lease *out, size_t *n)
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
        else if (host_orders(h)->cross_to != 0 && !frontier_is_draining(h))
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

enum status frontier_lease(struct frontier *f, size_t most, int64_t now,
                           int64_t wall_ms, struct url_lease *out, size_t *n)
{
    int64_t due;
    enum status st;

    *n = 0;
    if (f->base->broken)
        return db_error(f->base->db);
    frontier_refresh_wake(f, now, wall_ms);
    most = room_for_leases(f, most);
    if (f->around != NULL)
        most = f->around->may_lease(f->around->ctx, most);
    if (most == 0 || frontier_first_host(f, now, &due) == NULL || due > now)
        return STATUS_OK;
    st = db_hold(f->base->db);
    if (st == STATUS_OK)
        st = lease_due(f, most, now, wall_ms, out, n);
    if (st == STATUS_OK)
        st = db_let_go(f->base->db);
    if (st == STATUS_OK && *n > 0)
        st = seen_store_begin_run(f->base);
    return st == STATUS_OK ? st : frontier_broke(f, st);
}

int64_t frontier_own_due(struct frontier *f, int64_t now, struct bytes *why)
{
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

int64_t frontier_next_due(struct frontier *f, int64_t now, struct bytes *why)
{
    int64_t due = frontier_own_due(f, now, why);

    return f->around != NULL ? f->around->due(f->around->ctx, due, now) : due;
}
