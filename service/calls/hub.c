/* SPDX-License-Identifier: MIT */
/* hub.c - which call goes where. */
#include "service/calls/hub.h"

#include <stdlib.h>
#include <string.h>

#include "base/latch.h"
#include "base/logger.h"
#include "base/mem.h"
#include "frontier/served/item_name.h"
#include "service/calls/frontier_answer.h"
#include "service/calls/hub_impl.h"
#include "service/calls/lend.h"

struct hub *hub_new(struct frontier_service *frontier, struct crawls *crawls)
{
    struct hub *h = xcalloc(1, sizeof *h);
    struct frontier_service_sample s = {.active = true};

    h->frontier = frontier;
    h->crawls = crawls;
    if (frontier != NULL)
        frontier_service_sample(frontier, &s);
    atomic_init(&h->active, s.active);
    atomic_init(&h->turn, 0);
    pthread_mutex_init(&h->mtx, NULL);
    pthread_cond_init(&h->left, NULL);
    return h;
}

/* ---- crawls that go ---- */

/* A call may go from one source to the next on the frontier's thread while
 * others close the crawls, so they are told here when nobody looks at them. */
bool hub_enter(struct hub *h)
{
    bool in;

    pthread_mutex_lock(&h->mtx);
    in = !h->ended;
    h->inside += in;
    pthread_mutex_unlock(&h->mtx);
    return in;
}

void hub_leave(struct hub *h)
{
    pthread_mutex_lock(&h->mtx);
    if (--h->inside == 0)
        pthread_cond_broadcast(&h->left);
    pthread_mutex_unlock(&h->mtx);
}

void hub_end_crawls(struct hub *h)
{
    pthread_mutex_lock(&h->mtx);
    h->ended = true;
    while (h->inside > 0)
        pthread_cond_wait(&h->left, &h->mtx);
    pthread_mutex_unlock(&h->mtx);
}

void hub_set_crawls(struct hub *h, struct crawls *crawls)
{
    h->crawls = crawls;
}

void hub_close(struct hub *h)
{
    hub_end_crawls(h);
    h->frontier = NULL;
}

void hub_free(struct hub *h)
{
    if (h == NULL)
        return;
    hub_end_crawls(h);
    pthread_cond_destroy(&h->left);
    pthread_mutex_destroy(&h->mtx);
    free(h);
}

struct frontier_service *hub_frontier(const struct hub *h)
{
    return h->frontier;
}

bool hub_is_ours(const struct hub *h, struct bytes crawl)
{
    return h->crawls != NULL && crawls_has(h->crawls, item_crawl_name(crawl));
}

static void finish(struct frontier_call *call)
{
    call->done(call); /* no longer ours */
}

/* ---- without a frontier of other programs ---- */

/* What is said of a crawl that is not there. */
static void answer_unknown(struct frontier_call *call)
{
    answer_begin(call);
    switch (call->verb) {
    case FRONTIER_PUT:
        answer_refuse(call, "no URLs are taken for a crawl of this name");
        break;
    case FRONTIER_URL_STATUS:
    case FRONTIER_SET_LIMIT:
    case FRONTIER_SETTLE:
        call->status = STATUS_NOT_FOUND;
        break;
    case FRONTIER_STATS:
        call->counts = (struct frontier_counts){0};
        break;
    default: /* nothing of it, as the API has it */
        break;
    }
    finish(call);
}

/* ---- by crawl ---- */

void hub_lend(struct hub *h, struct bytes crawl, struct frontier_call *call)
{
    enum status st;

    if (call->verb == FRONTIER_GET && !atomic_load(&h->active)) {
        answer_begin(call);
        finish(call);
        return;
    }
    st = STATUS_CLOSED;
    if (hub_enter(h)) {
        st = lend_submit(h->crawls, item_crawl_name(crawl), call);
        hub_leave(h);
    }
    if (st == STATUS_NOT_FOUND) /* deleted just now */
        answer_unknown(call);
    else if (st != STATUS_OK) {
        answer_begin(call);
        answer_fail(call, st);
        finish(call);
    }
}

static enum status pass_on(struct hub *h, struct frontier_call *call)
{
    if (h->frontier != NULL)
        return frontier_service_submit(h->frontier, call);
    answer_unknown(call);
    return STATUS_OK;
}

static struct bytes crawl_of(const struct frontier_call *call)
{
    switch (call->verb) {
    case FRONTIER_GET:
        return call->in.get.crawl;
    case FRONTIER_URL_STATUS:
        return call->in.url.crawl;
    case FRONTIER_LIST_URLS:
        return call->in.list.crawl;
    case FRONTIER_COUNT_URLS:
        return call->in.count.crawl;
    case FRONTIER_PURGE_URLS:
        return call->in.purge.crawl;
    case FRONTIER_LIST_QUEUES:
        return call->in.queues.crawl;
    case FRONTIER_DELETE_CRAWL:
        return call->in.crawl;
    default:
        return call->in.queue.crawl;
    }
}

static enum status by_crawl(struct hub *h, struct frontier_call *call)
{
    struct bytes crawl = crawl_of(call);

    if (!hub_is_ours(h, crawl))
        return pass_on(h, call);
    if (call->verb == FRONTIER_DELETE_CRAWL)
        return hub_delete(h, call);
    hub_lend(h, crawl, call);
    return STATUS_OK;
}

