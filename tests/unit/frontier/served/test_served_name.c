/* SPDX-License-Identifier: MIT */
/* test_served_name.c - crawl IDs and queue keys: known answers. */
#include "frontier/served/served.h"

#include "tests/unit/storage/scratch.h"

static void key_is(const char *url, const char *key)
{
    struct buf room;
    struct bytes got;

    buf_init(&room, 10000);
    got = served_key_of_url(bytes_of_str(url), &room);
    ck_assert_msg(bytes_is(got, key), "%s: %.*s is not %s", url, (int)got.len,
                  got.at, key);
    buf_fini(&room);
}

TEST(contract_2_the_key_is_what_follows_the_scheme_up_to_the_first_mark)
{
    key_is("http://a.example/x", "a.example");
    key_is("http://a.example:80/x", "a.example");
    key_is("http://a.example?q", "a.example");
    key_is("http://a.example&q", "a.example");
    key_is("x://y", "y");
    key_is("http:///x", "");
    key_is("http://:80/", "");
    key_is("/x", "");
    key_is("", "");
}

TEST(ours_without_a_scheme_it_is_what_the_reference_service_takes)
{
    key_is("a.example/x", "a.example");
    key_is("a.example:80", "a.example");
    key_is("mailto:u@a.example", "mailto");
    key_is("nothing", "nothing");
    key_is("?q", "");
}

TEST(contract_3_9_an_ipv6_address_stays_whole_and_userinfo_is_no_key)
{
    key_is("http://[::1]/", "[::1]");
    key_is("http://[2001:db8::1]:8080/", "[2001:db8::1]");
    key_is("http://u:p@[::1]:80/", "[::1]");
    key_is("ftp://user@h/", "h");
    key_is("http://u:p@h:1/@x", "h");
    key_is("http://@/", "");
}

/* Promise (Served frontier): a host in any spelling is one queue if the key
 * comes from the URL; keys that clients give are bytes. See also
 * `frontier_calls/ours_a_host_in_any_spelling_is_one_queue_and_given_keys_are_bytes`. */
/* The reference service keeps the spelling, so that one host is several queues,
 * which are leased at once. */
TEST(ours_a_key_from_a_url_is_its_canonical_host)
{
    key_is("http://UP.example/x", "up.example");
    key_is("HTTPS://u@Up.Example.:8080?q", "up.example");
    key_is("http://up.example./", "up.example");
    key_is("http://b\u00fccher.example/", "xn--bcher-kva.example");
    key_is("http://B%C3%9CCHER.example/", "xn--bcher-kva.example");
    key_is("http://xn--bcher-kva.example/", "xn--bcher-kva.example");
    key_is("http://0x7f.1/", "127.0.0.1");
    key_is("http://2130706433/", "127.0.0.1");
    key_is("http://[0:0::1]:80/", "[::1]");
    key_is("http://a.example&q", "a.example");
    /* What is no host, or no http(s) URL, stays as it is spelt. */
    key_is("http://A..b.0x/", "A..b.0x");
    key_is("http://A b/", "A b");
    key_is("http://a.1.2.3.4.5/", "a.1.2.3.4.5");
    key_is("ftp://UP.example/", "UP.example");
    key_is("UP.example/x", "UP.example");
}

TEST(contract_2_a_key_has_255_utf16_units_at_most)
{
    char key[1100];

    memset(key, 'k', sizeof key);
    ck_assert(served_key_fits(bytes_of(key, 255)));
    ck_assert(!served_key_fits(bytes_of(key, 256)));
    for (int i = 0; i < 128; i++)
        memcpy(key + 4 * i, "\xf0\x9f\x98\x80", 4); /* two units each */
    ck_assert(served_key_fits(bytes_of(key, 4 * 127)));
    ck_assert(!served_key_fits(bytes_of(key, 4 * 128)));
    for (int i = 0; i < 256; i++)
        memcpy(key + 3 * i, "\xe2\x82\xac", 3); /* one unit each */
    ck_assert(served_key_fits(bytes_of(key, 3 * 255)));
    ck_assert(!served_key_fits(bytes_of(key, 3 * 256)));
}

TEST(contract_2_a_blank_crawl_is_default_others_are_as_they_are)
{
    ck_assert(bytes_is(served_crawl_name(bytes_of_str("")), "DEFAULT"));
    ck_assert(bytes_is(served_crawl_name(bytes_of_str(" \t\n")), "DEFAULT"));
    ck_assert(bytes_is(served_crawl_name(bytes_of_str(" a ")), " a "));
}
