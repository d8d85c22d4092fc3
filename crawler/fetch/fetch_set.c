/* SPDX-License-Identifier: MIT */
/*
 * fetch_set.c - the transfers of one fetcher.
 *
 * Deadlines are ours, not curl's: only so can we extend them by the time in
 * which we held a transfer back ourselves, and check them after reading what
 * has already arrived. Time in which this thread did not run at all (a
 * suspended process, a closed laptop) is not the server's fault either and does
 * not count: deadlines are in "present" time, the clock without such absences.
 *
 * Transfers begin a few at a time, and none begins while more sockets are ready
 * than a turn handles. Thousands of hosts that are due at once, with their TLS
 * handshakes, would otherwise take longer than the time-out of each, fail
 * together and be tried again together.
 *
 * Over the rate limit, a transfer waits with its piece until that is paid for,
 * and none begins. Each goes on at the time it was given, whatever others have
 * spent by then, so that no fetcher gets ahead.
 */
#include "crawler/fetch/fetch_set.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"

/* ---- counts of a fetcher's requests by result ---- */

static_assert(FETCH_STATS_ENDS == FETCH_PROTOCOL + 1, "one for each end");

const char *fetch_stats_end_name(unsigned end)
{
    static const char *const names[FETCH_STATS_ENDS] = {
        [FETCH_ANSWERED] = "answered",
        [FETCH_CUT_LENGTH] = "truncated_length",
        [FETCH_CUT_TIME] = "truncated_time",
        [FETCH_CUT_ENCODING] = "bad_encoding",
        [FETCH_MIME] = "mime",
        [FETCH_ADDRESS] = "address",
        [FETCH_PORT] = "port",
        [FETCH_CROWDED] = "crowded",
        [FETCH_STARVED] = "no_memory",
        [FETCH_STOPPED] = "stopped",
        [FETCH_DNS] = "dns",
        [FETCH_CONNECT] = "connect",
        [FETCH_TLS] = "tls",
        [FETCH_TIMEOUT] = "timeout",
        [FETCH_RESET] = "reset",
        [FETCH_PROTOCOL] = "protocol",
    };

    return names[end];
}

static void count(_Atomic uint64_t *n)
{
    atomic_fetch_add_explicit(n, 1, memory_order_relaxed);
}

/* Did its head, and as much of its body as needed, arrive? */
static bool was_answered(const struct fetch_result *r)
{
    return r->end <= FETCH_MIME && r->response->status != 0;
}

void fetch_stats_note(struct fetch_counters *t, const struct fetch_result *r,
                      bool robots)
{
    int status = r->response->status;

    count(&t->ends[r->end]);
    count(&t->classes[status >= 100 && status < 1000 ? status / 100 : 0]);
    if (r->connect_ns >= 0)
        histogram_note(&t->connect, r->connect_ns);
    if (!was_answered(r))
        return;
    if (robots) {
        histogram_note(&t->robots, r->ended - r->started);
    } else {
        histogram_note(&t->first_byte, r->first_byte_ns);
        histogram_note(&t->response, r->ended - r->started);
    }
}

void fetch_stats_add(const struct fetch_counters *t, struct fetch_stats *into)
{
    for (unsigned i = 0; i < FETCH_STATS_ENDS; i++)
        into->ends[i] +=
            atomic_load_explicit(&t->ends[i], memory_order_relaxed);
    for (unsigned i = 0; i < FETCH_STATS_CLASSES; i++)
        into->classes[i] +=
            atomic_load_explicit(&t->classes[i], memory_order_relaxed);
    histogram_add_to(&t->connect, &into->connect);
    histogram_add_to(&t->first_byte, &into->first_byte);
    histogram_add_to(&t->response, &into->response);
    histogram_add_to(&t->robots, &into->robots);
}

/* ---- the transfers of one fetcher, with their deadlines ---- */

#define BEGUN_MOST    64 /* between two turns */
#define MEMORY_RETRY  (20 * NS_PER_MS)
#define TURN_MOST     (250 * NS_PER_MS) /* so that an absence is noticed */
#define ABSENCE_LEAST (250 * NS_PER_MS) /* less is a busy machine */

