/* SPDX-License-Identifier: MIT */
/*
 * test_url.c - the parser against the URL Standard, by its sections. The web
 * platform's urltestdata.json runs in `make check-shared`; the cases here can
 * be checked by hand. Hosts are in test_url_host.c, properties of any input in
 * test_url_any.c.
 */
/* Promise (URLs): the URL Standard for http and https: 448 of 448 web
 * platform tests, 87 of 87 host names. See also `make check-shared`,
 * `url_host`, `host`. */
#include <stdio.h>
#include <string.h>

#include "frontier/url/url.h"
#include "tests/unit/frontier/url/url_cases.h"
#include "tests/unit/unit.h"

/* ---- by section of the URL Standard ----------------------------------- */

FIXTURE(setup, teardown);

TEST(url_1_3_each_part_has_its_percent_encode_set)
{
    static const struct known table[] = {
        {"http://h/ \"#", "http://h/%20%22"},
        {"http://h/a\"b<c>d`e{f}g^h|i'j[k]", "http://h/a%22b%3Cc%3Ed%60e%7Bf"
                                             "%7Dg%5Eh|i'j[k]"},
        {"http://h/?a\"b<c>d`e{f}g^h|i'j[k]\\", "http://h/?a%22b%3Cc%3Ed`e{f}g"
                                                "^h|i%27j[k]\\"},
        {"http://h/\x7f\x01\xc3\xa9?\x7f\x01\xc3\xa9",
         "http://h/%7F%01%C3%A9?%7F%01%C3%A9"},
        {"http://h/%zz%4%", "http://h/%zz%4%"},
        {"http://a b\"<>`{}^|;=[]'!~@h/",
         "http://a%20b%22%3C%3E%60%7B%7D%5E%7C%3B%3D%5B%5D'!~@h/"},
    };

    CHECK_ALL(table, NULL);
}

TEST(url_4_4_white_space_around_and_newlines_inside_go)
{
    static const struct known table[] = {
        {"  \x01\x1fhttp://h/a\x1f ", "http://h/a"},
        {"ht\ntp\t://\rh/a\tb\r\n", "http://h/ab"},
        {"http://h/a #b", "http://h/a%20"},
        {"http://h/\xc2\xa0", "http://h/%C2%A0"},
        {"\thttp:/\n/h", "http://h/"},
    };

    CHECK_ALL(table, NULL);
}

TEST(url_4_4_slashes_before_the_host_may_be_any_number)
{
    static const struct known table[] = {
        {"http:h", "http://h/"},         {"http:/h", "http://h/"},
        {"http:\\\\h\\a", "http://h/a"}, {"https:////h//a", "https://h//a"},
        {"HtTpS:h?q", "https://h/?q"},
    };

    CHECK_ALL(table, NULL);
}

TEST(url_4_4_userinfo_ends_at_the_last_at_sign)
{
    static const struct known table[] = {
        {"http://u@h/", "http://u@h/"},
        {"http://u:p@h/", "http://u:p@h/"},
        {"http://u:@h/", "http://u@h/"},
        {"http://:p@h/", "http://:p@h/"},
        {"http://@h/", "http://h/"},
        {"http://:@h/", "http://h/"},
        {"http://a@b:c:d@e@h/", "http://a%40b:c%3Ad%40e@h/"},
        {"http://h/@x", "http://h/@x"},
        {"http://h?@x", "http://h/?@x"},
        {"http://u:p@[::1]:8080", "http://u:p@[::1]:8080/"},
    };

    CHECK_ALL(table, NULL);
    ck_assert_int_eq(parse("http://u:p@h:81/x?y", NULL), URL_OK);
    ck_assert_uint_eq(url.userinfo_at, 7);
    ck_assert_uint_eq(url.host_at, 11);
    ck_assert_int_eq(parse("http://h:81/x?y", NULL), URL_OK);
    ck_assert_uint_eq(url.userinfo_at, url.host_at);
}

