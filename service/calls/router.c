/* SPDX-License-Identifier: MIT */
/* router.c - sends each call to its place, batches to several. */
#include "service/calls/router.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/thread/cond.h"
#include "frontier/served/served.h"
#include "service/calls/call.h"
#include "service/calls/call_crawl.h"

struct router {
    struct frontier_service *frontier;
    struct crawls *crawls;
    _Atomic bool active;   /* other programs are given URLs */
    _Atomic unsigned turn; /* the source to ask first next time */

    pthread_mutex_t mtx; /* guards the fields below */
    pthread_cond_t left;
    unsigned inside; /* threads between router_enter and router_leave */
    bool ended;
};

/* ---- gets URLs of any crawl, from all sources in turn ----
 *
 *   sources: other programs' URLs, and each crawl of our own that runs
 *
 *   a round: each source is asked for an equal share of the queues that are
 *            still wanted; the sources after it share what it leaves
 *   again:   sources that gave all they were asked for may have more, and are
 *            asked again, until none has more or no more are wanted
 *
 * It asks one source at a time, which continues where it left off if its answer
 * was only a part; so every leased URL is handed out. One part of the answer
 * may have URLs of several sources. If the caller must submit again for the
 * rest, the state needed to continue is attached to the call.
 *
 * Only one thread at a time works on it: each step begins when the one before
 * has handed its call back.
 */

#define QUEUE_MOST ((size_t)64 << 20) /* octets of two names of queues */

struct source {
    char name[CRAWLS_NAME_MOST + 1]; /* empty: other programs' URLs */
    bool out;                        /* it has no more */
};

struct router_get {
    struct router *router;
    struct frontier_call *call; /* as last submitted */
    struct frontier_call sub;
    struct source *sources;
    size_t count, at;
    size_t left;           /* sources still to ask in this round */
    uint32_t wanted;       /* queues, if the call has a limit */
    uint32_t asked, given; /* of the current source */
    bool under_way;        /* a part of its answer is still to come */
    struct buf last;       /* queue of the last URL given: crawl, NUL, key */
    enum status failed;
    /* A source may answer before submit returns: then the loop in `ask_on`
     * continues, without recursion. */
    atomic_int step;
};

enum { STEP_SUBMITTED, STEP_ANSWERED, STEP_LEFT };

static enum status router_send(struct router *r, struct bytes place,
                               struct frontier_call *call);

static void get_free(void *joint)
{
    struct router_get *g = joint;

    frontier_call_fini(&g->sub);
    buf_fini(&g->last);
    free(g->sources);
    free(g);
}

/* ---- sources ---- */

static void add_source(struct router_get *g, const char *name)
{
    struct source *s = &g->sources[g->count++];

    *s = (struct source){.out = false};
    memcpy(s->name, name, strlen(name) + 1);
}

static void find_sources(struct router_get *g)
{
    struct crawls_view *views = NULL;
    size_t n =
        g->router->crawls != NULL ? crawls_each(g->router->crawls, &views) : 0;

    g->sources = xcalloc(n + 1, sizeof *g->sources);
    if (g->router->frontier != NULL)
        add_source(g, "");
    for (size_t i = 0; i < n; i++)
        if (views[i].state != CRAWLS_STOPPED && views[i].state != CRAWLS_FAILED)
            add_source(g, views[i].name);
    free(views);
    g->left = g->count;
    if (g->count > 0)
        g->at = atomic_fetch_add(&g->router->turn, 1) % g->count;
}

static size_t still_in(const struct router_get *g)
{
    size_t n = 0;

    for (size_t i = 0; i < g->count; i++)
        n += !g->sources[i].out;
    return n;
}

static bool is_limited(const struct router_get *g)
{
    return g->call->in.get.max_queues > 0;
}

/* Moves to the next source to ask; false if there are no more. */
static bool next_source(struct router_get *g)
{
    if (is_limited(g) && g->wanted == 0)
        return false;
    if (g->left == 0)
        g->left = still_in(g);
    if (g->left == 0)
        return false;
    while (g->sources[g->at].out)
        g->at = (g->at + 1) % g->count;
    return true;
}

