/* SPDX-License-Identifier: MIT */
/*
 * frontier_refresh.c - done URLs that are fetched again at their dates.
 *
 * The dates are in the calendar (storage/rows/side_tables.h), by queue. A
 * heap has the first date of each queue, 32 octets a queue; nothing in memory
 * is per URL. When that date comes, the queue's host is awake: it is scheduled
 * like one with new URLs, by the same politeness, until none of its dates has
 * come any more. At most AWAKE_MOST hosts are awake, since each has a
 * host_queue; the rest stay in the heap.
 *
 * A refreshed URL keeps its id and row and stays marked as done, so the queues
 * of new URLs know nothing of it. Its lease writes nothing: the row stays in
 * the calendar, and is replaced in the transaction that has the outcome. So
 * after a crash a URL has the old date if the fetch is not durable and the new
 * one if it is.
 *
 *   calendar row   turns          host           the URL is
 *   its date       in the heap    asleep         due later
 *   its date       -              awake          due, or leased
 *   its date       either         cross_refresh  due, waits for another host
 *   a new date     in the heap    either         due later
 *   -              -              -              done, or gone
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "frontier/crawl/frontier_impl.h"
#include "frontier/crawl/refresh_rule.h"
#include "frontier/seen/seen_store.h"
#include "frontier/url_view.h"

/* ---- how many URLs are past their dates, by the minute ---- */

#define MINUTE_MS INT64_C(60000)
#define DAY       1440 /* minutes */
#define MINUTES   ((int64_t)DUE_COUNT_DAYS * DAY)

/* `now_ms`: wall clock, as all times here. */
static void due_count_init(struct due_count *c, int64_t now_ms)
{
    int64_t minute = now_ms / MINUTE_MS;

    *c = (struct due_count){.base = minute - minute % DAY - MINUTES / 2,
                            .first = MINUTES};
}

/* `now_ms`: wall clock, as all times here. */
static void due_count_fini(struct due_count *c)
{
    for (size_t i = 0; i < DUE_COUNT_DAYS; i++)
        free(c->days[i]);
}

/* Floors a moment to the minutes that are counted. */
static int64_t minute_of(const struct due_count *c, int64_t ms)
{
    int64_t minute = ms / MINUTE_MS - c->base;

    return minute < 0 ? 0 : minute < MINUTES ? minute : MINUTES - 1;
}

static uint32_t *count_at(struct due_count *c, int64_t minute)
{
    uint32_t **day = &c->days[minute / DAY];

    if (*day == NULL) {
        *day = xcalloc(DAY, sizeof **day);
        c->allocated++;
    }
    return &(*day)[minute % DAY];
}

static uint32_t read_at(const struct due_count *c, int64_t minute)
{
    const uint32_t *day = c->days[minute / DAY];

    return day != NULL ? day[minute % DAY] : 0;
}

static void due_count_add(struct due_count *c, int64_t due_ms)
{
    int64_t minute = minute_of(c, due_ms);

    ++*count_at(c, minute);
    if (minute < c->first)
        c->first = minute;
    c->passed += minute < c->upto;
}

/* It was added before. */
static void due_count_remove(struct due_count *c, int64_t due_ms)
{
    int64_t minute = minute_of(c, due_ms);
    uint32_t *n = count_at(c, minute);

    assert(*n > 0);
    --*n;
    c->passed -= minute < c->upto;
}

/* The next minute, or the next day that has dates. */
static int64_t after(const struct due_count *c, int64_t minute)
{
    if (c->days[minute / DAY] != NULL)
        return minute + 1;
    return minute - minute % DAY + DAY;
}

/* The dates in minutes that have passed. *oldest_ms: the first of them, to the
 * minute; `now_ms` if there are none. */