struct fetch_set {
    const struct fetcher_options *o;
    struct fetcher_counters *counters;
    struct multi *multi;
    struct fetch **all; /* all ever made */
    size_t count, active;
    struct fetch *free;
    struct fetch *refused; /* not begun: the guard refused their URLs */
    struct heap due;       /* active ones not paused, by present time */
    int64_t looked_at;     /* last clock reading in a turn; 0: never */
    int64_t absent;        /* time that does not count for deadlines */
    int64_t attended;      /* last check of waiting ones, in present time */
    bool aborting, some_broken;
    struct fetch_waiters waiters;
    int64_t look_again; /* when a waiting one may go on */
    unsigned begun;     /* since the last turn */
    bool held_up;       /* one could not begin because of that */
    int64_t turn_at; /* when another may begin after the rate limit held one up,
                        whatever others have spent; INT64_MAX: none was */
};

enum status fetch_set_new(struct fetch_set **out,
                          const struct fetcher_options *o,
                          struct fetcher_counters *counters,
                          struct in_hand_slot *in_hand)
{
    struct fetch_set *s = xcalloc(1, sizeof *s);
    const struct multi_options mo = {
        /* The operator's proxy may be anywhere. It resolves names; URLs are
         * still checked. */
        .guard = o->proxy == NULL || o->guards_proxy ? o->guard : NULL,
        .ip_limit = o->proxy == NULL ? o->ip_limit : NULL,
        .connections = o->connections,
        .counts = &counters->connections,
        .in_hand = in_hand,
    };
    enum status st = multi_new(&s->multi, &mo);

    s->o = o;
    s->counters = counters;
    s->look_again = s->turn_at = INT64_MAX;
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
        if (!fetch_has_handle(f))
            return NULL;
        s->free = f->next_free;
        return f;
    }
    f = fetch_new(s->o, s->counters, s->multi);
    if (f == NULL)
        return NULL;
    f->waiters = &s->waiters;
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
    s->turn_at = INT64_MAX;
    s->active++;
    s->begun++;
    atomic_store_explicit(&s->counters->active, s->active,
                          memory_order_relaxed);
    if (fetch_start(f, order, now, wall_ms)) {
        heap_push(&s->due, &f->due,
                  now - s->absent + s->o->timeout_ms * NS_PER_MS);
    } else {
        f->next_free = s->refused;
        s->refused = f;
    }
    return true;
}

void fetch_set_recycle(struct fetch_set *s, struct fetch *f)
{
    fetch_clear(f);
    f->next_free = s->free;
    s->free = f;
}

void fetch_set_wake(struct fetch_set *s)
{
    multi_wake(s->multi);
}

/* ---- waiting ------------------------------------------------------------- */

/* Does its time count, or does it wait for us? */
static bool is_timed(const struct fetch *f)
{
    return f->waits == FETCH_GOES_ON || f->waits == FETCH_WAITS_TURN;
}

static void go_on(struct fetch_set *s, struct fetch *f, int64_t now)
{
    bool was_timed = is_timed(f);

    if (!fetch_go_on(f))
        f->broken = s->some_broken = true;
    if (is_timed(f) && !was_timed)
        heap_push(&s->due, &f->due, f->due.key + now - f->waits_since);
}

/* Streams of one HTTP/2 connection: while one of them is paused, curl reads
 * nothing for the others either (lib/http2.c, pause_stream_id). */
static void hold_back_streams(struct fetch_set *s, const struct fetch *waiting)
{
    if (!fetch_is_stream(waiting))
        return;
    for (size_t i = 0; i < s->count; i++) {
        struct fetch *f = s->all[i];

        if (f->transfer.busy && f->waits == FETCH_GOES_ON && !f->held_back)
            f->held_back = fetch_share_connection(f, waiting);
    }
}

/* Extends the deadlines of streams by the time in which another stream of their
 * connection waited. */
