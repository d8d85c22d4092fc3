/* SPDX-License-Identifier: MIT */
/*
 * test_url_any.c - properties of the URL parser for any input: random text,
 * limits of length and time, threads.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "frontier/url/url.h"
#include "tests/unit/frontier/url/soup.h"
#include "tests/unit/frontier/url/url_cases.h"
#include "tests/unit/unit.h"

static void assert_same(const struct url *a, enum url_reason ra,
                        const struct url *b, enum url_reason rb,
                        struct bytes in)
{
    ck_assert_msg(ra == rb, "%s and %s: %.*s", url_reason_text(ra),
                  url_reason_text(rb), (int)in.len, in.at);
    if (ra == URL_OK)
        ck_assert_msg(bytes_equal(url_text(a), url_text(b)), "%s and %s: %.*s",
                      buf_str(&a->text), buf_str(&b->text), (int)in.len, in.at);
}

static void assert_parts_agree(const struct url *u)
{
    struct bytes t = url_text(u);

    ck_assert_uint_eq(u->userinfo_at, u->https ? 8 : 7);
    ck_assert(u->userinfo_at <= u->host_at);
    ck_assert(u->userinfo_at == u->host_at || t.at[u->host_at - 1] == '@');
    ck_assert_uint_gt(u->host_len, 0);
    ck_assert(u->host_at + u->host_len <= u->path_at);
    ck_assert(u->host_at + u->host_len == u->path_at ||
              t.at[u->host_at + u->host_len] == ':');
    ck_assert_int_eq(t.at[u->path_at], '/');
    ck_assert(u->query_at == t.len || t.at[u->query_at] == '?');
    ck_assert_uint_eq(url_origin_length(t), u->path_at);
    for (size_t i = 0; i < t.len; i++)
        ck_assert(t.at[i] > ' ' && t.at[i] < 0x7f);
}

TIMEOUT(120);
FIXTURE(setup, teardown);

TEST(what_was_serialised_parses_to_itself)
{
    struct url again;
    char s[400];

    url_init(&again);
    for (int i = 0; i < 100000; i++) {
        struct bytes in = bytes_of(s, soup(s, sizeof s));
        enum url_reason r = url_parse(&url, in, NULL, NULL);

        if (r != URL_OK)
            continue;
        assert_parts_agree(&url);
        assert_same(&url, r, &again,
                    url_parse(&again, url_text(&url), NULL, NULL), in);
    }
    url_fini(&again);
}

/* Compares the URL as written with one that takes the parser's other path. */
TEST(tabs_fragments_and_backslashes_do_not_matter)
{
    struct url other;
    char s[400], t[900];

    url_init(&other);
    ck_assert_int_eq(url_parse(&base, bytes_of_str("http://base/a/b?c"), NULL,
                               NULL),
                     URL_OK);
    for (int i = 0; i < 100000; i++) {
        size_t n = soup(s, sizeof s), m = 0;
        struct bytes in = bytes_of(s, n);
        const struct url *against = i % 2 ? &base : NULL;
        enum url_reason r = url_parse(&url, in, against, NULL);
        bool query = false;

        for (size_t k = 0; k < n; k++) {
            query |= s[k] == '?';
            t[m++] = s[k] == '/' && !query && soup_random() % 2 ? '\\' : s[k];
            if (k > 0 && k + 1 < n && soup_random() % 8 == 0)
                t[m++] = "\t\n\r"[soup_random() % 3];
        }
        if (n > 0 && (unsigned char)s[n - 1] > ' ') {
            memcpy(t + m, "#f", 2);
            m += 2;
        }
        assert_same(&url, r, &other,
                    url_parse(&other, bytes_of(t, m), against, NULL), in);
    }
    url_fini(&other);
}