/* ---- one question ---- */

static void round_answered(struct frontier_call *sub);

/* Prepares a call that asks the current source for its share of queues. */
static void begin_question(struct router_get *g)
{
    const struct source *s = &g->sources[g->at];
    frontier_call_fini(&g->sub);
    frontier_call_init(&g->sub, FRONTIER_GET, round_answered, g);
    g->sub.via = g->call->via;
    g->sub.in.crawl = bytes_of_str(s->name);
    g->sub.in.get = g->call->in.get;
    g->sub.in.get.any_crawl = s->name[0] == '\0';
    g->asked = 0;
    if (is_limited(g))
        g->asked = (uint32_t)((g->wanted + g->left - 1) / g->left);
    g->sub.in.get.max_queues = g->asked;
    g->given = 0;
    buf_clear(&g->last); /* no queue is named so */
}

static void end_question(struct router_get *g)
{
    struct source *s = &g->sources[g->at];

    g->wanted -= g->given < g->wanted ? g->given : g->wanted;
    if (!is_limited(g) || g->given < g->asked)
        s->out = true;
    g->left--;
    g->at = (g->at + 1) % g->count;
}

static void round_submit(struct router_get *g)
{
    const struct source *s = &g->sources[g->at];

    if (router_send(g->router, bytes_of_str(s->name), &g->sub) == STATUS_OK)
        return;
    answer_begin(&g->sub); /* no room, or stopping: count it as empty */
    round_answered(&g->sub);
}

/* ---- one answer ---- */

/* URLs of a queue stand together; crawls may have queues of the same key. */
static void count_queue(struct router_get *g, const struct frontier_url *u)
{
    size_t before = g->last.len;

    buf_add_bytes(&g->last, u->crawl);
    buf_add_char(&g->last, '\0');
    buf_add_bytes(&g->last, u->key);
    if (before == g->last.len - before &&
        memcmp(g->last.at, g->last.at + before, before) == 0) {
        buf_truncate(&g->last, before);
        return;
    }
    memmove(g->last.at, g->last.at + before, g->last.len - before);
    buf_truncate(&g->last, g->last.len - before);
    g->given++;
}

static void round_take_answer(struct router_get *g)
{
    struct frontier_call *call = g->call;

    if (g->sub.status != STATUS_OK)
        g->failed = g->sub.status;
    for (size_t i = 0; i < g->sub.url_count; i++) {
        struct frontier_url u = g->sub.urls[i];

        count_queue(g, &u);
        u.crawl = answer_keep(call, u.crawl);
        u.key = answer_keep(call, u.key);
        u.url = answer_keep(call, u.url);
        u.metadata = answer_keep(call, u.metadata);
        call->urls[call->url_count++] = u;
    }
    g->under_way = g->sub.more;
    if (!g->under_way)
        end_question(g);
}

static void round_finish(struct router_get *g, bool more)
{
    struct frontier_call *call = g->call;

    call->more = more;
    if (call->url_count == 0 && g->failed != STATUS_OK)
        call->status = g->failed;
    if (!more) {
        call->joint = NULL;
        get_free(g);
    }
    call->done(call); /* no longer ours */
}

/* Asks until a source keeps us waiting, or there is an answer to give. */
static void ask_on(struct router_get *g)
{
    for (;;) {
        bool full = answer_is_full(g->call);
        bool on = g->under_way || next_source(g);

        if (!on || full) {
            round_finish(g, on);
            return;
        }
        if (!g->under_way)
            begin_question(g);
        atomic_store(&g->step, STEP_SUBMITTED);
        round_submit(g);
        if (atomic_exchange(&g->step, STEP_LEFT) == STEP_SUBMITTED)
            return; /* `answered` continues */
        round_take_answer(g);
    }
}

