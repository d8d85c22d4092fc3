/* SPDX-License-Identifier: MIT */
/* call.c - starts and ends a call, names the verbs, builds its answer; carries
 * each call out with the operations of a frontier. */
#include "service/calls/call.h"

#include <stdlib.h>

#include "base/logger.h"
#include "base/mem.h"
#include "frontier/served/served.h"
#include "service/calls/call_ops.h"

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

/* ---- builds the answer of a call ---- */

#define PART_BYTES  ((size_t)1 << 20) /* a part with so many is sent */

#define MEMORY_MOST ((size_t)64 << 20) /* for one part of an answer */

void answer_begin(struct frontier_call *call)
{
    if (call->memory == NULL)
        call->memory = arena_new(MEMORY_MOST);
    else
        arena_reset(call->memory);
    call->status = STATUS_OK;
    call->why = NULL;
    call->urls = NULL;
    call->names = NULL;
    call->url_count = call->name_count = 0;
    call->number = 0;
    call->more = call->flag = call->under_way = false;
}

struct bytes answer_keep(struct frontier_call *call, struct bytes b)
{
    char *at = b.len > 0 ? arena_try_copy(call->memory, b.at, b.len) : NULL;

    if (b.len > 0 && at == NULL)
        call->status = STATUS_LIMIT;
    return at != NULL ? bytes_of(at, b.len) : (struct bytes){NULL, 0};
}

void *answer_room(struct frontier_call *call, size_t most, size_t size)
{
    void *at = arena_try(call->memory, most * size);

    if (at == NULL)
        call->status = STATUS_LIMIT;
    return at;
}

void answer_name(void *ctx, struct bytes name)
{
    struct frontier_call *call = ctx;

    call->names[call->name_count++] = answer_keep(call, name);
}

bool answer_is_full(const struct frontier_call *call)
{
    return call->url_count >= ANSWER_PART_URLS ||
           arena_used(call->memory) >= PART_BYTES;
}

void answer_refuse(struct frontier_call *call, const char *why)
{
    answer_fail(call, STATUS_REFUSED);
    call->why = why;
}

void answer_fail(struct frontier_call *call, enum status st)
{
    call->status = st;
    call->url_count = call->name_count = 0;
    call->more = call->under_way = false;
    for (size_t i = 0; call->verb == FRONTIER_PUT && i < call->in.put.n; i++)
        call->in.put.items[i].ack = FRONTIER_ACK_FAIL;
}

/* ---- time ---- */

int64_t wire_ms(uint64_t seconds)
{
    const uint64_t most = UINT64_C(300000000000);

    return (int64_t)(seconds < most ? seconds : most) * 1000;
}

static uint64_t wire_seconds(int64_t ms)
{
    return ms > 0 ? (uint64_t)ms / 1000 : 0;
}

/* The end of a block until second t is t + 1; 0 lifts the block. */
static int64_t wire_end_of_block(uint64_t until_s)
{
    return until_s > 0 ? wire_ms(until_s) + 1000 : 0;
}

/* ---- carries out each call with the operations of struct call_ops ----
 *
 * It turns the wire's seconds into milliseconds, gives blank names their
 * meaning and zeros their defaults, and builds the API's answer. The rules are
 * those of the reference service; docs/decisions/service-store.md explains the
 * exceptions.
 */

/* ---- gathers the items of one or several PUTs, and puts them ---- */

static bool can_be_put(const struct frontier_item *item)
{
    return item->kind != FRONTIER_ITEM_NEITHER &&
           item->crawl.len <= SERVED_CRAWL_MOST &&
           item->url.len <= SERVED_BYTES_MOST &&
           item->metadata.len <= SERVED_BYTES_MOST;
}

void call_batch_add(struct call_batch *b, struct frontier_item *items, size_t n)
{
    if (b->n + n > b->room) {
        b->room = b->n + n + b->room / 2;
        b->items = xrealloc(b->items, b->room * sizeof(struct frontier_item *));
    }
    for (size_t i = 0; i < n; i++) {
        bool fit = can_be_put(&items[i]);

        items[i].ack = fit ? FRONTIER_ACK_FAIL : FRONTIER_ACK_SKIPPED;
        if (fit)
            b->items[b->n++] = &items[i];
    }
}

enum status call_batch_put(struct call_batch *b, const struct call_ops *ops,
                           void *of)
{
    size_t n = b->n;

    b->n = 0;
    return n > 0 ? ops->put(of, b->items, n) : STATUS_OK;
}