static uint64_t due_count_passed(struct due_count *c, int64_t now_ms,
                                 int64_t *oldest_ms)
{
    int64_t now = minute_of(c, now_ms);

    while (c->upto > now) /* the clock was set back */
        c->passed -= read_at(c, --c->upto);
    while (c->upto < now) {
        int64_t next = after(c, c->upto);

        c->passed += read_at(c, c->upto);
        c->upto = next < now ? next : now;
    }
    while (c->first < c->upto && read_at(c, c->first) == 0)
        c->first = after(c, c->first);
    *oldest_ms = c->passed > 0 ? (c->base + c->first) * MINUTE_MS : now_ms;
    return c->passed;
}

/* The dates in minutes that have passed. *oldest_ms: the first of them, to the
 * minute; `now_ms` if there are none. */
static uint64_t due_count_memory(const struct due_count *c)
{
    return c->allocated * DAY * sizeof(uint32_t);
}

/*
 * How many URLs are overdue, and how many copies are up to date.
 *
 * What depends on the calendar alone is a counter of the store, in the
 * transaction of the row: how many dated URLs have a known rate of change, and
 * the sum of their freshness if each is asked at its date, and how many wait for
 * another try. What depends on the time is counted in memory (frontier_impl.h).
 * After a start the calendar is read for that a step at a time; rows that it has
 * not come to are not counted yet.
 */

#define COUNTS_STEP 2000  /* rows in a turn */
#define PARTS       1e6   /* the sum of freshness is in millionths */
#define LATE        60000 /* ms after its date, a URL is overdue */

/* ---- what the store counts ---- */

static uint64_t freshness_of(const struct refresh_row *row)
{
    double ms = (double)(row->due_ms - row->at_ms);

    return (uint64_t)(PARTS *
                      refresh_freshness(refresh_rate(row->known, 1), ms));
}

static void count_rate(struct frontier *f, const struct refresh_row *row,
                       bool added)
{
    uint64_t fresh;

    if (!refresh_rate_is_told(row->known))
        return;
    fresh = freshness_of(row);
    frontier_store_add(f->store, "refresh_rated", added ? 1 : UINT64_MAX);
    frontier_store_add(f->store, "refresh_fresh", added ? fresh : -fresh);
}

/* ---- what is counted in memory ---- */

/* Has the first reading of the calendar come to this row? */
static bool is_read(const struct refreshing *r, const struct refresh_row *row)
{
    const struct refresh_row *at = &r->read_upto;

    if (!r->reading)
        return true;
    if (row->queue != at->queue)
        return row->queue < at->queue;
    if (row->due_ms != at->due_ms)
        return row->due_ms < at->due_ms;
    return row->url <= at->url;
}

static bool count_row(void *ctx, const struct refresh_row *row)
{
    struct refreshing *r = ctx;

    due_count_add(&r->counts, row->due_ms);
    r->read_upto = *row;
    return ++r->read < COUNTS_STEP;
}

enum status frontier_refresh_count_step(struct frontier *f)
{
    struct refreshing *r = &f->refresh;
    enum status st;

    if (!r->reading)
        return STATUS_OK;
    r->read = 0;
    st = refresh_store_each(f->base->db, &r->read_upto, count_row, r);
    r->reading = st == STATUS_OK && r->read == COUNTS_STEP;
    return st;
}

/* A row is about to come into the calendar, or to leave it. */
static void frontier_refresh_count(struct frontier *f,
                                   const struct refresh_row *row, bool added)
{
    struct refreshing *r = &f->refresh;

    count_rate(f, row, added);
    if (row->tries > 0)
        frontier_store_add(f->store, "refresh_retries", added ? 1 : UINT64_MAX);
    if (!is_read(r, row))
        return;
    if (added)
        due_count_add(&r->counts, row->due_ms);
    else
        due_count_remove(&r->counts, row->due_ms);
}

void frontier_refresh_stats(struct frontier *f, struct frontier_counts *out)
{
    int64_t by = f->refresh.wall_ms - LATE, oldest;

    out->overdue = due_count_passed(&f->refresh.counts, by, &oldest);
    if (out->overdue > 0)
        out->overdue_for = (uint64_t)(by + LATE - oldest) / 1000;
}

