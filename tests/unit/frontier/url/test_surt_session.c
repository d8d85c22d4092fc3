/* SPDX-License-Identifier: MIT */
/*
 * test_surt_session.c - against the regular expressions of the Internet
 * Archive's canonicaliser and of surt 0.3.1, over random text made of their
 * parts.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "frontier/url/surt.h"
#include "tests/unit/frontier/url/soup.h"
#include "tests/unit/guarded.h"
#include "tests/unit/unit.h"

#define ID32   "0123456789abcdefghijklmnopqrstuv"
#define ID24   "4hqa0555fwsecu455xqckv45"
#define WORD24 "abcdefghijklmnopqrstuvwx"
#define MOST   600

static const char *const of_paths[] = {
    "^(.*/)(?:\\((?:[a-z]\\([0-9a-z]{24}\\))+\\)/)([^\\?]+\\.aspx.*)$",
    "^(.*/)(?:\\([0-9a-z]{24}\\)/)([^\\?]+\\.aspx.*)$",
};
static const char *const of_queries[] = {
    "^(.*)(?:jsessionid=[0-9a-z]{32})(?:&(.*))?$",
    "^(.*)(?:phpsessid=[0-9a-z]{32})(?:&(.*))?$",
    "^(.*)(?:sid=[0-9a-z]{32})(?:&(.*))?$",
    "^(.*)(?:aspsessionid[a-z]{8}=[a-z]{24})(?:&(.*))?$",
    "^(.*)(?:cfid=[^&]+&cftoken=[^&]+)(?:&(.*))?$",
};

static pcre2_code *compiled(const char *pattern)
{
    int wrong;
    PCRE2_SIZE at;
    pcre2_code *c =
        pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
                      PCRE2_DOTALL | PCRE2_DOLLAR_ENDONLY, &wrong, &at, NULL);

    ck_assert_ptr_nonnull(c);
    return c;
}

/* Replaces a match by its two groups. */
static size_t apply(pcre2_code *c, char *at, size_t len)
{
    pcre2_match_data *m = pcre2_match_data_create_from_pattern(c, NULL);
    int n = pcre2_match(c, (PCRE2_SPTR)at, len, 0, 0, m, NULL);

    ck_assert_int_ge(n, PCRE2_ERROR_NOMATCH);
    if (n > 0) {
        const PCRE2_SIZE *v = pcre2_get_ovector_pointer(m);
        size_t tail = n > 2 ? v[5] - v[4] : 0;

        if (tail > 0)
            memmove(at + v[3], at + v[4], tail);
        len = v[3] + tail;
    }
    pcre2_match_data_free(m);
    return len;
}

static size_t session_soup(char *out, const char *const *pieces, size_t count)
{
    size_t n = 0, parts = 1 + soup_random() % 12;

    while (parts-- > 0 && n + 40 < MOST)
        n = soup_add(out, n, pieces[soup_random() % count]);
    if (n > 0 && soup_random() % 4 == 0) /* spoil one octet */
        out[soup_random() % n] = "&=?/().x0"[soup_random() % 9];
    return n;
}

static void agrees(const char *const *pieces, size_t piece_count,
                   const char *const *patterns, size_t pattern_count,
                   size_t (*strip)(char *at, size_t len))
{
    pcre2_code *codes[5];
    unsigned cut = 0;

    for (size_t i = 0; i < pattern_count; i++)
        codes[i] = compiled(patterns[i]);
    for (int i = 0; i < 30000; i++) {
        char in[MOST], want[MOST];
        size_t len = session_soup(in, pieces, piece_count), left = len;
        struct bytes g = guarded(bytes_of(in, len));

        memcpy(want, in, len);
        for (size_t p = 0; p < pattern_count; p++)
            left = apply(codes[p], want, left);
        ck_assert_uint_eq(strip((char *)g.at, len), left);
        ck_assert_msg(memcmp(g.at, want, left) == 0, "%.*s: %.*s, not %.*s",
                      (int)len, in, (int)left, g.at, (int)left, want);
        cut += left < len;
        guarded_free(g);
    }
    ck_assert_uint_gt(cut, 1000);
    for (size_t i = 0; i < pattern_count; i++)
        pcre2_code_free(codes[i]);
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

TEST(paths_lose_what_the_expressions_of_the_archive_match)
{
    static const char *const pieces[] = {
        "/",
        "/(s(" ID24 "))/",
        "/(" ID24 ")/",
        "/(a(" ID24 ")b(" ID24 "))/",
        ".aspx",
        "x.aspx",
        "(s(" ID24 ")",
        ")/",
        "?",
        "a",
        "/(" ID24,
        "(",
        "/(" ID24 ")/a.aspx",
        "/()/",
        "/(s(" ID24 "))/b.aspx",
    };

    agrees(pieces, COUNT(pieces), of_paths, COUNT(of_paths),
           surt_strip_path_session);
}

TEST(queries_lose_what_the_expressions_of_the_archive_match)
{
    static const char *const pieces[] = {
        "&",
        "&",
        "jsessionid=" ID32,
        "phpsessid=" ID32,
        "sid=" ID32,
        "aspsessionidabcdefgh=" WORD24,
        "aspsessionid",
        "cfid=1&cftoken=2",
        "cfid=",
        "&cftoken=",
        "cfid=12",
        "jsessionid=",
        "sid=",
        ID32,
        "a=1",
        "x",
        "=",
    };

    agrees(pieces, COUNT(pieces), of_queries, COUNT(of_queries),
           surt_strip_query_session);
}