static void round_answered(struct frontier_call *sub)
{
    struct router_get *g = sub->ctx;

    if (atomic_exchange(&g->step, STEP_ANSWERED) == STEP_SUBMITTED)
        return; /* ask_on continues */
    round_take_answer(g);
    ask_on(g);
}

/* Like crawls_submit. */
static enum status router_get_any(struct router *r, struct frontier_call *call)
{
    struct router_get *g = call->joint;

    answer_begin(call);
    call->crawl_id = (struct bytes){NULL, 0};
    /* A whole part may follow one that is almost full. */
    call->urls =
        answer_room(call, (size_t)2 * ANSWER_PART_URLS, sizeof *call->urls);
    if (g == NULL) {
        g = xcalloc(1, sizeof *g);
        buf_init(&g->last, QUEUE_MOST);
        g->router = r;
        g->wanted = call->in.get.max_queues;
        frontier_call_init(&g->sub, FRONTIER_GET, round_answered, g);
        atomic_init(&g->step, STEP_LEFT);
        call->joint = g;
        call->joint_free = get_free;
        find_sources(g);
    }
    g->call = call;
    g->failed = STATUS_OK;
    ask_on(g);
    return STATUS_OK;
}

/* ---- a batch of puts for several crawls ----
 *
 * A part has the items of one crawl in the order of the batch, as copies that
 * share the batch's bytes. Most batches are for one crawl and go there whole.
 */

struct part {
    struct frontier_call call;
    struct bytes crawl; /* empty: served URLs */
    struct frontier_item *items;
    uint32_t *at; /* positions in the batch */
    size_t n, room;
};

struct batch {
    struct frontier_call *call;
    struct part *parts;
    size_t count;
    atomic_size_t pending;
};

static void router_to_crawl(struct router *r, struct bytes name,
                            struct frontier_call *call);

/* The place for calls on this crawl: the name of a crawl of our own, or empty
 * for the URLs that programs put. Only after router_enter. */
static struct bytes router_place(const struct router *r, struct bytes crawl)
{
    struct bytes name = served_crawl_name(crawl);

    return r->crawls != NULL && crawls_has(r->crawls, name)
               ? name
               : (struct bytes){NULL, 0};
}

/* The place for an item. `last_...`: those of the item before it. */
static struct bytes router_place_of(const struct router *r,
                                    const struct frontier_item *item,
                                    struct bytes last_crawl,
                                    struct bytes last_place)
{
    if (last_crawl.at != NULL && bytes_equal(item->crawl, last_crawl))
        return last_place;
    return router_place(r, item->crawl);
}

static struct part *part_of(struct batch *b, struct bytes crawl)
{
    struct part *p;

    for (size_t i = 0; i < b->count; i++)
        if (bytes_equal(b->parts[i].crawl, crawl))
            return &b->parts[i];
    b->parts = xrealloc(b->parts, (b->count + 1) * sizeof *b->parts);
    p = &b->parts[b->count++];
    *p = (struct part){.crawl = crawl};
    return p;
}

static void add_item(struct part *p, const struct frontier_item *item,
                     size_t at)
{
    if (p->n == p->room) {
        p->room = p->room > 0 ? 2 * p->room : 64;
        p->items = xrealloc(p->items, p->room * sizeof *p->items);
        p->at = xrealloc(p->at, p->room * sizeof *p->at);
    }
    p->items[p->n] = *item;
    p->at[p->n++] = (uint32_t)at;
}

static void router_split(const struct router *r, struct batch *b)
{
    const struct frontier_put *in = &b->call->in.put;
    struct bytes last_crawl = {NULL, 0}, place = {NULL, 0};

    for (size_t i = 0; i < in->n; i++) {
        place = router_place_of(r, &in->items[i], last_crawl, place);
        last_crawl = in->items[i].crawl;
        add_item(part_of(b, place), &in->items[i], i);
    }
}

