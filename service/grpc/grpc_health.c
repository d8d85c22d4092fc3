/* SPDX-License-Identifier: MIT */
/* grpc_health.c - Check and Watch. */
#include "service/grpc/grpc_health.h"

#include <stdlib.h>
#include <sys/queue.h>

#include "base/mem.h"
#include "service/grpc/grpc_proto.h"
#include "service/health.pb-c.h"

#define REQUEST_MOST 65536 /* octets of a request, unpacked */

typedef Grpc__Health__V1__HealthCheckResponse__ServingStatus serving_status;
#define SERVING GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__SERVING
#define NOT_SERVING                                                            \
    GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__NOT_SERVING
#define SERVICE_UNKNOWN                                                        \
    GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__SERVICE_UNKNOWN

struct watch {
    TAILQ_ENTRY(watch) all;
    struct grpc_call *call;
};

TAILQ_HEAD(watch_list, watch);

struct grpc_health {
    const char *const *services;
    bool serving;
    struct watch_list watches;
};

struct grpc_health *grpc_health_new(const char *const *services)
{
    struct grpc_health *h = xcalloc(1, sizeof *h);

    h->services = services;
    h->serving = true;
    TAILQ_INIT(&h->watches);
    return h;
}

void grpc_health_free(struct grpc_health *h)
{
    free(h);
}

/* False: the call has been finished. */
static bool read_request(struct grpc_call *c, struct bytes m, bool *known)
{
    const struct grpc_health *h = grpc_call_ctx(c);
    struct arena *a = arena_new(REQUEST_MOST);
    const Grpc__Health__V1__HealthCheckRequest *r =
        grpc_unpack(c, &grpc__health__v1__health_check_request__descriptor, a,
                    m);

    if (r != NULL) {
        struct bytes name = proto_bytes(r->service);

        *known = name.len == 0;
        for (const char *const *s = h->services; *s != NULL; s++)
            *known = *known || bytes_is(name, *s);
    }
    arena_free(a);
    return r != NULL;
}

static void health_answer(struct grpc_call *c, serving_status status)
{
    Grpc__Health__V1__HealthCheckResponse r =
        GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__INIT;

    r.status = status;
    grpc_pack(c, &r.base);
}

static serving_status status_now(const struct grpc_health *h)
{
    return h->serving ? SERVING : NOT_SERVING;
}

static void health_check(struct grpc_call *c, struct bytes m)
{
    bool known;

    if (!read_request(c, m, &known))
        return;
    if (!known) {
        grpc_call_finish(c, GRPC_NOT_FOUND, "no such service here");
        return;
    }
    health_answer(c, status_now(grpc_call_ctx(c)));
    grpc_call_finish(c, GRPC_OK, NULL);
}

static void health_watch(struct grpc_call *c, struct bytes m)
{
    struct grpc_health *h = grpc_call_ctx(c);
    struct watch *w;
    bool known;

    if (!read_request(c, m, &known))
        return;
    if (!known) { /* it stays unknown, but the call stays open */
        health_answer(c, SERVICE_UNKNOWN);
        return;
    }
    w = xmalloc(sizeof *w);
    w->call = c;
    TAILQ_INSERT_TAIL(&h->watches, w, all);
    grpc_call_set_user(c, w);
    health_answer(c, status_now(h));
}

static void watch_ended(struct grpc_call *c)
{
    struct grpc_health *h = grpc_call_ctx(c);
    struct watch *w = grpc_call_user(c);

    if (w == NULL)
        return;
    TAILQ_REMOVE(&h->watches, w, all);
    free(w);
}

static void watch_stopping(struct grpc_call *c)
{
    grpc_call_finish(c, GRPC_UNAVAILABLE, "the service is stopping");
}

void grpc_health_set(struct grpc_health *h, bool serving)
{
    struct watch *w;

    if (h->serving == serving)
        return;
    h->serving = serving;
    /* No back-pressure is needed: changes are rare and answers are a few
     * octets. */
    for (w = TAILQ_FIRST(&h->watches); w != NULL; w = TAILQ_NEXT(w, all))
        health_answer(w->call, status_now(h));
}

const struct grpc_method grpc_health_methods[] = {
    {.path = "/grpc.health.v1.Health/Check",
     .kind = GRPC_SINGLE,
     .role = AUTH_NONE,
     .message = health_check},
    {.path = "/grpc.health.v1.Health/Watch",
     .kind = GRPC_SINGLE,
     .role = AUTH_NONE,
     .message = health_watch,
     .stopping = watch_stopping,
     .ended = watch_ended},
    {.path = NULL},
};