/* A host in capitals and a leading dot segment both leave the fast path. */
TEST(the_fast_way_and_the_long_way_agree)
{
    struct url other;
    char s[500], t[600];

    url_init(&other);
    for (int i = 0; i < 50000; i++) {
        char host[200], rest[200];
        size_t n = soup(rest, sizeof rest), m;
        size_t h = soup(host, sizeof host);

        host[0] = 'h';
        h = h < 40 ? h : 40;
        for (size_t k = 0; k < h; k++) /* no octet that ends a host */
            if (strchr("/\\?#@:", host[k]) != NULL)
                host[k] = "a.1x"[soup_random() % 4];
        m = soup_add(s, 0, "http://");
        memcpy(s + m, host, h);
        m += h;
        s[m++] = '/';
        memcpy(s + m, rest, n);
        for (size_t k = 0; k < h; k++)
            if (host[k] >= 'a' && host[k] <= 'z')
                host[k] = (char)(host[k] - 32);
        n += m;
        memcpy(t, "http://", 7);
        memcpy(t + 7, host, h);
        memcpy(t + 7 + h, "/./", 3);
        memcpy(t + 10 + h, rest, n - m);
        assert_same(&url, url_parse(&url, bytes_of(s, n), NULL, NULL), &other,
                    url_parse(&other, bytes_of(t, n + 2), NULL, NULL),
                    bytes_of(s, n));
    }
    url_fini(&other);
}

static void *parse_many(void *arg)
{
    struct url u;

    (void)arg;
    url_init(&u);
    for (int i = 0; i < 200; i++)
        if (url_parse(&u,
                      bytes_of_str("http://b\xc3\xbc"
                                   "cher.example/"),
                      NULL, NULL) != URL_OK ||
            !bytes_is(url_text(&u), "http://xn--bcher-kva.example/"))
            return arg;
    url_fini(&u);
    return NULL;
}

TEST(threads_share_what_is_opened_once)
{
    pthread_t t[4];
    void *failed;

    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&t[i], NULL, parse_many, "x"), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(t[i], &failed);
        ck_assert_ptr_null(failed);
    }
}

static char *long_url(size_t len, const char *prefix, char fill)
{
    char *s = malloc(len + 1);

    ck_assert_ptr_nonnull(s);
    memset(s, fill, len);
    memcpy(s, prefix, strlen(prefix));
    s[len] = '\0';
    return s;
}

TEST(ours_a_url_over_the_ceiling_is_refused)
{
    static const char *const starts[] = {"http://h/", "http://h/?", "http://",
                                         "http://h:0", "http://u@h/"};

    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        char fill = starts[i][strlen(starts[i]) - 1] == '0' ? '0' : 'a';
        char *s = long_url(URL_LENGTH_CEILING + 1, starts[i], fill);
        enum url_reason r = parse(s, NULL);

        if (fill == '0')
            ck_assert_int_eq(r, URL_OK); /* a long way to write port 0 */
        else
            ck_assert_int_eq(r, URL_LENGTH);
        free(s);
    }
    for (size_t len = URL_LENGTH_CEILING - 1; len <= URL_LENGTH_CEILING;
         len++) {
        char *s = long_url(len, "http://h/", 'a');

        ck_assert_int_eq(parse(s, NULL), URL_OK);
        ck_assert_uint_eq(url_text(&url).len, len);
        free(s);
    }
}

TEST(ours_a_huge_idna_host_is_refused_at_once)
{
    char *s = long_url(60007, "http://", 'a');

    for (size_t i = 7; i + 3 <= 60007; i += 3) { /* 20,000 ideographs */
        unsigned c = 0x4e00 + (unsigned)(i / 3) % 0x5000;

        s[i] = (char)(0xe0 | c >> 12);
        s[i + 1] = (char)(0x80 | (c >> 6 & 0x3f));
        s[i + 2] = (char)(0x80 | (c & 0x3f));
    }
    s[60006] = '\0';
    for (int i = 0; i < 50; i++)
        ck_assert_int_eq(parse(s, NULL), URL_HOST_IDNA);
    free(s);
}
