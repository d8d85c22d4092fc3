/* SPDX-License-Identifier: MIT */
/*
 * guard.c - which network addresses may be asked.
 *
 * Every address is brought to 16 octets, IPv4 as ::ffff:a.b.c.d, so that an
 * IPv4 address and its IPv4-mapped spelling are one thing. The table below is
 * the IANA special-purpose registries (IPv4 and IPv6, RFC 6890 and its
 * successors) read strictly: where a block is not globally reachable but holds
 * a small exception that is (192.0.0.9, 2001:20::/28 ...), all of it is
 * refused, since no web server lives there. In IPv6 only 2000::/3 is global
 * unicast at all (RFC 4291 section 2.4), plus what carries an IPv4 address.
 */
#include "crawler/fetch/guard.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define ADDRESS_SIZE      16
#define MAPPED_BITS       96 /* length of ::ffff:0:0/96 */
#define NETWORK_TEXT_SIZE (INET6_ADDRSTRLEN + sizeof "/128")

struct address {
    unsigned char at[ADDRESS_SIZE];
};

struct network {
    struct address address;
    unsigned bits; /* of all 16 octets */
};

struct network_list {
    struct network *at;
    size_t count;
};

struct guard {
    bool allow_private;
    struct network_list allow, deny;
};

static const unsigned char mapped_prefix[12] = {0, 0, 0, 0, 0,    0,
                                                0, 0, 0, 0, 0xff, 0xff};

struct special4 {
    unsigned char at[4];
    unsigned bits;
};

static const struct special4 special4[] = {
    {{0, 0, 0, 0}, 8},       /* this network, RFC 791 */
    {{10, 0, 0, 0}, 8},      /* private use, RFC 1918 */
    {{100, 64, 0, 0}, 10},   /* shared address space, RFC 6598 */
    {{127, 0, 0, 0}, 8},     /* loopback, RFC 1122 */
    {{169, 254, 0, 0}, 16},  /* link local, RFC 3927 */
    {{172, 16, 0, 0}, 12},   /* private use, RFC 1918 */
    {{192, 0, 0, 0}, 24},    /* IETF protocol assignments, RFC 6890 */
    {{192, 0, 2, 0}, 24},    /* documentation, RFC 5737 */
    {{192, 88, 99, 0}, 24},  /* 6to4 relay anycast, RFC 7526 */
    {{192, 168, 0, 0}, 16},  /* private use, RFC 1918 */
    {{198, 18, 0, 0}, 15},   /* benchmarking, RFC 2544 */
    {{198, 51, 100, 0}, 24}, /* documentation, RFC 5737 */
    {{203, 0, 113, 0}, 24},  /* documentation, RFC 5737 */
    {{224, 0, 0, 0}, 4},     /* multicast, RFC 5771 */
    {{240, 0, 0, 0}, 4},     /* reserved and broadcast, RFC 1112, RFC 919 */
};

/* Inside 2000::/3; what is outside needs no row. */
static const struct network special6[] = {
    {{{0x20, 0x01}}, 23},             /* IETF protocol assignments, RFC 2928 */
    {{{0x20, 0x01, 0x0d, 0xb8}}, 32}, /* documentation, RFC 3849 */
    {{{0x3f, 0xff}}, 20},             /* documentation, RFC 9637 */
};

static const struct network global_unicast = {{{0x20}}, 3};
static const struct network six_to_four = {{{0x20, 0x02}}, 16};
static const struct network teredo = {{{0x20, 0x01, 0, 0}}, 32};
static const struct network nat64 = {{{0, 0x64, 0xff, 0x9b}}, 96};

static struct address address_of_v4(const unsigned char *v4)
{
    struct address a;

    memcpy(a.at, mapped_prefix, sizeof mapped_prefix);
    memcpy(a.at + sizeof mapped_prefix, v4, 4);
    return a;
}

static bool is_v4(const struct address *a)
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

/* ::/0 means every IPv6 address, but no IPv4 one. */
static bool network_has(const struct network *n, const struct address *a)
{
    bool v4 = n->bits >= MAPPED_BITS && is_v4(&n->address);

    return v4 == is_v4(a) && same_bits(n->address.at, a->at, n->bits);
}

static bool list_has(const struct network_list *l, const struct address *a)
{
    for (size_t i = 0; i < l->count; i++) {
        if (network_has(&l->at[i], a))
            return true;
    }
    return false;
}

/* The decimal number behind the slash, at most `most`. */
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

/* Octets behind the prefix are allowed and mean nothing: 10.1.2.3/8 is
 * 10.0.0.0/8. */