void call_batch_fini(struct call_batch *b)
{
    free(b->items);
    *b = (struct call_batch){NULL, 0, 0};
}

/* ---- small things ---- */

#define PUT_SLICE   2048 /* items put before others get a turn */
#define LEASE_S     30
#define FIRST_DELAY 1000 /* of all queues, until a call sets one; ms */
#define DAY_MS      INT64_C(86400000)

/* One attempt to carry out a call. */
struct go {
    const struct call_ops *ops;
    void *of;
    struct frontier_call *call;
    struct bytes crawl, key;
    int64_t now;
    bool again;
};

static enum status not_of_one(struct go *g)
{
    answer_refuse(g->call, "this call is not for one crawl");
    return STATUS_OK;
}

static bool execute_add_url(void *ctx, const struct url_view *v)
{
    struct frontier_call *call = ctx;

    call->urls[call->url_count++] = (struct frontier_url){
        .crawl = answer_keep(call, v->crawl),
        .key = answer_keep(call, v->key),
        .url = answer_keep(call, v->url),
        .metadata = answer_keep(call, v->metadata),
        .refetch_s = wire_seconds(v->due_ms),
        .created_s = wire_seconds(v->created_ms),
        .lease = v->lease,
    };
    return !answer_is_full(call);
}

/* ---- put ---- */

static enum status execute_put(struct go *g)
{
    const struct frontier_put *in = &g->call->in.put;
    struct call_batch batch = {NULL, 0, 0};
    size_t from = (size_t)g->call->cursor.place;
    size_t n = in->n - from < PUT_SLICE ? in->n - from : PUT_SLICE;
    enum status st;

    call_batch_add(&batch, in->items + from, n);
    st = call_batch_put(&batch, g->ops, g->of);
    call_batch_fini(&batch);
    g->again = from + n < in->n;
    g->call->cursor.place = g->again ? from + n : 0;
    return st;
}

/* ---- get ---- */

static enum status execute_get(struct go *g)
{
    struct frontier_call *call = g->call;
    const struct frontier_get *in = &call->in.get;
    uint32_t seconds =
        in->delay_requestable_s > 0 ? in->delay_requestable_s : LEASE_S;
    struct url_ask a = {
        .any_crawl = in->any_crawl,
        .crawl = g->crawl,
        .one_queue = g->key.len > 0,
        .key = g->key,
        .most_urls = in->max_urls_per_queue,
        .most_queues = in->max_queues,
        .lease_ms = (int64_t)seconds * 1000,
        .turn = (int64_t)call->cursor.turn,
        .queues = (uint32_t)call->cursor.done,
        .queue = call->cursor.queue,
        .urls = (uint32_t)call->cursor.place,
    };
    enum status st;

    if (in->any_crawl)
        call->crawl_id = (struct bytes){NULL, 0};
    /* A key without a crawl names no queue, and a blank crawl without a key
     * names no crawl. */
    if (in->any_crawl ? g->key.len > 0
                      : call->in.crawl.len == 0 && g->key.len == 0)
        return STATUS_OK;
    call->urls = answer_room(call, ANSWER_PART_URLS, sizeof *call->urls);
    if (call->urls == NULL)
        return STATUS_OK;
    st = g->ops->lease(g->of, &a, execute_add_url, call, &call->more);
    call->cursor.turn = call->more ? (uint64_t)a.turn : 0;
    call->cursor.done = call->more ? a.queues : 0;
    call->cursor.queue = call->more ? a.queue : 0;
    call->cursor.place = call->more ? a.urls : 0;
    return st;
}

static enum status execute_settle(struct go *g)
{
    const struct frontier_settle *in = &g->call->in.settle;
    bool ack = in->how == URL_SETTLE_ACK;
    int64_t due = ack ? wire_ms(in->refetch_s) : g->now + wire_ms(in->seconds);

    return g->ops->settle(g->of, in->lease, in->how, due,
                          ack && !in->keep_metadata ? &in->metadata : NULL);
}

/* ---- read ---- */

static enum status url_status(struct go *g)
{
    struct frontier_call *call = g->call;

    call->urls = answer_room(call, 1, sizeof *call->urls);
    return call->urls == NULL
               ? STATUS_OK
               : g->ops->find(g->of, g->crawl, g->key, call->in.url,
                              &call->facts, execute_add_url, call);
}

