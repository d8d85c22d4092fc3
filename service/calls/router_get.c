/* SPDX-License-Identifier: MIT */
/*
 * router_get.c - gets URLs of any crawl, from all sources in turn.
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
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "service/calls/call.h"
#include "service/calls/router_impl.h"

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

enum status router_get_any(struct router *r, struct frontier_call *call)
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