#define AWAKE_MOST  65536
#define WAKE_STEP   4096                   /* hosts woken at a time */
#define DATE_MOST   INT64_C(1000000000000) /* ms: fits into ns */
#define SLEEP_LEAST 60000 /* ms that a host sleeps that was given up */
#define TURNS_CHUNK 1024

struct refresh_turn {
    struct heap_item place; /* by first date; not while its host is awake */
    uint32_t queue;
};

static struct refresh_turn *turn_of(struct frontier *f, uint32_t queue)
{
    struct refreshing *r = &f->refresh;
    size_t chunk = queue / TURNS_CHUNK;
    struct refresh_turn *t;

    if (chunk >= r->chunk_count) {
        size_t n = chunk + chunk / 2 + 16;

        r->turns = xrealloc(r->turns, n * sizeof(struct refresh_turn *));
        memset(r->turns + r->chunk_count, 0,
               (n - r->chunk_count) * sizeof(struct refresh_turn *));
        r->chunk_count = n;
    }
    if (r->turns[chunk] == NULL)
        r->turns[chunk] = xcalloc(TURNS_CHUNK, sizeof **r->turns);
    t = &r->turns[chunk][queue % TURNS_CHUNK];
    t->queue = queue;
    return t;
}

static struct refresh_turn *turn_at(struct heap_item *place)
{
    return (
        struct refresh_turn *)(void *)((char *)place -
                                       offsetof(struct refresh_turn, place));
}

static bool is_awake(const struct frontier *f, uint32_t queue)
{
    const struct host_queue *h = host_table_get(&f->hosts, queue);

    return h != NULL && h->awake;
}

/* The queue has a row with this date, not leased. */
static void expect(struct frontier *f, uint32_t queue, int64_t due_ms)
{
    struct refresh_turn *t = turn_of(f, queue);

    if (is_awake(f, queue))
        return; /* it looks for itself */
    if (t->place.place == 0)
        heap_push(&f->refresh.due, &t->place, due_ms);
    else if (due_ms < t->place.key)
        heap_move(&f->refresh.due, &t->place, due_ms);
}

static void set_awake(struct frontier *f, struct host_queue *h, bool awake)
{
    f->refresh.awake += awake;
    f->refresh.awake -= h->awake;
    h->awake = awake;
}

/* ---- rows ---- */

static enum status put(struct frontier *f, const struct refresh_row *row)
{
    enum status st = refresh_store_put(f->base->db, row);

    if (st != STATUS_OK)
        return st;
    expect(f, row->queue, row->due_ms);
    frontier_refresh_count(f, row, true);
    return STATUS_OK;
}

static enum status drop(struct frontier *f, const struct refresh_row *row)
{
    enum status st = refresh_store_drop(f->base->db, row);

    if (st == STATUS_OK)
        frontier_refresh_count(f, row, false);
    return st;
}

enum status frontier_refresh_add(struct frontier *f,
                                 const struct refresh_row *row)
{
    frontier_store_add(f->store, "dated", 1);
    return put(f, row);
}

enum status frontier_refresh_drop(struct frontier *f,
                                  const struct refresh_row *row)
{
    frontier_store_add(f->store, "dated", UINT64_MAX);
    return drop(f, row);
}

enum status frontier_refresh_move(struct frontier *f,
                                  const struct refresh_row *row,
                                  const struct refresh_row *to)
{
    enum status st = drop(f, row);

    return st == STATUS_OK ? put(f, to) : st;
}

/* Ends the lease by its outcome; only a date keeps the row. */
static enum status end_lease(struct frontier *f, enum url_life is,
                             struct refresh_row *row, struct outcome o,
                             uint8_t kind, int64_t lag_ms)
{
    struct refresh_past past;
    enum life_event how;

    row->absent = refresh_is_absent(o) ? row->absent + 1 : 0;
    past = (struct refresh_past){row->known, row->absent, kind, lag_ms};
    how = refresh_end(&f->o.refresh, o, &past, row->at_ms, &row->due_ms);
    row->tries = 0;
    switch (url_life_after(is, how)) {
    case LIFE_DUE:
        return frontier_refresh_add(f, row);
    case LIFE_GONE:
        frontier_store_add(f->store, "gone", 1);
        return STATUS_OK;
    default:
        return STATUS_OK;
    }
}

