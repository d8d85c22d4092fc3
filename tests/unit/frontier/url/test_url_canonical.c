/* SPDX-License-Identifier: MIT */
/*
 * test_url_canonical.c - the canonical form by its rules, C1 to C7 in url.h; it
 * is a fixed point for any input.
 */
#include <stdlib.h>
#include <string.h>

#include "frontier/url/url.h"
#include "tests/unit/frontier/url/soup.h"
#include "tests/unit/frontier/url/url_cases.h"
#include "tests/unit/unit.h"

static void check_canonical(const struct known *k, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        enum url_reason r =
            url_canonical(&url, bytes_of_str(k[i].in), NULL, NULL);

        ck_assert_msg(r == URL_OK, "%s: %s", k[i].in, url_reason_text(r));
        ck_assert_msg(bytes_is(url_text(&url), k[i].want),
                      "%s: want %s, got %s", k[i].in, k[i].want,
                      buf_str(&url.text));
    }
}

#define CHECK_CANONICAL(table)                                                 \
    check_canonical(table, sizeof(table) / sizeof *(table))

TIMEOUT(120);
FIXTURE(setup, teardown);

TEST(ours_c2_userinfo_is_dropped)
{
    static const struct known table[] = {
        {"http://u:p@h/x?y", "http://h/x?y"},
        {"http://u@h:81/@", "http://h:81/@"},
        {"https://:p@[::1]/", "https://[::1]/"},
    };

    CHECK_CANONICAL(table);
    ck_assert(bytes_is(url_host(&url), "[::1]"));
    ck_assert(bytes_is(url_path_query(&url), "/"));
    ck_assert_uint_eq(url.userinfo_at, url.host_at);
}

TEST(ours_c3_unreserved_escapes_are_decoded)
{
    static const struct known table[] = {
        {"http://h/%41%7a%30%2D%2e%5F%7ex", "http://h/Az0-._~x"},
        {"http://h/?%41%7a%30%2D%2e%5F%7ex", "http://h/?Az0-._~x"},
        {"http://h/%2f%3f%23%25%c3%a9%20", "http://h/%2F%3F%23%25%C3%A9%20"},
        {"http://h/?%26%3d%2b%c3%a9", "http://h/?%26%3D%2B%C3%A9"},
        {"http://h/%zz%4%%", "http://h/%zz%4%%"},
        {"http://h/?%", "http://h/?%"},
    };

    CHECK_CANONICAL(table);
}

/* % is reserved, so %2541 does not become A; but %%34%31 becomes %41 in one
 * round and A in the next. */
TEST(ours_c3_goes_on_until_nothing_changes)
{
    static const struct known table[] = {
        {"http://h/%2541", "http://h/%2541"},
        {"http://h/%25%34%31", "http://h/%2541"},
        {"http://h/%%34%31", "http://h/A"},
        {"http://h/%%341", "http://h/A"},
        {"http://h/%4%31", "http://h/A"},
        {"http://h/%%32%66", "http://h/%2F"},
        {"http://h/%%%33%34%31", "http://h/A"},
        {"http://h/?%%%33%34%31", "http://h/?A"},
        {"http://h/%%%33%32%66%%%33%32%66", "http://h/%2F%2F"},
        {"http://h/%4?1", "http://h/%4?1"},
    };

    CHECK_CANONICAL(table);
}

TEST(ours_c4_trailing_dots_of_a_name_are_dropped)
{
    static const struct known table[] = {
        {"http://example.com./x", "http://example.com/x"},
        {"http://example.com...:81/x?y", "http://example.com:81/x?y"},
        {"http://u@b\xc3\xbc"
         "cher.example./",
         "http://xn--bcher-kva.example/"},
        {"http://a..b../", "http://a..b/"},
        {"http://1.2.3.4./", "http://1.2.3.4/"},
    };

    CHECK_CANONICAL(table);
}

/* Because of two dots after a number, the parser does not read it as an
 * address. */
TEST(ours_c4_what_is_left_must_be_a_host)
{
    static const struct known table[] = {
        {"http://./x", "http://./x"},
        {"http://../x", "http://../x"},
        {"http://foo.0x4../x?", "http://foo.0x4../x"},
        {"http://256.256.256.256../", "http://256.256.256.256../"},
        {"http://1.2.3.4../", "http://1.2.3.4/"},
        {"http://0x7f.1.../x?y=%41", "http://127.0.0.1/x?y=A"},
    };

    CHECK_CANONICAL(table);
    ck_assert(bytes_is(url_host(&url), "127.0.0.1"));
    ck_assert(bytes_is(url_path(&url), "/x"));
}

TEST(ours_c5_an_empty_query_is_dropped)
{
    static const struct known table[] = {
        {"http://h/?", "http://h/"},
        {"http://h?#f", "http://h/"},
        {"http://h/??", "http://h/??"},
        {"http://h/?&", "http://h/?&"},
    };

    CHECK_CANONICAL(table);
}

