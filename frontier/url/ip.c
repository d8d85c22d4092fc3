/* SPDX-License-Identifier: MIT */
/* ip.c - an IP address as a value: 16 octets, whatever its family. */
#include "frontier/url/ip.h"

#include <string.h>

#include "frontier/url/address.h"

static const unsigned char mapped[12] = {0, 0, 0, 0, 0,    0,
                                         0, 0, 0, 0, 0xff, 0xff};

static bool is_v4(const struct ip *ip)
{
    return memcmp(ip->at, mapped, sizeof mapped) == 0;
}

bool ip_of_octets(struct ip *out, const void *octets, size_t len)
{
    if (len != 4 && len != 16)
        return false;
    memcpy(out->at, mapped, sizeof mapped);
    memcpy(out->at + 16 - len, octets, len);
    return true;
}

bool ip_parse(struct ip *out, struct bytes text)
{
    uint16_t pieces[8];
    uint32_t v4;

    if (text.len == 0)
        return false;
    if (text.len > 2 && text.at[0] == '[' && text.at[text.len - 1] == ']')
        text = bytes_of(text.at + 1, text.len - 2);
    if (address_parse_ipv4(text, &v4)) {
        const unsigned char octets[4] = {(unsigned char)(v4 >> 24),
                                         (unsigned char)(v4 >> 16),
                                         (unsigned char)(v4 >> 8),
                                         (unsigned char)v4};

        return ip_of_octets(out, octets, sizeof octets);
    }
    if (!address_parse_ipv6(text, pieces))
        return false;
    for (size_t i = 0; i < 8; i++) {
        out->at[2 * i] = (unsigned char)(pieces[i] >> 8);
        out->at[2 * i + 1] = (unsigned char)pieces[i];
    }
    return true;
}

bool ip_equal(const struct ip *a, const struct ip *b)
{
    return memcmp(a->at, b->at, sizeof a->at) == 0;
}

bool ip_before(const struct ip *a, const struct ip *b)
{
    if (is_v4(a) != is_v4(b))
        return is_v4(a);
    return memcmp(a->at, b->at, sizeof a->at) < 0;
}

void ip_add(struct buf *out, const struct ip *ip)
{
    uint16_t pieces[8];

    if (is_v4(ip)) {
        const unsigned char *o = ip->at + 12;

        address_add_ipv4(out, (uint32_t)o[0] << 24 | (uint32_t)o[1] << 16 |
                                  (uint32_t)o[2] << 8 | o[3]);
        return;
    }
    for (size_t i = 0; i < 8; i++)
        pieces[i] = (uint16_t)(ip->at[2 * i] << 8 | ip->at[2 * i + 1]);
    address_add_ipv6(out, pieces);
}
