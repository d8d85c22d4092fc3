/* SPDX-License-Identifier: MIT */
/*
 * lend.c - a call as a task of the crawl's frontier thread.
 *
 *   lend_submit ─► crawl_post ─► run: one slice ─► commit ─► done ─► the caller
 *                      ▲                                      │
 *                      └──────────── more to do ──────────────┘
 *
 * A slice is short, as all fetchers of the crawl wait for it: some hundred rows
 * read, two thousand URLs put.
 */
#include "service/calls/lend.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "frontier/embedded/frontier.h"
#include "service/calls/lend_impl.h"

#define NUMBER_MASK  ((UINT64_C(1) << LENT_NUMBER_BITS) - 1)
#define NAME_MASK    UINT64_C(0xffff)
#define OURS         (UINT64_C(1) << 63)
#define LONGEST_MS   INT64_C(3000000000000) /* some ninety years */
#define LONGEST_WAIT INT64_C(86400000)      /* a delay of a queue, ms */

/* ---- leases ---- */

/* FNV-1a (Fowler, Noll, Vo, 1991), folded to 16 bits. */
static uint64_t tag_of(struct bytes name)
{
    uint32_t h = 2166136261u;

    for (size_t i = 0; i < name.len; i++)
        h = (h ^ (unsigned char)name.at[i]) * 16777619u;
    return OURS | ((h ^ h >> 16) & NAME_MASK) << LENT_NUMBER_BITS;
}

bool lend_is_lease(uint64_t lease)
{
    return (lease & OURS) != 0;
}

bool lend_may_be_of(uint64_t lease, struct bytes name)
{
    return (lease & ~NUMBER_MASK) == tag_of(name);
}

/* ---- names ---- */

struct bytes lend_name(const struct lend *l)
{
    return bytes_of(l->name, l->name_len);
}

struct bytes lend_crawl(const struct lend *l)
{
    return crawl_fetching(l->crawl)->crawl;
}

/* ---- get ---- */

static void add_url(struct lend *l, const struct lent_url *u)
{
    struct frontier_call *call = l->call;
    struct url_row row = {.url = {NULL, 0}};
    struct buf via;

    buf_init(&via, (size_t)16 << 20);
    if (u->lease.via == 0 ||
        frontier_store_get(frontier_store_of(l->engine), u->lease.via, &row,
                           &via) != STATUS_OK)
        row.url = (struct bytes){NULL, 0};
    call->urls[call->url_count++] = (struct frontier_url){
        .crawl = call->crawl_id,
        .key = answer_keep(call, u->lease.key),
        .url = answer_keep(call, u->lease.url),
        .metadata = lend_metadata(call, u->lease.depth, u->lease.kind, row.url),
        .refetch_s = wire_seconds(l->wall_ms),
        .created_s = wire_seconds(l->wall_ms),
        .lease = tag_of(lend_name(l)) | u->number,
    };
    buf_fini(&via);
}

static enum status get(struct lend *l)
{
    const struct frontier_get *in = &l->call->in.get;
    uint32_t seconds = in->delay_requestable_s;
    const struct lent_ask ask = {
        .one_queue = in->key.len > 0,
        .key = in->key,
        .most_urls = in->max_urls_per_queue,
        .most_queues = in->max_queues,
        .most = ANSWER_PART_URLS,
        .hold = (int64_t)(seconds > 0 ? seconds : ANSWER_HOLD_S) * NS_PER_S,
    };
    struct lent_url *urls = xcalloc(ANSWER_PART_URLS, sizeof *urls);
    size_t n = 0;
    enum status st = STATUS_OK;

    l->call->urls =
        answer_room(l->call, ANSWER_PART_URLS, sizeof *l->call->urls);
    if (l->call->urls != NULL)
        st = lent_lease(l->engine, &ask, l->now, l->wall_ms, urls, &n);
    for (size_t i = 0; i < n; i++)
        add_url(l, &urls[i]);
    l->task.durable = n > 0;
    free(urls);
    return st;
}

/* ---- settle ---- */

static enum status say(struct lend *l, uint64_t id)
{
    const struct frontier_settle *in = &l->call->in.settle;
    bool ack = in->how == FRONTIER_SETTLE_ACK;
    struct arena *a = arena_new((size_t)16 << 20);
    const struct lent_word word = {
        .final = ack && in->refetch_s == 0,
        .due_ms =
            ack ? wire_ms(in->refetch_s) : l->wall_ms + wire_ms(in->seconds),
        .http_status =
            ack && !in->keep_metadata ? lend_http_status(in->metadata, a) : 0,
    };
    enum lent_said said;

    arena_free(a);
    return lent_say(l->engine, id, &word, l->now, l->wall_ms, &said);
}

static enum status settle(struct lend *l)
{
    const struct frontier_settle *in = &l->call->in.settle;
    uint64_t number = in->lease & NUMBER_MASK;
    uint64_t id = lent_find(l->engine, number, l->now);

    l->task.durable = id != 0;
    if (id == 0)
        l->call->status = STATUS_NOT_FOUND;
    else if (in->how == FRONTIER_SETTLE_EXTEND)
        return lent_extend(l->engine, number, (int64_t)in->seconds * NS_PER_S,
                           l->now, l->wall_ms);
    return id != 0 ? say(l, id) : STATUS_OK;
}

/* ---- queues ---- */

static int64_t moment(const struct lend *l, int64_t ms)
{
    int64_t in = ms - l->wall_ms;

    if (ms == 0 || in <= 0)
        return 0;
    return l->now + (in < LONGEST_MS ? in : LONGEST_MS) * NS_PER_MS;
}

