/* SPDX-License-Identifier: MIT */
/*
 * frontier_lease.c - chooses the next URL of the hosts that are due.
 *
 * An origin that is dead for this run is drained here: its URLs get a final
 * outcome without a request, at once if the host has no other.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/logger.h"
#include "base/mem.h"
#include "frontier/candidate.h"
#include "frontier/crawl/frontier_impl.h"
#include "frontier/order.h"
#include "storage/db/schema.h"

/*
 * How often each URL was linked to, in fixed memory: a count-min sketch with
 * conservative update (Cormode and Muthukrishnan 2005; Estan and Varghese
 * 2002). It never counts too little, and too much only when several URLs share
 * all their cells. A count stops at LINK_SKETCH_MOST. It is not stored; see
 * below for what that means.
 */
#define LINK_SKETCH_MOST 255

#define ROWS             3 /* cells of a URL */

struct link_sketch {
    uint64_t mask;
    unsigned char *cells;
};

/* Of at most `octets`, a cell each. */
static struct link_sketch *link_sketch_new(uint64_t octets)
{
    struct link_sketch *s = xcalloc(1, sizeof *s);
    uint64_t cells = 1024;

    while (cells * 2 <= octets)
        cells *= 2;
    s->mask = cells - 1;
    s->cells = xcalloc(cells, 1);
    return s;
}

static void link_sketch_free(struct link_sketch *s)
{
    if (s == NULL)
        return;
    free(s->cells);
    free(s);
}

/* The halves of a digest are independent, so their sums are as good as more
 * hashes (Kirsch and Mitzenmacher 2006). */
static unsigned char *cell(const struct link_sketch *s, struct digest d,
                           unsigned row)
{
    return &s->cells[(d.lo + row * (d.hi | 1)) & s->mask];
}

static uint32_t count_of(const struct link_sketch *s, struct digest d)
{
    unsigned least = LINK_SKETCH_MOST;

    for (unsigned row = 0; row < ROWS; row++)
        if (*cell(s, d, row) < least)
            least = *cell(s, d, row);
    return least;
}

/* Makes the count at least `links`. */
static void link_sketch_lift(struct link_sketch *s, struct digest d,
                             uint32_t links)
{
    unsigned count = links < LINK_SKETCH_MOST ? links : LINK_SKETCH_MOST;

    for (unsigned row = 0; row < ROWS; row++)
        if (*cell(s, d, row) < count)
            *cell(s, d, row) = (unsigned char)count;
}

/* Counts one link more, and returns the count. */
static uint32_t link_sketch_add(struct link_sketch *s, struct digest d)
{
    uint32_t count = count_of(s, d);

    if (count < LINK_SKETCH_MOST)
        link_sketch_lift(s, d, ++count);
    return count;
}

uint64_t link_sketch_memory(const struct link_sketch *s)
{
    return s != NULL ? sizeof *s + s->mask + 1 : 0;
}

/*
 * Which URL of a host goes before its turn (order.h).
 *
 * A host's queue on disk stays in order of arrival and holds every URL. Beside
 * it a table (storage/rows/side_tables.h) names those that go first, by class:
 *
 *   class 2 to 15   before their turn: read from the table, the highest first
 *   class 1         in turn
 *   class 0         later: passed over, until the queue is at its end; then it
 *                   is read once more (host_queue_defer)
 *
 * The table holds hints only. If a row is missing or stale, its URL goes in its
 * turn: nothing here can lose a URL or fetch one twice. A crash keeps what was
 * committed with the page that had the link.
 *
 * In-links are counted by a sketch (frontier_impl.h), for every link that passes
 * the scope; with each doubling the URL is looked up and its class raised. So
 * what a restart forgets is less than half of a count: the class is stored with
 * the count that it was given for, on which the next doubling builds.
 *
 * Hosts take turns as they do in any order: a class never holds up or favours a
 * host. If the rules have changed, all URLs that are queued are given their
 * classes anew, some in each turn; meta.order says how far that is:
 *
 *   last id done, last id of all, a line feed, the rules (order_describe)
 */
#define MARK      "order"
#define MARK_MOST ((size_t)8 << 20) /* of the rules in the mark */
#define STEP_ROWS 500               /* sorted anew in a turn */
#define URL_MOST  ((size_t)16 << 20)

static bool is_on(const struct frontier *f)
{
    return order_mode(f->o.order) != ORDER_BREADTH;
}

