/*
 * guard.h - which network addresses may be asked.
 *
 * Checked on the resolved address of every connection, robots.txt and
 * redirects included, so no name, spelling or DNS answer gets around it.
 * Read-only once made; threads share it.
 */
#ifndef URLWEIR_CRAWLER_FETCH_GUARD_H
#define URLWEIR_CRAWLER_FETCH_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "base/buf.h"
#include "base/status.h"

struct guard;

/* Unless `allow_private`, only globally reachable unicast addresses pass
 * (IANA special-purpose registries, RFC 6890): not private, loopback,
 * link-local, shared, documentation, multicast, reserved, nor IPv4 addresses
 * like these inside IPv6 (mapped, 6to4, NAT64, Teredo). `deny` wins over
 * `allow`, `allow` over the default. Networks are CIDR, "10.0.0.0/8" or
 * "fd00::/8"; a bare address is a network of one. STATUS_FORMAT: `error` says
 * which is none. */
MUST_CHECK enum status guard_new(struct guard **out, bool allow_private,
                                 const char *const *allow, size_t allow_count,
                                 const char *const *deny, size_t deny_count,
                                 struct buf *error);
void guard_free(struct guard *g); /* NULL is fine */

/* What became of a URL none of whose addresses is permitted, for a person. */
extern const char guard_words[];

bool guard_permits(const struct guard *g, const struct sockaddr *address);

#endif
