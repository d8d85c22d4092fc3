/* SPDX-License-Identifier: MIT */
/*
 * frontier_service.c - the frontier thread, and the way to it: lists of calls,
 * submits and stats, opening and closing.
 */
#include "service/calls/frontier_service.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/logger.h"
#include "base/mem.h"
#include "base/thread/cond.h"
#include "frontier/served/served.h"
#include "service/calls/call.h"
#include "service/calls/call_ops.h"

/* Items of a PUT as served.h takes them; all zero: none. */
struct call_puts {
    struct url_put *list;
    size_t room;
    struct arena *keys; /* those that are not spelt so in their URLs */
};

struct call_list {
    struct frontier_call *head, *tail;
};

struct frontier_service {
    struct frontier_service_options o; /* with copies of its strings */
    char *node;
    pthread_t thread;

    /* shared, under mtx */
    pthread_mutex_t mtx;
    pthread_cond_t arrived;
    struct call_list waiting;
    size_t waiting_items;
    bool asleep;  /* the frontier thread waits for `arrived` */
    bool refused; /* a submit returned STATUS_AGAIN */
    bool stopping;
    struct frontier_service_stats stats;
    struct frontier_stats frontier;

    /* written by the frontier thread, read by any thread */
    struct histogram calls[FRONTIER_VIAS_][FRONTIER_VERBS_];
    _Atomic uint64_t acks[FRONTIER_ACKS_];

    /* frontier thread */
    struct served *served;
    enum status broken;       /* STATUS_OK, or the store's failure */
    struct call_list done;    /* `done` is called after the commit */
    struct call_list unready; /* continue after the commit */
    int64_t now;              /* wall clock, of this turn */
    struct call_batch batch;  /* successive puts, put together */
    struct call_puts puts;    /* the same for served.h */
    int64_t next_checkpoint;  /* monotonic */
    int64_t next_details;     /* the same */
    bool details_due;         /* work was done since the last one */
    bool uncovered;           /* there was a commit since the last one */
    enum status stopped;      /* status of the last checkpoint */
};

/* For call_execute, with the service as `of` (frontier_service.c). */

/* Struct call_ops for the URLs that other programs put
 * (frontier/served/served.h). */

#define LIST_BUDGET   20000 /* URLs examined before others get a turn */
#define FILTER_BUDGET 1000  /* the same if it must read their rows */

/* ---- put ---- */

/* The key of an item, its own or that of its URL. False: it has none, or one
 * that is too long. `room` is for the second. */
static bool item_key(struct call_puts *p, const struct frontier_item *item,
                     struct buf *room, struct bytes *key)
{
    const char *kept;

    *key = item->key.len > 0 ? item->key : served_key_of_url(item->url, room);
    if (key->len == 0 || !served_key_fits(*key))
        return false;
    if (key->at != room->at)
        return true;
    kept = arena_try_copy(p->keys, key->at, key->len);
    *key = bytes_of(kept, key->len);
    return kept != NULL;
}

/* Fills the list, which lives until the next time; items that have no key are
 * skipped, and their ack says so. Returns how many are in it. */
static size_t call_served_fill(struct call_puts *p,
                               struct frontier_item *const *items, size_t n)
{
    size_t count = 0;
    struct buf room;

    buf_init(&room, SERVED_BYTES_MOST + 16);
    if (p->keys == NULL)
        p->keys = arena_new(SIZE_MAX);
    arena_reset(p->keys);
    if (n > p->room) {
        p->room = n + n / 2;
        p->list = xrealloc(p->list, p->room * sizeof *p->list);
    }
    for (size_t i = 0; i < n; i++) {
        struct frontier_item *item = items[i];
        struct bytes key;

        if (!item_key(p, item, &room, &key)) {
            item->ack = FRONTIER_ACK_SKIPPED;
            continue;
        }
        p->list[count++] = (struct url_put){
            .known = item->kind == FRONTIER_ITEM_KNOWN,
            .crawl = served_crawl_name(item->crawl),
            .key = key,
            .url = item->url,
            .metadata = item->metadata,
            .due_ms = wire_ms(item->refetch_s),
        };
    }
    buf_fini(&room);
    return count;
}

static enum status call_served_put(void *of, struct frontier_item *const *items,
                                   size_t n)
{
    struct frontier_service *s = of;
    size_t count = call_served_fill(&s->puts, items, n), at = 0;
    enum status st = STATUS_OK;

    if (count > 0)
        st = served_put(s->served, s->puts.list, count, s->now);
    for (size_t i = 0; st == STATUS_OK && at < count; i++) {
        if (items[i]->ack == FRONTIER_ACK_SKIPPED)
            continue; /* it has no key */
        items[i]->ack = s->puts.list[at].known || s->puts.list[at].fresh
                            ? FRONTIER_ACK_OK
                            : FRONTIER_ACK_SKIPPED;
        at++;
    }
    return st;
}

/* ---- lease ---- */

static enum status lease(void *of, struct url_ask *a, url_visit visit,
                         void *ctx, bool *more)
{
    struct frontier_service *s = of;

    return served_get(s->served, a, s->now, visit, ctx, more);
}

