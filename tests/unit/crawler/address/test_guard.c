/* SPDX-License-Identifier: MIT */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "crawler/address/guard.h"
#include "tests/unit/unit.h"

static bool asks(const struct guard *g, const char *text)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(80)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(80)};

    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
        return guard_permits(g, (const struct sockaddr *)&v4);
    ck_assert_msg(inet_pton(AF_INET6, text, &v6.sin6_addr) == 1, "%s", text);
    return guard_permits(g, (const struct sockaddr *)&v6);
}

static struct guard *make_of(const struct guard_options *o)
{
    struct guard *g = NULL;
    struct buf error;

    buf_init(&error, 200);
    ck_ok(guard_new(&g, o, &error));
    buf_fini(&error);
    return g;
}

static struct guard *make(bool allow_private, const char *allow,
                          const char *deny)
{
    return make_of(&(struct guard_options){.allow_private = allow_private,
                                           .allow = &allow,
                                           .allow_count = allow != NULL,
                                           .deny = &deny,
                                           .deny_count = deny != NULL});
}

/* The first and last address of every block in the IANA special-purpose
 * registries, and of multicast and reserved space. */
static const char *const refused[] = {
    "0.0.0.0",
    "0.255.255.255",
    "10.0.0.0",
    "10.255.255.255",
    "100.64.0.0",
    "100.127.255.255",
    "127.0.0.1",
    "127.255.255.255",
    "168.63.129.16",
    "169.254.0.0",
    "169.254.169.254",
    "169.254.255.255",
    "172.16.0.0",
    "172.31.255.255",
    "192.0.0.0",
    "192.0.0.9",
    "192.0.0.255",
    "192.0.2.0",
    "192.0.2.255",
    "192.88.99.1",
    "192.168.0.0",
    "192.168.255.255",
    "198.18.0.0",
    "198.19.255.255",
    "198.51.100.7",
    "203.0.113.7",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::7f00:1",
    "64:ff9b:1::1",
    "100::1",
    "100:0:0:1::1",
    "2001:2::1",
    "2001:10::1",
    "2001:20::1",
    "2001:db8::1",
    "3fff::1",
    "3fff:fff::1",
    "5f00::1",
    "fc00::1",
    "fdff::1",
    "fe80::1",
    "febf::1",
    "fec0::1",
    "ff02::1",
    "ff0e::1",
    "4000::1",
    "1fff::1",
};

static const char *const permitted[] = {
    "1.1.1.1",         "9.255.255.255",
    "11.0.0.0",        "100.63.255.255",
    "100.128.0.0",     "126.255.255.255",
    "128.0.0.0",       "168.63.129.15",
    "168.63.129.17",   "169.253.255.255",
    "169.255.0.0",     "172.15.255.255",
    "172.32.0.0",      "192.0.1.0",
    "192.0.3.0",       "192.88.98.255",
    "192.167.255.255", "192.169.0.0",
    "198.17.255.255",  "198.20.0.0",
    "198.51.101.0",    "203.0.112.255",
    "223.255.255.255", "2000::1",
    "2001:200::1",     "2001:4860:4860::8888",
    "2600::1",         "2a00:1450::1",
    "3ffe::1",         "3fff:1000::1",
};

TEST(refuses_every_block_of_the_special_purpose_registries)
{
    struct guard *g = make(false, NULL, NULL);

    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        ck_assert_msg(!asks(g, refused[i]), "%s", refused[i]);
    guard_free(g);
}

TEST(permits_the_neighbours_of_every_block)
{
    struct guard *g = make(false, NULL, NULL);

    for (size_t i = 0; i < sizeof permitted / sizeof *permitted; i++)
        ck_assert_msg(asks(g, permitted[i]), "%s", permitted[i]);
    guard_free(g);
}

TEST(sees_through_ipv6_to_the_ipv4_address_inside)
{
    struct guard *g = make(false, NULL, NULL);

    /* IPv4-mapped, RFC 4291 section 2.5.5.2 */
    ck_assert(!asks(g, "::ffff:127.0.0.1"));
    ck_assert(!asks(g, "::ffff:169.254.169.254"));
    ck_assert(asks(g, "::ffff:8.8.8.8"));
    /* NAT64, RFC 6052 section 2.1 */
    ck_assert(!asks(g, "64:ff9b::10.0.0.1"));
    ck_assert(asks(g, "64:ff9b::8.8.8.8"));
    /* 6to4, RFC 3056 section 2 */
    ck_assert(!asks(g, "2002:7f00:1::1"));
    ck_assert(!asks(g, "2002:c0a8:101::"));
    ck_assert(asks(g, "2002:808:808::1"));
    /* Teredo, RFC 4380 section 4: server, client inverted */
    ck_assert(asks(g, "2001:0:4136:e378:8000:63bf:f7f7:f7f7"));
    ck_assert(!asks(g, "2001:0:4136:e378:8000:63bf:80ff:fffe")); /* 127.0.0.1 */
    ck_assert(
        !asks(g, "2001:0:a00:1:8000:63bf:f7f7:f7f7")); /* server 10.0.0.1 */
    guard_free(g);
}