/* The list, continued from the end of the slice before. */
static struct url_list list_of(const struct go *g)
{
    const struct frontier_list *in = &g->call->in.list;

    return (struct url_list){.crawl = g->crawl,
                             .key = g->key,
                             .filtered = in->filtered,
                             .ignore_case = in->ignore_case,
                             .filter = in->filter,
                             .queue = g->call->cursor.queue,
                             .id = g->call->cursor.place,
                             .passed = g->call->cursor.done};
}

static void leave_cursor(struct frontier_call *call, const struct url_list *l,
                         bool more)
{
    call->cursor.queue = more ? l->queue : 0;
    call->cursor.place = more ? l->id : 0;
    call->cursor.done = more ? l->passed : 0;
}

/* Sends a part when it is full, or as soon as a filter has let a URL pass, as
 * the next match may take long. */
static enum status list_urls(struct go *g)
{
    struct frontier_call *call = g->call;
    const struct frontier_list *in = &call->in.list;
    struct url_list l = list_of(g);
    bool more = false;
    enum status st;

    l.skip = in->start;
    l.most = in->size > 0 ? in->size : FRONTIER_LIST_SIZE;
    if (call->urls == NULL)
        call->urls = answer_room(call, ANSWER_PART_URLS, sizeof *call->urls);
    if (call->urls == NULL)
        return STATUS_OK;
    st = g->ops->list(g->of, &l, execute_add_url, call, &more);
    leave_cursor(call, &l, more);
    call->number = l.passed;
    call->more =
        more && (answer_is_full(call) || (in->filtered && call->url_count > 0));
    g->again = more && !call->more;
    return st;
}

static enum status count_urls(struct go *g)
{
    struct frontier_call *call = g->call;
    struct url_list l = list_of(g);
    enum status st;

    if (!l.filtered && g->ops->count(g->of, g->crawl, g->key, &call->number))
        return STATUS_OK;
    st = g->ops->list(g->of, &l, NULL, NULL, &g->again);
    leave_cursor(call, &l, g->again);
    call->number = l.passed;
    return st;
}

static enum status list_queues(struct go *g)
{
    struct frontier_call *call = g->call;
    const struct frontier_list_queues *in = &call->in.queues;
    uint64_t most = in->size > 0 ? in->size : FRONTIER_LIST_SIZE;
    const struct bytes all = {NULL, 0};
    struct url_counts there = {0};
    bool more;
    enum status st = g->ops->stats(g->of, g->crawl, all, &there, &more);

    if (most > there.queues)
        most = there.queues;
    call->names = answer_room(call, (size_t)most + 1, sizeof *call->names);
    if (call->names != NULL)
        call->number = g->ops->each_queue(g->of, g->crawl, in->include_inactive,
                                          in->start, most, answer_name, call);
    return st;
}

static enum status execute_stats(struct go *g)
{
    g->call->counts = (struct url_counts){0};
    return g->ops->stats(g->of, g->crawl, g->key, &g->call->counts, &g->again);
}

static void count_crawl(void *ctx, struct bytes crawl)
{
    (void)crawl;
    ++*(size_t *)ctx;
}

static enum status list_crawls(struct go *g)
{
    struct frontier_call *call = g->call;
    size_t n = 0;

    if (g->ops->each_crawl == NULL)
        return not_of_one(g);
    g->ops->each_crawl(g->of, count_crawl, &n);
    call->names = answer_room(call, n + 1, sizeof *call->names);
    if (call->names != NULL)
        g->ops->each_crawl(g->of, answer_name, call);
    return STATUS_OK;
}

static enum status list_nodes(struct go *g)
{
    if (g->ops->node == NULL)
        return not_of_one(g);
    g->call->names = answer_room(g->call, 1, sizeof *g->call->names);
    if (g->call->names != NULL)
        answer_name(g->call, g->ops->node(g->of));
    return STATUS_OK;
}

static enum status get_active(struct go *g)
{
    if (g->ops->active == NULL)
        return not_of_one(g);
    g->call->flag = g->ops->active(g->of);
    return STATUS_OK;
}

/* ---- control ---- */

/* No queue has an empty key. */
static enum status delete_queue(struct go *g)
{
    return g->key.len > 0 ? g->ops->remove_queue(g->of, g->crawl, g->key,
                                                 &g->call->number, &g->again)
                          : STATUS_OK;
}

