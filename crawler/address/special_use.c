/* SPDX-License-Identifier: MIT */
/*
 * special_use.c - addresses, host names and ports that are not for the web.
 *
 * The tables of addresses are the IANA special-purpose registries (IPv4 and
 * IPv6, RFC 6890 and its successors) read strictly: if a block is not globally
 * reachable except for a small part (192.0.0.9, 2001:20::/28 ...), all of it is
 * refused, since it has no web servers. In IPv6 only 2000::/3 is global unicast
 * (RFC 4291 section 2.4), plus addresses that contain an IPv4 address. Metadata
 * services are in these blocks, except Azure's, which has a public address.
 */
#include "crawler/address/special_use.h"

#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* ---- addresses ----------------------------------------------------------- */

static const struct network special_v4[] = {
#define V4(a, b, c, d, n)                                                      \
    {                                                                          \
        {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d}},              \
            NETWORK_V4_BITS + (n)                                              \
    }
    V4(0, 0, 0, 0, 8),        /* this network, RFC 791 */
    V4(10, 0, 0, 0, 8),       /* private use, RFC 1918 */
    V4(100, 64, 0, 0, 10),    /* shared address space, RFC 6598 */
    V4(127, 0, 0, 0, 8),      /* loopback, RFC 1122 */
    V4(168, 63, 129, 16, 32), /* Azure's virtual machines' host */
    V4(169, 254, 0, 0, 16),   /* link local, RFC 3927 */
    V4(172, 16, 0, 0, 12),    /* private use, RFC 1918 */
    V4(192, 0, 0, 0, 24),     /* IETF protocol assignments, RFC 6890 */
    V4(192, 0, 2, 0, 24),     /* documentation, RFC 5737 */
    V4(192, 88, 99, 0, 24),   /* 6to4 relay anycast, RFC 7526 */
    V4(192, 168, 0, 0, 16),   /* private use, RFC 1918 */
    V4(198, 18, 0, 0, 15),    /* benchmarking, RFC 2544 */
    V4(198, 51, 100, 0, 24),  /* documentation, RFC 5737 */
    V4(203, 0, 113, 0, 24),   /* documentation, RFC 5737 */
    V4(224, 0, 0, 0, 4),      /* multicast, RFC 5771 */
    V4(240, 0, 0, 0, 4),      /* reserved and broadcast, RFC 1112, RFC 919 */
#undef V4
};

/* Only blocks inside 2000::/3; everything outside is refused anyway. */
static const struct network special_v6[] = {
    {{{0x20, 0x01}}, 23},             /* IETF protocol assignments, RFC 2928 */
    {{{0x20, 0x01, 0x0d, 0xb8}}, 32}, /* documentation, RFC 3849 */
    {{{0x3f, 0xff}}, 20},             /* documentation, RFC 9637 */
};

static const struct network global_unicast = {{{0x20}}, 3};

bool special_address(const struct ip *a)
{
    if (ip_is_v4(a))
        return network_any_has(special_v4, COUNT(special_v4), a);
    return !network_has(&global_unicast, a) ||
           network_any_has(special_v6, COUNT(special_v6), a);
}

/* ---- IPv4 inside IPv6 ---------------------------------------------------- */

static const struct network six_to_four = {{{0x20, 0x02}}, 16};
static const struct network teredo = {{{0x20, 0x01, 0, 0}}, 32};
static const struct network nat64_well_known = {{{0, 0x64, 0xff, 0x9b}}, 96};

static void take_v4(struct ip *out, const unsigned char *octets)
{
    (void)ip_of_octets(out, octets, 4);
}

/* RFC 6052 section 2.2: the IPv4 address follows the prefix and leaves out
 * octet 8, which is zero. */
static void take_nat64(struct ip *out, const struct ip *a, unsigned bits)
{
    unsigned char v4[4];
    size_t from = bits / 8;

    for (size_t i = 0; i < sizeof v4; i++) {
        if (from == 8)
            from++;
        v4[i] = a->at[from++];
    }
    take_v4(out, v4);
}

static const struct network *nat64_of(const struct ip *a,
                                      const struct network_list *nat64)
{
    const struct network *longest = NULL;

    if (network_has(&nat64_well_known, a))
        longest = &nat64_well_known;
    for (size_t i = 0; i < nat64->count; i++) {
        const struct network *n = &nat64->at[i];

        if (network_has(n, a) && (longest == NULL || n->bits > longest->bits))
            longest = n;
    }
    return longest;
}