/* ---- classes ---- */

static enum status priority_of(struct frontier *f, uint64_t id,
                               int16_t *priority)
{
    struct url_hint hint = {0};
    enum status st = STATUS_NOT_FOUND;

    *priority = HINT_NO_PRIORITY;
    if (f->ordering.hints)
        st = hint_store_get(f->base->db, id, &hint);
    if (st == STATUS_OK)
        *priority = hint.priority;
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

/* Puts the URL in its class; `was`: the one it has in the table, or
 * EARLY_NONE. Its in-links are kept there once it has had a class. */
static enum status enter(struct frontier *f, uint64_t id, uint32_t queue,
                         const struct order_facts *facts, uint8_t was)
{
    const struct order_score s = order_score(f->o.order, facts);
    struct host_queue *h = frontier_host(f, queue);
    uint8_t class_ = s.class_ > ORDER_IN_TURN ? s.class_ : 0;
    enum status st = STATUS_OK;

    if (s.class_ > ORDER_LATER)
        host_queue_once_more(h);
    if (class_ > 0 || was != EARLY_NONE)
        st = early_store_put(f->base->db, queue, id, was, class_, facts->links);
    if (st == STATUS_OK && class_ > 0)
        host_queue_early(h, class_);
    return st;
}

/* Gives a queued URL the class that its row and its in-links say; `links`: of
 * this run, 0: as stored. *known: all of them. */
static enum status enter_row(struct frontier *f, const struct url_row *row,
                             uint32_t links, uint32_t *known)
{
    struct order_facts facts = {.url = row->url, .depth = row->depth};
    uint8_t was = EARLY_NONE;
    uint32_t before = 1; /* the link that it was admitted by */
    enum status st =
        early_store_get(f->base->db, row->queue, row->id, &was, &before);

    if (st == STATUS_OK || st == STATUS_NOT_FOUND)
        st = priority_of(f, row->id, &facts.priority);
    facts.links = before >= links ? before + links : links;
    *known = facts.links;
    return st == STATUS_OK ? enter(f, row->id, row->queue, &facts, was) : st;
}

/* ---- links ---- */

struct raise {
    struct digest digest;
    uint32_t links;
};

/* URL `id` has reached a count of in-links that may raise it. */
static enum status raise_one(struct frontier *f, uint64_t id,
                             const struct raise *r)
{
    struct url_row row;
    uint32_t known;
    enum status st;

    if (id == 0 || frontier_store_is_done(f->store, id))
        return STATUS_OK;
    st = frontier_store_get(f->store, id, &row, &f->ordering.text);
    if (st == STATUS_OK)
        st = enter_row(f, &row, r->links, &known);
    if (st == STATUS_OK && known > r->links) /* counted by an earlier run */
        link_sketch_lift(f->ordering.links, r->digest, known);
    return st;
}

static enum status raise_all(struct frontier *f, const struct raise *raises,
                             size_t n)
{
    enum status st;

    for (size_t i = 0; i < n; i++)
        f->scratch.digests[i] = raises[i].digest;
    st = n > 0 ? exact_set_find(f->base->exact, f->scratch.digests, n,
                                f->scratch.found)
               : STATUS_OK;
    for (size_t i = 0; st == STATUS_OK && i < n; i++)
        st = raise_one(f, f->scratch.found[i], &raises[i]);
    return st;
}

static enum status enter_new(struct frontier *f, const struct admission *a,
                             uint32_t links)
{
    const struct url_item *item = a->item;
    const struct order_facts facts = {
        .url = item->url,
        .depth = item->depth,
        .priority =
            item->hint != NULL ? item->hint->priority : HINT_NO_PRIORITY,
        .links = links,
    };

    return enter(f, a->id, a->queue, &facts, EARLY_NONE);
}

static bool is_power_of_two(uint32_t n)
{
    return (n & (n - 1)) == 0;
}

enum status frontier_order_links(struct frontier *f,
                                 const struct admission *list, size_t n)
{
    bool best = order_mode(f->o.order) == ORDER_BEST;
    struct raise *raises;
    size_t count = 0;
    enum status st = STATUS_OK;

    if (!is_on(f))
        return STATUS_OK;
    raises = xcalloc(n + 1, sizeof *raises);
    for (size_t i = 0; st == STATUS_OK && i < n; i++) {
        const struct admission *a = &list[i];
        uint32_t links = 1;

        if (a->blocked)
            continue;
        f->ordering.hints |= a->item->hint != NULL;
        if (best)
            links = link_sketch_add(f->ordering.links, a->item->digest);
        if (a->fresh)
            st = enter_new(f, a, links);
        else if (best && (is_power_of_two(links) || a->item->hint != NULL))
            raises[count++] = (struct raise){a->item->digest, links};
    }
    if (st == STATUS_OK)
        st = raise_all(f, raises, count);
    free(raises);
    return st;
}

enum status frontier_order_row(struct frontier *f, const struct url_row *row)
{
    uint32_t known;

    return is_on(f) ? enter_row(f, row, 0, &known) : STATUS_OK;
}

/* ---- leases ---- */

struct front {
    struct frontier *f;
    struct host_queue *h;
    uint64_t done[4 * HOST_FRONT_MOST];
    size_t done_count;
};

/* Is the URL leased, to be tried again, or done? Of one read ahead: it was then
 * taken out of turn meanwhile. */
static bool frontier_is_taken(const struct frontier *f,
                              const struct host_queue *h, uint64_t id)
{
    return lease_find(f->leases, id) != NULL || host_queue_has_retry(h, id) ||
           frontier_store_is_done(f->store, id);
}

static bool take_early(void *ctx, uint64_t url)
{
    struct front *t = ctx;
    struct host_queue *h = t->h;
    struct host_front *front = h->front;

    if (url == 0 || url > frontier_store_last_id(t->f->store))
        return true; /* no hint of ours */
    if (frontier_store_is_done(t->f->store, url))
        t->done[t->done_count++] = url;
    else if (!frontier_is_taken(t->f, h, url))
        front->urls[front->count++] = url;
    return front->count < HOST_FRONT_MOST &&
           t->done_count < sizeof t->done / sizeof *t->done;
}

/* Moves those that are done out of the way of the next reading. */
static enum status retire(struct front *t, int64_t now)
{
    struct frontier *f = t->f;
    enum status st = t->done_count > 0 ? frontier_touch(f, now) : STATUS_OK;

    for (size_t i = 0; st == STATUS_OK && i < t->done_count; i++) {
        uint8_t was;
        uint32_t links;

        st =
            early_store_get(f->base->db, t->h->queue, t->done[i], &was, &links);
        if (st == STATUS_OK)
            st = early_store_put(f->base->db, t->h->queue, t->done[i], was, 0,
                                 links);
    }
    return st;
}

static uint8_t highest(uint16_t classes)
{
    uint8_t c = ORDER_CLASSES - 1;

    while ((classes >> c & 1) == 0)
        c--;
    return c;
}

/* Reads ahead which URLs of the host go before their turn. */
static enum status frontier_order_front(struct frontier *f,
                                        struct host_queue *h, int64_t now)
{
    struct host_front *front = h->front;
    enum status st = STATUS_OK;

    if (!is_on(f) || front == NULL)
        return STATUS_OK;
    while (st == STATUS_OK && front->early != 0 && front->count == front->at) {
        struct front t = {.f = f, .h = h};

        front->at = front->count = 0;
        front->class_ = highest(front->early);
        st = early_store_each(f->base->db, h->queue, front->class_, take_early,
                              &t);
        if (st == STATUS_OK)
            st = retire(&t, now);
        if (front->count == 0 && t.done_count == 0)
            front->early &= (uint16_t) ~(1U << front->class_);
    }
    return st;
}

/* *later: the URL, whose turn it is, waits until the host has no other. */
static enum status frontier_order_defers(struct frontier *f,
                                         struct host_queue *h,
                                         const struct url_row *row, bool *later)
{
    struct order_facts facts = {.url = row->url,
                                .depth = row->depth,
                                .links = 1};
    enum status st;

    *later = false;
    if (order_mode(f->o.order) != ORDER_BEST || host_front(h)->again ||
        !h->in_turn)
        return STATUS_OK;
    st = priority_of(f, row->id, &facts.priority);
    *later = st == STATUS_OK &&
             order_score(f->o.order, &facts).class_ == ORDER_LATER;
    if (*later)
        host_queue_defer(h, row->id);
    return st;
}

/* ---- a change of rules ---- */

static enum status write_mark(struct frontier *f)
{
    struct buf mark;
    enum status st;

    buf_init(&mark, MARK_MOST);
    buf_addf(&mark, "%llu %llu\n", (unsigned long long)f->ordering.at,
             (unsigned long long)f->ordering.upto);
    order_describe(f->o.order, &mark);
    st = buf_failed(&mark);
    if (st == STATUS_OK)
        st = frontier_store_set_meta(f->store, MARK, buf_bytes(&mark));
    buf_fini(&mark);
    f->ordering.changed = false;
    return st;
}

/* Is the mark, of the same rules, that of a sorting that goes on? */
static enum status read_mark(struct frontier *f)
{
    struct ordering *o = &f->ordering;
    struct buf mark, rules;
    unsigned long long at = 0, upto = 0;
    const char *lines;
    enum status st;

    buf_init(&mark, MARK_MOST);
    buf_init(&rules, MARK_MOST);
    order_describe(f->o.order, &rules);
    st = frontier_store_meta(f->store, MARK, &mark);
    lines = st == STATUS_OK ? strchr(buf_str(&mark), '\n') : NULL;
    o->at = o->upto = 0;
    o->changed = st == STATUS_NOT_FOUND
                     ? is_on(f)
                     : lines == NULL || strcmp(lines + 1, buf_str(&rules)) != 0;
    if (!o->changed && lines != NULL &&
        sscanf(buf_str(&mark), "%llu %llu\n", &at, &upto) == 2) {
        o->at = at;
        o->upto = upto;
    }
    buf_fini(&mark);
    buf_fini(&rules);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

static void recall_class(void *ctx, uint32_t queue, uint8_t class_)
{
    struct frontier *f = ctx;

    if (frontier_store_pending(f->store, queue) > 0)
        host_queue_early(frontier_host(f, queue), class_);
}

/* Takes over the rules in f->o.order. */
static enum status begin(struct frontier *f)
{
    enum status st = read_mark(f);

    if (order_mode(f->o.order) == ORDER_BEST && f->ordering.links == NULL)
        f->ordering.links =
            link_sketch_new(seen_store_share(f->base, 2, 65536, 64U << 20));
    if (st == STATUS_OK && is_on(f))
        st = early_store_each_queue(f->base->db, recall_class, f);
    return st;
}

enum status frontier_order_open(struct frontier *f)
{
    enum status st;

    buf_init(&f->ordering.text, URL_MOST);
    st = hint_store_any(f->base->db, &f->ordering.hints);
    return st == STATUS_OK ? begin(f) : st;
}

void frontier_order_close(struct frontier *f)
{
    link_sketch_free(f->ordering.links);
    buf_fini(&f->ordering.text);
}

enum status frontier_set_order(struct frontier *f, const struct order *order)
{
    enum status st;

    f->o.order = order;
    for (uint32_t q = 0; q < f->hosts.room; q++)
        if (host_table_get(&f->hosts, q) != NULL)
            host_queue_forget_early(host_table_get(&f->hosts, q));
    st = begin(f);
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}

/* Do queued URLs wait for classes by changed rules? */
static bool frontier_order_is_due(const struct frontier *f)
{
    return f->ordering.changed || f->ordering.at < f->ordering.upto;
}

struct sorting {
    struct frontier *f;
    enum status st;
};

static void sort_row(void *ctx, const struct url_row *row)
{
    struct sorting *s = ctx;

    if (s->st == STATUS_OK && row->kind != URL_KIND_SERVED &&
        !frontier_store_is_done(s->f->store, row->id))
        s->st = frontier_order_row(s->f, row);
}

enum status frontier_order_step(struct frontier *f, int64_t now)
{
    struct ordering *o = &f->ordering;
    struct sorting s = {.f = f};
    enum status st;

    if (!frontier_order_is_due(f))
        return STATUS_OK;
    st = frontier_touch(f, now);
    if (o->changed) {
        o->at = 0;
        o->upto = is_on(f) ? frontier_store_last_id(f->store) : 0;
    }
    if (st == STATUS_OK && o->at < o->upto)
        st = frontier_store_each(f->store, o->at + 1, o->at + STEP_ROWS,
                                 sort_row, &s);
    o->at = o->at + STEP_ROWS < o->upto ? o->at + STEP_ROWS : o->upto;
    if (st == STATUS_OK)
        st = s.st;
    if (st == STATUS_OK)
        st = write_mark(f);
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}

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
        frontier_store_counter(f->store, "pages") + map_count(f->leases);

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
        map_count(f->leases) - external_count(f->external) + f->uncommitted;

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