TEST(deny_wins_over_allow_and_allow_over_the_default)
{
    struct guard *g = make(false, "10.0.0.0/8", "10.1.0.0/16");

    ck_assert(asks(g, "10.0.0.1"));
    ck_assert(asks(g, "10.2.255.255"));
    ck_assert(!asks(g, "10.1.0.1"));
    ck_assert(!asks(g, "192.168.0.1"));
    ck_assert(asks(g, "8.8.8.8"));
    /* in every spelling */
    ck_assert(asks(g, "::ffff:10.0.0.1"));
    ck_assert(!asks(g, "::ffff:10.1.0.1"));
    ck_assert(asks(g, "64:ff9b::10.0.0.1"));
    ck_assert(!asks(g, "64:ff9b::10.1.0.1"));
    guard_free(g);
    /* an embedded address is denied although its prefix is allowed */
    g = make(false, "64:ff9b::/96", "10.1.0.0/16");
    ck_assert(asks(g, "64:ff9b::10.0.0.1"));
    ck_assert(!asks(g, "64:ff9b::10.1.0.1"));
    guard_free(g);
}

TEST(allow_private_opens_all_but_what_is_denied)
{
    struct guard *g = make(true, NULL, "fd00::/8");

    ck_assert(asks(g, "127.0.0.1"));
    ck_assert(asks(g, "::1"));
    ck_assert(asks(g, "fc00::1"));
    ck_assert(!asks(g, "fd12::1"));
    guard_free(g);
}

TEST(a_bare_address_is_a_network_of_one)
{
    struct guard *g = make(false, "127.0.0.1", "2600::1");

    ck_assert(asks(g, "127.0.0.1"));
    ck_assert(!asks(g, "127.0.0.2"));
    ck_assert(!asks(g, "2600::1"));
    ck_assert(asks(g, "2600::2"));
    guard_free(g);
}

TEST(networks_of_each_length_and_family_hold_what_they_say)
{
    struct guard *g = make(false, NULL, "0.0.0.0/0");

    ck_assert(!asks(g, "8.8.8.8"));
    ck_assert(asks(g, "2600::1"));
    guard_free(g);
    g = make(false, NULL, "::/0");
    ck_assert(asks(g, "8.8.8.8"));
    ck_assert(!asks(g, "2600::1"));
    guard_free(g);
    g = make(false, NULL, "::ffff:8.8.0.0/112"); /* means 8.8.0.0/16 */
    ck_assert(!asks(g, "8.8.8.8"));
    ck_assert(asks(g, "8.9.0.0"));
    guard_free(g);
    g = make(false, NULL, "8.8.8.9/31"); /* bits beyond the prefix are set */
    ck_assert(!asks(g, "8.8.8.8"));
    ck_assert(asks(g, "8.8.8.10"));
    guard_free(g);
}

TEST(refuses_what_is_no_internet_address)
{
    struct guard *g = make(true, NULL, NULL);
    struct sockaddr_un un = {.sun_family = AF_UNIX};

    ck_assert(!guard_permits(g, (const struct sockaddr *)&un));
    guard_free(g);
}

/* ---- URLs ---------------------------------------------------------------- */

static const char *const verdicts[] = {
    [GUARD_PERMITS] = "permitted",
    [GUARD_ADDRESS] = "address",
    [GUARD_NAME] = "name",
    [GUARD_PORT] = "port",
};

struct judged {
    const char *url;
    enum guard_verdict want;
};

static void judge_all(const struct guard *g, const struct judged *rows,
                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        enum guard_verdict v = guard_judge(g, bytes_of_str(rows[i].url));

        ck_assert_msg(v == rows[i].want, "%s: %s", rows[i].url, verdicts[v]);
        ck_assert((guard_words(v)[0] != '\0') == (v != GUARD_PERMITS));
    }
}

#define JUDGE(g, ...)                                                          \
    judge_all(g, (const struct judged[]){__VA_ARGS__},                         \
              sizeof((const struct judged[]){__VA_ARGS__}) /                   \
                  sizeof(struct judged))