static enum status call_served_settle(void *of, uint64_t lease_id,
                                      enum url_settle how, int64_t due_ms,
                                      const struct bytes *metadata)
{
    struct frontier_service *s = of;

    return served_settle(s->served, lease_id, how, due_ms, metadata, s->now);
}

/* ---- read ---- */

static enum status call_served_find(void *of, struct bytes crawl,
                                    struct bytes key, struct bytes url,
                                    struct url_facts *facts, url_visit visit,
                                    void *ctx)
{
    struct frontier_service *s = of;
    enum status st = STATUS_ARG;
    struct buf room;

    buf_init(&room, SERVED_BYTES_MOST + 16);
    if (key.len == 0)
        key = served_key_of_url(url, &room);
    if (key.len > 0)
        st = served_find(s->served, crawl, key, url, s->now, facts, visit, ctx);
    buf_fini(&room);
    return st;
}

static enum status list(void *of, struct url_list *l, url_visit visit,
                        void *ctx, bool *more)
{
    struct frontier_service *s = of;

    l->budget = l->filtered ? FILTER_BUDGET : LIST_BUDGET;
    return served_list(s->served, l, s->now, visit, ctx, more);
}

static bool call_served_count(void *of, struct bytes crawl, struct bytes key,
                              uint64_t *n)
{
    struct frontier_service *s = of;
    struct url_counts c;

    served_counts(s->served, crawl, key, s->now, &c);
    *n = c.active + c.completed;
    return true;
}

static enum status call_served_stats(void *of, struct bytes crawl,
                                     struct bytes key, struct url_counts *out,
                                     bool *more)
{
    struct frontier_service *s = of;

    (void)more;
    served_counts(s->served, crawl, key, s->now, out);
    return STATUS_OK;
}

static uint64_t each_queue(void *of, struct bytes crawl, bool inactive,
                           uint64_t skip, uint64_t most,
                           void (*visit)(void *ctx, struct bytes key),
                           void *ctx)
{
    struct frontier_service *s = of;

    return served_each_queue(s->served, crawl, inactive, skip, most, s->now,
                             visit, ctx);
}

static void each_crawl(void *of, void (*visit)(void *ctx, struct bytes crawl),
                       void *ctx)
{
    struct frontier_service *s = of;

    served_each_crawl(s->served, visit, ctx);
}

static struct bytes node(void *of)
{
    const struct frontier_service *s = of;

    return s->o.node;
}

/* ---- control ---- */

static enum status call_served_remove_queue(void *of, struct bytes crawl,
                                            struct bytes key, uint64_t *gone,
                                            bool *more)
{
    struct frontier_service *s = of;

    (void)more;
    return served_remove_queue(s->served, crawl, key, s->now, gone);
}

static enum status remove_crawl(void *of, struct bytes crawl, uint64_t *gone)
{
    struct frontier_service *s = of;

    return served_remove_crawl(s->served, crawl, s->now, gone);
}

static enum status call_served_purge(void *of, struct bytes crawl,
                                     struct bytes key, int64_t before_ms,
                                     uint64_t *gone, bool *more)
{
    struct frontier_service *s = of;

    (void)more;
    return served_purge(s->served, crawl, key, before_ms, s->now, gone);
}

static enum status call_served_block(void *of, struct bytes crawl,
                                     struct bytes key, int64_t until_ms)
{
    struct frontier_service *s = of;

    return served_block(s->served, crawl, key, until_ms, s->now);
}

static enum status call_served_delay(void *of, struct bytes crawl,
                                     struct bytes key, int64_t delay_ms)
{
    struct frontier_service *s = of;

    return served_set_delay(s->served, crawl, key, delay_ms, s->now);
}

static enum status default_delay(void *of, int64_t delay_ms)
{
    struct frontier_service *s = of;

    return served_set_default_delay(s->served, delay_ms, s->now);
}

static enum status limit(void *of, struct bytes crawl, struct bytes key,
                         uint32_t most, bool *more)
{
    struct frontier_service *s = of;

    (void)more;
    return served_set_limit(s->served, crawl, key, most, s->now);
}

static enum status set_active(void *of, bool is_active)
{
    struct frontier_service *s = of;

    return served_set_active(s->served, is_active);
}

static bool active(void *of)
{
    const struct frontier_service *s = of;

    return served_active(s->served);
}

static const struct call_ops call_served_ops = {
    .put = call_served_put,
    .lease = lease,
    .settle = call_served_settle,
    .find = call_served_find,
    .list = list,
    .count = call_served_count,
    .stats = call_served_stats,
    .each_queue = each_queue,
    .remove_queue = call_served_remove_queue,
    .purge = call_served_purge,
    .block = call_served_block,
    .delay = call_served_delay,
    .limit = limit,
    .default_delay = default_delay,
    .each_crawl = each_crawl,
    .remove_crawl = remove_crawl,
    .set_active = set_active,
    .active = active,
    .node = node,
};

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
