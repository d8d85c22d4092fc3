/* SPDX-License-Identifier: MIT */
/* network.c - networks of IP addresses, as CIDR writes them. */
#include "crawler/address/network.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#define NETWORK_TEXT_SIZE (INET6_ADDRSTRLEN + sizeof "/128")

static const unsigned char mapped_prefix[NETWORK_V4_BITS / 8] = {0, 0,    0,
                                                                 0, 0,    0,
                                                                 0, 0,    0,
                                                                 0, 0xff, 0xff};

bool ip_is_v4(const struct ip *a)
{
    return memcmp(a->at, mapped_prefix, sizeof mapped_prefix) == 0;
}

static bool same_bits(const unsigned char *a, const unsigned char *b,
                      unsigned bits)
{
    unsigned whole = bits / 8, rest = bits % 8;

    if (memcmp(a, b, whole) != 0)
        return false;
    return rest == 0 || (a[whole] ^ b[whole]) >> (8 - rest) == 0;
}

bool network_has(const struct network *n, const struct ip *a)
{
    bool v4 = n->bits >= NETWORK_V4_BITS && ip_is_v4(&n->first);

    return v4 == ip_is_v4(a) && same_bits(n->first.at, a->at, n->bits);
}

bool network_any_has(const struct network *at, size_t count, const struct ip *a)
{
    for (size_t i = 0; i < count; i++) {
        if (network_has(&at[i], a))
            return true;
    }
    return false;
}

bool network_list_has(const struct network_list *l, const struct ip *a)
{
    return network_any_has(l->at, l->count, a);
}

/* The decimal number after the slash, at most `most`. */
static bool parse_bits(const char *s, unsigned most, unsigned *out)
{
    unsigned n = 0;
    size_t len = strlen(s);

    if (len == 0 || len > 3 || strspn(s, "0123456789") != len)
        return false;
    for (; *s != '\0'; s++)
        n = n * 10 + (unsigned)(*s - '0');
    *out = n;
    return n <= most;
}

bool network_parse(const char *text, struct network *out)
{
    char host[NETWORK_TEXT_SIZE];
    const char *slash = strchrnul(text, '/');
    size_t len = (size_t)(slash - text);
    unsigned char octets[sizeof out->first.at];

    if (len >= sizeof host)
        return false;
    memcpy(host, text, len);
    host[len] = '\0';
    if (inet_pton(AF_INET, host, octets) == 1) {
        out->bits = 32;
        if (*slash != '\0' && !parse_bits(slash + 1, 32, &out->bits))
            return false;
        out->bits += NETWORK_V4_BITS;
        return ip_of_octets(&out->first, octets, 4);
    }
    out->bits = 128;
    return inet_pton(AF_INET6, host, octets) == 1 &&
           (*slash == '\0' || parse_bits(slash + 1, 128, &out->bits)) &&
           ip_of_octets(&out->first, octets, sizeof octets);
}
