/* SPDX-License-Identifier: MIT */
/* listen_address.c - splits and looks up HOST:PORT. */
#include "base/listen_address.h"

#include <netdb.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/mem.h"

bool listen_address_split(struct bytes text, struct bytes *host,
                          struct bytes *port)
{
    const char *colon = text.len > 0 ? memrchr(text.at, ':', text.len) : NULL;
    uint64_t number;

    if (colon == NULL)
        return false;
    *host = bytes_of(text.at, (size_t)(colon - text.at));
    *port = bytes_of(colon + 1, text.len - host->len - 1);
    if (host->len >= 2 && host->at[0] == '[' &&
        host->at[host->len - 1] == ']') {
        host->at++;
        host->len -= 2;
    } else if (memchr(host->at, ':', host->len) != NULL) {
        return false; /* an IPv6 address without brackets */
    }
    /* getaddrinfo would truncate a larger one */
    return host->len > 0 && bytes_number(*port, UINT16_MAX, &number);
}

static bool is_loopback(const struct sockaddr *a)
{
    if (a->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)a;

        return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
    }
    if (a->sa_family == AF_INET6)
        return IN6_IS_ADDR_LOOPBACK(
            &((const struct sockaddr_in6 *)a)->sin6_addr);
    return false;
}

enum status listen_address_is_loopback(const char *listen_at, bool *loopback)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    struct bytes host, port;
    char *name;
    int rc;

    if (!listen_address_split(bytes_of_str(listen_at), &host, &port))
        return STATUS_ARG;
    name = xstrndup(host.at, host.len);
    rc = getaddrinfo(name, NULL, &hints, &found);
    free(name);
    if (rc != 0)
        return STATUS_ARG;
    *loopback = true;
    for (const struct addrinfo *a = found; a != NULL; a = a->ai_next)
        *loopback = *loopback && is_loopback(a->ai_addr);
    freeaddrinfo(found);
    return STATUS_OK;
}