TEST(url_4_4_default_ports_are_left_out)
{
    static const struct known table[] = {
        {"http://h:/", "http://h/"},
        {"http://h:80/", "http://h/"},
        {"http://h:0000080/", "http://h/"},
        {"http://h:443/", "http://h:443/"},
        {"https://h:443/", "https://h/"},
        {"http://h:0/", "http://h:0/"},
        {"http://h:65535/", "http://h:65535/"},
    };
    static const struct refused refused[] = {
        {"http://h:65536/", URL_PORT},
        {"http://h:-1/", URL_PORT},
        {"http://h:8a/", URL_PORT},
        {"http://h:99999999999999999999/", URL_PORT},
        {"http://h:80:80/", URL_PORT},
        {"http://h:%38/", URL_PORT},
    };

    CHECK_ALL(table, NULL);
    REFUSES(refused);
    ck_assert_int_eq(parse("https://h/", NULL), URL_OK);
    ck_assert_uint_eq(url.port, 443);
    ck_assert_int_eq(parse("https://h:8/", NULL), URL_OK);
    ck_assert_uint_eq(url.port, 8);
    ck_assert_int_eq(parse("/x", "http://h:81/"), URL_OK);
    ck_assert_uint_eq(url.port, 81);
}

TEST(url_4_4_dot_segments_are_resolved)
{
    static const struct known table[] = {
        {"http://h/a/./b", "http://h/a/b"},
        {"http://h/a/../b", "http://h/b"},
        {"http://h/a/b/..", "http://h/a/"},
        {"http://h/a/b/.", "http://h/a/b/"},
        {"http://h/..", "http://h/"},
        {"http://h/../../a", "http://h/a"},
        {"http://h/a/%2e/%2E%2e/b", "http://h/b"},
        {"http://h/a/.%2e", "http://h/"},
        {"http://h/a//../b", "http://h/a/b"},
        {"http://h/a\\..\\b", "http://h/b"},
        {"http://h/...", "http://h/..."},
        {"http://h/.a/a./..a", "http://h/.a/a./..a"},
        {"http://h/a/..?x/../y", "http://h/?x/../y"},
        {"http://h/.%2", "http://h/.%2"},
    };

    CHECK_ALL(table, NULL);
}

/* Paths are looked at in blocks, whose edges may be anywhere. */
TEST(url_4_4_dots_and_escapes_are_seen_wherever_they_stand)
{
    char before[41], in[128], out[128];
    struct url u;

    url_init(&u);
    memset(before, 'a', sizeof before);
    for (int n = 0; n < (int)sizeof before; n++) {
        snprintf(in, sizeof in, "http://h/%.*s/./b%.*s", n, before, n, before);
        snprintf(out, sizeof out, "http://h/%.*s/b%.*s", n, before, n, before);
        ck_assert_int_eq(url_parse(&u, bytes_of_str(in), NULL, NULL), URL_OK);
        ck_assert_str_eq(buf_str(&u.text), out);
        snprintf(in, sizeof in, "http://h/%.*s/.b-_.%.*s", n, before, n,
                 before);
        ck_assert_int_eq(url_parse(&u, bytes_of_str(in), NULL, NULL), URL_OK);
        ck_assert_str_eq(buf_str(&u.text), in);
        snprintf(in, sizeof in, "http://h/%.*s^\xc3\xa9%.*s", n, before, n,
                 before);
        snprintf(out, sizeof out, "http://h/%.*s%%5E%%C3%%A9%.*s", n, before, n,
                 before);
        ck_assert_int_eq(url_parse(&u, bytes_of_str(in), NULL, NULL), URL_OK);
        ck_assert_str_eq(buf_str(&u.text), out);
    }
    url_fini(&u);
}

TEST(url_4_4_other_schemes_are_refused)
{
    static const struct refused refused[] = {
        {"ftp://h/", URL_SCHEME},
        {"mailto:a@b", URL_SCHEME},
        {"javascript:x", URL_SCHEME},
        {"httpx://h/", URL_SCHEME},
        {"h-t.t+p1:x", URL_SCHEME},
        {"file:///etc", URL_SCHEME},
        {"data:,x", URL_SCHEME},
        {"", URL_EMPTY},
        {" \t\n", URL_EMPTY},
        {"#f", URL_EMPTY},
        {"/a", URL_RELATIVE},
        {"//h/a", URL_RELATIVE},
        {"a", URL_RELATIVE},
        {"?q", URL_RELATIVE},
        {"://h", URL_RELATIVE},
        {"1http://h", URL_RELATIVE},
        {"ht/tp://h", URL_RELATIVE},
        {"http", URL_RELATIVE},
        {"\xef\xbb\xbfhttp://h/", URL_RELATIVE},
    };

    REFUSES(refused);
    ck_assert_int_eq(parse("mailto:x", "http://h/"), URL_SCHEME);
}