static enum status block(struct lend *l)
{
    const struct frontier_queue_call *in = &l->call->in.queue;

    return l->engine->ops->block(l->engine, lend_crawl(l), in->key,
                                 moment(l, wire_end_of_block(in->value)),
                                 l->now, l->wall_ms);
}

static enum status delay(struct lend *l)
{
    const struct frontier_queue_call *in = &l->call->in.queue;
    int64_t ms = wire_ms(in->value) + in->ms;

    if (ms > LONGEST_WAIT)
        ms = LONGEST_WAIT;
    if (in->key.len > 0)
        return l->engine->ops->delay(l->engine, lend_crawl(l), in->key,
                                     in->standard ? -1 : ms, l->now);
    answer_refuse(l->call, "the delay of all hosts of a crawl is one of its "
                           "settings; this sets that of one queue");
    return STATUS_OK;
}

static enum status control(struct lend *l, enum status (*what)(struct lend *l))
{
    enum status st;

    l->task.durable = true;
    st = what(l);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st; /* nothing to slow */
}

/* ---- all ---- */

static enum status carry_out(struct lend *l)
{
    switch (l->call->verb) {
    case FRONTIER_PUT:
        return lend_put(l);
    case FRONTIER_GET:
        return get(l);
    case FRONTIER_SETTLE:
        return settle(l);
    case FRONTIER_URL_STATUS:
        return lend_url_status(l);
    case FRONTIER_LIST_URLS:
        return lend_list(l);
    case FRONTIER_COUNT_URLS:
        return lend_count(l);
    case FRONTIER_LIST_QUEUES:
        return lend_list_queues(l);
    case FRONTIER_STATS:
        return lend_stats(l);
    case FRONTIER_BLOCK_QUEUE:
        return control(l, block);
    case FRONTIER_SET_DELAY:
        return control(l, delay);
    case FRONTIER_DELETE_QUEUE:
        return lend_delete_queue(l);
    case FRONTIER_PURGE_URLS:
        return lend_purge(l);
    case FRONTIER_SET_LIMIT:
        return lend_limit(l);
    default:
        answer_refuse(l->call, "this is not asked of one crawl");
        return STATUS_OK;
    }
}

static void begin(struct lend *l)
{
    answer_begin(l->call);
    l->call->crawl_id = answer_keep(l->call, lend_name(l));
    for (size_t i = 0; l->call->verb == FRONTIER_PUT && i < l->call->in.put.n;
         i++)
        l->call->in.put.items[i].ack = FRONTIER_ACK_FAIL; /* until it is put */
    l->begun = true;
}

static enum status run(struct crawl_task *t, struct engine *e, int64_t now,
                       int64_t wall_ms)
{
    struct lend *l = (struct lend *)t;

    if (!l->begun)
        begin(l);
    l->engine = e;
    l->now = now;
    l->wall_ms = wall_ms;
    l->more = false;
    t->durable = false;
    return carry_out(l);
}

/* A crawl that is stopped has nothing to give, and takes nothing. */
static void answer_stopped(struct frontier_call *call, struct bytes name,
                           const struct engine_stats *s)
{
    answer_begin(call);
    call->crawl_id = answer_keep(call, name);
    if (call->verb == FRONTIER_STATS && call->in.queue.key.len == 0)
        call->counts = (struct frontier_counts){
            .size = s->queued,
            .completed = s->urls - s->queued - s->removed,
            .queues = s->queues,
            .active_queues = s->queues_active,
        };
    else if (call->verb == FRONTIER_PUT)
        answer_fail(call, STATUS_OK);
    else if (call->verb != FRONTIER_GET)
        answer_refuse(call, "the crawl is stopped");
}

static void end(struct lend *l)
{
    struct frontier_call *call = l->call;

    free(l);
    call->done(call); /* no longer ours */
}

/* What was put in slices before is durable. */
static void fail(struct lend *l, enum status st)
{
    const struct frontier_put *in = &l->call->in.put;

    if (l->call->verb != FRONTIER_PUT) {
        answer_fail(l->call, st);
        return;
    }
    for (size_t i = l->from; i < in->n; i++)
        in->items[i].ack = FRONTIER_ACK_FAIL;
}

static void done(struct crawl_task *t)
{
    struct lend *l = (struct lend *)t;
    static const struct engine_stats nothing = {0};

    if (t->status == STATUS_OK && l->more) {
        t->status = crawl_post(l->crawl, t);
        if (t->status == STATUS_OK)
            return;
    }
    if (t->status == STATUS_CLOSED && !l->begun)
        answer_stopped(l->call, lend_name(l), &nothing);
    else if (t->status != STATUS_OK)
        fail(l, t->status);
    end(l);
}

static enum status post(struct crawl *crawl, void *ctx)
{
    struct lend *l = ctx;

    l->crawl = crawl;
    return crawl_post(crawl, &l->task);
}

enum status lend_submit(struct crawls *c, struct bytes name,
                        struct frontier_call *call)
{
    struct lend *l = xcalloc(1, sizeof *l + name.len);
    struct crawls_view view;
    enum status st;

    l->call = call;
    l->task.run = run;
    l->task.done = done;
    l->name_len = name.len;
    memcpy(l->name, name.at, name.len);
    st = crawls_use(c, name, post, l);
    if (st == STATUS_OK)
        return STATUS_OK;
    free(l);
    if (st != STATUS_CLOSED)
        return st;
    st = crawls_look(c, name, &view);
    if (st != STATUS_OK)
        return st;
    answer_stopped(call, name, &view.sample.stats);
    call->done(call);
    return STATUS_OK;
}