enum status frontier_refresh_date(struct frontier *f, uint32_t queue,
                                  uint8_t kind, const struct fetch_row *row,
                                  struct outcome o, int64_t fresh_ms)
{
    const struct lease_record *l = lease_find(f->leases, row->url);
    struct refresh_row first = {.queue = queue,
                                .url = row->url,
                                .seq = row->seq,
                                .at_ms = row->at_ms,
                                .links = l != NULL ? l->links : 0};

    enum status st =
        frontier_refresh_guess(f, row->url, fresh_ms, &first.known);

    return st == STATUS_OK ? end_lease(f, LIFE_LEASED, &first, o, kind, 0) : st;
}

/* ---- leases ---- */

/* A host that was given up may be asked again, for all its URLs. */
static void forgive(struct frontier *f, struct host_queue *h, int64_t wall_ms)
{
    if (h->trouble == NULL || h->trouble->held_until_ms == 0 ||
        wall_ms < h->trouble->held_until_ms)
        return;
    h->trouble->held_until_ms = 0;
    f->refresh.held--;
    f->refresh.silent -= h->trouble->held_silent;
    host_origins_revive(h);
    frontier_reach_again(h);
}

void frontier_refresh_wake(struct frontier *f, int64_t now, int64_t wall_ms)
{
    struct refreshing *r = &f->refresh;
    struct heap_item *first;

    r->wall_ms = wall_ms;
    r->skew_ms = wall_ms - now / NS_PER_MS;
    if (r->since_ms == 0)
        r->since_ms = wall_ms;
    for (unsigned i = 0; i < WAKE_STEP && r->awake < AWAKE_MOST; i++) {
        struct host_queue *h;

        first = heap_top(&r->due);
        if (first == NULL || first->key > wall_ms)
            return;
        heap_remove(&r->due, first);
        h = frontier_host(f, turn_at(first)->queue);
        set_awake(f, h, true);
        forgive(f, h, wall_ms);
        frontier_reschedule(f, h);
    }
}

int64_t frontier_refresh_due(const struct frontier *f, int64_t now)
{
    const struct refreshing *r = &f->refresh;
    const struct heap_item *first = heap_top(&r->due);
    int64_t in_ms;

    if (first == NULL || r->awake >= AWAKE_MOST)
        return INT64_MAX;
    in_ms = first->key - r->skew_ms - now / NS_PER_MS;
    return in_ms <= 0 ? now : now + clock_earlier(in_ms, DATE_MOST) * NS_PER_MS;
}

uint64_t frontier_refresh_waiting(const struct frontier *f)
{
    const struct heap_item *first = heap_top(&f->refresh.due);

    return f->refresh.awake + f->refresh.crossing +
           (first != NULL && first->key <= f->refresh.wall_ms);
}

bool frontier_refresh_is_given_up(const struct frontier *f)
{
    const struct refreshing *r = &f->refresh;

    return f->o.refresh.every_ms == 0 && r->held > 0 && r->awake == 0 &&
           r->crossing == 0 && heap_count(&r->due) == r->held;
}

struct choice {
    struct frontier *f;
    uint32_t queue;
    uint64_t id; /* this URL; 0: the first */
    int64_t wall_ms;
    struct refresh_row row; /* url 0: none is due */
    int64_t next_ms;        /* first date of the others; INT64_MAX: none */
};

/* Is it leased, or does it wait for another host's robots.txt? */
static bool is_out(const struct frontier *f, const struct refresh_row *row)
{
    const struct host_queue *h = host_table_get(&f->hosts, row->queue);

    return url_life_after(frontier_refresh_life(f, row->url), LIFE_LEASE) ==
               LIFE_NONE ||
           (host_orders(h)->cross_refresh &&
            host_orders(h)->cross_id == row->url);
}

