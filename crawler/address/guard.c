/* SPDX-License-Identifier: MIT */
/*
 * guard.c - which requests may be sent.
 *
 * Every address is brought to 16 octets, so that an IPv4 address and its
 * IPv4-mapped spelling are one thing. First come the special addresses and
 * names, then what a person allowed or denied.
 */
#include "crawler/address/guard.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "frontier/url/host.h"
#include "frontier/url/url.h"

/* ---- networks of IP addresses, as CIDR writes them ---- */

/*
 * An IPv4 network is stored within ::ffff:0:0/96, like an IPv4 address,
 * so that both spellings are one network. Nothing here asks a network. Any
 * thread.
 */

#define NETWORK_V4_BITS 96 /* length of ::ffff:0:0/96 */

struct network {
    struct ip first;
    unsigned bits; /* of all 128 */
};

struct network_list {
    struct network *at;
    size_t count;
};

#define NETWORK_TEXT_SIZE (INET6_ADDRSTRLEN + sizeof "/128")

static const unsigned char mapped_prefix[NETWORK_V4_BITS / 8] = {0, 0,    0,
                                                                 0, 0,    0,
                                                                 0, 0,    0,
                                                                 0, 0xff, 0xff};

static bool ip_is_v4(const struct ip *a)
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
static bool network_has(const struct network *n, const struct ip *a)
{
    bool v4 = n->bits >= NETWORK_V4_BITS && ip_is_v4(&n->first);

    return v4 == ip_is_v4(a) && same_bits(n->first.at, a->at, n->bits);
}

/* Does any of these networks contain it? */
static bool network_any_has(const struct network *at, size_t count,
                            const struct ip *a)
{
    for (size_t i = 0; i < count; i++) {
        if (network_has(&at[i], a))
            return true;
    }
    return false;
}

static bool network_list_has(const struct network_list *l, const struct ip *a)
{
    return network_any_has(l->at, l->count, a);
}

/* The decimal number after the slash, at most `most`. */
static bool parse_bits(const char *s, unsigned most, unsigned *out)
{
    uint64_t n;

    if (!bytes_number(bytes_of_str(s), most, &n))
        return false;
    *out = (unsigned)n;
    return true;
}

/* "10.0.0.0/8", "fd00::/8"; a bare address is a network of one. Bits after the
 * prefix are ignored: 10.1.2.3/8 is 10.0.0.0/8. False: the text does not have
 * that form. */
static bool network_parse(const char *text, struct network *out)
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

/* ---- guard ---- */

/*
 * Addresses, host names and ports that are not for the web.
 *
 * Tables of what registries and cloud providers reserve; the guard decides what
 * follows from them (guard.h). Any thread.
 *
 * The tables of addresses are the IANA special-purpose registries (IPv4 and
 * IPv6, RFC 6890 and its successors) read strictly: if a block is not globally
 * reachable except for a small part (192.0.0.9, 2001:20::/28 ...), all of it is
 * refused, since it has no web servers. In IPv6 only 2000::/3 is global unicast
 * (RFC 4291 section 2.4), plus addresses that contain an IPv4 address. Metadata
 * services are in these blocks, except Azure's, which has a public address.
 */

/* The IPv4 addresses that packets to IPv6 address `a` reach, if it contains
 * any: NAT64 (RFC 6052) by 64:ff9b::/96 or one of `nat64`, the longest match;
 * 6to4 (RFC 3056 section 2); Teredo (RFC 4380 section 4: server and client).
 * Returns how many. */
#define SPECIAL_CARRIED_MOST 2

#define COUNT(table)         (sizeof(table) / sizeof *(table))

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

/* Is `a` not globally reachable unicast, or an address of a cloud's
 * services? */
static bool special_address(const struct ip *a)
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

