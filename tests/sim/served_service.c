/* SPDX-License-Identifier: MIT */
/*
 * served_service.c - stands in for service/service.c: the frontier and its
 * router, with the clients of a simulation where gRPC would be.
 */
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "service/service.h"
#include "tests/sim/life.h"
#include "tests/sim/scheduler.h"
#include "tests/sim/served_clients.h"
#include "tests/sim/threads.h"

int sim_sigtimedwait(const sigset_t *set, siginfo_t *info,
                     const struct timespec *t);

struct service {
    struct frontier_service *frontier;
    struct router *router;
    void (*on_stop)(void *ctx);
    bool (*is_over)(void *ctx);
    void *on_stop_ctx;
    int64_t drain_ms;
    bool runs;
};

enum status service_open(struct service **out, const struct service_options *o)
{
    struct service *s = calloc(1, sizeof *s);
    const struct frontier_service_options f = {
        .dir = o->dir,
        .memory = o->memory,
        .fpr = o->fpr,
        .checkpoint_ms = o->checkpoint_ms,
        .sweep_from = served_clients_sweep_from(),
        .node = bytes_of_str("127.0.0.1:7071"),
        .wall_ms = served_clients_clock,
    };
    enum status st;

    served_clients_open();
    st = frontier_service_open(&s->frontier, &f);
    if (st != STATUS_OK) {
        free(s);
        return st;
    }
    s->drain_ms = o->drain_ms;
    s->router = router_new(s->frontier, NULL);
    *out = s;
    return STATUS_OK;
}

static int wait_for_signal(const sigset_t *signals, int64_t seconds)
{
    const struct timespec t = {.tv_sec = (time_t)seconds};

    return sim_sigtimedwait(signals, NULL, &t);
}

/* In half of all lives calls are under way when the frontier is closed. */
enum status service_run(struct service *s, const sigset_t *signals)
{
    int64_t until;

    s->runs = true;
    served_clients_begin(s->router);
    while (wait_for_signal(signals, 3600) <= 0)
        continue;
    s->on_stop(s->on_stop_ctx);
    if (life_random() % 2 == 0)
        served_clients_stop();
    until = scheduler_mono() + s->drain_ms * NS_PER_MS;
    while (scheduler_mono() < until &&
           !(served_clients_are_over() && s->is_over(s->on_stop_ctx)) &&
           wait_for_signal(signals, 0) <= 0)
        scheduler_sleep(20 * NS_PER_MS);
    return STATUS_OK;
}

enum status service_close(struct service *s)
{
    enum status st;

    if (s == NULL)
        return STATUS_OK;
    st = frontier_service_close(s->frontier);
    router_close(s->router);
    if (s->runs)
        served_clients_end();
    router_free(s->router);
    free(s);
    return st;
}

void service_end(struct service *s)
{
    (void)s;
    threads_signal(SIGTERM);
}

const char *service_address(const struct service *s)
{
    (void)s;
    return "127.0.0.1:7071";
}

struct frontier_service *service_frontier(struct service *s)
{
    return s->frontier;
}

struct router *service_router(struct service *s)
{
    return s->router;
}

const struct grpc_server *service_grpc(const struct service *s)
{
    (void)s;
    return NULL;
}

struct auth *service_auth(const struct service *s)
{
    (void)s;
    return NULL;
}

void service_on_stop(struct service *s, void (*call)(void *ctx),
                     bool (*over)(void *ctx), void *ctx)
{
    s->on_stop = call;
    s->is_over = over;
    s->on_stop_ctx = ctx;
}

void service_on_reload(struct service *s, enum status (*call)(void *ctx),
                       void *ctx)
{
    (void)s, (void)call, (void)ctx;
}
