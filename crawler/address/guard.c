/* SPDX-License-Identifier: MIT */
/*
 * guard.c - which requests may be sent.
 *
 * Every address is brought to 16 octets (ip.h), so that an IPv4 address and its
 * IPv4-mapped spelling are one thing. special_use.c has the special addresses
 * and names; this file adds what a person allowed or denied.
 */
#include "crawler/address/guard.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "crawler/address/network.h"
#include "crawler/address/special_use.h"
#include "frontier/url/url.h"

struct guard {
    bool allow_private, by_proxy;
    struct network_list allow, deny, nat64;
    uint16_t *ports; /* allowed although browsers block them */
    size_t port_count;
};

/* ---- life ---------------------------------------------------------------- */

static enum status list_parse(struct network_list *l, const char *option,
                              const char *const *texts, size_t count,
                              struct buf *error)
{
    l->at = xcalloc(count, sizeof *l->at);
    for (; l->count < count; l->count++) {
        if (!network_parse(texts[l->count], &l->at[l->count])) {
            buf_addf(error,
                     "%s '%s': not a network, such as 10.0.0.0/8 or "
                     "fd00::/8",
                     option, texts[l->count]);
            return STATUS_FORMAT;
        }
    }
    return STATUS_OK;
}

static enum status nat64_parse(struct guard *g, const struct guard_options *o,
                               struct buf *error)
{
    enum status st =
        list_parse(&g->nat64, "--nat64", o->nat64, o->nat64_count, error);

    for (size_t i = 0; st == STATUS_OK && i < g->nat64.count; i++) {
        if (special_is_nat64_prefix(&g->nat64.at[i]))
            continue;
        buf_addf(error,
                 "--nat64 '%s': not a NAT64 prefix, which is an IPv6 network "
                 "of 32, 40, 48, 56, 64 or 96 bits, such as 64:ff9b:1::/48",
                 o->nat64[i]);
        st = STATUS_FORMAT;
    }
    return st;
}

bool guard_port_parse(const char *text, uint16_t *out)
{
    size_t len = strlen(text);
    unsigned long n;

    if (len == 0 || len > 5 || strspn(text, "0123456789") != len)
        return false;
    n = strtoul(text, NULL, 10);
    *out = (uint16_t)n;
    return n > 0 && n <= UINT16_MAX;
}

static enum status ports_parse(struct guard *g, const struct guard_options *o,
                               struct buf *error)
{
    g->ports = xcalloc(o->port_count, sizeof *g->ports);
    for (; g->port_count < o->port_count; g->port_count++) {
        if (!guard_port_parse(o->ports[g->port_count],
                              &g->ports[g->port_count])) {
            buf_addf(error, "--allow-port '%s': not a port from 1 to 65535",
                     o->ports[g->port_count]);
            return STATUS_FORMAT;
        }
    }
    return STATUS_OK;
}

enum status guard_new(struct guard **out, const struct guard_options *o,
                      struct buf *error)
{
    struct guard *g = xcalloc(1, sizeof *g);
    enum status st;

    g->allow_private = o->allow_private;
    g->by_proxy = o->by_proxy;
    st = list_parse(&g->allow, "--allow-net", o->allow, o->allow_count, error);
    if (st != STATUS_OK)
        goto out;
    st = list_parse(&g->deny, "--deny-net", o->deny, o->deny_count, error);
    if (st != STATUS_OK)
        goto out;
    st = nat64_parse(g, o, error);
    if (st != STATUS_OK)
        goto out;
    st = ports_parse(g, o, error);
    if (st != STATUS_OK)
        goto out;
    *out = g;
    g = NULL;
out:
    guard_free(g);
    return st;
}

void guard_free(struct guard *g)
{
    if (g == NULL)
        return;
    free(g->allow.at);
    free(g->deny.at);
    free(g->nat64.at);
    free(g->ports);
    free(g);
}

/* ---- addresses ----------------------------------------------------------- */

/* If the IPv4 address inside an IPv6 address is denied, the latter is denied
 * even if its own network is allowed. */
static bool permits(const struct guard *g, const struct ip *a)
{
    struct ip v4[SPECIAL_CARRIED_MOST];
    size_t carried = special_carried_v4(a, &g->nat64, v4);

    if (network_list_has(&g->deny, a))
        return false;
    for (size_t i = 0; i < carried; i++) {
        if (network_list_has(&g->deny, &v4[i]))
            return false;
    }
    if (network_list_has(&g->allow, a))
        return true;
    for (size_t i = 0; i < carried; i++) {
        if (!permits(g, &v4[i]))
            return false;
    }
    return g->allow_private || carried > 0 || !special_address(a);
}

bool guard_permits(const struct guard *g, const struct sockaddr *address)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct ip a;

    if (address->sa_family == AF_INET) {
        memcpy(&v4, address, sizeof v4);
        (void)ip_of_octets(&a, &v4.sin_addr, 4);
    } else if (address->sa_family == AF_INET6) {
        memcpy(&v6, address, sizeof v6);
        (void)ip_of_octets(&a, &v6.sin6_addr, 16);
    } else {
        return false;
    }
    return permits(g, &a);
}

/* ---- URLs ---------------------------------------------------------------- */

static struct bytes without_dots(struct bytes host)
{
    while (host.len > 0 && host.at[host.len - 1] == '.')
        host.len--;
    return host;
}

/* If the connection is checked too, one permitted address is enough:
 * `localhost` may be 127.0.0.1 or ::1. A proxy may choose any of them. */
static bool permits_addresses(const struct guard *g, const char *const *texts)
{
    size_t count = 0, permitted = 0;

    for (; texts[count] != NULL; count++) {
        struct ip a;

        if (ip_parse(&a, bytes_of_str(texts[count])) && permits(g, &a))
            permitted++;
    }
    return g->by_proxy ? permitted == count : permitted > 0;
}

static enum guard_verdict judge_host(const struct guard *g, struct bytes host)
{
    const char *const *addresses;
    struct ip a;

    host = without_dots(host);
    if (ip_parse(&a, host))
        return permits(g, &a) ? GUARD_PERMITS : GUARD_ADDRESS;
    addresses = special_name_addresses(host);
    if (addresses != NULL)
        return permits_addresses(g, addresses) ? GUARD_PERMITS : GUARD_NAME;
    if (g->by_proxy && !g->allow_private && special_name_is_private(host))
        return GUARD_NAME;
    return GUARD_PERMITS;
}

static bool permits_port(const struct guard *g, uint16_t port)
{
    for (size_t i = 0; i < g->port_count; i++) {
        if (g->ports[i] == port)
            return true;
    }
    return !special_port(port);
}

enum guard_verdict guard_judge(const struct guard *g, struct bytes url)
{
    enum guard_verdict v = GUARD_ADDRESS;
    struct url u;

    url_init(&u);
    if (url_parse(&u, url, NULL, NULL) == URL_OK)
        v = judge_host(g, url_host(&u));
    if (v == GUARD_PERMITS && !permits_port(g, u.port))
        v = GUARD_PORT;
    url_fini(&u);
    return v;
}

const char *guard_words(enum guard_verdict v)
{
    switch (v) {
    case GUARD_ADDRESS:
        return "nothing was sent: a private or special address, or one of "
               "--deny-net; --allow-private and --allow-net allow more";
    case GUARD_NAME:
        return "nothing was sent: a name for this machine, a private network "
               "or a cloud's metadata; --allow-private and --allow-net allow "
               "more";
    case GUARD_PORT:
        return "nothing was sent: a port that browsers block, since other "
               "services listen there; --allow-port allows it";
    default:
        return "";
    }
}