static void batch_free(struct batch *b)
{
    for (size_t i = 0; i < b->count; i++) {
        frontier_call_fini(&b->parts[i].call);
        free(b->parts[i].items);
        free(b->parts[i].at);
    }
    free(b->parts);
    free(b);
}

/* Each item gets the acknowledgement from its part; the call fails only if all
 * parts did. */
static void router_join(struct batch *b)
{
    struct frontier_call *call = b->call;
    const struct frontier_call *first = &b->parts[0].call;

    answer_begin(call);
    call->status = first->status;
    call->why = first->why;
    for (size_t i = 0; i < b->count; i++) {
        const struct part *p = &b->parts[i];

        if (p->call.status == STATUS_OK)
            call->status = STATUS_OK;
        for (size_t k = 0; k < p->n; k++)
            call->in.put.items[p->at[k]].ack = p->items[k].ack;
    }
    batch_free(b);
    call->done(call); /* no longer ours */
}

static void one_done(struct batch *b)
{
    if (atomic_fetch_sub(&b->pending, 1) == 1)
        router_join(b);
}

static void part_done(struct frontier_call *call)
{
    one_done(call->ctx);
}

/* Submits served URLs first: only that may fail for lack of room. */
static enum status submit_first(struct router *r, struct batch *b)
{
    for (size_t i = 0; i < b->count; i++)
        if (b->parts[i].crawl.len == 0)
            return router_send(r, b->parts[i].crawl, &b->parts[i].call);
    return STATUS_OK;
}

static enum status submit_parts(struct router *r, struct batch *b)
{
    enum status st;

    atomic_init(&b->pending, b->count + 1); /* plus this thread */
    for (size_t i = 0; i < b->count; i++) {
        struct part *p = &b->parts[i];

        frontier_call_init(&p->call, FRONTIER_PUT, part_done, b);
        p->call.via = b->call->via;
        p->call.in.put = (struct frontier_put){p->items, p->n};
    }
    st = submit_first(r, b);
    if (st != STATUS_OK) {
        batch_free(b);
        return st;
    }
    for (size_t i = 0; i < b->count; i++)
        if (b->parts[i].crawl.len > 0)
            router_to_crawl(r, b->parts[i].crawl, &b->parts[i].call);
    one_done(b);
    return STATUS_OK;
}

/* Does the whole batch go to one place? If so, sets *place. */
static bool router_is_whole(const struct router *r,
                            const struct frontier_put *in, struct bytes *place)
{
    struct bytes last = {NULL, 0};

    for (size_t i = 0; i < in->n; i++) {
        struct bytes one = router_place_of(r, &in->items[i], last, *place);

        if (i > 0 && !bytes_equal(one, *place))
            return false;
        *place = one;
        last = in->items[i].crawl;
    }
    return true;
}

static enum status router_put(struct router *r, struct frontier_call *call)
{
    struct bytes place = {NULL, 0};
    struct batch *b;

    if (call->in.put.n == 0 || call->in.put.n > FRONTIER_PUT_MOST)
        return STATUS_ARG;
    if (router_is_whole(r, &call->in.put, &place))
        return router_send(r, place, call);
    b = xcalloc(1, sizeof *b);
    b->call = call;
    router_split(r, b);
    return submit_parts(r, b);
}

/* ---- deleting a crawl of our own ----
 *
 * It does the same as DELETE /v1/crawls/NAME: it stops the crawl at once and
 * deletes its directory with everything in it, pages and WARC files too. The
 * caller has the role that DELETE requires.
 */

struct deletion {
    struct crawls_call base; /* first */
    struct frontier_call *call;
};

/* Copies `why`: call->why must outlive the deletion. */
static void router_refuse(struct frontier_call *call, const char *why)
{
    struct bytes kept = answer_keep(call, bytes_of(why, strlen(why) + 1));

    answer_refuse(call, kept.len > 0 ? kept.at
                                     : "not in the crawl's present "
                                       "state");
}

