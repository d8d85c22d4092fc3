/* SPDX-License-Identifier: MIT */
/*
 * test_robots_pattern.c - which paths a rule's pattern matches: wildcards,
 * percent forms, any length.
 */
#include "crawler/robots/robots.h"

#include <stdio.h>
#include <time.h>

#include "tests/unit/crawler/robots/robots_text.h"

/* ---- wildcards ------------------------------------------------------------*/

TEST(rfc9309_2_2_3_star_and_final_dollar)
{
    static const struct {
        const char *pattern, *path;
        bool matches;
    } t[] = {
        {"/*.php", "/index.php", true},
        {"/*.php", "/folder/any.php.file.html", true},
        {"/*.php", "/index?f=a.php/", true},
        {"/*.php", "/windows.PHP", false},
        {"/*.php$", "/filename.php", true},
        {"/*.php$", "/filename.php?p", false},
        {"/*.php$", "/a.php/b.php", true},
        {"/fish*.php", "/fishheads/catfish.php?p", true},
        {"/fish*.php", "/Fish.php", false},
        {"/this/*/exactly", "/this/and/that/exactly", true},
        {"/this/*/exactly", "/this/exactly", false},
        {"/a$", "/a", true},
        {"/a$", "/ab", false},
        {"/a$", "/a?", false},
        {"/a*", "/a", true},
        {"/a*$", "/abc", true},
        {"/*", "/", true},
        {"*", "/", true},
        {"/a**b", "/ab", true},
        {"/a*b*c$", "/abbcxc", true},
        {"/a*b*c$", "/acb", false},
        {"/a*bc*bc$", "/abc", false},
        {"/a$b", "/a$b", true},
        {"/a$b", "/a", false},
        {"/a$$", "/a$", true},
        {"/*$", "/anything", true},
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        char rule[64];

        snprintf(rule, sizeof rule, "Disallow: %s\n", t[i].pattern);
        ck_assert_msg(under(rule, t[i].path) == !t[i].matches, "%s on %s",
                      t[i].pattern, t[i].path);
    }
}

TEST(rfc9309_2_2_3_special_characters_are_matched_when_encoded)
{
    ck_assert(!under("Disallow: /path/file-with-a-%2A.html\n",
                     "/path/file-with-a-*.html"));
    ck_assert(under("Disallow: /path/file-with-a-%2A.html\n",
                    "/path/file-with-a-b.html"));
    ck_assert(!under("Disallow: /path/foo-%24\n", "/path/foo-$"));
    ck_assert(!under("Disallow: /path/foo-%24\n", "/path/foo-%24x"));
}

/* ---- octets ---------------------------------------------------------------*/

TEST(rfc9309_2_2_2_unreserved_octets_equal_their_percent_form)
{
    ck_assert(!under("Disallow: /foo/bar/%62%61%7A\n", "/foo/bar/baz"));
    ck_assert(!under("Disallow: /foo/bar/baz\n", "/foo/bar/%62%61%7a"));
    ck_assert(!under("Disallow: /%7Ejoe\n", "/~joe"));
    ck_assert(!under("Disallow: /a%2Db%2ec%5F\n", "/a-b.c_"));
    /* Decoded only once: %25 is not an unreserved octet. */
    ck_assert(under("Disallow: /%2561\n", "/a"));
    ck_assert(!under("Disallow: /%2561\n", "/%2561"));
}

TEST(rfc9309_2_2_2_reserved_octets_differ_from_their_percent_form)
{
    ck_assert(under("Disallow: /a/b\n", "/a%2Fb"));
    ck_assert(under("Disallow: /a%2Fb\n", "/a/b"));
    ck_assert(!under("Disallow: /a%2Fb\n", "/a%2fb"));
    ck_assert(under("Disallow: /a%3Fb\n", "/a?b"));
    ck_assert(under("Disallow: /a%26b\n", "/a&b"));
    ck_assert(under("Disallow: /a=b\n", "/a%3Db"));
}

TEST(rfc9309_2_2_2_hex_digits_have_no_case)
{
    ck_assert(!under("Disallow: /%e3%83%84\n", "/%E3%83%84"));
    ck_assert(!under("Disallow: /%E3%83%84\n", "/%e3%83%84"));
    ck_assert(!under("Disallow: /%c3%A9\n", "/%C3%a9"));
}

