/* SPDX-License-Identifier: MIT */
/* urlfrontier_api.c - the table of methods, calls between two threads, and
 * those with one request and one answer. */
#include "service/urlfrontier/urlfrontier_api.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/mem.h"
#include "service/urlfrontier.pb-c.h"
#include "service/urlfrontier/urlfrontier_call.h"

/* ---- the calls with one request and one answer ----
 *
 * A spec for each call: the type of its request, the function that makes a
 * frontier call of it, and the function that replies. The request's memory
 * lives as long as the call, since the frontier reads from it.
 */

#define REQUEST_MOST (32u << 20) /* octets of a request, unpacked */
#define ANSWER_MOST  (32u << 20)

struct unary {
    struct api_call base; /* first */
    const struct unary_spec *spec;
    struct arena *arena;
    uint32_t start; /* ListQueues: returned in the answer */
};

struct unary_spec {
    const ProtobufCMessageDescriptor *request;
    enum frontier_verb verb;
    /* False: the request is not valid, and the call has been finished. */
    bool (*ask)(struct unary *u, const void *request);
    void (*reply)(struct unary *u);
    enum grpc_code not_found; /* 0: NOT_FOUND */
};

static void free_unary(struct unary *u)
{
    arena_free(u->arena);
    api_call_fini(&u->base);
    free(u);
}

static void reply_answered(struct api_call *a)
{
    struct unary *u = (struct unary *)a;

    if (a->call.status == STATUS_NOT_FOUND && u->spec->not_found != GRPC_OK)
        grpc_call_finish(a->grpc, u->spec->not_found, "no such queue");
    else if (!api_failed(a))
        u->spec->reply(u);
    free_unary(u);
}

static void urlfrontier_unary_message(struct grpc_call *c, struct bytes m)
{
    const struct unary_spec *spec = grpc_call_method(c)->spec;
    struct unary *u = xcalloc(1, sizeof *u);
    const void *request;

    api_call_init(&u->base, c, spec->verb, reply_answered);
    u->spec = spec;
    u->arena = arena_new(REQUEST_MOST);
    request = grpc_unpack(c, spec->request, u->arena, m);
    if (request != NULL && spec->ask(u, request))
        api_submit(&u->base);
    else
        free_unary(u);
}

/* ---- requests ---- */

static bool text(struct unary *u, ProtobufCBinaryData d, struct bytes *to)
{
    *to = proto_bytes(d);
    return grpc_is_text(u->base.grpc, d);
}

static bool ask_nothing(struct unary *u, const void *request)
{
    (void)u;
    (void)request;
    return true;
}

/* Sets the queue, or the crawl. */
static bool ask_target(struct unary *u, ProtobufCBinaryData crawl,
                       ProtobufCBinaryData key)
{
    return text(u, crawl, &u->base.call.in.crawl) &&
           text(u, key, &u->base.call.in.key);
}

static bool ask_url_status(struct unary *u, const void *request)
{
    const Urlfrontier__URLStatusRequest *r = request;

    return text(u, r->url, &u->base.call.in.url) &&
           ask_target(u, r->crawlid, r->key);
}

static bool ask_count(struct unary *u, const void *request)
{
    const Urlfrontier__CountUrlParams *r = request;
    struct frontier_list *in = &u->base.call.in.list;

    in->filtered =
        r->has_filter_case == URLFRONTIER__COUNT_URL_PARAMS__HAS_FILTER_FILTER;
    in->ignore_case =
        r->has_ignore_case_case ==
            URLFRONTIER__COUNT_URL_PARAMS__HAS_IGNORE_CASE_IGNORE_CASE &&
        r->ignorecase;
    if (in->filtered && !text(u, r->filter, &in->filter))
        return false;
    return ask_target(u, r->crawlid, r->key);
}

static bool ask_purge(struct unary *u, const void *request)
{
    const Urlfrontier__PurgeUrlParams *r = request;

    u->base.call.in.days = r->days;
    return ask_target(u, r->crawlid, r->key);
}