TEST(a_url_is_judged_by_the_address_in_it_in_any_spelling)
{
    struct guard *g = make(false, NULL, NULL);

    JUDGE(g, {"http://8.8.8.8/", GUARD_PERMITS},
          {"https://[2600::1]:8443/", GUARD_PERMITS},
          {"http://169.254.169.254/latest/", GUARD_ADDRESS},
          {"http://169.254.169.254./", GUARD_ADDRESS},
          {"http://2852039166/", GUARD_ADDRESS},
          {"http://0xa9.0376.43518/", GUARD_ADDRESS},
          {"http://user@168.63.129.16/", GUARD_ADDRESS},
          {"http://100.100.100.200/", GUARD_ADDRESS},
          {"http://192.0.0.192/", GUARD_ADDRESS},
          {"http://[::1]/", GUARD_ADDRESS},
          {"http://[::ffff:169.254.169.254]/", GUARD_ADDRESS},
          {"http://[fd00:ec2::254]/", GUARD_ADDRESS},
          {"http://[fd20:ce::254]/", GUARD_ADDRESS},
          {"http://[fe80::a9fe:a9fe]/", GUARD_ADDRESS},
          {"http://[64:ff9b::a9fe:a9fe]/", GUARD_ADDRESS},
          {"http://[64:ff9b::8.8.8.8]/", GUARD_PERMITS},
          {"http://[64:ff9b:1::a9fe:a9fe]/", GUARD_ADDRESS},
          {"http://[2002:a9fe:a9fe::1]/", GUARD_ADDRESS},
          {"http://[2001:0:808:808:0:0:5601:5601]/", GUARD_ADDRESS},
          {"ftp://8.8.8.8/", GUARD_ADDRESS}, {"", GUARD_ADDRESS});
    guard_free(g);
}

TEST(names_of_this_machine_and_of_metadata_are_refused_unresolved)
{
    struct guard *g = make(false, NULL, NULL);

    JUDGE(g, {"http://localhost/", GUARD_NAME},
          {"http://LOCALHOST:8080/", GUARD_NAME},
          {"http://localhost./", GUARD_NAME},
          {"http://a.b.localhost/", GUARD_NAME},
          {"http://localhost.localdomain/", GUARD_NAME},
          {"http://ip6-loopback/", GUARD_NAME},
          {"http://metadata/", GUARD_NAME},
          {"http://metadata.google.internal/", GUARD_NAME},
          {"http://METADATA.google.internal./", GUARD_NAME},
          {"http://metadata.goog/", GUARD_NAME},
          {"http://metadata.azure.internal/", GUARD_NAME},
          {"http://instance-data/", GUARD_NAME},
          {"http://instance-data.ec2.internal/", GUARD_NAME},
          {"http://api.metadata.cloud.ibm.com/", GUARD_NAME},
          {"http://metadata.tencentyun.com/", GUARD_NAME},
          {"http://notlocalhost.example/", GUARD_PERMITS},
          {"http://localhost.example.org/", GUARD_PERMITS},
          {"http://metadata.example.org/", GUARD_PERMITS},
          /* the crawler resolves these and judges their addresses then */
          {"http://wiki.internal/", GUARD_PERMITS},
          {"http://wiki/", GUARD_PERMITS});
    guard_free(g);
}

TEST(behind_a_proxy_names_of_private_networks_are_refused)
{
    struct guard *g = make_of(&(struct guard_options){.by_proxy = true});

    JUDGE(g, {"http://example.org/", GUARD_PERMITS},
          {"http://example.org./", GUARD_PERMITS},
          {"http://8.8.8.8/", GUARD_PERMITS},
          {"http://10.0.0.1/", GUARD_ADDRESS},
          {"http://localhost/", GUARD_NAME}, {"http://wiki/", GUARD_NAME},
          {"http://wiki./", GUARD_NAME}, {"http://printer.local/", GUARD_NAME},
          {"http://a.b.internal/", GUARD_NAME},
          {"http://host.localdomain/", GUARD_NAME},
          {"http://nas.home.arpa/", GUARD_NAME},
          {"http://nas.lan/", GUARD_NAME},
          {"http://local.example.org/", GUARD_PERMITS});
    guard_free(g);
}

