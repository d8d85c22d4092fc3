/* SPDX-License-Identifier: MIT */
/*
 * frontier_calls.c - the frontier thread, and the way to it.
 *
 *   submit ──► waiting (bounded) ──► turn: gather puts, carry out the rest
 *                                      │
 *                                      ▼
 *                                   commit, synced
 *                                      │
 *                                      ▼
 *                                   done(call), each
 *
 * A turn takes what waits, up to some thousand items, so that a commit is
 * shared by all that came while the one before was written. Under load a turn
 * of few puts waits two milliseconds for more: a commit costs as much as some
 * hundred puts. Anything but a put ends that wait.
 */
#include "service/frontier_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/logger.h"
#include "base/mem.h"
#include "frontier/frontier.h"
#include "service/frontier_state.h"

#define MEMORY        (UINT64_C(256) << 20)
#define MOST_WAITING  65536
#define FPR           0.001
#define CHECKPOINT_MS 60000
#define TURN_ITEMS    8192 /* a turn takes about that many */
#define BUSY_ITEMS    64   /* of a turn that makes the next one wait */
#define LINGER_NS     (2 * NS_PER_MS)
#define WATCH_NS      (500 * NS_PER_MS)

/* ---- lists of calls ---- */

void call_list_add(struct call_list *l, struct frontier_call *call)
{
    call->next = NULL;
    if (l->tail != NULL)
        l->tail->next = call;
    else
        l->head = call;
    l->tail = call;
}

struct frontier_call *call_list_take(struct call_list *l)
{
    struct frontier_call *call = l->head;

    if (call != NULL) {
        l->head = call->next;
        if (l->head == NULL)
            l->tail = NULL;
    }
    return call;
}

const char *frontier_verb_name(enum frontier_verb v)
{
    static const char *const names[FRONTIER_VERBS_] = {
        [FRONTIER_PUT] = "put",
        [FRONTIER_GET] = "get",
        [FRONTIER_URL_STATUS] = "url_status",
        [FRONTIER_LIST_URLS] = "list_urls",
        [FRONTIER_COUNT_URLS] = "count_urls",
        [FRONTIER_PURGE_URLS] = "purge_urls",
        [FRONTIER_LIST_QUEUES] = "list_queues",
        [FRONTIER_DELETE_QUEUE] = "delete_queue",
        [FRONTIER_BLOCK_QUEUE] = "block_queue",
        [FRONTIER_SET_DELAY] = "set_delay",
        [FRONTIER_SET_LIMIT] = "set_limit",
        [FRONTIER_STATS] = "stats",
        [FRONTIER_LIST_CRAWLS] = "list_crawls",
        [FRONTIER_DELETE_CRAWL] = "delete_crawl",
        [FRONTIER_SET_ACTIVE] = "set_active",
        [FRONTIER_GET_ACTIVE] = "get_active",
        [FRONTIER_SET_LOG_LEVEL] = "set_log_level",
        [FRONTIER_LIST_NODES] = "list_nodes",
        [FRONTIER_SETTLE] = "settle",
    };

    return names[v];
}

static size_t items_of(const struct frontier_call *call)
{
    return call->verb == FRONTIER_PUT ? call->in.put.n : 1;
}

/* ---- the transport's side ---- */

void frontier_call_init(struct frontier_call *call, enum frontier_verb verb,
                        void (*done)(struct frontier_call *call), void *ctx)
{
    *call = (struct frontier_call){.verb = verb, .done = done, .ctx = ctx};
}

void frontier_call_fini(struct frontier_call *call)
{
    if (call->joint != NULL)
        call->joint_free(call->joint);
    call->joint = NULL;
    arena_free(call->memory);
    call->memory = NULL;
}

enum status frontier_service_submit(struct frontier_service *s,
                                    struct frontier_call *call)
{
    size_t items = items_of(call);
    enum status st = STATUS_OK;

    if (call->verb >= FRONTIER_VERBS_ || items == 0 ||
        items > FRONTIER_PUT_MOST)
        return STATUS_ARG;
    call->submitted = clock_mono();
    pthread_mutex_lock(&s->mtx);
    if (s->stopping) {
        st = STATUS_CLOSED;
    } else if (s->waiting_items >= s->o.most_waiting) {
        st = STATUS_AGAIN;
        s->refused = true;
    } else {
        call_list_add(&s->waiting, call);
        s->waiting_items += items;
        if (s->asleep)
            pthread_cond_signal(&s->arrived);
        s->asleep = false;
    }
    pthread_mutex_unlock(&s->mtx);
    return st;
}