/* RFC 3986's examples, with the URL Standard's results: fragments are dropped
 * here, and http:g is relative. */
TEST(rfc3986_5_4_references_resolve)
{
    static const struct known table[] = {
        {"g", "http://a/b/c/g"},
        {"./g", "http://a/b/c/g"},
        {"g/", "http://a/b/c/g/"},
        {"/g", "http://a/g"},
        {"//g", "http://g/"},
        {"?y", "http://a/b/c/d;p?y"},
        {"g?y", "http://a/b/c/g?y"},
        {"#s", "http://a/b/c/d;p?q"},
        {"g#s", "http://a/b/c/g"},
        {"g?y#s", "http://a/b/c/g?y"},
        {";x", "http://a/b/c/;x"},
        {"g;x?y#s", "http://a/b/c/g;x?y"},
        {"", "http://a/b/c/d;p?q"},
        {".", "http://a/b/c/"},
        {"./", "http://a/b/c/"},
        {"..", "http://a/b/"},
        {"../", "http://a/b/"},
        {"../g", "http://a/b/g"},
        {"../..", "http://a/"},
        {"../../", "http://a/"},
        {"../../g", "http://a/g"},
        {"../../../g", "http://a/g"},
        {"/./g", "http://a/g"},
        {"/../g", "http://a/g"},
        {"g.", "http://a/b/c/g."},
        {".g", "http://a/b/c/.g"},
        {"g..", "http://a/b/c/g.."},
        {"./../g", "http://a/b/g"},
        {"./g/.", "http://a/b/c/g/"},
        {"g/../h", "http://a/b/c/h"},
        {"g;x=1/../y", "http://a/b/c/y"},
        {"g?y/../x", "http://a/b/c/g?y/../x"},
        {"http:g", "http://a/b/c/g"},
    };

    CHECK_ALL(table, "http://a/b/c/d;p?q");
    ck_assert_int_eq(parse("g:h", "http://a/b/c/d;p?q"), URL_SCHEME);
}

TEST(url_4_4_references_take_from_the_base_what_they_lack)
{
    static const struct known table[] = {
        {"", "https://u:p@h:81/a/b?q"},
        {"?", "https://u:p@h:81/a/b?"},
        {"#", "https://u:p@h:81/a/b?q"},
        {"c", "https://u:p@h:81/a/c"},
        {"/", "https://u:p@h:81/"},
        {"\\c\\d", "https://u:p@h:81/c/d"},
        {"https:c", "https://u:p@h:81/a/c"},
        {"https:/c", "https://u:p@h:81/c"},
        {"https://c", "https://c/"},
        {"https:?x", "https://u:p@h:81/a/b?x"},
        {"https:", "https://u:p@h:81/a/b?q"},
        {"http:c", "http://c/"},
        {"/\\c", "https://c/"},
        {"\\/c/d", "https://c/d"},
        {"///c", "https://c/"},
        {"1:b", "https://u:p@h:81/a/1:b"},
        {"b/a:b", "https://u:p@h:81/a/b/a:b"},
        {"//u2@c:443/", "https://u2@c/"},
    };

    CHECK_ALL(table, "https://u:p@h:81/a/b?q#f");
    ck_assert_int_eq(parse("a:b", "https://u:p@h:81/a/b?q#f"), URL_SCHEME);
}

/* Promise (URLs): the canonical form follows rules C1 to C8; different octets
 * are different URLs, also if they are not text. See also `url_canonical`,
 * `tests/cli/url.sh`, `tests/cli/seeds.sh`. */
/* The standard parses text, we get octets: those that are not text stay apart,
 * as they do in browsers, curl and wget. */
