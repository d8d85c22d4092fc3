/* SPDX-License-Identifier: MIT */
/*
 * service.c - starts and stops the parts of the service, in order.
 *
 * The port is bound before the store is opened, since the store is told its
 * address; callers wait in the backlog meanwhile. It closes in reverse: first
 * the connections; then the store answers the calls that it still holds; then
 * the loop takes those answers a last time, though no caller is left.
 */
#include "service/service.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/logger.h"
#include "base/mem.h"
#include "service/grpc/grpc_server.h"
#include "service/grpc/grpc_services.h"
#include "service/net/loop.h"
#include "service/net/tls.h"
#include "service/shards/served_shards.h"
#include "service/urlfrontier/urlfrontier_api.h"

#define LOOK (20 * NS_PER_MS)

struct service {
    struct loop_fd signals; /* first */
    struct service_options options;
    struct loop *loop;
    struct auth *auth;
    struct tls *tls;
    struct grpc_health *health;
    struct grpc_reflection *reflection;
    struct urlfrontier_api *api;
    struct grpc_server *grpc;
    struct frontier_service *frontier;
    struct router *router;
    struct loop_timer too_long, look;
    struct loop_post end;
    bool stopping;
    void (*on_stop)(void *ctx);
    bool (*is_over)(void *ctx);
    void *on_stop_ctx;
    enum status (*on_reload)(void *ctx);
    void *on_reload_ctx;
};

static const char *const service_names[] = {
    "urlfrontier.URLFrontier",
    "grpc.health.v1.Health",
    NULL,
};

/* ---- stopping ---- */

/* Keeps the loop, which receives signals, running until the rest has ended. */
static void all_gone(void *ctx)
{
    struct service *s = ctx;

    if (s->is_over == NULL || s->is_over(s->on_stop_ctx))
        loop_stop(s->loop);
    else
        loop_timer_set(s->loop, &s->look, loop_now(s->loop) + LOOK);
}

static void service_look(struct loop_timer *t)
{
    all_gone((char *)t - offsetof(struct service, look));
}

static void too_long(struct loop_timer *t)
{
    struct service *s =
        (struct service *)((char *)t - offsetof(struct service, too_long));

    log_info("running calls are cut off", "calls=%zu",
             grpc_server_calls(s->grpc));
    loop_stop(s->loop);
}

static void stop(struct service *s)
{
    if (s->on_stop != NULL)
        s->on_stop(s->on_stop_ctx);
    if (s->stopping) {
        loop_stop(s->loop);
        return;
    }
    s->stopping = true;
    log_info("stopping", "calls=%zu", grpc_server_calls(s->grpc));
    grpc_health_set(s->health, false);
    s->look.fire = service_look;
    s->too_long.fire = too_long;
    loop_timer_set(s->loop, &s->too_long,
                   loop_now(s->loop) + s->options.drain_ms * NS_PER_MS);
    grpc_server_drain(s->grpc, all_gone, s);
}

static void reload(struct service *s)
{
    bool kept = false;

    if (s->auth != NULL)
        kept |= auth_reload(s->auth) != STATUS_OK;
    if (s->tls != NULL)
        kept |= tls_reload(s->tls) != STATUS_OK;
    if (s->on_reload != NULL)
        kept |= s->on_reload(s->on_reload_ctx) != STATUS_OK;
    if (kept)
        log_warn("not everything could be read again; the old values stay",
                 "%s", "");
    else
        log_info("tokens and certificates read again", "%s", "");
}

static void signalled(struct loop_fd *f, uint32_t events)
{
    struct service *s = (struct service *)f;
    struct signalfd_siginfo info;

    (void)events;
    while (read(f->fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGHUP)
            reload(s);
        else
            stop(s);
    }
}

static enum status watch_signals(struct service *s, const sigset_t *signals)
{
    s->signals.ready = signalled;
    s->signals.fd = signalfd(-1, signals, SFD_NONBLOCK | SFD_CLOEXEC);
    if (s->signals.fd < 0)
        return status_of_errno(errno);
    return loop_watch(s->loop, &s->signals, EPOLLIN);
}

/* ---- starting ---- */

