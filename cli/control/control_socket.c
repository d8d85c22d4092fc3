/* SPDX-License-Identifier: MIT */
/* control_socket.c - the HTTP API on the socket of a directory. */
#include "cli/control/control_socket.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/logger.h"
#include "base/mem.h"
#include "cli/control/control_place.h"

#define CALLERS 100

struct control_socket {
    struct http_server *server;
    char *path;
};

struct control_socket *control_socket_open(const char *dir,
                                           struct router *router,
                                           struct crawls *crawls,
                                           int64_t drain_ms)
{
    struct control_socket *s = xcalloc(1, sizeof *s);
    struct http_options o = {
        .loopback = true,
        .connections = CALLERS,
        .drain_ms = drain_ms,
        .frontier = router != NULL ? router_frontier(router) : NULL,
        .crawls = crawls,
        .router = router,
        .dir = dir,
        .open_role = AUTH_ADMIN,
    };
    size_t size = strlen(dir) + sizeof "/" CONTROL_SOCKET;

    s->path = xmalloc(size);
    snprintf(s->path, size, "%s/" CONTROL_SOCKET, dir);
    o.socket = s->path;
    if (http_server_open(&s->server, &o) == STATUS_OK)
        return s;
    log_warn("cannot make a control socket; the crawl goes on without it",
             "hint=\"pause, stop, seed and other commands cannot reach it\"");
    control_socket_close(s);
    return NULL;
}

void control_socket_stop(void *socket)
{
    http_server_stop(((struct control_socket *)socket)->server);
}

bool control_socket_is_over(struct control_socket *s)
{
    return s == NULL || http_server_is_over(s->server);
}

void control_socket_close(struct control_socket *s)
{
    if (s == NULL)
        return;
    http_server_close(s->server);
    free(s->path);
    free(s);
}
