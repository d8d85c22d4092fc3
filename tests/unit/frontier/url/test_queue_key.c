/* SPDX-License-Identifier: MIT */
/* test_queue_key.c - which URLs share a queue. */
#include "frontier/url/queue_key.h"
#include "tests/unit/unit.h"

static void has_key(const char *text, const char *key)
{
    struct url u;

    url_init(&u);
    ck_assert_int_eq(url_canonical(&u, bytes_of_str(text), NULL, NULL), URL_OK);
    ck_assert_msg(bytes_is(queue_key_of(&u), key), "%s", text);
    url_fini(&u);
}

TEST(a_queue_is_a_hosts)
{
    has_key("http://www.example.org/x", "www.example.org");
    has_key("http://127.0.0.1:8080/", "127.0.0.1");
    has_key("http://[::1]/", "[::1]");
    has_key("http://localhost/", "localhost");
}

TEST(scheme_and_port_are_part_of_no_key)
{
    has_key("https://www.example.org:8443/", "www.example.org");
    has_key("http://www.example.org:81/", "www.example.org");
}

TEST(spellings_of_a_host_share_a_key)
{
    has_key("http://WWW.Example.ORG./", "www.example.org");
    has_key("http://0x7f.1/", "127.0.0.1");
}