static void deleted(struct crawls_call *base)
{
    struct deletion *d = (struct deletion *)base;
    struct frontier_call *call = d->call;
    const json_t *n = json_object_get(base->out, "deleted");

    answer_begin(call);
    if (base->status == STATUS_OK)
        call->number = (uint64_t)json_integer_value(n);
    else if (base->status == STATUS_BUSY)
        router_refuse(call, base->why);
    else if (base->status != STATUS_NOT_FOUND) /* else already deleted */
        answer_fail(call, base->status);
    json_decref(base->out);
    free(d);
    call->done(call); /* no longer ours */
}

static enum status router_delete(struct router *r, struct frontier_call *call)
{
    struct deletion *d = xcalloc(1, sizeof *d);
    enum status st;

    d->base.verb = CRAWLS_DELETE;
    d->base.crawl = served_crawl_name(call->in.crawl);
    d->base.done = deleted;
    d->call = call;
    st = crawls_submit(r->crawls, &d->base);
    if (st != STATUS_OK)
        free(d);
    return st;
}

/* ---- sends each call to its place ---- */

struct router *router_new(struct frontier_service *frontier,
                          struct crawls *crawls)
{
    struct router *r = xcalloc(1, sizeof *r);
    struct frontier_service_stats s = {.active = true};

    r->frontier = frontier;
    r->crawls = crawls;
    if (frontier != NULL)
        frontier_service_get_stats(frontier, &s);
    atomic_init(&r->active, s.active);
    atomic_init(&r->turn, 0);
    pthread_mutex_init(&r->mtx, NULL);
    pthread_cond_init(&r->left, NULL);
    return r;
}

/* ---- the end of the crawls ---- */

/* A call may move from one source to the next on the frontier thread while
 * another thread closes the crawls; that one waits until no thread is inside.
 */
static bool router_enter(struct router *r)
{
    bool in;

    pthread_mutex_lock(&r->mtx);
    in = !r->ended;
    r->inside += in;
    pthread_mutex_unlock(&r->mtx);
    return in;
}

/* Keeps the crawls open until router_leave, which must follow soon and on the
 * same thread. False: they have ended or are about to; do not call
 * router_leave. May be nested. */
static void router_leave(struct router *r)
{
    pthread_mutex_lock(&r->mtx);
    if (--r->inside == 0)
        pthread_cond_broadcast(&r->left);
    pthread_mutex_unlock(&r->mtx);
}

void router_end_crawls(struct router *r)
{
    pthread_mutex_lock(&r->mtx);
    r->ended = true;
    while (r->inside > 0)
        pthread_cond_wait(&r->left, &r->mtx);
    pthread_mutex_unlock(&r->mtx);
}

void router_set_crawls(struct router *r, struct crawls *crawls)
{
    r->crawls = crawls;
}

void router_close(struct router *r)
{
    router_end_crawls(r);
    r->frontier = NULL;
}

void router_free(struct router *r)
{
    if (r == NULL)
        return;
    router_end_crawls(r);
    pthread_cond_destroy(&r->left);
    pthread_mutex_destroy(&r->mtx);
    free(r);
}

struct frontier_service *router_frontier(const struct router *r)
{
    return r->frontier;
}

static void router_finish(struct frontier_call *call)
{
    call->done(call); /* no longer ours */
}

/* ---- without a frontier of other programs ---- */

/* The answer about a crawl that does not exist. */
static void answer_unknown(struct frontier_call *call)
{
    answer_begin(call);
    switch (call->verb) {
    case FRONTIER_PUT:
        answer_refuse(call, "a crawl of this name accepts no URLs");
        break;
    case FRONTIER_URL_STATUS:
    case FRONTIER_SET_LIMIT:
    case FRONTIER_SETTLE:
        call->status = STATUS_NOT_FOUND;
        break;
    case FRONTIER_STATS:
        call->counts = (struct url_counts){0};
        break;
    default: /* the API answers with nothing */
        break;
    }
    router_finish(call);
}

/* ---- by crawl ---- */

/* Submits the call to a crawl of our own and calls `done` in any case. Any
 * thread. */