/* SET_DELAY without a key is the default of programs' queues, as it ever was,
 * unless it names a crawl of ours. */
static enum status get(struct hub *h, struct frontier_call *call)
{
    if (!call->in.get.any_crawl)
        return by_crawl(h, call);
    if (call->in.get.key.len > 0) /* a key alone names no queue */
        return pass_on(h, call);
    return hub_get_any(h, call);
}

/* ---- by lease ---- */

/* Of one crawl: those whose names fall together are asked in turn, until one
 * knows it. */
struct search {
    struct hub *hub;
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
    finish(call);
}

static void search_on(struct search *s)
{
    while (s->at < s->count &&
           !lend_may_be_of(s->call->in.settle.lease,
                           bytes_of_str(s->crawls[s->at].name)))
        s->at++;
    if (s->at < s->count) {
        hub_lend(s->hub, bytes_of_str(s->crawls[s->at++].name), s->call);
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

static enum status settle(struct hub *h, struct frontier_call *call)
{
    struct search *s;

    if (!lend_is_lease(call->in.settle.lease))
        return pass_on(h, call);
    s = xcalloc(1, sizeof *s);
    s->hub = h;
    s->call = call;
    s->done = call->done;
    s->ctx = call->ctx;
    if (h->crawls != NULL)
        s->count = crawls_each(h->crawls, &s->crawls);
    call->done = search_next;
    call->ctx = s;
    search_on(s);
    return STATUS_OK;
}

/* ---- of all ---- */

/* A call on its way to the frontier of other programs, whose answer is added
 * to. */
struct detour {
    struct hub *hub;
    void (*done)(struct frontier_call *call);
    void *ctx;
};

static void detour_end(struct frontier_call *call)
{
    struct detour *d = call->ctx;

    call->done = d->done;
    call->ctx = d->ctx;
    free(d);
    finish(call);
}

static enum status detour(struct hub *h, struct frontier_call *call,
                          void (*then)(struct frontier_call *call))
{
    struct detour *d = xcalloc(1, sizeof *d);
    enum status st = STATUS_OK;

    *d = (struct detour){h, call->done, call->ctx};
    call->done = then;
    call->ctx = d;
    if (h->frontier != NULL) {
        st = frontier_service_submit(h->frontier, call);
    } else {
        answer_begin(call);
        call->flag = atomic_load(&h->active);
        then(call);
    }
    if (st == STATUS_OK)
        return st;
    call->done = d->done;
    call->ctx = d->ctx;
    free(d);
    return st;
}

static bool is_named(const struct frontier_call *call, struct bytes name)
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

    if (!hub_enter(d->hub)) {
        answer_fail(call, STATUS_CLOSED);
    } else {
        if (d->hub->crawls != NULL)
            n = crawls_each(d->hub->crawls, &views);
        hub_leave(d->hub);
    }
    if (call->status == STATUS_OK)
        names = answer_room(call, before + n + 1, sizeof *names);
    if (names != NULL) {
        if (before > 0)
            memcpy(names, call->names, before * sizeof *names);
        call->names = names;
        for (size_t i = 0; i < n; i++)
            if (!is_named(call, bytes_of_str(views[i].name)))
                answer_name(call, bytes_of_str(views[i].name));
    }
    free(views);
    detour_end(call);
}

static void note_active(struct frontier_call *call)
{
    const struct detour *d = call->ctx;

    if (call->status == STATUS_OK)
        atomic_store(&d->hub->active, call->in.active);
    detour_end(call);
}

static enum status submit(struct hub *h, struct frontier_call *call)
{
    if (h->crawls == NULL && h->frontier != NULL)
        return frontier_service_submit(h->frontier, call);
    switch (call->verb) {
    case FRONTIER_PUT:
        return hub_put(h, call);
    case FRONTIER_GET:
        return get(h, call);
    case FRONTIER_SETTLE:
        return settle(h, call);
    case FRONTIER_LIST_CRAWLS:
        return detour(h, call, add_crawls);
    case FRONTIER_SET_ACTIVE:
        return detour(h, call, note_active);
    case FRONTIER_GET_ACTIVE:
        return detour(h, call, detour_end);
    case FRONTIER_SET_LOG_LEVEL:
    case FRONTIER_LIST_NODES:
        return pass_on(h, call);
    case FRONTIER_VERBS_:
        return STATUS_ARG;
    default:
        return by_crawl(h, call);
    }
}

enum status hub_submit(struct hub *h, struct frontier_call *call)
{
    enum status st = STATUS_CLOSED;

    if (hub_enter(h)) {
        st = submit(h, call);
        hub_leave(h);
    }
    return st;
}

/* ---- names that are taken ---- */

static void told(struct frontier_call *call)
{
    latch_open(call->ctx);
}

bool hub_is_put(struct hub *h, struct bytes name)
{
    struct latch done;
    struct frontier_call call;
    bool there = false;

    if (h->frontier == NULL)
        return false;
    latch_init(&done);
    frontier_call_init(&call, FRONTIER_STATS, told, &done);
    call.in.queue.crawl = name;
    if (frontier_service_submit(h->frontier, &call) == STATUS_OK) {
        latch_wait(&done);
        there = call.status == STATUS_OK && call.counts.queues > 0;
    }
    frontier_call_fini(&call);
    latch_fini(&done);
    return there;
}