/* Removes URLs put before the current second minus `days` days. */
static enum status execute_purge(struct go *g)
{
    int64_t before = g->now / 1000 * 1000 - (int64_t)g->call->in.days * DAY_MS;

    return g->ops->purge(g->of, g->crawl, g->key, before, &g->call->number,
                         &g->again);
}

static enum status delete_crawl(struct go *g)
{
    return g->ops->remove_crawl == NULL
               ? not_of_one(g)
               : g->ops->remove_crawl(g->of, g->crawl, &g->call->number);
}

static enum status nothing_to_set(enum status st)
{
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

static enum status block_queue(struct go *g)
{
    uint64_t until = g->call->in.setting.value;

    return nothing_to_set(
        g->ops->block(g->of, g->crawl, g->key, wire_end_of_block(until)));
}

static enum status execute_set_delay(struct go *g)
{
    const struct frontier_setting *in = &g->call->in.setting;
    int64_t ms = wire_ms(in->value) + in->ms;

    if (g->key.len > 0)
        return nothing_to_set(
            g->ops->delay(g->of, g->crawl, g->key, in->standard ? -1 : ms));
    if (g->ops->default_delay != NULL)
        return g->ops->default_delay(g->of, in->standard ? FIRST_DELAY : ms);
    answer_refuse(g->call, "the delay of all hosts of a crawl is one of its "
                           "settings; this call sets the delay of one queue");
    return STATUS_OK;
}

static enum status set_limit(struct go *g)
{
    uint64_t most = g->call->in.setting.value;

    return g->ops->limit(g->of, g->crawl, g->key,
                         most < UINT32_MAX ? (uint32_t)most : UINT32_MAX,
                         &g->again);
}

static enum status set_active(struct go *g)
{
    return g->ops->set_active == NULL
               ? not_of_one(g)
               : g->ops->set_active(g->of, g->call->in.active);
}

static enum status set_log_level(struct go *g)
{
    static const enum log_level levels[] = {LOG_LEVEL_DEBUG, LOG_LEVEL_DEBUG,
                                            LOG_LEVEL_INFO, LOG_LEVEL_WARN,
                                            LOG_LEVEL_ERROR};

    if (g->call->in.log_level < sizeof levels / sizeof *levels)
        logger_set_level(levels[g->call->in.log_level]);
    return STATUS_OK;
}

/* ---- all ---- */

static enum status (*const verbs[FRONTIER_VERBS_])(struct go *g) = {
    [FRONTIER_PUT] = execute_put,
    [FRONTIER_GET] = execute_get,
    [FRONTIER_URL_STATUS] = url_status,
    [FRONTIER_LIST_URLS] = list_urls,
    [FRONTIER_COUNT_URLS] = count_urls,
    [FRONTIER_PURGE_URLS] = execute_purge,
    [FRONTIER_LIST_QUEUES] = list_queues,
    [FRONTIER_DELETE_QUEUE] = delete_queue,
    [FRONTIER_BLOCK_QUEUE] = block_queue,
    [FRONTIER_SET_DELAY] = execute_set_delay,
    [FRONTIER_SET_LIMIT] = set_limit,
    [FRONTIER_STATS] = execute_stats,
    [FRONTIER_LIST_CRAWLS] = list_crawls,
    [FRONTIER_DELETE_CRAWL] = delete_crawl,
    [FRONTIER_SET_ACTIVE] = set_active,
    [FRONTIER_GET_ACTIVE] = get_active,
    [FRONTIER_SET_LOG_LEVEL] = set_log_level,
    [FRONTIER_LIST_NODES] = list_nodes,
    [FRONTIER_SETTLE] = execute_settle,
};

static bool is_answer(enum status st)
{
    return st == STATUS_OK || st == STATUS_NOT_FOUND || st == STATUS_ARG ||
           st == STATUS_LIMIT || st == STATUS_REFUSED;
}

enum status call_execute(const struct call_ops *ops, void *of,
                         struct frontier_call *call, int64_t now, bool *again)
{
    struct go g = {.ops = ops, .of = of, .call = call, .now = now};
    enum status st;

    if (!call->under_way)
        answer_begin(call);
    g.crawl = call->crawl_id = served_crawl_name(call->in.crawl);
    g.key = call->in.key;
    st = verbs[call->verb](&g);
    if (st != STATUS_OK)
        call->status = st;
    *again = call->under_way = g.again && call->status == STATUS_OK;
    return is_answer(st) ? STATUS_OK : st;
}
