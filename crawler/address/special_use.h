/*
 * special_use.h - addresses, host names and ports that are not for the web.
 *
 * Tables of what registries and cloud providers reserve; the guard decides what
 * follows from them (guard.h). Any thread.
 */
#ifndef URLWEIR_CRAWLER_ADDRESS_SPECIAL_USE_H
#define URLWEIR_CRAWLER_ADDRESS_SPECIAL_USE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "crawler/address/network.h"

/* Is `a` not globally reachable unicast, or an address of a cloud's
 * services? */
bool special_address(const struct ip *a);

/* The IPv4 addresses that packets to IPv6 address `a` reach, if it contains
 * any: NAT64 (RFC 6052) by 64:ff9b::/96 or one of `nat64`, the longest match;
 * 6to4 (RFC 3056 section 2); Teredo (RFC 4380 section 4: server and client).
 * Returns how many. */
#define SPECIAL_CARRIED_MOST 2
size_t special_carried_v4(const struct ip *a, const struct network_list *nat64,
                          struct ip out[SPECIAL_CARRIED_MOST]);
/* RFC 6052 section 2.2: an IPv6 prefix of 32, 40, 48, 56, 64 or 96 bits. */
bool special_is_nat64_prefix(const struct network *n);

/* The addresses, at most two, of a `host` that needs no name server: names of
 * this machine (RFC 6761 section 6.3) and of the metadata services of clouds.
 * As text; NULL: not such a name. `host` is in lower case and has no trailing
 * dot. */
const char *const *special_name_addresses(struct bytes host);
/* Can `host` only be in a private network? True if it has no dot, or ends in a
 * domain that is not in the public DNS. */
bool special_name_is_private(struct bytes host);

/* Is it a "bad port" of the Fetch Standard, which browsers block because other
 * services listen there? */
bool special_port(uint16_t port);

#endif