static void give_time_back(struct fetch_set *s, int64_t present)
{
    for (size_t i = 0; i < s->count; i++) {
        struct fetch *f = s->all[i];

        if (f->held_back && heap_remove(&s->due, &f->due))
            heap_push(&s->due, &f->due, f->due.key + present - s->attended);
        f->held_back = false;
    }
}

/* Lets a waiting fetch go on if it can; true: it waits still. */
static bool attend_to(struct fetch_set *s, struct fetch *f, int64_t now)
{
    const int64_t present = now - s->absent;

    if (!f->transfer.busy || f->waits == FETCH_GOES_ON)
        return false;
    if (!is_timed(f) && heap_remove(&s->due, &f->due))
        f->waits_since = present;
    if (fetch_may_go_on(f, now))
        go_on(s, f, present);
    if (f->waits == FETCH_WAITS_MEMORY)
        s->look_again = clock_earlier(s->look_again, now + MEMORY_RETRY);
    else if (f->waits == FETCH_WAITS_RATE)
        s->look_again = clock_earlier(s->look_again, f->paid_at);
    else if (f->waits == FETCH_WAITS_TURN)
        s->look_again = now;
    if (!is_timed(f))
        hold_back_streams(s, f);
    return f->waits != FETCH_GOES_ON;
}

/* Handles transfers that found the pool empty or exceeded the rate limit in
 * this turn, and those that can go on. */
static void attend_to_waiting(struct fetch_set *s, int64_t now)
{
    struct fetch *f = s->waiters.first, *next;

    if (s->look_again != INT64_MAX) /* one waited, and may hold up others */
        give_time_back(s, now - s->absent);
    s->attended = now - s->absent;
    s->look_again = INT64_MAX;
    s->waiters = (struct fetch_waiters){NULL, NULL};
    for (; f != NULL; f = next) {
        next = f->next_waiter;
        if (attend_to(s, f, now))
            fetch_waiters_add(&s->waiters, f);
        else
            f->is_waiter = false;
    }
}

bool fetch_set_may_start(struct fetch_set *s, int64_t now)
{
    int64_t level = INT64_MIN;

    if (s->begun >= BEGUN_MOST || multi_is_behind(s->multi)) {
        s->held_up = true;
        return false;
    }
    if (s->o->rate != NULL)
        level = rate_limit_level_at(s->o->rate);
    if (level <= now || s->turn_at <= now)
        return true;
    s->turn_at = clock_earlier(s->turn_at, level);
    return false;
}

/* ---- the turn ------------------------------------------------------------ */

/* When this set has something to do without any input. */
static int64_t next_moment(const struct fetch_set *s, int64_t until,
                           int64_t now)
{
    struct heap_item *first = heap_top(&s->due);

    if (s->refused != NULL || s->held_up)
        return now;
    if (first != NULL)
        until = clock_earlier(until, first->key + s->absent);
    until = clock_earlier(until, s->look_again);
    if (s->turn_at > now)
        until = clock_earlier(until, s->turn_at);
    if (s->active > 0 || s->turn_at != INT64_MAX)
        until = clock_earlier(until, now + TURN_MOST);
    return until;
}

/* Reads the clock, which was planned for `planned` or at once, and notes an
 * absence if it is late. */
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
    s->begun = 0;
    s->held_up = false;
    multi_turn(s->multi, until);
    attend_to_waiting(s, look_at_clock(s, until));
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

/* The next active fetch that we must end ourselves. A fetch is late if it was
 * late when the turn ended: input since then has not been read yet. */
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

static struct fetch *take_refused(struct fetch_set *s)
{
    struct fetch *f = s->refused;

    if (f != NULL)
        s->refused = f->next_free;
    return f;
}

struct fetch *fetch_set_next_ended(struct fetch_set *s, int64_t now,
                                   struct fetch_result *r)
{
    CURLcode code = CURLE_OK;
    struct fetch *f = take_refused(s);

    if (f == NULL)
        f = (struct fetch *)multi_next_ended(s->multi, &code);
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