static bool network_parse(const char *text, struct network *out)
{
    char host[NETWORK_TEXT_SIZE];
    const char *slash = strchrnul(text, '/');
    size_t len = (size_t)(slash - text);
    unsigned char v4[4];

    if (len >= sizeof host)
        return false;
    memcpy(host, text, len);
    host[len] = '\0';
    if (inet_pton(AF_INET, host, v4) == 1) {
        out->address = address_of_v4(v4);
        out->bits = 32;
        if (*slash != '\0' && !parse_bits(slash + 1, 32, &out->bits))
            return false;
        out->bits += MAPPED_BITS;
        return true;
    }
    out->bits = 128;
    return inet_pton(AF_INET6, host, out->address.at) == 1 &&
           (*slash == '\0' || parse_bits(slash + 1, 128, &out->bits));
}

static enum status list_parse(struct network_list *l, const char *option,
                              const char *const *texts, size_t count,
                              struct buf *error)
{
    l->at = xcalloc(count, sizeof *l->at);
    for (; l->count < count; l->count++) {
        if (!network_parse(texts[l->count], &l->at[l->count])) {
            buf_addf(error, "%s '%s': no network, as in 10.0.0.0/8 or fd00::/8",
                     option, texts[l->count]);
            return STATUS_FORMAT;
        }
    }
    return STATUS_OK;
}

const char guard_words[] =
    "nothing was sent: a private or special address, or one of --deny-net; "
    "--allow-private and --allow-net allow more";

enum status guard_new(struct guard **out, bool allow_private,
                      const char *const *allow, size_t allow_count,
                      const char *const *deny, size_t deny_count,
                      struct buf *error)
{
    struct guard *g = xcalloc(1, sizeof *g);
    enum status st;

    g->allow_private = allow_private;
    st = list_parse(&g->allow, "--allow-net", allow, allow_count, error);
    if (st != STATUS_OK)
        goto out;
    st = list_parse(&g->deny, "--deny-net", deny, deny_count, error);
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
    free(g);
}

static bool special_v4(const struct address *a)
{
    const unsigned char *v4 = a->at + sizeof mapped_prefix;

    for (size_t i = 0; i < sizeof special4 / sizeof *special4; i++) {
        if (same_bits(special4[i].at, v4, special4[i].bits))
            return true;
    }
    return false;
}

static bool special_v6(const struct address *a)
{
    if (!network_has(&global_unicast, a))
        return true;
    for (size_t i = 0; i < sizeof special6 / sizeof *special6; i++) {
        if (network_has(&special6[i], a))
            return true;
    }
    return false;
}

/* The IPv4 addresses that packets to IPv6 address `a` end up at, if it is of
 * a kind that carries some: NAT64 (RFC 6052), 6to4 (RFC 3056 section 2),
 * Teredo (RFC 4380 section 4: the server, and the client with all bits
 * inverted). Answers how many. */
static size_t carried_v4(const struct address *a, struct address out[2])
{
    unsigned char client[4];

    if (network_has(&nat64, a)) {
        out[0] = address_of_v4(a->at + 12);
        return 1;
    }
    if (network_has(&six_to_four, a)) {
        out[0] = address_of_v4(a->at + 2);
        return 1;
    }
    if (network_has(&teredo, a)) {
        for (size_t i = 0; i < sizeof client; i++)
            client[i] = a->at[12 + i] ^ 0xff;
        out[0] = address_of_v4(a->at + 4);
        out[1] = address_of_v4(client);
        return 2;
    }
    return 0;
}

static bool permits(const struct guard *g, const struct address *a)
{
    struct address v4[2];
    size_t carried = is_v4(a) ? 0 : carried_v4(a, v4);

    if (list_has(&g->deny, a))
        return false;
    if (list_has(&g->allow, a))
        return true;
    for (size_t i = 0; i < carried; i++) {
        if (!permits(g, &v4[i]))
            return false;
    }
    if (g->allow_private || carried > 0)
        return true;
    return is_v4(a) ? !special_v4(a) : !special_v6(a);
}

bool guard_permits(const struct guard *g, const struct sockaddr *address)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct address a;

    if (address->sa_family == AF_INET) {
        memcpy(&v4, address, sizeof v4);
        a = address_of_v4((const unsigned char *)&v4.sin_addr);
    } else if (address->sa_family == AF_INET6) {
        memcpy(&v6, address, sizeof v6);
        memcpy(a.at, &v6.sin6_addr, sizeof a.at);
    } else {
        return false;
    }
    return permits(g, &a);
}