/* The first URL that is due and not leased, then the date of the next. */
static bool choose(void *ctx, const struct refresh_row *row)
{
    struct choice *c = ctx;

    if (row->queue != c->queue)
        return false;
    if (is_out(c->f, row))
        return true;
    if (c->row.url == 0 && row->due_ms <= c->wall_ms &&
        (c->id == 0 || c->id == row->url)) {
        c->row = *row;
        return true;
    }
    c->next_ms = row->due_ms;
    return false;
}

static enum status choose_from(struct frontier *f, struct host_queue *h,
                               int64_t wall_ms, uint64_t id, struct choice *c)
{
    const struct refresh_row first = {.queue = h->queue};
    enum status st;

    *c = (struct choice){.f = f,
                         .queue = h->queue,
                         .id = id,
                         .wall_ms = wall_ms,
                         .next_ms = INT64_MAX};
    st = refresh_store_each(f->base->db, &first, choose, c);
    if (st == STATUS_OK && id == 0 && c->next_ms > wall_ms) {
        set_awake(f, h, false);
        if (c->next_ms != INT64_MAX)
            expect(f, h->queue, c->next_ms);
    }
    return st;
}

enum url_life frontier_refresh_life(const struct frontier *f, uint64_t url)
{
    const struct lease_record *l = lease_find(f->leases, url);

    return l != NULL ? l->life : LIFE_DUE;
}

bool frontier_refresh_is_held(const struct host_queue *h)
{
    return host_trouble(h)->dead > 0 || frontier_is_given_up(h) ||
           frontier_limit_left(h) == 0;
}

void frontier_refresh_unhold(struct frontier *f, struct host_queue *h)
{
    if (h->trouble == NULL || h->trouble->held_until_ms == 0 ||
        frontier_refresh_is_held(h))
        return;
    h->trouble->held_until_ms = f->refresh.wall_ms;
    expect(f, h->queue, f->refresh.wall_ms);
}

/* A host that this run does not ask any more sleeps for a while; its dates
 * stay. Dates that a person gave, in a crawl that gives none itself, are for a
 * later run, or this one would never end. */
static void put_off(struct frontier *f, struct host_queue *h, int64_t wall_ms)
{
    struct host_trouble *x = host_trouble_of(h);

    if (x->held_until_ms == 0) {
        x->held_until_ms =
            wall_ms + (f->o.refresh.every_ms == 0
                           ? DATE_MOST
                           : clock_later(f->o.refresh.min_ms, SLEEP_LEAST));
        x->held_silent = frontier_is_given_up(h);
        f->refresh.held++;
        f->refresh.silent += x->held_silent;
    }
    set_awake(f, h, false);
    expect(f, h->queue, x->held_until_ms);
}

enum status frontier_refresh_replaced(struct frontier *f,
                                      const struct url_row *row, bool *replaced)
{
    struct digest d;
    uint64_t id = row->id;
    enum status st = STATUS_OK;

    if (frontier_store_counter(f->store, "readmitted") > 0) {
        d = row_digest(&f->base->key, f->store, row);
        st = exact_set_find(f->base->exact, &d, 1, &id);
    }
    *replaced = id != row->id;
    return st;
}

/* The date of a URL that a setting keeps out comes again, so that it is not
 * forgotten if that setting is widened some day. A fetch that was to be tried
 * again is not waited for. */
static enum status come_again(struct frontier *f, const struct refresh_row *row,
                              int64_t wall_ms)
{
    const struct refresh_rules *r = &f->o.refresh;
    struct refresh_row next = *row;
    int64_t wait = r->every_ms;

    if (r->every_ms == REFRESH_ADAPTIVE) { /* as long as it has waited */
        wait = row->due_ms - row->at_ms;
        wait = wait < r->min_ms   ? r->min_ms
               : wait > r->max_ms ? r->max_ms
                                  : wait;
    }
    next.due_ms = wall_ms + wait;
    next.tries = 0;
    return frontier_refresh_move(f, row, &next);
}

enum status frontier_refresh_lease(struct frontier *f, struct host_queue *h,
                                   uint64_t id, int64_t now, int64_t wall_ms,
                                   struct lease_record **out)
{
    struct url_last last;
    struct choice c;
    struct bytes crawl, key;
    struct url_row row;
    bool wanted = false, replaced = true;
    enum status st;