size_t special_carried_v4(const struct ip *a, const struct network_list *nat64,
                          struct ip out[SPECIAL_CARRIED_MOST])
{
    const struct network *n = nat64_of(a, nat64);
    unsigned char client[4];

    if (n != NULL) {
        take_nat64(&out[0], a, n->bits);
        return 1;
    }
    if (network_has(&six_to_four, a)) {
        take_v4(&out[0], a->at + 2);
        return 1;
    }
    if (network_has(&teredo, a)) {
        for (size_t i = 0; i < sizeof client; i++)
            client[i] = a->at[12 + i] ^ 0xff; /* its bits are inverted */
        take_v4(&out[0], a->at + 4);
        take_v4(&out[1], client);
        return 2;
    }
    return 0;
}

bool special_is_nat64_prefix(const struct network *n)
{
    if (ip_is_v4(&n->first))
        return false;
    return n->bits == 96 ||
           (n->bits >= 32 && n->bits <= 64 && n->bits % 8 == 0);
}

/* ---- names --------------------------------------------------------------- */

static const char *const loopback[] = {"127.0.0.1", "::1", NULL};
static const char *const link_local[] = {"169.254.169.254", NULL};
static const char *const amazon[] = {"169.254.169.254", "fd00:ec2::254", NULL};
static const char *const google[] = {"169.254.169.254", "fd20:ce::254", NULL};
static const char *const tencent[] = {"169.254.0.23", NULL};

/* For `localhost` also all names below it, RFC 6761 section 6.3. */
static const struct special_name {
    const char *name;
    const char *const *addresses;
} special_names[] = {
    {"localhost", loopback},
    {"localhost.localdomain", loopback},
    {"localhost6", loopback},
    {"localhost6.localdomain6", loopback},
    {"ip6-localhost", loopback},
    {"ip6-loopback", loopback},
    {"instance-data", amazon},
    {"instance-data.ec2.internal", amazon},
    {"metadata", google},
    {"metadata.google.internal", google},
    {"metadata.goog", google},
    {"metadata.azure.internal", link_local},
    {"api.metadata.cloud.ibm.com", link_local},
    {"metadata.exoscale.com", link_local},
    {"metadata.tencentyun.com", tencent},
};

const char *const *special_name_addresses(struct bytes host)
{
    if (bytes_ends_with(host, ".localhost"))
        return loopback;
    for (size_t i = 0; i < COUNT(special_names); i++) {
        if (bytes_is(host, special_names[i].name))
            return special_names[i].addresses;
    }
    return NULL;
}

/* RFC 6762 section 3 and appendix G, RFC 8375, ICANN's resolution 2024.07.29.06
 * for .internal; systems append .localdomain to localhost. */
static const char *const private_domains[] = {
    ".local",   ".internal", ".localdomain", ".home.arpa", ".intranet",
    ".private", ".corp",     ".home",        ".lan",
};

bool special_name_is_private(struct bytes host)
{
    if (memchr(host.at, '.', host.len) == NULL)
        return true;
    for (size_t i = 0; i < COUNT(private_domains); i++) {
        if (bytes_ends_with(host, private_domains[i]))
            return true;
    }
    return false;
}

/* ---- ports --------------------------------------------------------------- */

/* https://fetch.spec.whatwg.org/#port-blocking */
static const uint16_t bad_ports[] = {
    0,    1,    7,    9,    11,   13,   15,   17,   19,   20,   21,    22,
    23,   25,   37,   42,   43,   53,   69,   77,   79,   87,   95,    101,
    102,  103,  104,  109,  110,  111,  113,  115,  117,  119,  123,   135,
    137,  139,  143,  161,  179,  389,  427,  465,  512,  513,  514,   515,
    526,  530,  531,  532,  540,  548,  554,  556,  563,  587,  601,   636,
    989,  990,  993,  995,  1719, 1720, 1723, 2049, 3659, 4045, 4190,  5060,
    5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
};

bool special_port(uint16_t port)
{
    for (size_t i = 0; i < COUNT(bad_ports); i++) {
        if (bad_ports[i] == port)
            return true;
    }
    return false;
}