static bool ask_queues(struct unary *u, const void *request)
{
    const Urlfrontier__Pagination *r = request;
    struct frontier_list_queues *in = &u->base.call.in.queues;

    in->start = u->start = r->start;
    in->size = r->size;
    in->include_inactive = r->include_inactive;
    return text(u, r->crawlid, &u->base.call.in.crawl);
}

static bool ask_setting(struct unary *u, ProtobufCBinaryData crawl,
                        ProtobufCBinaryData key, uint64_t value)
{
    u->base.call.in.setting.value = value;
    return ask_target(u, crawl, key);
}

static bool ask_within(struct unary *u, const void *request)
{
    const Urlfrontier__QueueWithinCrawlParams *r = request;

    return ask_target(u, r->crawlid, r->key);
}

static bool ask_block(struct unary *u, const void *request)
{
    const Urlfrontier__BlockQueueParams *r = request;

    return ask_setting(u, r->crawlid, r->key, r->time);
}

static bool ask_delay(struct unary *u, const void *request)
{
    const Urlfrontier__QueueDelayParams *r = request;

    return ask_setting(u, r->crawlid, r->key, r->delay_requestable);
}

static bool ask_limit(struct unary *u, const void *request)
{
    const Urlfrontier__CrawlLimitParams *r = request;

    return ask_setting(u, r->crawlid, r->key, r->limit);
}

static bool ask_delete_crawl(struct unary *u, const void *request)
{
    const Urlfrontier__DeleteCrawlMessage *r = request;

    return text(u, r->value, &u->base.call.in.crawl);
}

static bool ask_active(struct unary *u, const void *request)
{
    const Urlfrontier__Active *r = request;

    u->base.call.in.active = r->state;
    return true;
}

static bool ask_log_level(struct unary *u, const void *request)
{
    const Urlfrontier__LogLevelParams *r = request;
    struct bytes package;

    if ((unsigned)r->level > URLFRONTIER__LOG_LEVEL_PARAMS__LEVEL__ERROR) {
        grpc_call_finish(u->base.grpc, GRPC_INVALID_ARGUMENT,
                         "no such log level");
        return false;
    }
    u->base.call.in.log_level = (uint32_t)r->level;
    return text(u, r->package, &package);
}

/* ---- replies ---- */

static void reply_empty(struct unary *u)
{
    Urlfrontier__Empty out = URLFRONTIER__EMPTY__INIT;

    grpc_reply(u->base.grpc, &out.base);
}

static void reply_number(struct unary *u)
{
    Urlfrontier__Long out = URLFRONTIER__LONG__INIT;

    out.value = u->base.call.number;
    grpc_reply(u->base.grpc, &out.base);
}

static void reply_flag(struct unary *u)
{
    Urlfrontier__Boolean out = URLFRONTIER__BOOLEAN__INIT;

    out.state = u->base.call.flag;
    grpc_reply(u->base.grpc, &out.base);
}

/* The names in protobuf-c's form; the caller frees them. */
static ProtobufCBinaryData *names_of(const struct frontier_call *call)
{
    ProtobufCBinaryData *at =
        xcalloc(call->name_count > 0 ? call->name_count : 1, sizeof *at);

    for (size_t i = 0; i < call->name_count; i++)
        at[i] = proto_data(call->names[i]);
    return at;
}

static void reply_names(struct unary *u)
{
    const struct frontier_call *call = &u->base.call;
    Urlfrontier__StringList out = URLFRONTIER__STRING_LIST__INIT;

    out.n_values = call->name_count;
    out.values = names_of(call);
    grpc_reply(u->base.grpc, &out.base);
    free(out.values);
}

static void reply_queues(struct unary *u)
{
    const struct frontier_call *call = &u->base.call;
    Urlfrontier__QueueList out = URLFRONTIER__QUEUE_LIST__INIT;

    out.n_values = call->name_count;
    out.values = names_of(call);
    out.start = u->start;
    out.size = (uint32_t)call->name_count;
    out.crawlid = proto_data(call->crawl_id);
    grpc_reply(u->base.grpc, &out.base);
    free(out.values);
}

