/*
 * special_use.h - addresses, host names and ports that are not for the web.
 *
 * What registries and cloud providers set aside, as tables; what follows from
 * that is the guard's to say (guard.h). Any thread.
 */
#ifndef URLWEIR_CRAWLER_FETCH_SPECIAL_USE_H
#define URLWEIR_CRAWLER_FETCH_SPECIAL_USE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "crawler/fetch/network.h"

/* `a` is not globally reachable unicast, or is a cloud's own. */
bool special_address(const struct ip *a);

/* The IPv4 addresses that packets to IPv6 address `a` end up at, if it is of a
 * kind that carries some: NAT64 (RFC 6052) by 64:ff9b::/96 or one of `nat64`,
 * the longest that has it; 6to4 (RFC 3056 section 2); Teredo (RFC 4380 section
 * 4: server and client). Returns how many. */
#define SPECIAL_CARRIED_MOST 2
size_t special_carried_v4(const struct ip *a, const struct network_list *nat64,
                          struct ip out[SPECIAL_CARRIED_MOST]);
/* RFC 6052 section 2.2: an IPv6 prefix of 32, 40, 48, 56, 64 or 96 bits. */
bool special_is_nat64_prefix(const struct network *n);

/* The addresses, at most two, that `host` stands for whatever a name server
 * says: names of this machine (RFC 6761 section 6.3) and of the metadata
 * services of clouds. As text; NULL: it is no such name. `host` is in lower
 * case and has no trailing dot. */
const char *const *special_name_addresses(struct bytes host);
/* `host` can only be the name of a machine in a private network: it has no dot,
 * or ends in a domain that is kept out of the public DNS. */
bool special_name_is_private(struct bytes host);

/* A "bad port" of the Fetch Standard, which browsers block for what else
 * listens there. */
bool special_port(uint16_t port);

#endif