TEST(ours_c6_dot_segments_that_come_out_are_removed)
{
    static const struct known table[] = {
        {"http://h/a/%%32e/b", "http://h/a/b"},
        {"http://h/a/%%32e%%32E/b", "http://h/b"},
        {"http://h/a/b/.%%32e", "http://h/a/"},
        {"http://h/a/%%32e", "http://h/a/"},
        {"http://h/%%32e%%32e/%%32e%%32e/a", "http://h/a"},
        {"http://h/a//%%32e%%32e/b", "http://h/a/b"},
        {"http://h/a%2f%%32e%%32e/b", "http://h/a%2F../b"},
        {"http://h/a/%%32e%%32e/b?%%32e%%32e/", "http://h/b?../"},
    };

    CHECK_CANONICAL(table);
}

TEST(ours_c7_everything_else_stays)
{
    static const struct known table[] = {
        {"http://www.h//a//B/index.html?b=2&a=1&b=+%20&utm_source=x",
         "http://www.h//a//B/index.html?b=2&a=1&b=+%20&utm_source=x"},
        {"http://h/;jsessionid=1?PHPSESSID=2&sid=3",
         "http://h/;jsessionid=1?PHPSESSID=2&sid=3"},
        {"http://h/a/", "http://h/a/"},
        {"http://h/'()*!$&,;=:@|[]", "http://h/'()*!$&,;=:@|[]"},
    };

    CHECK_CANONICAL(table);
}

TEST(parts_stand_where_they_say_after_every_rule)
{
    ck_assert_int_eq(
        url_canonical(&url,
                      bytes_of_str("https://u:p@a.b..:8443/%7ea/%%32e/b?%41"),
                      NULL, NULL),
        URL_OK);
    ck_assert_str_eq(buf_str(&url.text), "https://a.b:8443/~a/b?A");
    ck_assert(bytes_is(url_host(&url), "a.b"));
    ck_assert(bytes_is(url_origin(&url), "https://a.b:8443"));
    ck_assert(bytes_is(url_path(&url), "/~a/b"));
    ck_assert(bytes_is(url_path_query(&url), "/~a/b?A"));
    ck_assert_uint_eq(url.port, 8443);
}

static bool same_parts(const struct url *a, const struct url *b)
{
    return bytes_equal(url_text(a), url_text(b)) && a->https == b->https &&
           a->port == b->port && a->userinfo_at == b->userinfo_at &&
           a->host_at == b->host_at && a->host_len == b->host_len &&
           a->path_at == b->path_at && a->query_at == b->query_at;
}

/* The canonical form of `in` must be its own canonical form, and both must
 * parse to the same text with the same parts. */
static void assert_fixed_point(struct bytes in, const struct url *against)
{
    if (url_canonical(&url, in, against, NULL) != URL_OK)
        return;
    ck_assert_int_eq(url_parse(&base, url_text(&url), NULL, NULL), URL_OK);
    ck_assert_msg(same_parts(&url, &base), "%.*s: %s parses to %s", (int)in.len,
                  in.at, buf_str(&url.text), buf_str(&base.text));
    url_canonicalise(&base);
    ck_assert_msg(same_parts(&url, &base), "%.*s: %s is not fixed, %s",
                  (int)in.len, in.at, buf_str(&url.text), buf_str(&base.text));
    ck_assert_uint_eq(url_origin_length(url_text(&url)), url.path_at);
}

/* Promise (URLs): the canonical form is a fixed point. See also
 * `url_canonical/the_form_of_nested_escapes_is_a_fixed_point`,
 * `url_any/what_was_serialised_parses_to_itself`, `make fuzz`. */
TEST(the_form_is_a_fixed_point)
{
    char s[400];

    for (int i = 0; i < 200000; i++)
        assert_fixed_point(bytes_of(s, soup(s, sizeof s)), NULL);
}

/* Nested escapes, some digits and dots: input on which C3 and C6 work. */
TEST(the_form_of_nested_escapes_is_a_fixed_point)
{
    static const char octets[] = "%%%%%%%2222333345eEfF016789aA./";
    char s[60] = "http://h/";

    for (int i = 0; i < 200000; i++) {
        size_t n = 9 + soup_random() % 40;

        for (size_t k = 9; k < n; k++)
            s[k] = octets[soup_random() % (sizeof octets - 1)];
        if (soup_random() % 4 == 0)
            s[9 + soup_random() % 40] = '?';
        assert_fixed_point(bytes_of(s, n), NULL);
    }
}

/* "0.." is three octets and 0.0.0.0 is seven; a URL at the ceiling has no room
 * for that and keeps its dots. */
TEST(ours_a_host_does_not_grow_past_the_ceiling)
{
    char *s = malloc(URL_LENGTH_CEILING + 1);

    ck_assert_ptr_nonnull(s);
    memset(s, 'a', URL_LENGTH_CEILING);
    soup_add(s, 0, "http://0../");
    assert_fixed_point(bytes_of(s, URL_LENGTH_CEILING), NULL);
    ck_assert_uint_eq(url_text(&url).len, URL_LENGTH_CEILING);
    assert_fixed_point(bytes_of(s, URL_LENGTH_CEILING - 4), NULL);
    ck_assert(bytes_is(url_host(&url), "0.0.0.0"));
    free(s);
}