    *out = NULL;
    if (frontier_refresh_is_held(h)) {
        put_off(f, h, wall_ms);
        return STATUS_OK;
    }
    st = choose_from(f, h, wall_ms, id, &c);
    if (st != STATUS_OK || c.row.url == 0)
        return st;
    st = frontier_store_get(f->store, c.row.url, &row, &f->text);
    if (st == STATUS_NOT_FOUND || (st == STATUS_OK && row.queue != h->queue))
        return db_damaged("refresh", (int64_t)c.row.url,
                          "stands under another queue");
    frontier_store_queue_name(f->store, h->queue, &crawl, &key);
    if (st == STATUS_OK)
        wanted = frontier_is_wanted_again(f, h, key, &row);
    if (st == STATUS_OK && wanted)
        st = frontier_refresh_replaced(f, &row, &replaced);
    if (st != STATUS_OK)
        return st;
    if (!wanted || replaced) {
        bool over = f->o.refresh.every_ms == 0 ||
                    frontier_is_removed(h, row.id) || (wanted && replaced);

        st = frontier_touch(f, now);
        if (st != STATUS_OK)
            return st;
        return over ? frontier_refresh_drop(f, &c.row)
                    : come_again(f, &c.row, wall_ms);
    }
    st = frontier_find_last(f, &row, &last);
    if (st != STATUS_OK)
        return st;
    *out = frontier_begin_lease(f, h, &row, key, c.row.tries, &last, now);
    (*out)->life = url_life_after(LIFE_DUE, LIFE_LEASE);
    (*out)->refresh = c.row;
    h->refreshing++;
    return STATUS_OK;
}

void frontier_refresh_begin_cross(struct frontier *f, struct host_queue *h,
                                  uint64_t id)
{
    host_queue_retry(h, id, 0);
    host_orders_of(h)->cross_refresh = true;
    f->refresh.crossing++;
}

void frontier_refresh_end_cross(struct frontier *f, struct host_queue *h)
{
    if (!host_orders(h)->cross_refresh)
        return;
    host_orders_of(h)->cross_refresh = false;
    f->refresh.crossing--;
    h->refreshing--;
    expect(f, h->queue, f->refresh.wall_ms);
}

/* ---- outcomes ---- */

static struct outcome outcome_of(const struct fetch_row *p)
{
    return (struct outcome){(enum outcome_status)p->status,
                            (enum outcome_reason)p->reason, p->http_status};
}

static bool has_changed(const struct frontier *f, const struct fetch_row *was,
                        const struct fetch_row *is)
{
    if (was->status != is->status)
        return true;
    if (is->status == OUTCOME_REDIRECT)
        return was->redirect_to != is->redirect_to;
    return is->status == OUTCOME_FETCHED && is->reason != REASON_UNCHANGED &&
           !page_same_content(was, is, f->o.changed_by);
}

/* Is it final for something else now, so that another setting may lift it? */
static bool differs(const struct fetch_row *was, const struct fetch_row *is)
{
    return was->reason != is->reason ||
           (is->reason == REASON_MIME && !bytes_equal(was->mime, is->mime));
}

/* How long the URL waited for others after its date. What came due while no
 * process ran had nothing to wait for until this run began. */
static int64_t lag_of(const struct frontier *f, const struct refresh_row *row,
                      int64_t at_ms)
{
    int64_t from = clock_later(row->due_ms, f->refresh.since_ms);

    return at_ms > from ? at_ms - from : 0;
}

/* The new outcome takes the place of the last one in the counters. */
static void recount(struct frontier *f, const struct lease_record *l,
                    struct outcome old, struct outcome o, bool changed)
{
    frontier_count_outcome(f, old, l->lease.kind, true);
    frontier_count_outcome(f, o, l->lease.kind, false);
    if (l->lease.seed && outcome_fails_seed(old) != outcome_fails_seed(o))
        frontier_store_add(f->store, "seeds_failed",
                           outcome_fails_seed(o) ? 1 : UINT64_MAX);
    frontier_store_add(f->store, "refreshed", 1);
    if (changed)
        frontier_store_add(f->store, "refreshed_changed", 1);
}

