/* SPDX-License-Identifier: MIT */
/*
 * frontier_service.c - the frontier thread, and the way to it: lists of calls,
 * submits and stats, opening and closing.
 */
#include "service/calls/frontier_service.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/logger.h"
#include "base/mem.h"
#include "base/thread/cond.h"
#include "service/calls/frontier_service_impl.h"

/* ---- the frontier thread, one turn after the other ----
 *
 *   submit ──► waiting (bounded) ──► turn: gather puts, carry out the rest
 *                                      │
 *                                      ▼
 *                                   commit, synced
 *                                      │
 *                                      ▼
 *                                   done(call), each
 *
 * A turn takes the calls that wait, up to some thousand items, so that all that
 * arrived during one commit share the next. Under load a turn of few puts waits
 * two milliseconds for more: a commit costs as much as some hundred puts. Any
 * call but a put ends that wait.
 */

#define TURN_ITEMS 8192 /* a turn takes about so many */
#define BUSY_ITEMS 64   /* a turn of so many makes the next one wait */
#define LINGER_NS  (2 * NS_PER_MS)
#define DETAILS_NS (500 * NS_PER_MS)
#define DATES_STEP 100000 /* URLs whose dates are looked at in that time */

/* The time by the clock in the options. */
static int64_t frontier_wall_ms(const struct frontier_service *s)
{
    return s->o.wall_ms != NULL ? s->o.wall_ms(s->o.wall_ctx) : clock_wall_ms();
}

/* ---- stats ---- */

/* Under mtx. */
static void take_stats(struct frontier_service *s, int64_t now)
{
    struct frontier_service_stats *m = &s->stats;

    served_counts(s->served, bytes_of_str(""), bytes_of_str(""), now, &m->all);
    m->urls = served_rows(s->served);
    m->active = served_active(s->served);
    m->broken = s->broken != STATUS_OK;
}

static void count_crawl(void *ctx, struct bytes crawl)
{
    (void)crawl;
    ++*(uint64_t *)ctx;
}

/* Not in take_stats, because it takes longer. */
static void take_memory(struct frontier_service *s)
{
    uint64_t memory = served_memory(s->served);

    pthread_mutex_lock(&s->mtx);
    s->stats.memory = memory;
    pthread_mutex_unlock(&s->mtx);
}

/* Under mtx. */
static void take_dates(struct frontier_service *s, int64_t wall_ms)
{
    const struct served_dates d = served_dates(s->served);

    s->stats.dated = d.dated;
    s->stats.overdue = d.overdue;
    s->stats.overdue_seconds =
        d.overdue > 0 ? (uint64_t)clock_later(wall_ms - d.oldest_ms, 0) / 1000
                      : 0;
}

static void update_details(struct frontier_service *s, int64_t now)
{
    struct frontier_stats frontier;
    int64_t wall_ms = frontier_wall_ms(s);
    uint64_t crawls = 0;

    served_count_dates(s->served, DATES_STEP, wall_ms);
    served_get_stats(s->served, &frontier);
    served_each_crawl(s->served, count_crawl, &crawls);
    pthread_mutex_lock(&s->mtx);
    s->frontier = frontier;
    s->stats.crawls = crawls;
    take_dates(s, wall_ms);
    pthread_mutex_unlock(&s->mtx);
    s->next_details = now + DETAILS_NS;
    /* look again when it ends, or as time passes */
    s->details_due = frontier.saving || served_dates_go_on(s->served);
}

/* Takes the first stats, before the thread starts. */
static void frontier_take_stats(struct frontier_service *s)
{
    take_stats(s, frontier_wall_ms(s));
    take_memory(s);
    update_details(s, clock_mono());
}

/* ---- the calls of a turn ---- */

/* Under mtx: waits for a call, a stop, or `until`, monotonic. */
static void sleep_until(struct frontier_service *s, int64_t until)
{
    s->asleep = true;
    (void)cond_wait_until(&s->arrived, &s->mtx, until);
    s->asleep = false;
}

static void call_list_add(struct call_list *l, struct frontier_call *call)
{
    call->next = NULL;
    if (l->tail != NULL)
        l->tail->next = call;
    else
        l->head = call;
    l->tail = call;
}

