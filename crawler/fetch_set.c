/* SPDX-License-Identifier: MIT */
/*
 * fetch_set.c - the transfers of one fetcher.
 *
 * Deadlines are ours, not curl's: only so can the time in which we ourselves
 * held a transfer back be given to it again, and a deadline be looked at after
 * what has already arrived was read. Time in which this thread did not run at
 * all (a suspended process, a laptop's lid) is no server's fault either: it
 * does not pass for deadlines, which are kept in moments of "present" time.
 *
 * The rate limit is a token bucket of one second over all transfers: when it
 * is overdrawn, every transfer is paused until it is level again.
 */
#include "crawler/fetch_set.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"

#define IDLE_CONNECTIONS 256L
#define MEMORY_RETRY     (20 * NS_PER_MS)
#define TURN_MOST        (250 * NS_PER_MS) /* so that an absence is seen */
#define ABSENCE_LEAST    (250 * NS_PER_MS) /* less is a busy machine */

struct fetch_set {
    const struct fetcher_options *o;
    struct fetcher_counters *counters;
    struct multi *multi;
    struct fetch **all; /* ever made */
    size_t count, active;
    struct fetch *free;
    struct heap due;   /* active ones that are not paused, by present time */
    int64_t looked_at; /* at the clock, in or after a turn; 0: never */
    int64_t absent;    /* time that did not pass for deadlines */
    bool aborting, some_broken;
    /* rate limit */
    double allowance; /* octets that may come now; negative: overdrawn */
    int64_t refilled_at;
    uint64_t charged; /* of the counters' wire_bytes */
    bool throttled;
};

enum status fetch_set_new(struct fetch_set **out,
                          const struct fetcher_options *o,
                          struct fetcher_counters *counters)
{
    struct fetch_set *s = xcalloc(1, sizeof *s);
    const struct multi_options mo = {
        /* A proxy is named by a person, and does the resolving. */
        .guard = o->proxy == NULL ? o->guard : NULL,
        .ip_limit = o->proxy == NULL ? o->ip_limit : NULL,
        .idle_most = IDLE_CONNECTIONS,
        .opened = &counters->connections,
    };
    enum status st = multi_new(&s->multi, &mo);

    s->o = o;
    s->counters = counters;
    s->allowance = (double)o->limit_rate;
    heap_init(&s->due);
    if (st != STATUS_OK) {
        fetch_set_free(s);
        return st;
    }
    *out = s;
    return STATUS_OK;
}

void fetch_set_free(struct fetch_set *s)
{
    if (s == NULL)
        return;
    assert(s->active == 0);
    for (size_t i = 0; i < s->count; i++)
        fetch_free(s->all[i]);
    multi_free(s->multi);
    heap_fini(&s->due);
    free(s->all);
    free(s);
}

static struct fetch *take_free(struct fetch_set *s)
{
    struct fetch *f = s->free;

    if (f != NULL) {
        s->free = f->next_free;
        return f;
    }
    f = fetch_new(s->o, s->counters, s->multi);
    if (f == NULL)
        return NULL;
    s->all = xrealloc(s->all, (s->count + 1) * sizeof(struct fetch *));
    s->all[s->count++] = f;
    return f;
}

bool fetch_set_start(struct fetch_set *s, const struct fetch_order *order,
                     void *ctx, int64_t now, int64_t wall_ms)
{
    struct fetch *f = take_free(s);

    if (f == NULL)
        return false;
    f->ctx = ctx;
    s->active++;
    atomic_store_explicit(&s->counters->active, s->active,
                          memory_order_relaxed);
    heap_push(&s->due, &f->due, now - s->absent + s->o->timeout_ms * NS_PER_MS);
    fetch_start(f, order, now, wall_ms);
    return true;
}

void fetch_set_recycle(struct fetch_set *s, struct fetch *f)
{
    fetch_clear(f);
    f->next_free = s->free;
    s->free = f;
}

size_t fetch_set_active(const struct fetch_set *s)
{
    return s->active;
}

void fetch_set_wake(struct fetch_set *s)
{
    multi_wake(s->multi);
}

/* ---- pausing ------------------------------------------------------------- */

static void hold(struct fetch_set *s, struct fetch *f, unsigned wish,
                 int64_t now)
{
    if (heap_remove(&s->due, &f->due))
        f->waits_since = now;
    if (!fetch_wait(f, wish, true))
        f->broken = s->some_broken = true;
}

static void go_on(struct fetch_set *s, struct fetch *f, unsigned wish,
                  int64_t now)
{
    if (!fetch_wait(f, wish, false))
        f->broken = s->some_broken = true;
    if (f->waits == 0)
        heap_push(&s->due, &f->due, f->due.key + now - f->waits_since);
}

/* Those that met an empty pool in this turn, and those it has something for
 * again. */