static void reply_stats(struct unary *u)
{
    const struct frontier_call *call = &u->base.call;
    const struct url_counts *n = &call->counts;
    Urlfrontier__Stats out = URLFRONTIER__STATS__INIT;
    Urlfrontier__Stats__CountsEntry completed =
        URLFRONTIER__STATS__COUNTS_ENTRY__INIT;
    Urlfrontier__Stats__CountsEntry active =
        URLFRONTIER__STATS__COUNTS_ENTRY__INIT;
    Urlfrontier__Stats__CountsEntry *counts[] = {&completed, &active};

    completed.key = proto_data(bytes_of_str("completed"));
    completed.value = n->completed;
    active.key = proto_data(bytes_of_str("active_queues"));
    active.value = n->active_queues;
    out.size = n->active;
    out.inprocess = n->leased > UINT32_MAX ? UINT32_MAX : (uint32_t)n->leased;
    out.n_counts = 2;
    out.counts = counts;
    out.numberofqueues = n->queues;
    out.crawlid = proto_data(call->crawl_id);
    grpc_reply(u->base.grpc, &out.base);
}

static void reply_url(struct unary *u)
{
    const struct frontier_call *call = &u->base.call;
    struct buf out;

    if (call->url_count != 1) {
        grpc_call_finish(u->base.grpc, GRPC_NOT_FOUND, "no such URL");
        return;
    }
    buf_init(&out, ANSWER_MOST);
    urlfrontier_url_as_item(&out, &call->urls[0]);
    urlfrontier_url_answer(u->base.grpc, &out);
    buf_fini(&out);
    grpc_call_finish(u->base.grpc, GRPC_OK, NULL);
}

/* ---- the calls ---- */

const struct unary_spec urlfrontier_get_url_status = {
    .request = &urlfrontier__urlstatus_request__descriptor,
    .verb = FRONTIER_URL_STATUS,
    .ask = ask_url_status,
    .reply = reply_url,
};
const struct unary_spec urlfrontier_count = {
    .request = &urlfrontier__count_url_params__descriptor,
    .verb = FRONTIER_COUNT_URLS,
    .ask = ask_count,
    .reply = reply_number,
};
const struct unary_spec urlfrontier_purge = {
    .request = &urlfrontier__purge_url_params__descriptor,
    .verb = FRONTIER_PURGE_URLS,
    .ask = ask_purge,
    .reply = reply_number,
};
const struct unary_spec urlfrontier_list_queues = {
    .request = &urlfrontier__pagination__descriptor,
    .verb = FRONTIER_LIST_QUEUES,
    .ask = ask_queues,
    .reply = reply_queues,
};
const struct unary_spec urlfrontier_delete_queue = {
    .request = &urlfrontier__queue_within_crawl_params__descriptor,
    .verb = FRONTIER_DELETE_QUEUE,
    .ask = ask_within,
    .reply = reply_number,
};
const struct unary_spec urlfrontier_block_queue = {
    .request = &urlfrontier__block_queue_params__descriptor,
    .verb = FRONTIER_BLOCK_QUEUE,
    .ask = ask_block,
    .reply = reply_empty,
};
const struct unary_spec urlfrontier_set_delay = {
    .request = &urlfrontier__queue_delay_params__descriptor,
    .verb = FRONTIER_SET_DELAY,
    .ask = ask_delay,
    .reply = reply_empty,
};
const struct unary_spec urlfrontier_set_limit = {
    .request = &urlfrontier__crawl_limit_params__descriptor,
    .verb = FRONTIER_SET_LIMIT,
    .ask = ask_limit,
    .reply = reply_empty,
    .not_found = GRPC_UNKNOWN, /* as in the reference service */
};
const struct unary_spec urlfrontier_get_stats = {
    .request = &urlfrontier__queue_within_crawl_params__descriptor,
    .verb = FRONTIER_STATS,
    .ask = ask_within,
    .reply = reply_stats,
};
const struct unary_spec urlfrontier_list_crawls = {
    .request = &urlfrontier__local__descriptor,
    .verb = FRONTIER_LIST_CRAWLS,
    .ask = ask_nothing,
    .reply = reply_names,
};
const struct unary_spec urlfrontier_delete_crawl = {
    .request = &urlfrontier__delete_crawl_message__descriptor,
    .verb = FRONTIER_DELETE_CRAWL,
    .ask = ask_delete_crawl,
    .reply = reply_number,
};
const struct unary_spec urlfrontier_set_active = {
    .request = &urlfrontier__active__descriptor,
    .verb = FRONTIER_SET_ACTIVE,
    .ask = ask_active,
    .reply = reply_empty,
};
const struct unary_spec urlfrontier_get_active = {
    .request = &urlfrontier__local__descriptor,
    .verb = FRONTIER_GET_ACTIVE,
    .ask = ask_nothing,
    .reply = reply_flag,
};
const struct unary_spec urlfrontier_set_log_level = {
    .request = &urlfrontier__log_level_params__descriptor,
    .verb = FRONTIER_SET_LOG_LEVEL,
    .ask = ask_log_level,
    .reply = reply_empty,
};