static struct frontier_call *call_list_take(struct call_list *l)
{
    struct frontier_call *call = l->head;

    if (call != NULL) {
        l->head = call->next;
        if (l->head == NULL)
            l->tail = NULL;
    }
    return call;
}

/* The items that the call counts as while it waits. */
static size_t call_items(const struct frontier_call *call)
{
    return call->verb == FRONTIER_PUT ? call->in.put.n : 1;
}

/* Takes calls of about TURN_ITEMS items; *rush: one of them is not a put. */
static size_t take_calls(struct frontier_service *s, struct call_list *to,
                         bool *rush)
{
    size_t items = 0;

    while (items < TURN_ITEMS && s->waiting.head != NULL) {
        struct frontier_call *call = call_list_take(&s->waiting);

        items += call_items(call);
        *rush = *rush || call->verb != FRONTIER_PUT;
        call_list_add(to, call);
    }
    s->waiting_items -= items;
    return items;
}

/* The time of the thread's next work without a call. */
static int64_t wake_at(const struct frontier_service *s)
{
    return s->details_due && s->next_details < s->next_checkpoint
               ? s->next_details
               : s->next_checkpoint;
}

/* Fills `to` with the calls of this turn; false: stopping, and none are left.
 * `busy`: the turn before had many items. */
static bool next_calls(struct frontier_service *s, struct call_list *to,
                       bool *busy)
{
    bool rush = s->unready.head != NULL, room, go_on;
    size_t items;

    *to = s->unready;
    s->unready = (struct call_list){NULL, NULL};
    pthread_mutex_lock(&s->mtx);
    while (!rush && !s->stopping && s->waiting.head == NULL &&
           clock_mono() < wake_at(s))
        sleep_until(s, wake_at(s));
    items = take_calls(s, to, &rush);
    if (*busy && !rush && !s->stopping && items < TURN_ITEMS / 8) {
        int64_t until = clock_mono() + LINGER_NS;

        while (!rush && !s->stopping && items < TURN_ITEMS / 8 &&
               clock_mono() < until) {
            if (s->waiting.head == NULL)
                sleep_until(s, until);
            items += take_calls(s, to, &rush);
        }
    }
    *busy = items >= BUSY_ITEMS;
    room = s->refused && s->waiting_items <= s->o.most_waiting / 2;
    if (room)
        s->refused = false;
    go_on = to->head != NULL || !s->stopping;
    pthread_mutex_unlock(&s->mtx);
    if (room && s->o.room != NULL)
        s->o.room(s->o.room_ctx);
    return go_on;
}

/* ---- a turn ---- */

static void put_batch(struct frontier_service *s)
{
    if (s->broken != STATUS_OK)
        s->batch.n = 0; /* tell_all fails them */
    else
        s->broken = call_batch_put(&s->batch, &call_served_ops, s);
}

/* True if the call needs no further turn. */
static bool execute(struct frontier_service *s, struct frontier_call *call)
{
    bool again = false;

    if (s->broken == STATUS_OK)
        s->broken = call_execute(&call_served_ops, s, call, s->now, &again);
    else
        answer_begin(call); /* tell_all sets the status */
    return !again;
}

static void carry_out_all(struct frontier_service *s, struct call_list *calls)
{
    struct frontier_call *call;

    while ((call = call_list_take(calls)) != NULL) {
        if (call->verb == FRONTIER_PUT) {
            call->status = STATUS_OK;
            call_batch_add(&s->batch, call->in.put.items, call->in.put.n);
            call_list_add(&s->done, call);
            continue;
        }
        put_batch(s); /* keeps the order of arrival */
        call_list_add(execute(s, call) ? &s->done : &s->unready, call);
    }
    put_batch(s);
}

/* Counts a call, before `done` hands it back. */
static void count_call(struct frontier_service *s,
                       const struct frontier_call *call, int64_t now)
{
    uint64_t acks[FRONTIER_ACKS_] = {0};

    histogram_note(&s->calls[call->via][call->verb], now - call->submitted);
    for (size_t i = 0; call->verb == FRONTIER_PUT && i < call->in.put.n; i++)
        acks[call->in.put.items[i].ack]++;
    for (unsigned i = 0; i < FRONTIER_ACKS_; i++)
        atomic_fetch_add_explicit(&s->acks[i], acks[i], memory_order_relaxed);
}

