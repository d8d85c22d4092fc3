/*
 * network.h - networks of IP addresses, as CIDR writes them.
 *
 * An IPv4 network is stored within ::ffff:0:0/96, like an IPv4 address (ip.h),
 * so that both spellings are one network. Nothing here asks a network. Any
 * thread.
 */
#ifndef URLWEIR_CRAWLER_ADDRESS_NETWORK_H
#define URLWEIR_CRAWLER_ADDRESS_NETWORK_H

#include <stdbool.h>
#include <stddef.h>

#include "frontier/url/ip.h"

#define NETWORK_V4_BITS 96 /* length of ::ffff:0:0/96 */

struct network {
    struct ip first;
    unsigned bits; /* of all 128 */
};

struct network_list {
    struct network *at;
    size_t count;
};

bool ip_is_v4(const struct ip *a);

/* "10.0.0.0/8", "fd00::/8"; a bare address is a network of one. Bits after the
 * prefix are ignored: 10.1.2.3/8 is 10.0.0.0/8. False: the text does not have
 * that form. */
bool network_parse(const char *text, struct network *out);
/* ::/0 means every IPv6 address, but no IPv4 one. */
bool network_has(const struct network *n, const struct ip *a);
/* Does any of these networks contain it? */
bool network_any_has(const struct network *at, size_t count,
                     const struct ip *a);
bool network_list_has(const struct network_list *l, const struct ip *a);

#endif
