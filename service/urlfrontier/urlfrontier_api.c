/* SPDX-License-Identifier: MIT */
/* urlfrontier_api.c - the table of methods, and calls between two threads. */
#include "service/urlfrontier/urlfrontier_api.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/mem.h"
#include "service/urlfrontier/urlfrontier_call.h"

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