static void tell_all(struct frontier_service *s)
{
    int64_t told = s->done.head != NULL ? clock_mono() : 0;
    struct frontier_call *call;
    uint64_t calls = 0, puts = 0, urls = 0;

    while ((call = call_list_take(&s->done)) != NULL) {
        if (s->broken != STATUS_OK)
            answer_fail(call, s->broken); /* its puts may be lost */
        calls++;
        puts += call->verb == FRONTIER_PUT ? call->in.put.n : 0;
        urls += call->verb == FRONTIER_GET ? call->url_count : 0;
        count_call(s, call, told);
        s->details_due = true;
        call->done(call); /* no longer ours */
    }
    pthread_mutex_lock(&s->mtx);
    s->stats.calls += calls;
    s->stats.puts += puts;
    s->stats.gets_urls += urls;
    take_stats(s, s->now);
    pthread_mutex_unlock(&s->mtx);
}

static void update_details_if_due(struct frontier_service *s)
{
    int64_t now = clock_mono();

    if (s->details_due && now >= s->next_details)
        update_details(s, now);
}

static void checkpoint_if_due(struct frontier_service *s)
{
    int64_t now = clock_mono();
    enum status st;

    if (now < s->next_checkpoint)
        return;
    s->next_checkpoint = now + s->o.checkpoint_ms * NS_PER_MS;
    if (s->broken != STATUS_OK || !s->uncovered)
        return;
    st = served_checkpoint(s->served, false, frontier_wall_ms(s));
    s->uncovered = st == STATUS_AGAIN; /* the last one is not done yet */
    s->details_due = true;
    if (st != STATUS_OK && st != STATUS_AGAIN)
        s->broken = st;
    take_memory(s);
}

static void commit(struct frontier_service *s)
{
    if (s->broken == STATUS_OK && served_dirty(s->served)) {
        s->uncovered = true;
        fault_point("service-commit");
        s->broken = served_commit(s->served);
        fault_point("service-committed");
    }
    if (s->broken != STATUS_OK && !s->stats.broken)
        log_error("the store failed; the frontier accepts no more calls",
                  "dir=%s status=\"%s\" hint=\"repair it and start again; "
                  "everything that was acknowledged is on disk\"",
                  s->o.dir, status_text(s->broken));
}

/* The frontier thread's start routine. */
static void *frontier_thread(void *arg)
{
    struct frontier_service *s = arg;
    struct call_list calls;
    bool busy = false;

    while (next_calls(s, &calls, &busy)) {
        s->now = frontier_wall_ms(s);
        carry_out_all(s, &calls);
        commit(s);
        tell_all(s);
        checkpoint_if_due(s);
        update_details_if_due(s);
    }
    s->stopped = s->broken;
    if (s->broken == STATUS_OK)
        s->stopped = served_stop(s->served, frontier_wall_ms(s));
    return NULL;
}

#define MEMORY        (UINT64_C(256) << 20)
#define MOST_WAITING  65536
#define FPR           0.001
#define CHECKPOINT_MS 60000

/* ---- lists of calls ---- */

/* ---- calls and stats ---- */

enum status frontier_service_submit(struct frontier_service *s,
                                    struct frontier_call *call)
{
    size_t items = call_items(call);
    enum status st = STATUS_OK;

    if (call->verb >= FRONTIER_VERBS_ || items == 0 ||
        items > FRONTIER_PUT_MOST)
        return STATUS_ARG;
    call->submitted = clock_mono();
    if (s->o.place != NULL)
        return s->o.place->submit(s->o.place->of, call);
    pthread_mutex_lock(&s->mtx);
    if (s->stopping) {
        st = STATUS_CLOSED;
    } else if (s->waiting_items >= s->o.most_waiting) {
        st = STATUS_AGAIN;
        s->refused = true;
    } else {
        s->waiting_items += items;
        call_list_add(&s->waiting, call);
        if (s->asleep)
            pthread_cond_signal(&s->arrived);
        s->asleep = false;
    }
    pthread_mutex_unlock(&s->mtx);
    return st;
}

