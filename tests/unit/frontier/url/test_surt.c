/* SPDX-License-Identifier: MIT */
/*
 * test_surt.c - known keys, made with pywb 2.10 and surt 0.3.1;
 * tests/interop/pywb_surt.py compares many thousand URLs.
 */
/* Promise (URLs): a SURT is the key that pywb makes. See also
 * `surt_session`. */
#include <stdlib.h>
#include <string.h>

#include "frontier/url/surt.h"
#include "tests/unit/frontier/url/soup.h"
#include "tests/unit/frontier/url/url_cases.h"
#include "tests/unit/unit.h"

#define ID    "0123456789abcdefghijklmnopqrstuv"
#define PAREN "(4hqa0555fwsecu455xqckv45)"

static void check_keys(const struct known *k, size_t n)
{
    struct buf key;

    buf_init(&key, SURT_CEILING);
    for (size_t i = 0; i < n; i++) {
        buf_clear(&key);
        ck_assert_int_eq(url_canonical(&url, bytes_of_str(k[i].in), NULL, NULL),
                         URL_OK);
        surt_of(&url, &key);
        ck_assert_msg(bytes_is(buf_bytes(&key), k[i].want),
                      "%s: want %s, got %s", k[i].in, k[i].want, buf_str(&key));
    }
    buf_fini(&key);
}

#define CHECK_KEYS(table) check_keys(table, sizeof(table) / sizeof *(table))

FIXTURE(setup, teardown);

TEST(pywb_labels_are_reversed_and_www_is_dropped)
{
    static const struct known table[] = {
        {"http://example.com/", "com,example)/"},
        {"http://www.example.com/", "com,example)/"},
        {"http://www12.example.co.uk/", "uk,co,example)/"},
        {"http://www.www.com/", "com,www)/"},
        {"http://www2x.org/", "org,www2x)/"},
        {"http://www/", "www)/"},
        {"http://a..b/", "b,a)/"},
        {"http://a...b/", "b,,a)/"},
        {"http://www...a/", "a,)/"},
        {"http://www..a....b/", "b,,a)/"},
        {"http://.../", "http:/"},
        {"http://1.2.3.4/a", "4,3,2,1)/a"},
        {"http://[2001:db8::1]:8080/A", "2001:db8::1:8080)/a"},
        {"http://u:p@example.com:8080/", "com,example:8080)/"},
        {"https://example.com:80/", "com,example:80)/"},
        {"https://example.com:443/", "com,example)/"},
        {"http://example.com:0/", "com,example)/"},
        {"http://../x", "http:/x"},
        {"https://.:81/x", "https:/x"},
    };

    CHECK_KEYS(table);
}

TEST(pywb_paths_are_lowered_and_unescaped)
{
    static const struct known table[] = {
        {"http://h/A/b/", "h)/a/b"},
        {"http://h/a//b///", "h)/a/b"},
        {"http://h/a//../b", "h)/a/b"},
        {"http://h/a%2F%2e%2e/b", "h)/b"},
        {"http://h/..%2f../x", "h)/x"},
        {"http://h/..%2fx", "h)/../x"},
        {"http://h/%252e", "h)/"},
        {"http://h/%2541%2525", "h)/a%25"},
        {"http://h/a%3Fb/", "h)/a?b"},
        {"http://h/%00%20%23%7F%C3%89", "h)/%00%20%23%7f%c3%89"},
        {"http://h/%zz", "h)/%25zz"},
        {"http://h/'()*!$&,;=:@|[]\"^`{}<>", "h)/'()*!$&,;=:@|[]\"^`{}<>"},
    };

    CHECK_KEYS(table);
}

TEST(pywb_aspx_sessions_are_dropped)
{
    static const struct known table[] = {
        {"http://h/x/" PAREN "/Mileg.ASPX", "h)/x/mileg.aspx"},
        {"http://h/(S" PAREN "f" PAREN ")/m.aspx", "h)/m.aspx"},
        {"http://h/" PAREN "/" PAREN "/m.aspx", "h)/" PAREN "/m.aspx"},
        {"http://h/(s" PAREN ")/" PAREN "/m.aspx/n", "h)/m.aspx/n"},
        {"http://h/" PAREN "/m.asp", "h)/" PAREN "/m.asp"},
        {"http://h/" PAREN "/.aspx", "h)/" PAREN "/.aspx"},
        {"http://h/" PAREN "/a%3Fb.aspx", "h)/" PAREN "/a?b.aspx"},
        {"http://h/(1" PAREN ")/m.aspx", "h)/(1" PAREN ")/m.aspx"},
        {"http://h/(4hqa0555)/m.aspx", "h)/(4hqa0555)/m.aspx"},
        {"http://h/a;jsessionid=" ID, "h)/a;jsessionid=" ID},
    };

    CHECK_KEYS(table);
}