TEST(rfc9309_2_2_2_non_ascii_equals_its_utf8_percent_form)
{
    ck_assert(
        !under("Disallow: /foo/bar/\xe3\x83\x84\n", "/foo/bar/%E3%83%84"));
    ck_assert(
        !under("Disallow: /foo/bar/%E3%83%84\n", "/foo/bar/\xe3\x83\x84"));
    ck_assert(!under("Disallow: /*\xc3\xa9$\n", "/caf%c3%a9"));
}

TEST(ours_octets_a_url_cannot_hold_equal_their_percent_form)
{
    ck_assert(!under("Disallow: /a b\n", "/a%20b"));
    ck_assert(!under("Disallow: /a|b\n", "/a%7Cb"));
    ck_assert(!under("Disallow: /a%7cb\n", "/a|b"));
    ck_assert(!under("Disallow: /s?q='x'\n", "/s?q=%27x%27"));
    ck_assert(under("Disallow: /100%\n", "/100"));
    ck_assert(!under("Disallow: /100%\n", "/100%"));
    ck_assert(!under("Disallow: /100%zz\n", "/100%zz"));
    ck_assert(!under("Disallow: /100%4", "/100%4"));
    ck_assert(under("Disallow: /100%4", "/100%41"));
    ck_assert(under("Disallow: /100%4", "/100"));
    ck_assert(!under("Disallow: /100%4x\n", "/100%4x"));
    ck_assert(!under("Disallow: /100%41", "/100A"));
}

/* ---- sizes ----------------------------------------------------------------*/

static void append_many(char *to, char c, size_t n)
{
    to += strlen(to);
    memset(to, c, n);
    to[n] = '\0';
}

static double seconds_for(const char *file, const char *path)
{
    clock_t before = clock();

    ck_assert(allows(file, "a", path));
    return (double)(clock() - before) / CLOCKS_PER_SEC;
}

/* Trying each letter of the rule at each letter of the path would take 10^11
 * steps; these take milliseconds. */
TEST(wildcards_never_blow_up)
{
    const size_t n = 1000000, rule = 200000;
    char *path = xmalloc(n + 1), *file = xmalloc(ROBOTS_READ_MOST);

    memset(path, 'a', n);
    path[0] = '/';
    path[n] = '\0';
    strcpy(file, "User-agent: *\nDisallow: ");
    for (int i = 0; i < 5000; i++)
        strcat(file, "*a");
    strcat(file, "b\n");
    ck_assert_double_lt(seconds_for(file, path), 10.0);
    /* The case in which going back to the last star takes quadratic time. */
    strcpy(file, "User-agent: *\nDisallow: *");
    append_many(file, 'a', rule);
    strcat(file, "b$\nDisallow: *");
    append_many(file, 'a', rule);
    strcat(file, "b*c\n");
    ck_assert_double_lt(seconds_for(file, path), 10.0);
    free(path);
    free(file);
}

/* ---- the matcher against a plain model ------------------------------------*/

/* Tries everything; for short strings only. */
static bool model_matches(const char *p, const char *s)
{
    if (*p == '\0')
        return true;
    if (p[0] == '$' && p[1] == '\0')
        return *s == '\0';
    if (*p == '*') {
        for (;; s++) {
            if (model_matches(p + 1, s))
                return true;
            if (*s == '\0')
                return false;
        }
    }
    return *p == *s && model_matches(p + 1, s + 1);
}

/* Promise (Politeness): RFC 9309 is followed, section by section. See also
 * `robots`, `robots_lines`, `robots_pattern`, `tests/cli/robots.sh`. */
TEST(matches_as_a_plain_model_does)
{
    uint64_t x = 88172645463325252u;
    size_t matched = 0;

    for (int round = 0; round < 200000; round++) {
        char pattern[10], path[12];
        size_t np, ns;

        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        np = x % 9;
        ns = (x >> 8) % 11;
        for (size_t i = 0; i < np; i++)
            pattern[i] = "ab*"[(x >> (12 + 2 * i)) % 3];
        if (np > 0 && (x >> 60) % 3 == 0)
            pattern[np - 1] = '$';
        pattern[np] = '\0';
        for (size_t i = 0; i < ns; i++)
            path[i] = "ab"[(x >> (30 + i)) % 2];
        path[ns] = '\0';
        ck_assert_msg(robots_pattern_matches(bytes_of_str(pattern),
                                             bytes_of_str(path)) ==
                          model_matches(pattern, path),
                      "'%s' on '%s'", pattern, path);
        matched += model_matches(pattern, path);
    }
    ck_assert_uint_gt(matched, 20000);
}