enum status frontier_refresh_settle(struct frontier *f, struct lease_record *l,
                                    struct fetch_row *row, struct outcome o)
{
    struct refresh_row next = l->refresh;
    struct fetch_row was;
    bool changed;
    uint64_t seq;
    enum status st = page_store_past(f->pages, next.seq, &was);

    if (st == STATUS_NOT_FOUND || (st == STATUS_OK && was.url != next.url))
        return db_damaged("refresh", (int64_t)next.url, "has another fetch");
    row->url = next.url;
    frontier_fill_outcome(row, o, true);
    if (st == STATUS_OK)
        st = frontier_add_fetch(f, row, &seq);
    if (st == STATUS_OK)
        st = frontier_store_done(f->store, next.url, seq);
    if (st == STATUS_OK)
        st = page_store_note_newest(f->pages, row, seq);
    if (st == STATUS_OK && differs(&was, row))
        st = frontier_keep_row(f, row, o, l->lease.kind);
    if (st != STATUS_OK)
        return st;
    changed = has_changed(f, &was, row);
    recount(f, l, outcome_of(&was), o, changed);
    if (refresh_is_known(o) && refresh_is_known(outcome_of(&was)))
        next.known = refresh_learn(&f->o.refresh, next.known,
                                   row->at_ms - next.at_ms, changed);
    next.seq = seq;
    next.at_ms = row->at_ms;
    next.links = l->links != 0 ? l->links : next.links;
    st = frontier_refresh_drop(f, &l->refresh);
    return st == STATUS_OK ? end_lease(f, l->life, &next, o, l->lease.kind,
                                       lag_of(f, &l->refresh, row->at_ms))
                           : st;
}

enum status frontier_refresh_later(struct frontier *f, struct lease_record *l,
                                   uint32_t tries, int64_t due_ms)
{
    struct refresh_row next = l->refresh;

    next.tries = tries;
    next.due_ms = due_ms;
    return frontier_refresh_move(f, &l->refresh, &next);
}

enum status frontier_refresh_release(struct frontier *f, struct lease_record *l,
                                     int64_t wait, int64_t wall_ms)
{
    if (wait > 0)
        return frontier_refresh_later(f, l, l->refresh.tries,
                                      wall_ms + wait / NS_PER_MS + 1);
    expect(f, l->refresh.queue, l->refresh.due_ms);
    return STATUS_OK;
}

/* ---- opening and closing ---- */

static void recall(void *ctx, const struct refresh_row *first)
{
    expect(ctx, first->queue, first->due_ms);
}

void frontier_refresh_open(struct frontier *f, int64_t wall_ms)
{
    due_count_init(&f->refresh.counts, wall_ms);
    heap_init(&f->refresh.due);
}

enum status frontier_refresh_restore(struct frontier *f)
{
    enum status st = refresh_store_each_queue(f->base->db, recall, f);

    f->refresh.reading = true;
    return st == STATUS_OK ? frontier_redate_restore(f) : st;
}

void frontier_refresh_close(struct frontier *f)
{
    struct refreshing *r = &f->refresh;

    heap_fini(&r->due);
    for (size_t i = 0; i < r->chunk_count; i++)
        free(r->turns[i]);
    free(r->turns);
    free(r->walk.seen);
    due_count_fini(&r->counts);
}

uint64_t frontier_refresh_memory(const struct frontier *f)
{
    uint64_t octets = f->refresh.chunk_count * sizeof(struct refresh_turn *) +
                      f->refresh.due.cap * sizeof(struct heap_item *) +
                      due_count_memory(&f->refresh.counts);

    for (size_t i = 0; i < f->refresh.chunk_count; i++)
        if (f->refresh.turns[i] != NULL)
            octets += TURNS_CHUNK * sizeof(struct refresh_turn);
    return octets;
}
