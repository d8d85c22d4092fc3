/* SPDX-License-Identifier: MIT */
/*
 * http_lost.c - gives back leases whose answer was not delivered.
 *
 * The kernel accepts data for a caller that has left, and the reset comes
 * later; so we check the socket first. With TLS the end of the underlying
 * stream looks the same.
 */
#include "service/http/http_lost.h"

#include <microhttpd.h>
#include <poll.h>
#include <stdlib.h>

#include "base/logger.h"
#include "base/mem.h"
#include "service/http/http_server_impl.h"

struct give_back {
    struct http_server *server;
    atomic_size_t pending;
    size_t n;
    struct frontier_call calls[];
};

bool http_holds_leases(const struct http_request *r)
{
    return r->call_count == 1 && r->calls[0].verb == FRONTIER_GET &&
           r->calls[0].status == STATUS_OK && r->calls[0].url_count > 0;
}

bool http_caller_has_left(const struct http_request *r)
{
    struct pollfd p = {.fd = http_socket(r), .events = POLLRDHUP};

    return poll(&p, 1, 0) > 0;
}

/* One of the calls is done; the last one frees them. Any thread. */
static void call_over(struct give_back *g)
{
    struct http_server *s = g->server;

    if (atomic_fetch_sub(&g->pending, 1) > 1)
        return;
    for (size_t i = 0; i < g->n; i++)
        frontier_call_fini(&g->calls[i]);
    free(g);
    pthread_mutex_lock(&s->mtx);
    s->waiting--;
    pthread_cond_broadcast(&s->fewer);
    pthread_mutex_unlock(&s->mtx);
}

static void told(struct frontier_call *call)
{
    call_over(call->ctx);
}

void http_give_back(struct http_request *r)
{
    const struct frontier_call *get = &r->calls[0];
    struct http_server *s = r->server;
    size_t n = get->url_count;
    struct give_back *g = xcalloc(1, sizeof *g + n * sizeof *g->calls);

    g->server = s;
    g->n = n;
    atomic_init(&g->pending, n + 1);
    pthread_mutex_lock(&s->mtx);
    s->waiting++;
    pthread_mutex_unlock(&s->mtx);
    for (size_t i = 0; i < n; i++) {
        struct frontier_call *c = &g->calls[i];

        frontier_call_init(c, FRONTIER_SETTLE, told, g);
        c->via = FRONTIER_VIA_HTTP;
        c->in.settle.lease = get->urls[i].lease;
        c->in.settle.how = URL_SETTLE_FAIL;
        if (router_submit(s->router, c) != STATUS_OK)
            atomic_fetch_sub(&g->pending, 1); /* our count kept it above 0 */
    }
    log_info("leases taken back: their caller had disconnected", "urls=%zu", n);
    call_over(g);
}