void frontier_service_sample(struct frontier_service *s,
                             struct frontier_service_sample *out)
{
    pthread_mutex_lock(&s->mtx);
    *out = s->sample;
    out->waiting = s->waiting_items;
    pthread_mutex_unlock(&s->mtx);
}

void frontier_service_watch(struct frontier_service *s,
                            struct frontier_service_watch *out)
{
    memset(out, 0, sizeof *out);
    for (unsigned via = 0; via < FRONTIER_VIAS_; via++)
        for (unsigned verb = 0; verb < FRONTIER_VERBS_; verb++)
            histogram_look(&s->calls[via][verb], &out->calls[via][verb]);
    for (unsigned i = 0; i < FRONTIER_ACKS_; i++)
        out->acks[i] = atomic_load_explicit(&s->acks[i], memory_order_relaxed);
    pthread_mutex_lock(&s->mtx);
    out->engine = s->watch;
    pthread_mutex_unlock(&s->mtx);
}

/* ---- the frontier thread ---- */

static int64_t wall_ms(const struct frontier_service *s)
{
    return s->o.wall_ms != NULL ? s->o.wall_ms(s->o.wall_ctx) : clock_wall_ms();
}

/* Under mtx: waits for a call, an end, or `until`, monotonic. */
static void sleep_until(struct frontier_service *s, int64_t until)
{
    struct timespec ts = {.tv_sec = (time_t)(until / NS_PER_S),
                          .tv_nsec = (long)(until % NS_PER_S)};

    s->asleep = true;
    pthread_cond_timedwait(&s->arrived, &s->mtx, &ts);
    s->asleep = false;
}

/* Takes calls of about TURN_ITEMS items; *rush: one of them is no put. */
static size_t take_calls(struct frontier_service *s, struct call_list *to,
                         bool *rush)
{
    size_t items = 0;

    while (items < TURN_ITEMS && s->waiting.head != NULL) {
        struct frontier_call *call = call_list_take(&s->waiting);

        items += items_of(call);
        *rush = *rush || call->verb != FRONTIER_PUT;
        call_list_add(to, call);
    }
    s->waiting_items -= items;
    return items;
}

/* When the thread has something to do that nobody asks for. */
static int64_t wake_at(const struct frontier_service *s)
{
    return s->unwatched && s->next_watch < s->next_checkpoint
               ? s->next_watch
               : s->next_checkpoint;
}

/* Fills `to` with what this turn is about; false: stopping, and nothing is
 * left. `busy`: the turn before had many puts. */
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

static void carry_out_all(struct frontier_service *s, struct call_list *calls,
                          int64_t now)
{
    struct frontier_call *call;

    while ((call = call_list_take(calls)) != NULL) {
        if (call->verb == FRONTIER_PUT) {
            frontier_gather(s, call);
            call_list_add(&s->done, call);
            continue;
        }
        frontier_put_group(s, now); /* in the order of their coming */
        call_list_add(frontier_execute(s, call, now) ? &s->done : &s->unready,
                      call);
    }
    frontier_put_group(s, now);
}

/* A put whose commit failed is not to be relied upon, whatever it says. */
static void fail_call(struct frontier_call *call, enum status st)
{
    call->status = st;
    call->url_count = call->name_count = 0;
    call->more = false;
    for (size_t i = 0; call->verb == FRONTIER_PUT && i < call->in.put.n; i++) {
        if (call->in.put.items[i].ack == FRONTIER_ACK_OK ||
            call->in.put.items[i].ack == FRONTIER_ACK_SKIPPED)
            call->in.put.items[i].ack = FRONTIER_ACK_FAIL;
    }
}

/* Under mtx. */
static void take_sample(struct frontier_service *s, int64_t now)
{
    struct frontier_service_sample *m = &s->sample;
    struct item_counts c;

    items_counts(s->items, bytes_of_str(""), bytes_of_str(""), now, &c);
    m->all = (struct frontier_counts){c.active, c.held, c.completed, c.queues,
                                      c.active_queues};
    m->urls = frontier_store_last_id(frontier_store_of(s->engine));
    m->active = items_active(s->items);
    m->broken = s->broken != STATUS_OK;
}

static void count_crawl(void *ctx, struct bytes crawl)
{
    (void)crawl;
    ++*(uint64_t *)ctx;
}

/* What takes longer to find out. */
static void sample_memory(struct frontier_service *s)
{
    struct engine_stats stats;
    uint64_t memory = items_memory(s->items);

    s->engine->ops->stats(s->engine, &stats);
    pthread_mutex_lock(&s->mtx);
    s->sample.memory = memory + stats.memory;
    pthread_mutex_unlock(&s->mtx);
}

/* Counts a call, which is still ours. */
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

