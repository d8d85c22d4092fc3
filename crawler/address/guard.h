/*
 * guard.h - decides which requests may be sent, by port, host name and
 * address.
 *
 * Every request of a fetcher is checked twice: its URL before it is begun,
 * whether for a page, a sitemap, a robots.txt or a redirect target
 * (fetch_start), and then the address of its connection, once the name is
 * resolved (multi.h), so that no name, spelling or DNS answer gets around it.
 * With a proxy we do not see the address, since the proxy resolves the name.
 * Then only the URL is checked, more strictly; the proxy must refuse public
 * names that lead to private addresses. The address of a proxy that a client of
 * a service named is checked as any. Read-only once made; threads share it.
 */
#ifndef URLWEIR_CRAWLER_ADDRESS_GUARD_H
#define URLWEIR_CRAWLER_ADDRESS_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"

struct guard;

/* Networks are CIDR, "10.0.0.0/8" or "fd00::/8"; a bare address is a network of
 * one. */
struct guard_options {
    /* If false, only globally reachable unicast addresses pass (IANA
     * special-purpose registries, RFC 6890): not private, loopback, link-local,
     * shared, documentation, multicast, reserved, nor IPv4 addresses like these
     * inside IPv6 (mapped, 6to4, NAT64, Teredo). */
    bool allow_private;
    /* A proxy resolves names: refuse names of private networks, too. */
    bool by_proxy;
    const char *const *allow, *const *deny; /* deny wins over allow, allow over
                                               the default */
    size_t allow_count, deny_count;
    /* Prefixes of this network's NAT64, of 32, 40, 48, 56, 64 or 96 bits (RFC
     * 6052): an address in one is judged by the IPv4 address in it.
     * 64:ff9b::/96 always is one. */
    const char *const *nat64;
    size_t nat64_count;
    /* Ports that browsers block but that may be used, in decimal. */
    const char *const *ports;
    size_t port_count;
};

/* STATUS_FORMAT: `error` says which network, prefix or port is not valid. */
MUST_CHECK enum status guard_new(struct guard **out,
                                 const struct guard_options *o,
                                 struct buf *error);
/* "1" to "65535", in decimal. */
bool guard_port_parse(const char *text, uint16_t *out);
void guard_free(struct guard *g); /* NULL is fine */

enum guard_verdict {
    GUARD_PERMITS,
    GUARD_ADDRESS, /* an address that is not permitted, or not a URL */
    GUARD_NAME,    /* a name for such an address */
    GUARD_PORT     /* a port that browsers block, not allowed here */
};

/* May `url`, which is canonical, be requested? Does not resolve its name. */
enum guard_verdict guard_judge(const struct guard *g, struct bytes url);

/* May a connection be made to this address? */
bool guard_permits(const struct guard *g, const struct sockaddr *address);

/* Why a URL was refused, for people; static. */
const char *guard_words(enum guard_verdict v);

#endif