static size_t special_carried_v4(const struct ip *a,
                                 const struct network_list *nat64,
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

/* RFC 6052 section 2.2: an IPv6 prefix of 32, 40, 48, 56, 64 or 96 bits. */
static bool special_is_nat64_prefix(const struct network *n)
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

/* The addresses, at most two, of a `host` that needs no name server: names of
 * this machine (RFC 6761 section 6.3) and of the metadata services of clouds.
 * As text; NULL: not such a name. `host` is in lower case and has no trailing
 * dot. */
static const char *const *special_name_addresses(struct bytes host)
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

/* Can `host` only be in a private network? True if it has no dot, or ends in a
 * domain that is not in the public DNS. */
static bool special_name_is_private(struct bytes host)
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

/* Is it a "bad port" of the Fetch Standard, which browsers block because other
 * services listen there? */
static bool special_port(uint16_t port)
{
    for (size_t i = 0; i < COUNT(bad_ports); i++) {
        if (bad_ports[i] == port)
            return true;
    }
    return false;
}

struct guard {
    bool allow_private, by_proxy;
    struct network_list allow, deny, nat64;
    uint16_t *ports; /* allowed although browsers block them */
    size_t port_count;
};

/* ---- life ---------------------------------------------------------------- */

static enum status list_parse(struct network_list *l, const char *option,
                              const char *const *texts, size_t count,
                              struct buf *error)
{
    l->at = xcalloc(count, sizeof *l->at);
    for (; l->count < count; l->count++) {
        if (!network_parse(texts[l->count], &l->at[l->count])) {
            buf_addf(error,
                     "%s '%s': not a network, such as 10.0.0.0/8 or "
                     "fd00::/8",
                     option, texts[l->count]);
            return STATUS_FORMAT;
        }
    }
    return STATUS_OK;
}

static enum status nat64_parse(struct guard *g, const struct guard_options *o,
                               struct buf *error)
{
    enum status st =
        list_parse(&g->nat64, "--nat64", o->nat64, o->nat64_count, error);

    for (size_t i = 0; st == STATUS_OK && i < g->nat64.count; i++) {
        if (special_is_nat64_prefix(&g->nat64.at[i]))
            continue;
        buf_addf(error,
                 "--nat64 '%s': not a NAT64 prefix, which is an IPv6 network "
                 "of 32, 40, 48, 56, 64 or 96 bits, such as 64:ff9b:1::/48",
                 o->nat64[i]);
        st = STATUS_FORMAT;
    }
    return st;
}

bool guard_port_parse(const char *text, uint16_t *out)
{
    uint64_t n;

    if (!bytes_number(bytes_of_str(text), UINT16_MAX, &n) || n == 0)
        return false;
    *out = (uint16_t)n;
    return true;
}

static enum status ports_parse(struct guard *g, const struct guard_options *o,
                               struct buf *error)
{
    g->ports = xcalloc(o->port_count, sizeof *g->ports);
    for (; g->port_count < o->port_count; g->port_count++) {
        if (!guard_port_parse(o->ports[g->port_count],
                              &g->ports[g->port_count])) {
            buf_addf(error, "--allow-port '%s': not a port from 1 to 65535",
                     o->ports[g->port_count]);
            return STATUS_FORMAT;
        }
    }
    return STATUS_OK;
}

enum status guard_new(struct guard **out, const struct guard_options *o,
                      struct buf *error)
{
    struct guard *g = xcalloc(1, sizeof *g);
    enum status st;

    g->allow_private = o->allow_private;
    g->by_proxy = o->by_proxy;
    st = list_parse(&g->allow, "--allow-net", o->allow, o->allow_count, error);
    if (st != STATUS_OK)
        goto out;
    st = list_parse(&g->deny, "--deny-net", o->deny, o->deny_count, error);
    if (st != STATUS_OK)
        goto out;
    st = nat64_parse(g, o, error);
    if (st != STATUS_OK)
        goto out;
    st = ports_parse(g, o, error);
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
    free(g->nat64.at);
    free(g->ports);
    free(g);
}

/* ---- addresses ----------------------------------------------------------- */

/* If the IPv4 address inside an IPv6 address is denied, the latter is denied
 * even if its own network is allowed. */
static bool permits(const struct guard *g, const struct ip *a)
{
    struct ip v4[SPECIAL_CARRIED_MOST];
    size_t carried = special_carried_v4(a, &g->nat64, v4);

    if (network_list_has(&g->deny, a))
        return false;
    for (size_t i = 0; i < carried; i++) {
        if (network_list_has(&g->deny, &v4[i]))
            return false;
    }
    if (network_list_has(&g->allow, a))
        return true;
    for (size_t i = 0; i < carried; i++) {
        if (!permits(g, &v4[i]))
            return false;
    }
    return g->allow_private || carried > 0 || !special_address(a);
}

bool guard_permits(const struct guard *g, const struct sockaddr *address)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct ip a;

    if (address->sa_family == AF_INET) {
        memcpy(&v4, address, sizeof v4);
        (void)ip_of_octets(&a, &v4.sin_addr, 4);
    } else if (address->sa_family == AF_INET6) {
        memcpy(&v6, address, sizeof v6);
        (void)ip_of_octets(&a, &v6.sin6_addr, 16);
    } else {
        return false;
    }
    return permits(g, &a);
}