void frontier_service_get_stats(struct frontier_service *s,
                                struct frontier_service_stats *out)
{
    if (s->o.place != NULL) {
        s->o.place->stats(s->o.place->of, out);
        return;
    }
    pthread_mutex_lock(&s->mtx);
    *out = s->stats;
    out->waiting = s->waiting_items;
    pthread_mutex_unlock(&s->mtx);
}

void frontier_service_get_details(struct frontier_service *s,
                                  struct frontier_service_details *out)
{
    memset(out, 0, sizeof *out);
    if (s->o.place != NULL) {
        s->o.place->details(s->o.place->of, out);
        return;
    }
    for (unsigned via = 0; via < FRONTIER_VIAS_; via++)
        for (unsigned verb = 0; verb < FRONTIER_VERBS_; verb++)
            histogram_add_to(&s->calls[via][verb], &out->calls[via][verb]);
    for (unsigned i = 0; i < FRONTIER_ACKS_; i++)
        out->acks[i] = atomic_load_explicit(&s->acks[i], memory_order_relaxed);
    pthread_mutex_lock(&s->mtx);
    out->frontier = s->frontier;
    pthread_mutex_unlock(&s->mtx);
}

/* ---- opening and closing ---- */

static void set_defaults(struct frontier_service_options *o)
{
    if (o->memory == 0)
        o->memory = MEMORY;
    if (o->most_waiting == 0)
        o->most_waiting = MOST_WAITING;
    if (o->fpr <= 0)
        o->fpr = FPR;
    if (o->checkpoint_ms <= 0)
        o->checkpoint_ms = CHECKPOINT_MS;
}

static void service_free(struct frontier_service *s)
{
    served_close(s->served);
    pthread_cond_destroy(&s->arrived);
    pthread_mutex_destroy(&s->mtx);
    arena_free(s->puts.keys);
    free(s->puts.list);
    call_batch_fini(&s->batch);
    free(s->node);
    free((void *)(uintptr_t)s->o.dir);
    free(s);
}

static struct frontier_service *service_alloc(
    const struct frontier_service_options *o)
{
    struct frontier_service *s = xcalloc(1, sizeof *s);

    s->o = *o;
    set_defaults(&s->o);
    s->o.dir = xstrdup(o->dir);
    s->node = xstrndup(o->node.at != NULL ? o->node.at : "", o->node.len);
    s->o.node = bytes_of(s->node, o->node.len);
    pthread_mutex_init(&s->mtx, NULL);
    cond_init(&s->arrived);
    s->next_checkpoint = clock_mono() + s->o.checkpoint_ms * NS_PER_MS;
    return s;
}

enum status frontier_service_open(struct frontier_service **out,
                                  const struct frontier_service_options *o)
{
    struct frontier_service *s = service_alloc(o);
    const struct served_options so = {.fpr = s->o.fpr,
                                      .memory = s->o.memory,
                                      .sweep_from = s->o.sweep_from,
                                      .follower = s->o.follower,
                                      .shard = s->o.shard};
    enum status st;
    int err;

    if (o->place != NULL) {
        *out = s;
        return STATUS_OK;
    }
    st = served_open(&s->served, s->o.dir, &so, frontier_wall_ms(s));
    if (st == STATUS_OK) {
        frontier_take_stats(s);
        err = pthread_create(&s->thread, NULL, frontier_thread, s);
        st = err == 0 ? STATUS_OK : status_of_errno(err);
    }
    if (st != STATUS_OK) {
        service_free(s);
        return st;
    }
    *out = s;
    return STATUS_OK;
}

enum status frontier_service_close(struct frontier_service *s)
{
    enum status st;

    if (s == NULL)
        return STATUS_OK;
    if (s->o.place != NULL) {
        st = s->o.place->close(s->o.place->of);
        service_free(s);
        return st;
    }
    pthread_mutex_lock(&s->mtx);
    s->stopping = true;
    pthread_cond_signal(&s->arrived);
    pthread_mutex_unlock(&s->mtx);
    pthread_join(s->thread, NULL);
    st = s->stopped;
    service_free(s);
    return st;
}