STAILQ_HEAD(call_list, api_call);

struct urlfrontier_api {
    /* the loop's thread */
    struct loop *loop;
    struct router *router;
    struct call_list waiting; /* the frontier had no room */
    size_t put_octets;

    /* shared by the frontier's thread and the loop's */
    struct loop_post room;
    atomic_bool room_posted;
};

#define OF(type, member, p) ((type *)((char *)(p)-offsetof(type, member)))

static void try_waiting(struct urlfrontier_api *a);

static void room_again(struct loop_post *p)
{
    struct urlfrontier_api *a = OF(struct urlfrontier_api, room, p);

    atomic_store(&a->room_posted, false);
    try_waiting(a);
}

struct urlfrontier_api *urlfrontier_api_new(struct loop *l)
{
    struct urlfrontier_api *a = xcalloc(1, sizeof *a);

    a->loop = l;
    a->room.run = room_again;
    atomic_init(&a->room_posted, false);
    STAILQ_INIT(&a->waiting);
    return a;
}

void urlfrontier_api_connect(struct urlfrontier_api *a, struct router *router)
{
    a->router = router;
}

void urlfrontier_api_free(struct urlfrontier_api *a)
{
    free(a);
}

void urlfrontier_api_room(void *api)
{
    struct urlfrontier_api *a = api;

    if (!atomic_exchange(&a->room_posted, true))
        loop_post(a->loop, &a->room);
}

size_t *api_put_octets(struct urlfrontier_api *a)
{
    return &a->put_octets;
}

/* ---- one call ---- */

static void done(struct frontier_call *call)
{
    struct api_call *a = OF(struct api_call, call, call);

    loop_post(a->api->loop, &a->post);
}

static void run_answered(struct loop_post *p)
{
    struct api_call *a = OF(struct api_call, post, p);

    a->answered(a);
}

void api_call_init(struct api_call *a, struct grpc_call *c,
                   enum frontier_verb verb,
                   void (*answered)(struct api_call *a))
{
    frontier_call_init(&a->call, verb, done, NULL);
    a->call.via = FRONTIER_VIA_GRPC;
    a->post.run = run_answered;
    a->api = grpc_call_ctx(c);
    a->grpc = c;
    a->answered = answered;
    grpc_call_hold(c);
}

void api_call_fini(struct api_call *a)
{
    frontier_call_fini(&a->call);
    grpc_call_drop(a->grpc);
}

/* False: there is no room. */
static bool hand_over(struct api_call *a)
{
    enum status st = router_submit(a->api->router, &a->call);

    if (st == STATUS_AGAIN)
        return false;
    if (st != STATUS_OK) { /* there is no callback then: call it here */
        a->call.status = st;
        loop_post(a->api->loop, &a->post);
    }
    return true;
}

void api_submit(struct api_call *a)
{
    struct urlfrontier_api *api = a->api;

    if (!STAILQ_EMPTY(&api->waiting) || !hand_over(a))
        STAILQ_INSERT_TAIL(&api->waiting, a, waiting);
}