static void router_to_crawl(struct router *r, struct bytes name,
                            struct frontier_call *call)
{
    enum status st = STATUS_CLOSED;

    if (call->verb == FRONTIER_GET && !atomic_load(&r->active)) {
        answer_begin(call);
        router_finish(call);
        return;
    }
    if (router_enter(r)) {
        st = call_crawl_submit(r->crawls, name, call);
        router_leave(r);
    }
    if (st == STATUS_NOT_FOUND) /* deleted just now */
        answer_unknown(call);
    else if (st != STATUS_OK) {
        answer_begin(call);
        answer_fail(call, st);
        router_finish(call);
    }
}

/* Submits the call to that place, like router_submit; from any thread. Always
 * STATUS_OK for a crawl of our own. */
static enum status router_send(struct router *r, struct bytes place,
                               struct frontier_call *call)
{
    if (place.len == 0 && r->frontier != NULL)
        return frontier_service_submit(r->frontier, call);
    if (place.len > 0)
        router_to_crawl(r, place, call);
    else
        answer_unknown(call);
    return STATUS_OK;
}

static enum status to_served(struct router *r, struct frontier_call *call)
{
    return router_send(r, (struct bytes){NULL, 0}, call);
}

/* SET_DELAY without a key comes here too: it sets the default of served URLs,
 * unless it names a crawl of our own. */
static enum status by_crawl(struct router *r, struct frontier_call *call)
{
    struct bytes place = router_place(r, call->in.crawl);

    return place.len > 0 && call->verb == FRONTIER_DELETE_CRAWL
               ? router_delete(r, call)
               : router_send(r, place, call);
}

static enum status get(struct router *r, struct frontier_call *call)
{
    if (!call->in.get.any_crawl)
        return by_crawl(r, call);
    if (call->in.key.len > 0) /* a key alone names no queue */
        return to_served(r, call);
    return router_get_any(r, call);
}

/* ---- by lease ---- */

/* Looks for the crawl that gave a lease: asks those whose names have its hash
 * in turn, until one knows it. */
struct search {
    struct router *router;
    struct frontier_call *call;
    void (*done)(struct frontier_call *call);
    void *ctx;
    struct crawls_view *crawls;
    size_t count, at;
};

static void search_next(struct frontier_call *call);

static void search_end(struct search *s)
{
    struct frontier_call *call = s->call;

    call->done = s->done;
    call->ctx = s->ctx;
    free(s->crawls);
    free(s);
    router_finish(call);
}

static void search_on(struct search *s)
{
    while (s->at < s->count &&
           !call_crawl_may_have(s->call->in.settle.lease,
                                bytes_of_str(s->crawls[s->at].name)))
        s->at++;
    if (s->at < s->count) {
        router_to_crawl(s->router, bytes_of_str(s->crawls[s->at++].name),
                        s->call);
        return;
    }
    answer_begin(s->call);
    s->call->status = STATUS_NOT_FOUND;
    search_end(s);
}

static void search_next(struct frontier_call *call)
{
    struct search *s = call->ctx;

    if (call->status == STATUS_NOT_FOUND)
        search_on(s);
    else
        search_end(s);
}

static enum status router_settle(struct router *r, struct frontier_call *call)
{
    struct search *s;

    if (!call_crawl_is_lease(call->in.settle.lease))
        return to_served(r, call);
    s = xcalloc(1, sizeof *s);
    s->router = r;
    s->call = call;
    s->done = call->done;
    s->ctx = call->ctx;
    if (r->crawls != NULL)
        s->count = crawls_each(r->crawls, &s->crawls);
    call->done = search_next;
    call->ctx = s;
    search_on(s);
    return STATUS_OK;
}

/* ---- of all ---- */

/* A call sent to the frontier of other programs first; the router then adds to
 * its answer. */
struct detour {
    struct router *router;
    void (*done)(struct frontier_call *call);
    void *ctx;
};

