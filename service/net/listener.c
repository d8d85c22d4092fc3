/* SPDX-License-Identifier: MIT */
/* listener.c - resolve, bind, listen. */
#include "service/net/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/listen_address.h"
#include "base/logger.h"
#include "base/mem.h"

#define BACKLOG 1024

static enum status resolve(const char *listen_at, struct addrinfo **found)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct bytes host, port;
    char *name, *service;
    int rc = EAI_NONAME;

    if (!listen_address_split(bytes_of_str(listen_at), &host, &port)) {
        log_error("not an address to listen on",
                  "address=\"%s\" want=HOST:PORT", listen_at);
        return STATUS_ARG;
    }
    name = xstrndup(host.at, host.len);
    service = xstrndup(port.at, port.len);
    rc = getaddrinfo(name, service, &hints, found);
    free(name);
    free(service);
    if (rc == 0)
        return STATUS_OK;
    log_error("not an address to listen on", "address=\"%s\" why=\"%s\"",
              listen_at, gai_strerror(rc));
    return STATUS_ARG;
}

static enum status bind_to(const char *listen_at, const struct addrinfo *a,
                           int *fd)
{
    int on = 1;

    *fd = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (*fd < 0)
        return status_of_errno(errno);
    setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(*fd, a->ai_addr, a->ai_addrlen) != 0 ||
        listen(*fd, BACKLOG) != 0) {
        enum status st =
            errno == EADDRINUSE ? STATUS_BUSY : status_of_errno(errno);

        log_error("cannot listen", "address=\"%s\" why=\"%s\"", listen_at,
                  strerror(errno));
        return st;
    }
    return STATUS_OK;
}

static void find_address(int fd, char address[LISTENER_ADDRESS_SIZE])
{
    struct sockaddr_storage at = {0};
    socklen_t len = sizeof at;
    char host[INET6_ADDRSTRLEN], port[8];

    if (getsockname(fd, (struct sockaddr *)&at, &len) != 0 ||
        getnameinfo((struct sockaddr *)&at, len, host, sizeof host, port,
                    sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return;
    snprintf(address, LISTENER_ADDRESS_SIZE,
             at.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
}

enum status listener_open(const char *listen_at, int *fd,
                          char address[LISTENER_ADDRESS_SIZE])
{
    struct addrinfo *found = NULL;
    enum status st = resolve(listen_at, &found);

    *fd = -1;
    if (st != STATUS_OK)
        return st;
    st = bind_to(listen_at, found, fd);
    freeaddrinfo(found);
    if (st == STATUS_OK) {
        find_address(*fd, address);
        return STATUS_OK;
    }
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    return st;
}
