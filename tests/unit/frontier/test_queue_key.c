/* SPDX-License-Identifier: MIT */
/* test_queue_key.c - which URLs wait for each other. */
#include "frontier/queue_key.h"

#include <check.h>

static void has_keys(const char *text, const char *host, const char *domain)
{
    struct url u;

    url_init(&u);
    ck_assert_int_eq(url_canonical(&u, bytes_of_str(text), NULL, NULL), URL_OK);
    ck_assert_msg(bytes_is(queue_key_of(QUEUE_KEY_HOST, &u), host), "%s", text);
    ck_assert_msg(bytes_is(queue_key_of(QUEUE_KEY_DOMAIN, &u), domain), "%s",
                  text);
    url_fini(&u);
}

START_TEST(the_key_is_the_host_or_its_registrable_domain)
{
    has_keys("http://www.example.org/x", "www.example.org", "example.org");
    has_keys("http://a.b.example.co.uk/", "a.b.example.co.uk", "example.co.uk");
    has_keys("http://example.org/", "example.org", "example.org");
}
END_TEST

START_TEST(scheme_and_port_are_part_of_no_key)
{
    has_keys("https://www.example.org:8443/", "www.example.org", "example.org");
    has_keys("http://www.example.org:81/", "www.example.org", "example.org");
}
END_TEST

START_TEST(an_address_and_a_single_label_are_their_own_domain)
{
    has_keys("http://127.0.0.1:8080/", "127.0.0.1", "127.0.0.1");
    has_keys("http://[::1]/", "[::1]", "[::1]");
    has_keys("http://localhost/", "localhost", "localhost");
}
END_TEST

START_TEST(spellings_of_a_host_share_a_key)
{
    has_keys("http://WWW.Example.ORG./", "www.example.org", "example.org");
    has_keys("http://0x7f.1/", "127.0.0.1", "127.0.0.1");
}
END_TEST

Suite *suite_queue_key(void)
{
    Suite *s = suite_create("queue_key");
    TCase *t = tcase_create("queue_key");

    tcase_add_test(t, the_key_is_the_host_or_its_registrable_domain);
    tcase_add_test(t, scheme_and_port_are_part_of_no_key);
    tcase_add_test(t, an_address_and_a_single_label_are_their_own_domain);
    tcase_add_test(t, spellings_of_a_host_share_a_key);
    suite_add_tcase(s, t);
    return s;
}