/* ---- URLs ---------------------------------------------------------------- */

static struct bytes without_dots(struct bytes host)
{
    while (host.len > 0 && host.at[host.len - 1] == '.')
        host.len--;
    return host;
}

/* If the connection is checked too, one permitted address is enough:
 * `localhost` may be 127.0.0.1 or ::1. A proxy may choose any of them. */
static bool permits_addresses(const struct guard *g, const char *const *texts)
{
    size_t count = 0, permitted = 0;

    for (; texts[count] != NULL; count++) {
        struct ip a;

        if (ip_parse(&a, bytes_of_str(texts[count])) && permits(g, &a))
            permitted++;
    }
    return g->by_proxy ? permitted == count : permitted > 0;
}

static enum guard_verdict judge_host(const struct guard *g, struct bytes host)
{
    const char *const *addresses;
    struct ip a;

    host = without_dots(host);
    if (ip_parse(&a, host))
        return permits(g, &a) ? GUARD_PERMITS : GUARD_ADDRESS;
    addresses = special_name_addresses(host);
    if (addresses != NULL)
        return permits_addresses(g, addresses) ? GUARD_PERMITS : GUARD_NAME;
    if (g->by_proxy && !g->allow_private && special_name_is_private(host))
        return GUARD_NAME;
    return GUARD_PERMITS;
}

static bool permits_port(const struct guard *g, uint16_t port)
{
    for (size_t i = 0; i < g->port_count; i++) {
        if (g->ports[i] == port)
            return true;
    }
    return !special_port(port);
}

enum guard_verdict guard_judge(const struct guard *g, struct bytes url)
{
    enum guard_verdict v = GUARD_ADDRESS;
    struct url u;

    url_init(&u);
    if (url_parse(&u, url, NULL, NULL) == URL_OK)
        v = judge_host(g, url_host(&u));
    if (v == GUARD_PERMITS && !permits_port(g, u.port))
        v = GUARD_PORT;
    url_fini(&u);
    return v;
}

const char *guard_words(enum guard_verdict v)
{
    switch (v) {
    case GUARD_ADDRESS:
        return "nothing was sent: a private or special address, or one of "
               "--deny-net; --allow-private and --allow-net allow more";
    case GUARD_NAME:
        return "nothing was sent: a name for this machine, a private network "
               "or a cloud's metadata; --allow-private and --allow-net allow "
               "more";
    case GUARD_PORT:
        return "nothing was sent: a port that browsers block, since other "
               "services listen there; --allow-port allows it";
    default:
        return "";
    }
}
