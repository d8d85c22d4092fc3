/* SPDX-License-Identifier: MIT */
/* test_ip.c - addresses as values. */
#include "frontier/url/host.h"

#include "tests/unit/guarded.h"
#include "tests/unit/unit.h"

static struct ip ip(const char *text)
{
    struct bytes b = guarded(bytes_of_str(text));
    struct ip out;

    ck_assert_msg(ip_parse(&out, b), "%s", text);
    guarded_free(b);
    return out;
}

static void reads_as(const char *text, const char *wanted)
{
    struct ip a = ip(text);
    struct buf out;

    buf_init(&out, IP_TEXT);
    ip_add(&out, &a);
    ck_assert_str_eq(buf_str(&out), wanted);
    buf_fini(&out);
}

TEST(an_address_is_written_as_the_host_of_a_url)
{
    reads_as("192.0.2.1", "192.0.2.1");
    reads_as("2001:db8::1", "[2001:db8::1]");
    reads_as("[2001:db8:0:0:0:0:0:1]", "[2001:db8::1]");
    reads_as("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
             "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]");
}

TEST(rfc4291_2_5_5_2_ipv4_inside_ipv6_is_that_ipv4)
{
    reads_as("::ffff:192.0.2.1", "192.0.2.1");
    reads_as("[::ffff:c000:201]", "192.0.2.1");
    reads_as("::192.0.2.1", "[::c000:201]"); /* 2.5.5.1: not that */
}

TEST(names_and_nonsense_are_no_addresses)
{
    static const char *const texts[] = {"",        "localhost", "example.org",
                                        "1e100.x", "[]",        "[127.0.0.1",
                                        ":",       "1.2.3.4.5", "256.0.0.1"};
    struct ip out;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        ck_assert_msg(!ip_parse(&out, bytes_of_str(texts[i])), "%s", texts[i]);
    ck_assert(!ip_parse(&out, (struct bytes){NULL, 0}));
    ck_assert(!ip_of_octets(&out, "12345", 5));
}

TEST(ours_ipv4_comes_first_and_then_the_smaller_number)
{
    struct ip a = ip("9.255.0.0"), b = ip("10.0.0.0"), c = ip("::1");

    ck_assert(ip_before(&a, &b) && !ip_before(&b, &a));
    ck_assert(ip_before(&b, &c) && !ip_before(&c, &b));
    ck_assert(!ip_before(&a, &a));
    ck_assert(ip_equal(&a, &a) && !ip_equal(&a, &b));
}