TEST(ours_c8_octets_that_are_not_utf8_are_encoded_as_they_are)
{
    static const struct known table[] = {
        {"http://h/caf\xe9", "http://h/caf%E9"},
        {"http://h/\xc0\xaf", "http://h/%C0%AF"},
        {"http://h/\xe2\x82x", "http://h/%E2%82x"},
        {"http://h/\xf0\x9f\x98\x80\xf0\x9f\x98",
         "http://h/%F0%9F%98%80%F0%9F%98"},
        {"http://h/\xed\xa0\x80", "http://h/%ED%A0%80"},
        {"http://h/\xf4\x90\x80\x80", "http://h/%F4%90%80%80"},
        {"http://\xe2@h/\xe2?\xe2", "http://%E2@h/%E2?%E2"},
    };

    CHECK_ALL(table, NULL);
    ck_assert_int_eq(parse("http://caf\xe9.fr/", NULL), URL_HOST_IDNA);
    /* A truncated octet and the %XX after it are not read as one character. */
    ck_assert_int_eq(parse("http://\xe2%82%ac/", NULL), URL_HOST_IDNA);
    ck_assert_int_eq(parse("http://%e2%82%ac/", NULL), URL_OK);
}

TEST(zero_octets_are_octets_like_others)
{
    ck_assert_int_eq(url_parse(&url, bytes_of("\0http://h/a\0b?c\0d\0", 18),
                               NULL, NULL),
                     URL_OK);
    ck_assert(bytes_is(url_text(&url), "http://h/a%00b?c%00d"));
    ck_assert_int_eq(url_parse(&url, bytes_of("http://a\0b/", 11), NULL, NULL),
                     URL_HOST);
    ck_assert_int_eq(url_parse(&url, bytes_of(NULL, 0), NULL, NULL), URL_EMPTY);
}

/* ---- query in another encoding ---------------------------------------- */

/* Encodes as a page in an ASCII-based encoding that has e-acute at 0xe9. */
static void encode_e_acute(void *ctx, struct bytes in, struct buf *out)
{
    ++*(int *)ctx;
    for (size_t i = 0; i < in.len; i++) {
        if (in.len - i >= 2 && memcmp(in.at + i, "\xc3\xa9", 2) == 0) {
            buf_add_char(out, '\xe9');
            i++;
        } else if (in.len - i >= 3 &&
                   memcmp(in.at + i, "\xe2\x82\xac", 3) == 0) {
            buf_add_str(out, "%26%238364%3B");
            i += 2;
        } else if (in.len - i >= 3 &&
                   memcmp(in.at + i, "\xef\xbf\xbd", 3) == 0) {
            buf_add_str(out, "%26%2365533%3B");
            i += 2;
        } else {
            buf_add_char(out, in.at[i]);
        }
    }
}

TEST(url_4_4_a_query_is_encoded_as_the_page_is)
{
    int calls = 0;
    struct url_encoder e = {encode_e_acute, &calls};
    static const struct known table[] = {
        {"\xc3\xa9?a=\xc3\xa9&b='c d'", "http://h/%C3%A9?a=%E9&b=%27c%20d%27"},
        {"?\xe2\x82\xac", "http://h/?%26%238364%3B"},
        {"?\xff", "http://h/?%26%2365533%3B"},
        {"?%E2%82%AC", "http://h/?%E2%82%AC"},
        {"?a=1", "http://h/?a=1"},
        {"x", "http://h/x"},
    };

    ck_assert_int_eq(parse("http://h/", NULL), URL_OK);
    ck_assert_int_eq(url_parse(&base, bytes_of_str("http://h/"), NULL, NULL),
                     URL_OK);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        ck_assert_int_eq(url_parse(&url, bytes_of_str(table[i].in), &base, &e),
                         URL_OK);
        ck_assert_str_eq(buf_str(&url.text), table[i].want);
    }
    ck_assert_int_eq(calls, 3); /* ASCII needs no conversion */
}

static void encode_forever(void *ctx, struct bytes in, struct buf *out)
{
    (void)ctx;
    (void)in;
    while (buf_failed(out) == STATUS_OK)
        buf_add_str(out, "0123456789012345678901234567890123456789");
}

TEST(an_encoder_without_end_is_bounded)
{
    struct url_encoder e = {encode_forever, NULL};

    ck_assert_int_eq(url_parse(&url, bytes_of_str("http://h/?\xc3\xa9"), NULL,
                               &e),
                     URL_LENGTH);
    ck_assert_int_eq(parse("http://h/", NULL), URL_OK);
}

TEST(entities_are_not_decoded_here)
{
    static const struct known table[] = {
        {"?a&amp;b", "http://h/?a&amp;b"},
        {"&#x2f;a", "http://h/&"},
    };

    CHECK_ALL(table, "http://h/");
}

/* ---- parts, length, reuse --------------------------------------------- */