static void attend_to_memory(struct fetch_set *s, int64_t now)
{
    for (size_t i = 0; i < s->count; i++) {
        struct fetch *f = s->all[i];

        if (!f->transfer.busy || !(f->waits & FETCH_WAITS_MEMORY))
            continue;
        if (f->due.place != 0)
            hold(s, f, FETCH_WAITS_MEMORY, now);
        if (fetch_memory_came(f))
            go_on(s, f, FETCH_WAITS_MEMORY, now);
    }
}

static void throttle(struct fetch_set *s, bool on, int64_t now)
{
    s->throttled = on;
    for (size_t i = 0; i < s->count; i++) {
        struct fetch *f = s->all[i];

        if (!f->transfer.busy)
            continue;
        if (on)
            hold(s, f, FETCH_WAITS_RATE, now);
        else if (f->waits & FETCH_WAITS_RATE)
            go_on(s, f, FETCH_WAITS_RATE, now);
    }
}

static void attend_to_rate(struct fetch_set *s, int64_t now)
{
    const double rate =
        (double)atomic_load_explicit(&s->o->limit_rate, memory_order_relaxed);
    uint64_t received =
        atomic_load_explicit(&s->counters->wire_bytes, memory_order_relaxed);

    if (rate == 0) {
        s->allowance = 0; /* one that begins later has nothing saved up */
        s->refilled_at = now;
        s->charged = received;
        if (s->throttled)
            throttle(s, false, now - s->absent);
        return;
    }
    s->allowance += (double)(now - s->refilled_at) / NS_PER_S * rate;
    if (s->allowance > rate)
        s->allowance = rate;
    s->allowance -= (double)(received - s->charged);
    s->refilled_at = now;
    s->charged = received;
    if (s->allowance < 0)
        throttle(s, true, now - s->absent);
    else if (s->throttled)
        throttle(s, false, now - s->absent);
}

/* ---- the turn ------------------------------------------------------------ */

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The moment at which this set has something to do of its own accord. */
static int64_t next_moment(const struct fetch_set *s, int64_t until,
                           int64_t now)
{
    struct heap_item *first = heap_top(&s->due);

    if (first != NULL)
        until = earlier(until, first->key + s->absent);
    if (heap_count(&s->due) < s->active)
        until = earlier(until, now + MEMORY_RETRY);
    if (s->active > 0)
        until = earlier(until, now + TURN_MOST);
    return until;
}

/* We meant to look at the clock at `planned`, or at once: did we? */
static int64_t look_at_clock(struct fetch_set *s, int64_t planned)
{
    int64_t now = clock_mono();
    int64_t late = now - (planned > s->looked_at ? planned : s->looked_at);

    if (s->looked_at != 0 && late >= ABSENCE_LEAST)
        s->absent += late;
    s->looked_at = now;
    return now;
}

void fetch_set_turn(struct fetch_set *s, int64_t until)
{
    int64_t now = look_at_clock(s, 0);

    until = next_moment(s, until, now);
    multi_turn(s->multi, until);
    now = look_at_clock(s, until);
    attend_to_memory(s, now - s->absent);
    attend_to_rate(s, now);
}

void fetch_set_abort(struct fetch_set *s)
{
    s->aborting = true;
}

static struct fetch *next_broken(struct fetch_set *s, CURLcode *code)
{
    for (size_t i = 0; i < s->count; i++) {
        struct fetch *f = s->all[i];

        if (f->transfer.busy && (s->aborting || f->broken)) {
            *code = f->broken ? CURLE_WRITE_ERROR : CURLE_ABORTED_BY_CALLBACK;
            return f;
        }
    }
    s->some_broken = false;
    return NULL;
}

/* An active fetch that curl will not end for us. Late is what was late when the
 * turn ended: what came since then has not been read yet. */
static struct fetch *next_given_up(struct fetch_set *s, CURLcode *code)
{
    struct heap_item *first = heap_top(&s->due);
    struct fetch *f = NULL;

    if (s->aborting || s->some_broken)
        f = next_broken(s, code);
    if (f != NULL || first == NULL || first->key + s->absent > s->looked_at)
        return f;
    *code = CURLE_OPERATION_TIMEDOUT;
    return (struct fetch *)((char *)first - offsetof(struct fetch, due));
}

struct fetch *fetch_set_next_ended(struct fetch_set *s, int64_t now,
                                   struct fetch_result *r)
{
    CURLcode code = CURLE_OK;
    struct fetch *f = (struct fetch *)multi_next_ended(s->multi, &code);

    if (f == NULL) {
        f = next_given_up(s, &code);
        if (f == NULL)
            return NULL;
        multi_abort(s->multi, &f->transfer);
    }
    f->broken = false;
    (void)heap_remove(&s->due, &f->due);
    s->active--;
    atomic_store_explicit(&s->counters->active, s->active,
                          memory_order_relaxed);
    fetch_finish(f, code, now, r);
    return f;
}