TEST(names_are_allowed_and_denied_with_the_addresses_they_stand_for)
{
    const char *allow = "127.0.0.0/8", *deny = "169.254.0.0/16";
    const char *none = "127.0.0.0/8";
    struct guard *g = make(false, allow, NULL);

    JUDGE(g, {"http://localhost/", GUARD_PERMITS},
          {"http://metadata.goog/", GUARD_NAME});
    guard_free(g);
    /* a proxy may read this as ::1 */
    g = make_of(&(struct guard_options){.by_proxy = true,
                                        .allow = &allow,
                                        .allow_count = 1});
    JUDGE(g, {"http://localhost/", GUARD_NAME},
          {"http://127.0.0.1/", GUARD_PERMITS});
    guard_free(g);
    g = make_of(&(struct guard_options){.allow_private = true,
                                        .by_proxy = true,
                                        .deny = &deny,
                                        .deny_count = 1});
    JUDGE(g, {"http://localhost/", GUARD_PERMITS},
          {"http://wiki.internal/", GUARD_PERMITS},
          {"http://metadata.google.internal/", GUARD_NAME},
          {"http://169.254.169.254/", GUARD_ADDRESS});
    guard_free(g);
    g = make_of(&(struct guard_options){.allow_private = true,
                                        .by_proxy = true,
                                        .deny = &none,
                                        .deny_count = 1});
    JUDGE(g, {"http://localhost/", GUARD_NAME});
    guard_free(g);
}

/* The list of the Fetch Standard, as in the web platform tests. */
TEST(fetch_port_blocking_ports_that_browsers_block_are_refused)
{
    static const unsigned bad[] = {
        0,    1,    7,    9,    11,   13,   15,   17,   19,   20,   21,    22,
        23,   25,   37,   42,   43,   53,   69,   77,   79,   87,   95,    101,
        102,  103,  104,  109,  110,  111,  113,  115,  117,  119,  123,   135,
        137,  139,  143,  161,  179,  389,  427,  465,  512,  513,  514,   515,
        526,  530,  531,  532,  540,  548,  554,  556,  563,  587,  601,   636,
        989,  990,  993,  995,  1719, 1720, 1723, 2049, 3659, 4045, 4190,  5060,
        5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
    };
    struct guard *g = make(true, NULL, NULL);
    size_t at = 0;

    for (unsigned port = 0; port <= UINT16_MAX; port++) {
        bool is_bad = at < sizeof bad / sizeof *bad && bad[at] == port;
        char url[64];

        snprintf(url, sizeof url, "https://example.org:%u/", port);
        ck_assert_msg(guard_judge(g, bytes_of_str(url)) ==
                          (is_bad ? GUARD_PORT : GUARD_PERMITS),
                      "%u", port);
        at += is_bad;
    }
    JUDGE(g, {"http://example.org/", GUARD_PERMITS},
          {"https://example.org/", GUARD_PERMITS});
    guard_free(g);
}

/* RFC 6052 section 2.4 embeds 192.0.2.33 in a prefix of each length; the test
 * uses 10.0.2.33 and 9.0.2.33, and prefixes that are not for documentation. */
TEST(rfc6052_2_2_addresses_in_nat64_prefixes_are_judged_by_what_is_in_them)
{
    static const struct {
        const char *prefix, *private, *public;
    } rows[] = {
        {"2a00:db8::/32", "2a00:db8:a00:221::", "2a00:db8:900:221::"},
        {"2a00:db8:100::/40", "2a00:db8:10a:2:21::", "2a00:db8:109:2:21::"},
        {"2a00:db8:122::/48",
         "2a00:db8:122:a00:2:2100::", "2a00:db8:122:900:2:2100::"},
        {"2a00:db8:122:300::/56",
         "2a00:db8:122:30a:0:221::", "2a00:db8:122:309:0:221::"},
        {"2a00:db8:122:344::/64",
         "2a00:db8:122:344:a:2:2100::", "2a00:db8:122:344:9:2:2100::"},
        {"2a00:db8:122:344::/96", "2a00:db8:122:344::10.0.2.33",
         "2a00:db8:122:344::9.0.2.33"},
        {"64:ff9b:1::/48",
         "64:ff9b:1:a00:2:2100::", "64:ff9b:1:900:2:2100::"}, /* RFC 8215 */
        {"fd00:64::/96", "fd00:64::10.0.2.33", "fd00:64::9.0.2.33"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct guard_options o = {.nat64 = &rows[i].prefix,
                                        .nat64_count = 1};
        struct guard *g = make_of(&o);
        char url[80];

        ck_assert_msg(!asks(g, rows[i].private), "%s", rows[i].private);
        ck_assert_msg(asks(g, rows[i].public), "%s", rows[i].public);
        snprintf(url, sizeof url, "http://[%s]/", rows[i].private);
        ck_assert_int_eq(guard_judge(g, bytes_of_str(url)), GUARD_ADDRESS);
        ck_assert(!asks(g, "64:ff9b::10.0.2.33"));
        ck_assert(asks(g, "64:ff9b::9.0.2.33"));
        guard_free(g);
    }
}