static enum status open_port(struct service *s)
{
    const struct service_options *o = &s->options;
    const struct grpc_table tables[] = {
        {urlfrontier_put_methods, s->api},
        {urlfrontier_methods, s->api},
        {grpc_health_methods, s->health},
        {grpc_reflection_methods, s->reflection},
        {NULL, NULL},
    };
    struct grpc_options grpc = {.tables = tables, .auth = s->auth};

    http2_server_options_init(&grpc.http2);
    grpc.http2.listen = o->listen;
    grpc.http2.tls = s->tls;
    if (o->connections > 0)
        grpc.http2.connections = o->connections;
    return grpc_server_new(&s->grpc, s->loop, &grpc);
}

static enum status open_frontier(struct service *s)
{
    const struct service_options *o = &s->options;
    const struct frontier_service_options f = {
        .dir = o->dir,
        .place = o->shards != NULL ? served_shards_place(o->shards) : NULL,
        .memory = o->memory,
        .fpr = o->fpr,
        .checkpoint_ms = o->checkpoint_ms,
        .node = bytes_of_str(service_address(s)),
        .room = urlfrontier_api_room,
        .room_ctx = s->api,
    };
    enum status st = frontier_service_open(&s->frontier, &f);

    if (st != STATUS_OK)
        return st;
    if (o->shards != NULL)
        served_shards_on_room(o->shards, urlfrontier_api_room, s->api);
    s->router = router_new(s->frontier, NULL);
    urlfrontier_api_connect(s->api, s->router);
    return STATUS_OK;
}

enum status service_open(struct service **out, const struct service_options *o)
{
    struct service *s = xcalloc(1, sizeof *s);
    enum status st;

    s->options = *o;
    s->signals.fd = -1;
    st = loop_new(&s->loop);
    if (st == STATUS_OK && o->token_file != NULL)
        st = auth_new(&s->auth, o->token_file);
    if (st == STATUS_OK && o->tls.cert != NULL)
        st = tls_new(&s->tls, &o->tls);
    if (st == STATUS_OK) {
        s->health = grpc_health_new(service_names);
        s->reflection = grpc_reflection_new();
        s->api = urlfrontier_api_new(s->loop);
        st = open_port(s);
    }
    if (st == STATUS_OK)
        st = open_frontier(s);
    if (st != STATUS_OK) {
        service_close(s);
        return st;
    }
    *out = s;
    return STATUS_OK;
}

enum status service_run(struct service *s, const sigset_t *signals)
{
    enum status st = watch_signals(s, signals);

    if (st == STATUS_OK)
        loop_run(s->loop);
    return st;
}

enum status service_close(struct service *s)
{
    enum status st;

    if (s == NULL)
        return STATUS_OK;
    if (s->grpc != NULL)
        grpc_server_cut(s->grpc);
    st = s->frontier != NULL ? frontier_service_close(s->frontier)
                             : served_shards_close(s->options.shards);
    if (s->router != NULL)
        router_close(s->router);
    if (s->loop != NULL)
        loop_run_posted(s->loop);
    grpc_server_free(s->grpc);
    urlfrontier_api_free(s->api);
    router_free(s->router);
    grpc_reflection_free(s->reflection);
    grpc_health_free(s->health);
    tls_free(s->tls);
    auth_free(s->auth);
    if (s->signals.fd >= 0)
        close(s->signals.fd);
    loop_free(s->loop);
    free(s);
    return st;
}

const char *service_address(const struct service *s)
{
    return http2_server_address(grpc_server_http2(s->grpc));
}

struct router *service_router(struct service *s)
{
    return s->router;
}

struct frontier_service *service_frontier(struct service *s)
{
    return s->frontier;
}

const struct grpc_server *service_grpc(const struct service *s)
{
    return s->grpc;
}

struct auth *service_auth(const struct service *s)
{
    return s->auth;
}

static void end(struct loop_post *p)
{
    struct service *s =
        (struct service *)((char *)p - offsetof(struct service, end));

    if (!s->stopping)
        stop(s);
}

void service_end(struct service *s)
{
    s->end.run = end;
    loop_post(s->loop, &s->end);
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
    s->on_reload = call;
    s->on_reload_ctx = ctx;
}