TEST(pywb_parameters_are_sorted)
{
    static const struct known table[] = {
        {"http://h/?b=2&a=1&B=1&a&a=&A-b", "h)/?a&a=&a=1&a-b&b=1&b=2"},
        {"http://h/?", "h)/"},
        {"http://h/?&&", "h)/?&&"},
        {"http://h/?a=%26&%3d", "h)/?&=&a="},
        {"http://h/?a+b&a%20b&C/?d", "h)/?a%20b&a+b&c/?d"},
    };

    CHECK_KEYS(table);
}

TEST(pywb_session_parameters_are_dropped)
{
    static const struct known table[] = {
        {"http://h/?sid=" ID "&b=2", "h)/?b=2"},
        {"http://h/?a&sid=" ID, "h)/?&a"},
        {"http://h/?zsid=" ID "&b", "h)/?zb"},
        {"http://h/?sid=0123&b", "h)/?b&sid=0123"},
        {"http://h/?sid=" ID "w&b", "h)/?b&sid=" ID "w"},
        {"http://h/?sid=" ID "&sid=" ID, "h)/?&sid=" ID},
        {"http://h/?JSESSIONID=" ID, "h)/"},
        {"http://h/?PHPSESSID=" ID "&sid=" ID "&x", "h)/?x"},
        {"http://h/?ASPSESSIONIDABCDEFGH=abcdefghijklmnopqrstuvwx&b", "h)/?b"},
        {"http://h/?aspsessionidabcdefg1=abcdefghijklmnopqrstuvwx",
         "h)/?aspsessionidabcdefg1=abcdefghijklmnopqrstuvwx"},
        {"http://h/?cfid=1&cftoken=2&b", "h)/?b"},
        {"http://h/?cfid=1&x&cftoken=2", "h)/?cfid=1&cftoken=2&x"},
        {"http://h/?cfid=&cftoken=2", "h)/?cfid=&cftoken=2"},
        {"http://h/?xcfid=1&cftoken=3&y", "h)/?xy"},
        {"http://h/?cfid=1cfid=2&cftoken=3&y", "h)/?cfid=1y"},
        {"http://h/?cfid=1&cftoken=2&cfid=3&cftoken=4",
         "h)/?&cfid=1&cftoken=2"},
    };

    CHECK_KEYS(table);
}

TEST(any_url_has_a_key_of_printable_octets)
{
    struct buf key;
    char s[400];

    buf_init(&key, SURT_CEILING);
    for (int i = 0; i < 100000; i++) {
        if (url_canonical(&url, bytes_of(s, soup(s, sizeof s)), NULL, NULL) !=
            URL_OK)
            continue;
        buf_clear(&key);
        surt_of(&url, &key);
        ck_ok(buf_failed(&key));
        for (size_t k = 0; k < key.len; k++)
            ck_assert(key.at[k] > ' ' && key.at[k] < 0x7f);
    }
    buf_fini(&key);
}

/* Patterns that could backtrack again and again still take linear time. */
TEST(hostile_urls_take_linear_time)
{
    static const char *const fills[] = {"cfid=",
                                        "&cftoken=1",
                                        "cfid=1&cftoken=",
                                        "/" PAREN "/x?",
                                        "/(s" PAREN,
                                        "/..",
                                        "%25",
                                        "%%%",
                                        "&",
                                        "sid=",
                                        "/x.aspx%3f/" PAREN};
    char *s = malloc(URL_LENGTH_CEILING);
    struct buf key;

    ck_assert_ptr_nonnull(s);
    buf_init(&key, SURT_CEILING);
    for (size_t i = 0; i < sizeof fills / sizeof *fills; i++)
        for (int query = 0; query < 2; query++) {
            size_t n = soup_add(s, 0, query ? "http://h/?" : "http://h/.aspx");

            while (n + 64 < URL_LENGTH_CEILING)
                n = soup_add(s, n, fills[i]);
            ck_assert_int_eq(url_canonical(&url, bytes_of(s, n), NULL, NULL),
                             URL_OK);
            buf_clear(&key);
            surt_of(&url, &key);
            ck_ok(buf_failed(&key));
        }
    buf_fini(&key);
    free(s);
}

TEST(a_full_buffer_fails_and_nothing_else)
{
    struct buf key;

    ck_assert_int_eq(
        url_canonical(&url,
                      bytes_of_str("http://www.h:81/a%zz/(x)/b.aspx?c&b&a%"),
                      NULL, NULL),
        URL_OK);
    for (size_t ceiling = 0; ceiling < 60; ceiling++) {
        buf_init(&key, ceiling);
        surt_of(&url, &key);
        ck_assert_uint_le(key.len, ceiling);
        ck_assert(
            buf_failed(&key) != STATUS_OK ||
            bytes_is(buf_bytes(&key), "h:81)/a%25zz/(x)/b.aspx?a%25&b&c"));
        buf_fini(&key);
    }
}