static void try_waiting(struct urlfrontier_api *api)
{
    struct api_call *a;

    while ((a = STAILQ_FIRST(&api->waiting)) != NULL && hand_over(a))
        STAILQ_REMOVE_HEAD(&api->waiting, waiting);
}

bool api_failed(struct api_call *a)
{
    switch (a->call.status) {
    case STATUS_OK:
        return false;
    case STATUS_NOT_FOUND:
        grpc_call_finish(a->grpc, GRPC_NOT_FOUND, "no such URL");
        break;
    case STATUS_ARG:
        grpc_call_finish(a->grpc, GRPC_INVALID_ARGUMENT,
                         "no key was given and the URL has none");
        break;
    case STATUS_LIMIT:
        grpc_call_finish(a->grpc, GRPC_INVALID_ARGUMENT,
                         "a crawl ID, key or URL is too long");
        break;
    case STATUS_REFUSED:
        grpc_call_finish(a->grpc, GRPC_FAILED_PRECONDITION, "%s", a->call.why);
        break;
    case STATUS_CLOSED:
        grpc_call_finish(a->grpc, GRPC_UNAVAILABLE, "%s",
                         a->call.why != NULL ? a->call.why
                                             : "the service is stopping");
        break;
    default:
        grpc_call_finish(a->grpc, GRPC_INTERNAL, "the store failed: %s",
                         status_text(a->call.status));
        break;
    }
    return true;
}

/* ---- the methods ---- */

#define PATH(name) "/urlfrontier.URLFrontier/" name
#define UNARY(name, needs, which)                                              \
    {                                                                          \
        .path = PATH(name), .kind = GRPC_SINGLE, .role = (needs),              \
        .message = urlfrontier_unary_message, .spec = &(which)                 \
    }

const struct grpc_method urlfrontier_methods[] = {
    {.path = PATH("GetURLs"),
     .kind = GRPC_SINGLE,
     .role = AUTH_WRITE,
     .message = urlfrontier_get_message,
     .drained = urlfrontier_list_drained,
     .ended = urlfrontier_list_ended},
    {.path = PATH("ListURLs"),
     .kind = GRPC_SINGLE,
     .role = AUTH_READ,
     .message = urlfrontier_list_message,
     .drained = urlfrontier_list_drained,
     .ended = urlfrontier_list_ended},
    UNARY("GetURLStatus", AUTH_READ, urlfrontier_get_url_status),
    UNARY("CountURLs", AUTH_READ, urlfrontier_count),
    UNARY("PurgeURLs", AUTH_ADMIN, urlfrontier_purge),
    UNARY("ListQueues", AUTH_READ, urlfrontier_list_queues),
    UNARY("DeleteQueue", AUTH_ADMIN, urlfrontier_delete_queue),
    UNARY("BlockQueueUntil", AUTH_WRITE, urlfrontier_block_queue),
    UNARY("SetDelay", AUTH_WRITE, urlfrontier_set_delay),
    UNARY("SetCrawlLimit", AUTH_ADMIN, urlfrontier_set_limit),
    UNARY("GetStats", AUTH_READ, urlfrontier_get_stats),
    UNARY("ListCrawls", AUTH_READ, urlfrontier_list_crawls),
    UNARY("DeleteCrawl", AUTH_ADMIN, urlfrontier_delete_crawl),
    UNARY("SetActive", AUTH_ADMIN, urlfrontier_set_active),
    UNARY("GetActive", AUTH_READ, urlfrontier_get_active),
    UNARY("SetLogLevel", AUTH_ADMIN, urlfrontier_set_log_level),
    UNARY("ListNodes", AUTH_READ, urlfrontier_list_nodes),
    {.path = NULL},
};

const struct unary_spec urlfrontier_list_nodes = {
    .request = &urlfrontier__empty__descriptor,
    .verb = FRONTIER_LIST_NODES,
    .ask = ask_nothing,
    .reply = reply_names,
};