static void detour_end(struct frontier_call *call)
{
    struct detour *d = call->ctx;

    call->done = d->done;
    call->ctx = d->ctx;
    free(d);
    router_finish(call);
}

static enum status detour(struct router *r, struct frontier_call *call,
                          void (*then)(struct frontier_call *call))
{
    struct detour *d = xcalloc(1, sizeof *d);
    enum status st = STATUS_OK;

    *d = (struct detour){r, call->done, call->ctx};
    call->done = then;
    call->ctx = d;
    if (r->frontier != NULL) {
        st = frontier_service_submit(r->frontier, call);
    } else {
        answer_begin(call);
        call->flag = atomic_load(&r->active);
        then(call);
    }
    if (st == STATUS_OK)
        return st;
    call->done = d->done;
    call->ctx = d->ctx;
    free(d);
    return st;
}

static bool router_is_named(const struct frontier_call *call, struct bytes name)
{
    for (size_t i = 0; i < call->name_count; i++)
        if (bytes_equal(call->names[i], name))
            return true;
    return false;
}

static void add_crawls(struct frontier_call *call)
{
    const struct detour *d = call->ctx;
    struct crawls_view *views = NULL;
    size_t n = 0, before = call->name_count;
    struct bytes *names = NULL;

    if (!router_enter(d->router)) {
        answer_fail(call, STATUS_CLOSED);
    } else {
        if (d->router->crawls != NULL)
            n = crawls_each(d->router->crawls, &views);
        router_leave(d->router);
    }
    if (call->status == STATUS_OK)
        names = answer_room(call, before + n + 1, sizeof *names);
    if (names != NULL) {
        if (before > 0)
            memcpy(names, call->names, before * sizeof *names);
        call->names = names;
        for (size_t i = 0; i < n; i++)
            if (!router_is_named(call, bytes_of_str(views[i].name)))
                answer_name(call, bytes_of_str(views[i].name));
    }
    free(views);
    detour_end(call);
}

static void note_active(struct frontier_call *call)
{
    const struct detour *d = call->ctx;

    if (call->status == STATUS_OK)
        atomic_store(&d->router->active, call->in.active);
    detour_end(call);
}

static enum status submit(struct router *r, struct frontier_call *call)
{
    if (r->crawls == NULL && r->frontier != NULL)
        return frontier_service_submit(r->frontier, call);
    switch (call->verb) {
    case FRONTIER_PUT:
        return router_put(r, call);
    case FRONTIER_GET:
        return get(r, call);
    case FRONTIER_SETTLE:
        return router_settle(r, call);
    case FRONTIER_LIST_CRAWLS:
        return detour(r, call, add_crawls);
    case FRONTIER_SET_ACTIVE:
        return detour(r, call, note_active);
    case FRONTIER_GET_ACTIVE:
        return detour(r, call, detour_end);
    case FRONTIER_SET_LOG_LEVEL:
    case FRONTIER_LIST_NODES:
        return to_served(r, call);
    case FRONTIER_VERBS_:
        return STATUS_ARG;
    default:
        return by_crawl(r, call);
    }
}

enum status router_submit(struct router *r, struct frontier_call *call)
{
    enum status st = STATUS_CLOSED;

    if (router_enter(r)) {
        st = submit(r, call);
        router_leave(r);
    }
    return st;
}

/* ---- names that are taken ---- */

static void router_told(struct frontier_call *call)
{
    latch_open(call->ctx);
}

bool router_is_served(struct router *r, struct bytes name)
{
    struct latch done;
    struct frontier_call call;
    bool there = false;

    if (r->frontier == NULL)
        return false;
    latch_init(&done);
    frontier_call_init(&call, FRONTIER_STATS, router_told, &done);
    call.in.crawl = name;
    if (frontier_service_submit(r->frontier, &call) == STATUS_OK) {
        latch_wait(&done);
        there = call.status == STATUS_OK && call.counts.queues > 0;
    }
    frontier_call_fini(&call);
    latch_fini(&done);
    return there;
}
