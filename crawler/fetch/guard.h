/*
 * guard.h - which requests may be sent: by port, host name and address.
 *
 * Every request of a fetcher is judged twice: its URL before it is begun, be it
 * for a page, a sitemap, a robots.txt or what one of them redirects to
 * (fetch_start), and then the address of its connection, once the name was
 * resolved (multi.h), so that no name, spelling or DNS answer gets around it.
 * Behind a proxy the second is not ours to see: the proxy resolves the name.
 * Only the URL is judged then, more strictly; a public name that leads to a
 * private address is the proxy's to refuse. Read-only once made; threads share
 * it.
 */
#ifndef URLWEIR_CRAWLER_FETCH_GUARD_H
#define URLWEIR_CRAWLER_FETCH_GUARD_H

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
    /* Unless set, only globally reachable unicast addresses pass (IANA
     * special-purpose registries, RFC 6890): not private, loopback, link-local,
     * shared, documentation, multicast, reserved, nor IPv4 addresses like these
     * inside IPv6 (mapped, 6to4, NAT64, Teredo). */
    bool allow_private;
    /* A proxy resolves names: those of private networks are refused, too. */
    bool by_proxy;
    const char *const *allow, *const *deny; /* deny wins over allow, allow over
                                               the default */
    size_t allow_count, deny_count;
    /* Prefixes of this network's NAT64, of 32, 40, 48, 56, 64 or 96 bits (RFC
     * 6052): an address in one is judged by the IPv4 address in it.
     * 64:ff9b::/96 always is one. */
    const char *const *nat64;
    size_t nat64_count;
    /* Decimal; of the ports that browsers block, those that may be asked. */
    const char *const *ports;
    size_t port_count;
};

/* STATUS_FORMAT: `error` says what is no network, prefix or port. */
MUST_CHECK enum status guard_new(struct guard **out,
                                 const struct guard_options *o,
                                 struct buf *error);
/* "1" to "65535", in decimal. */
bool guard_port_parse(const char *text, uint16_t *out);
void guard_free(struct guard *g); /* NULL is fine */

enum guard_verdict {
    GUARD_PERMITS,
    GUARD_ADDRESS, /* an address that is not permitted, or no URL */
    GUARD_NAME,    /* a name that stands for one */
    GUARD_PORT     /* a port that browsers block, and nobody allowed */
};

/* May `url`, which is canonical, be asked for? Its name is not resolved. */
enum guard_verdict guard_judge(const struct guard *g, struct bytes url);

/* May a connection be made to this address? */
bool guard_permits(const struct guard *g, const struct sockaddr *address);

/* What became of a URL that was refused, for a person; static. */
const char *guard_words(enum guard_verdict v);

#endif