TEST(parts_stand_where_they_say)
{
    ck_assert_int_eq(parse("https://[::1]:8/a/b?c=d", NULL), URL_OK);
    ck_assert(bytes_is(url_host(&url), "[::1]"));
    ck_assert(bytes_is(url_origin(&url), "https://[::1]:8"));
    ck_assert(bytes_is(url_path(&url), "/a/b"));
    ck_assert(bytes_is(url_path_query(&url), "/a/b?c=d"));
    ck_assert(url.https);
    ck_assert_int_eq(parse("http://h", NULL), URL_OK);
    ck_assert(bytes_is(url_path(&url), "/"));
    ck_assert(bytes_is(url_path_query(&url), "/"));
    ck_assert_uint_eq(url.query_at, url.text.len);
    ck_assert(!url.https);
}

TEST(origin_length_is_found_without_parsing)
{
    ck_assert_uint_eq(url_origin_length(bytes_of_str("http://h/a/b")), 8);
    ck_assert_uint_eq(url_origin_length(bytes_of_str("https://h:81/")), 12);
    ck_assert_uint_eq(url_origin_length(bytes_of_str("http://h")), 0);
    ck_assert_uint_eq(url_origin_length(bytes_of_str("http:///x")), 0);
    ck_assert_uint_eq(url_origin_length(bytes_of_str("ftp://h/")), 0);
    ck_assert_uint_eq(url_origin_length(bytes_of_str("http:/")), 0);
    ck_assert_uint_eq(url_origin_length(bytes_of_str("")), 0);
}

TEST(a_refused_url_leaves_a_struct_that_can_be_used_again)
{
    static const char *const bad[] = {
        "", "x:y", "http://", "http://h:x/", "http://[::/", "http://\xff/"};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_int_ne(parse(bad[i], NULL), URL_OK);
        ck_assert_int_eq(parse("http://h/x", NULL), URL_OK);
        ck_assert_str_eq(buf_str(&url.text), "http://h/x");
    }
    url_fini(&url);
    ck_assert_int_eq(parse("http://h/y", NULL), URL_OK);
}

TEST(every_reason_has_one_word)
{
    for (int r = 0; r < URL_REASON_COUNT_; r++) {
        const char *s = url_reason_text((enum url_reason)r);

        ck_assert_uint_gt(strlen(s), 1);
        ck_assert_uint_eq(strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_"),
                          strlen(s));
    }
    ck_assert_str_eq(url_reason_text((enum url_reason)99), "unknown");
}

TEST(the_host_of_canonical_text_is_found_without_parsing)
{
    static const struct known table[] = {
        {"http://h/a:b", "h"},
        {"https://h:81/x", "h"},
        {"https://h:8", "h"},
        {"http://h", "h"},
        {"http://[::1]/", "[::1]"},
        {"http://[::1]:8080/", "[::1]"},
        {"https://a.b.example", "a.b.example"},
        {"ftp://h/", ""},
        {"http://", ""},
        {"http:", ""},
        {"", ""},
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct bytes text = guarded(bytes_of_str(table[i].in));

        ck_assert_msg(bytes_is(url_canonical_host(text), table[i].want), "%s",
                      table[i].in);
        guarded_free(text);
    }
}

/* Port 80 under http and port 443 under https are one site. */
TEST(ours_a_site_is_a_host_and_its_port_whatever_the_scheme)
{
    static const struct {
        const char *a, *b;
        bool same;
    } pairs[] = {
        {"http://h/x", "http://h/y?z", true},
        {"http://h/", "https://h/", true},
        {"http://h:8080/", "https://h:8080/", true},
        {"http://h/", "http://i/", false},
        {"http://h/", "http://www.h/", false},
        {"http://h:8080/", "http://h/", false},
        {"http://h:8080/", "https://h/", false},
        {"http://h:8080/", "http://h:8081/", false},
        {"http://h:443/", "https://h/", false},
        {"https://h:80/", "http://h/", false},
        {"http://h:443/", "https://h:80/", false},
    };

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        ck_assert_int_eq(parse(pairs[i].a, pairs[i].b), URL_OK);
        ck_assert_msg(url_same_site(&url, &base) == pairs[i].same, "%s %s",
                      pairs[i].a, pairs[i].b);
        ck_assert_msg(url_same_site(&base, &url) == pairs[i].same, "%s %s",
                      pairs[i].b, pairs[i].a);
    }
}