static void tell_all(struct frontier_service *s, int64_t now)
{
    int64_t told = s->done.head != NULL ? clock_mono() : 0;
    struct frontier_call *call;
    uint64_t calls = 0, puts = 0, urls = 0;

    while ((call = call_list_take(&s->done)) != NULL) {
        if (s->broken != STATUS_OK)
            fail_call(call, s->broken);
        calls++;
        puts += call->verb == FRONTIER_PUT ? call->in.put.n : 0;
        urls += call->verb == FRONTIER_GET ? call->url_count : 0;
        count_call(s, call, told);
        s->unwatched = true;
        call->done(call); /* no longer ours */
    }
    pthread_mutex_lock(&s->mtx);
    s->sample.calls += calls;
    s->sample.puts += puts;
    s->sample.gets_urls += urls;
    take_sample(s, now);
    pthread_mutex_unlock(&s->mtx);
}

static void take_watch(struct frontier_service *s, int64_t now)
{
    struct frontier_watch watch;
    uint64_t crawls = 0;

    frontier_watch(s->engine, now, &watch);
    items_each_crawl(s->items, count_crawl, &crawls);
    pthread_mutex_lock(&s->mtx);
    s->watch = watch;
    s->sample.crawls = crawls;
    pthread_mutex_unlock(&s->mtx);
    s->next_watch = now + WATCH_NS;
    s->unwatched = watch.saving; /* its end is worth another look */
}

static void watch_if_due(struct frontier_service *s)
{
    int64_t now = clock_mono();

    if (s->unwatched && now >= s->next_watch)
        take_watch(s, now);
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
    st = frontier_checkpoint(s->engine, now, wall_ms(s));
    s->uncovered = st == STATUS_AGAIN; /* the last one is not done yet */
    s->unwatched = true;
    if (st != STATUS_OK && st != STATUS_AGAIN)
        s->broken = st;
    sample_memory(s);
}

static void commit(struct frontier_service *s, int64_t now)
{
    if (s->broken == STATUS_OK && items_dirty(s->items)) {
        s->uncovered = true;
        fault_point("service-commit");
        s->broken = items_commit(s->items, now);
        fault_point("service-committed");
    }
    if (s->broken != STATUS_OK && !s->sample.broken)
        log_error("the store failed; the frontier takes nothing any more",
                  "dir=%s status=\"%s\"", s->o.dir, status_text(s->broken));
}

static void *run(void *arg)
{
    struct frontier_service *s = arg;
    struct call_list calls;
    bool busy = false;

    while (next_calls(s, &calls, &busy)) {
        int64_t now = wall_ms(s);

        carry_out_all(s, &calls, now);
        commit(s, now);
        tell_all(s, now);
        checkpoint_if_due(s);
        watch_if_due(s);
    }
    s->stopped = s->broken;
    if (s->broken == STATUS_OK)
        s->stopped = frontier_checkpoint_now(s->engine, "stopped", true,
                                             clock_mono(), wall_ms(s));
    return NULL;
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
    items_close(s->items);
    if (s->engine != NULL)
        s->engine->ops->close(s->engine);
    pthread_cond_destroy(&s->arrived);
    pthread_mutex_destroy(&s->mtx);
    free(s->puts);
    free(s->put_items);
    free(s->node);
    free((void *)(uintptr_t)s->o.dir);
    free(s);
}

static struct frontier_service *service_alloc(
    const struct frontier_service_options *o)
{
    struct frontier_service *s = xcalloc(1, sizeof *s);
    pthread_condattr_t attr;

    s->o = *o;
    set_defaults(&s->o);
    s->o.dir = xstrdup(o->dir);
    s->node = xstrndup(o->node.at != NULL ? o->node.at : "", o->node.len);
    s->o.node = bytes_of(s->node, o->node.len);
    pthread_mutex_init(&s->mtx, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&s->arrived, &attr);
    pthread_condattr_destroy(&attr);
    s->next_checkpoint = clock_mono() + s->o.checkpoint_ms * NS_PER_MS;
    return s;
}

enum status frontier_service_open(struct frontier_service **out,
                                  const struct frontier_service_options *o)
{
    struct frontier_service *s = service_alloc(o);
    enum status st = frontier_open_store(s, wall_ms(s));
    int err;

    if (st == STATUS_OK) {
        take_sample(s, wall_ms(s));
        sample_memory(s);
        take_watch(s, clock_mono());
        err = pthread_create(&s->thread, NULL, run, s);
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
    pthread_mutex_lock(&s->mtx);
    s->stopping = true;
    pthread_cond_signal(&s->arrived);
    pthread_mutex_unlock(&s->mtx);
    pthread_join(s->thread, NULL);
    st = s->stopped;
    service_free(s);
    return st;
}
