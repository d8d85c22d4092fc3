/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "crawler/robots.h"
#include "crawler/robots_pattern.h"
#include "frontier/url.h"

static bool allows_bytes(struct bytes file, const char *agent, const char *path)
{
    struct robots *r = robots_parse(file, bytes_of_str(agent));
    bool yes = robots_allows(r, bytes_of_str(path), NULL);

    robots_free(r);
    return yes;
}

static bool allows(const char *file, const char *agent, const char *path)
{
    return allows_bytes(bytes_of_str(file), agent, path);
}

/* One rule file for all agents, and a path: allowed? */
static bool under(const char *rules, const char *path)
{
    char *file = xmalloc(strlen(rules) + 32);
    bool yes;

    strcpy(file, "User-agent: *\n");
    strcat(file, rules);
    yes = allows(file, "foobot", path);
    free(file);
    return yes;
}

static double delay_of(const char *file, const char *agent)
{
    struct robots *r = robots_parse(bytes_of_str(file), bytes_of_str(agent));
    double delay = robots_crawl_delay(r);

    robots_free(r);
    return delay;
}

/* ---- groups ---------------------------------------------------------------*/

START_TEST(rfc9309_2_2_1_agents_match_whole_and_without_case)
{
    const char *f = "User-agent: FooBot\nDisallow: /\n";

    ck_assert(!allows(f, "FooBot", "/"));
    ck_assert(!allows(f, "foobot", "/"));
    ck_assert(!allows(f, "FOOBOT", "/"));
    ck_assert(allows(f, "Foo", "/"));
    ck_assert(allows(f, "FooBotNews", "/"));
    ck_assert(allows(f, "Bot", "/"));
    ck_assert(allows(f, "FooBot-News", "/"));
    ck_assert(allows(f, "FooBot_", "/"));
}
END_TEST

START_TEST(rfc9309_2_2_1_only_the_product_token_counts_on_both_sides)
{
    const char *with_version = "User-agent: FooBot/2.1 (beta)\nDisallow: /\n";
    const char *two_words = "User-agent: Foo Bot\nDisallow: /\n";
    const char *plain = "User-agent: foobot\nDisallow: /\n";

    ck_assert(!allows(with_version, "FooBot", "/"));
    ck_assert(!allows(two_words, "Foo", "/"));
    ck_assert(allows(two_words, "Bot", "/"));
    ck_assert(!allows(plain, "FooBot/1.0", "/"));
    ck_assert(!allows(plain, " FooBot (+http://foo/)", "/"));
    ck_assert(!allows("User-agent: a-b_C\nDisallow: /\n", "A-b_c", "/"));
}
END_TEST

START_TEST(rfc9309_2_2_1_groups_of_one_agent_merge)
{
    const char *f = "User-agent: FooBot\nDisallow: /a\n"
                    "User-agent: BarBot\nDisallow: /b\n"
                    "User-agent: foobot\nDisallow: /c\n";

    ck_assert(!allows(f, "FooBot", "/a"));
    ck_assert(allows(f, "FooBot", "/b"));
    ck_assert(!allows(f, "FooBot", "/c"));
    ck_assert(allows(f, "BarBot", "/a"));
    ck_assert(!allows(f, "BarBot", "/b"));
}
END_TEST

START_TEST(rfc9309_2_2_1_groups_of_the_star_merge_too)
{
    const char *f = "User-agent: *\nDisallow: /a\n"
                    "User-agent: BarBot\nDisallow: /b\n"
                    "User-agent: *\nDisallow: /c\n";

    ck_assert(!allows(f, "FooBot", "/a"));
    ck_assert(!allows(f, "FooBot", "/c"));
}
END_TEST

START_TEST(rfc9309_2_2_1_star_only_where_no_group_names_the_agent)
{
    const char *f = "User-agent: *\nDisallow: /x\n"
                    "User-agent: FooBot\nDisallow: /y\n"
                    "User-agent: QuxBot\n";

    ck_assert(!allows(f, "OtherBot", "/x"));
    ck_assert(allows(f, "OtherBot", "/y"));
    ck_assert(allows(f, "FooBot", "/x"));
    ck_assert(!allows(f, "FooBot", "/y"));
    /* A last group without rules allows everything (section 2.1). */
    ck_assert(allows(f, "QuxBot", "/x"));
}
END_TEST

START_TEST(rfc9309_2_2_1_no_group_for_us_allows_all)
{
    ck_assert(allows("User-agent: BarBot\nDisallow: /\n", "FooBot", "/a"));
    ck_assert(allows("", "FooBot", "/a"));
    ck_assert(allows("<html><body>Not found</body></html>", "FooBot", "/a"));
}
END_TEST

START_TEST(rfc9309_2_1_consecutive_agent_lines_share_their_rules)
{
    const char *f = "User-agent: a\nUser-agent: b\n\n# both\nDisallow: /x\n"
                    "User-agent: c\nDisallow: /y\n";

    ck_assert(!allows(f, "a", "/x"));
    ck_assert(!allows(f, "b", "/x"));
    ck_assert(allows(f, "c", "/x"));
    ck_assert(allows(f, "b", "/y"));
}
END_TEST

START_TEST(rfc9309_2_2_4_other_records_do_not_end_a_run_of_agents)
{
    const char *f = "User-agent: a\nCrawl-delay: 5\nUser-agent: b\n"
                    "Sitemap: http://h/s.xml\nUser-agent: c\nHost: h\n"
                    "User-agent: d\nNoindex: /\nDisallow: /x\n";

    ck_assert(!allows(f, "a", "/x"));
    ck_assert(!allows(f, "b", "/x"));
    ck_assert(!allows(f, "c", "/x"));
    ck_assert(!allows(f, "d", "/x"));
}
END_TEST

START_TEST(rfc9309_2_2_2_rules_before_any_agent_line_are_ignored)
{
    const char *f = "Disallow: /x\nUser-agent: *\nDisallow: /y\n";

    ck_assert(allows(f, "FooBot", "/x"));
    ck_assert(!allows(f, "FooBot", "/y"));
}
END_TEST

START_TEST(an_agent_line_without_a_token_opens_a_group_of_nobody)
{
    const char *f = "User-agent: *\nDisallow: /x\n"
                    "User-agent: 007\nDisallow: /y\n"
                    "User-agent:\nDisallow: /z\n";

    ck_assert(!allows(f, "FooBot", "/x"));
    ck_assert(allows(f, "FooBot", "/y"));
    ck_assert(allows(f, "FooBot", "/z"));
    ck_assert(!allows(f, "007", "/x"));
    ck_assert(allows(f, "007", "/y"));
}
END_TEST

START_TEST(ours_a_star_with_letters_behind_it_is_no_star)
{
    ck_assert(allows("User-agent: *bot\nDisallow: /\n", "foobot", "/"));
    ck_assert(!allows("User-agent: * all\nDisallow: /\n", "foobot", "/"));
}
END_TEST

START_TEST(rfc9309_5_1_simple_example)
{
    const char *f = "User-Agent: *\nDisallow: *.gif$\nDisallow: /example/\n"
                    "Allow: /publications/\n\n"
                    "User-Agent: foobot\nDisallow:/\n"
                    "Allow:/example/page.html\nAllow:/example/allowed.gif\n\n"
                    "User-Agent: barbot\nUser-Agent: bazbot\n"
                    "Disallow: /example/page.html\n\n"
                    "User-Agent: quxbot\n";

    ck_assert(!allows(f, "x", "/a/b.gif"));
    ck_assert(allows(f, "x", "/a/b.gif?c"));
    ck_assert(!allows(f, "x", "/example/"));
    ck_assert(allows(f, "x", "/publications/"));
    ck_assert(allows(f, "foobot", "/example/page.html"));
    ck_assert(allows(f, "foobot", "/example/allowed.gif"));
    ck_assert(!allows(f, "foobot", "/example/"));
    ck_assert(!allows(f, "barbot", "/example/page.html"));
    ck_assert(!allows(f, "bazbot", "/example/page.html"));
    ck_assert(allows(f, "bazbot", "/example/"));
    ck_assert(allows(f, "quxbot", "/example/"));
}
END_TEST

/* ---- rules ----------------------------------------------------------------*/

START_TEST(rfc9309_2_2_2_longest_match_wins)
{
    const char *f = "Allow: /example/page/\n"
                    "Disallow: /example/page/disallowed.gif\n";

    ck_assert(!under(f, "/example/page/disallowed.gif"));
    ck_assert(under(f, "/example/page/other.gif"));
    ck_assert(under("Disallow: /\nAllow: /p\n", "/page"));
    ck_assert(!under("Allow: /\nDisallow: /p\n", "/page"));
    ck_assert(!under("Disallow: /x\nAllow: /x/\n", "/x"));
    ck_assert(under("Disallow: /x\nAllow: /x/\n", "/x/"));
    /* Wildcards are octets like others. */
    ck_assert(!under("Allow: /page\nDisallow: /*.htm\n", "/page.htm"));
    ck_assert(under("Allow: /$\nDisallow: /\n", "/"));
    ck_assert(!under("Allow: /$\nDisallow: /\n", "/page.htm"));
    ck_assert(!under("Allow: /fish\nDisallow: /fish*\n", "/fish"));
}
END_TEST

START_TEST(rfc9309_2_2_2_ties_go_to_allow)
{
    ck_assert(under("Disallow: /folder\nAllow: /folder\n", "/folder/page"));
    ck_assert(under("Allow: /folder\nDisallow: /folder\n", "/folder/page"));
    ck_assert(under("Disallow: /*a\nAllow: /b*\n", "/ba"));
}
END_TEST

START_TEST(rfc9309_2_2_2_matching_starts_at_the_first_octet_with_case)
{
    ck_assert(under("Disallow: /fish\n", "/catfish"));
    ck_assert(under("Disallow: /fish\n", "/?id=fish"));
    ck_assert(under("Disallow: /fish\n", "/Fish.asp"));
    ck_assert(!under("Disallow: /fish\n", "/fish.html?id=1"));
    ck_assert(!under("Disallow: /fish\n", "/fishheads/a"));
    ck_assert(under("Disallow: /fish/\n", "/fish"));
    ck_assert(!under("Disallow: /a?b=c\n", "/a?b=cd"));
}
END_TEST

START_TEST(rfc9309_2_2_2_robots_txt_is_always_allowed)
{
    ck_assert(under("Disallow: /\n", "/robots.txt"));
    ck_assert(under("Disallow: /robots.txt\n", "/robots.txt"));
    ck_assert(under("Disallow: /\n", "/%72obots%2Etxt"));
    ck_assert(!under("Disallow: /\n", "/robots.txt.bak"));
    ck_assert(!under("Disallow: /\n", "/robots.txt?a"));
    ck_assert(!under("Disallow: /\n", "/a/robots.txt"));
}
END_TEST

START_TEST(rfc9309_2_2_empty_disallow_matches_nothing)
{
    ck_assert(under("Disallow:\n", "/a"));
    ck_assert(under("Disallow: # all\n", "/a"));
    ck_assert(!under("Allow:\nDisallow: /\n", "/a"));
    /* It is a rule none the less: what follows it is another group. */
    ck_assert(allows("User-agent: a\nDisallow:\nUser-agent: b\nDisallow: /\n",
                     "a", "/x"));
}
END_TEST

START_TEST(ours_a_pattern_without_a_slash_or_star_matches_nothing)
{
    ck_assert(under("Disallow: fish\n", "/fish"));
    ck_assert(under("Disallow: ?a\n", "/?a"));
    ck_assert(under("Disallow: $\n", "/"));
    ck_assert(under("Disallow: http://h/fish\n", "/fish"));
    ck_assert(under("Disallow: %2Ffish\n", "/fish"));
    ck_assert(!under("Disallow: *fish\n", "/a/fish"));
}
END_TEST

START_TEST(rfc9309_2_2_3_star_and_final_dollar)
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
END_TEST

START_TEST(rfc9309_2_2_3_special_characters_are_matched_when_encoded)
{
    ck_assert(!under("Disallow: /path/file-with-a-%2A.html\n",
                     "/path/file-with-a-*.html"));
    ck_assert(under("Disallow: /path/file-with-a-%2A.html\n",
                    "/path/file-with-a-b.html"));
    ck_assert(!under("Disallow: /path/foo-%24\n", "/path/foo-$"));
    ck_assert(!under("Disallow: /path/foo-%24\n", "/path/foo-%24x"));
}
END_TEST

/* ---- octets ---------------------------------------------------------------*/

START_TEST(rfc9309_2_2_2_unreserved_octets_equal_their_percent_form)
{
    ck_assert(!under("Disallow: /foo/bar/%62%61%7A\n", "/foo/bar/baz"));
    ck_assert(!under("Disallow: /foo/bar/baz\n", "/foo/bar/%62%61%7a"));
    ck_assert(!under("Disallow: /%7Ejoe\n", "/~joe"));
    ck_assert(!under("Disallow: /a%2Db%2ec%5F\n", "/a-b.c_"));
    /* Decoded once: %25 is no unreserved octet. */
    ck_assert(under("Disallow: /%2561\n", "/a"));
    ck_assert(!under("Disallow: /%2561\n", "/%2561"));
}
END_TEST

START_TEST(rfc9309_2_2_2_reserved_octets_differ_from_their_percent_form)
{
    ck_assert(under("Disallow: /a/b\n", "/a%2Fb"));
    ck_assert(under("Disallow: /a%2Fb\n", "/a/b"));
    ck_assert(!under("Disallow: /a%2Fb\n", "/a%2fb"));
    ck_assert(under("Disallow: /a%3Fb\n", "/a?b"));
    ck_assert(under("Disallow: /a%26b\n", "/a&b"));
    ck_assert(under("Disallow: /a=b\n", "/a%3Db"));
}
END_TEST

START_TEST(rfc9309_2_2_2_hex_digits_have_no_case)
{
    ck_assert(!under("Disallow: /%e3%83%84\n", "/%E3%83%84"));
    ck_assert(!under("Disallow: /%E3%83%84\n", "/%e3%83%84"));
    ck_assert(!under("Disallow: /%c3%A9\n", "/%C3%a9"));
}
END_TEST

START_TEST(rfc9309_2_2_2_non_ascii_equals_its_utf8_percent_form)
{
    ck_assert(
        !under("Disallow: /foo/bar/\xe3\x83\x84\n", "/foo/bar/%E3%83%84"));
    ck_assert(
        !under("Disallow: /foo/bar/%E3%83%84\n", "/foo/bar/\xe3\x83\x84"));
    ck_assert(!under("Disallow: /*\xc3\xa9$\n", "/caf%c3%a9"));
}
END_TEST

START_TEST(ours_octets_a_url_cannot_hold_equal_their_percent_form)
{
    ck_assert(!under("Disallow: /a b\n", "/a%20b"));
    ck_assert(!under("Disallow: /a|b\n", "/a%7Cb"));
    ck_assert(!under("Disallow: /a%7cb\n", "/a|b"));
    ck_assert(!under("Disallow: /s?q='x'\n", "/s?q=%27x%27"));
    ck_assert(under("Disallow: /100%\n", "/100"));
    ck_assert(!under("Disallow: /100%\n", "/100%"));
    ck_assert(!under("Disallow: /100%zz\n", "/100%zz"));
}
END_TEST

/* The spelling of a rule does not change its weight. */
START_TEST(ours_weight_is_counted_in_octets_as_compared)
{
    ck_assert(
        under("Disallow: /%E3%83%84\nAllow: /\xe3\x83\x84\n", "/%E3%83%84"));
    ck_assert(under("Disallow: /%61%62%63\nAllow: /abcd\n", "/abcde"));
    /* Octets, not characters: e with an acute accent is six. */
    ck_assert(!under("Allow: /*****\nDisallow: /\xc3\xa9\n", "/%C3%A9"));
}
END_TEST

START_TEST(the_url_is_parsed_first)
{
    static const struct {
        const char *url;
        bool allowed;
    } t[] = {
        {"http://h/private/x", false},
        {"http://h/a/../private/x", false},
        {"http://h/a/%2e%2E/private/x", false},
        {"http://h/private/../x", true},
        {"http://h/%70rivate/", false},
        {"http://h\\private\\", false},
        {"  HTTP://H/private/#top ", false},
        {"http://h/x#/private/", true},
        {"http://h?/private/", true},
        {"http://h/caf\xc3\xa9", false},
        {"http://h/a b", false},
    };
    struct robots *r =
        robots_parse(bytes_of_str("User-agent: *\nDisallow: /private/\n"
                                  "Disallow: /caf\xc3\xa9\nDisallow: /a%20b\n"),
                     bytes_of_str("foobot"));
    struct url u;

    url_init(&u);
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        ck_assert_int_eq(url_parse(&u, bytes_of_str(t[i].url), NULL, NULL),
                         URL_OK);
        ck_assert_msg(robots_allows(r, url_path_query(&u), NULL) ==
                          t[i].allowed,
                      "%s", t[i].url);
    }
    url_fini(&u);
    robots_free(r);
}
END_TEST

/* ---- lines ----------------------------------------------------------------*/

START_TEST(rfc9309_2_2_lines_end_by_lf_cr_or_crlf)
{
    ck_assert(!allows("User-agent: *\nDisallow: /x\n", "a", "/x"));
    ck_assert(!allows("User-agent: *\rDisallow: /x\r", "a", "/x"));
    ck_assert(!allows("User-agent: *\r\nDisallow: /x\r\n", "a", "/x"));
    ck_assert(!allows("User-agent: *\n\rDisallow: /x", "a", "/x"));
    ck_assert(!allows("User-agent: a\r\n\r\nDisallow: /x\r\n\r\n"
                      "Disallow: /y",
                      "a", "/y"));
}
END_TEST

START_TEST(rfc9309_2_2_names_have_no_case_and_may_be_indented)
{
    ck_assert(!allows("USER-AGENT:*\nDISALLOW:/x\n", "a", "/x"));
    ck_assert(!allows("\t uSeR-aGeNt \t: * \n  disallow : /x \t\n", "a", "/x"));
    ck_assert(allows("user-agent: *\ndisallow: /\naLLow: /x\n", "a", "/x"));
}
END_TEST

START_TEST(rfc9309_2_2_comments_are_cut_off)
{
    ck_assert(!under("Disallow: /x # not this\n", "/x"));
    ck_assert(!under("Disallow: /x#y\n", "/xz"));
    ck_assert(under("# Disallow: /x\n", "/x"));
    ck_assert(under("Disallow # : /x\n", "/x"));
    ck_assert(!allows("User-agent: a#b\nDisallow: /\n", "a", "/x"));
}
END_TEST

START_TEST(a_byte_order_mark_counts_at_the_start_only)
{
    ck_assert(!allows("\xef\xbb\xbfUser-agent: *\nDisallow: /x\n", "a", "/x"));
    ck_assert(
        !allows("\xef\xbb\xbf\nUser-agent: *\nDisallow: /x\n", "a", "/x"));
    ck_assert(allows("User-agent: *\n\xef\xbb\xbf"
                     "Disallow: /x\n",
                     "a", "/x"));
    ck_assert(allows("\n\xef\xbb\xbfUser-agent: *\nDisallow: /x\n", "a", "/x"));
    ck_assert(allows("\xef\xbb\xbf\xef\xbb\xbfUser-agent: *\nDisallow: /\n",
                     "a", "/x"));
}
END_TEST

START_TEST(ours_a_byte_order_mark_cut_short_is_dropped)
{
    ck_assert(!allows("\xef\xbbUser-agent: *\nDisallow: /x\n", "a", "/x"));
    ck_assert(!allows("\xefUser-agent: *\nDisallow: /x\n", "a", "/x"));
    ck_assert(allows("\xef\x11\xbfUser-agent: *\nDisallow: /x\n", "a", "/x"));
}
END_TEST

START_TEST(a_missing_colon_is_accepted)
{
    ck_assert(!allows("User-agent FooBot\nDisallow /x\n", "FooBot", "/x"));
    ck_assert(!allows("User-agent\t*\nDisallow  /x # y\n", "FooBot", "/x"));
    ck_assert(!allows("user agent FooBot\ndisallow: /\n", "FooBot", "/x"));
    ck_assert(!under("Disallow /a:b\n", "/a:b"));
    ck_assert(under("Disallow/x\n", "/x"));
    ck_assert(under("Disallow /x /y\n", "/x"));
    ck_assert(under("Disallow\n", "/x"));
}
END_TEST

START_TEST(common_misspellings_are_accepted)
{
    static const char *const agents[] = {"useragent",   "user agent",
                                         "User  Agent", "user-agents",
                                         "useragents",  "user_agent"};
    static const char *const disallows[] = {"dissallow", "dissalow",
                                            "disalow",   "diasllow",
                                            "disallaw",  "disallows",
                                            "Dis allow", "disallowed"};
    char file[128];

    for (size_t i = 0; i < sizeof agents / sizeof *agents; i++) {
        snprintf(file, sizeof file, "%s: foobot\nDisallow: /\n", agents[i]);
        ck_assert_msg(!allows(file, "foobot", "/x"), "%s", agents[i]);
    }
    for (size_t i = 0; i < sizeof disallows / sizeof *disallows; i++) {
        snprintf(file, sizeof file, "User-agent: *\n%s: /x\n", disallows[i]);
        ck_assert_msg(!allows(file, "foobot", "/x"), "%s", disallows[i]);
    }
    ck_assert(under("Disallow: /\nAllows: /x\n", "/x"));
    ck_assert(under("Disallowance: /x\nXDisallow: /x\nNoallow: /x\n", "/x"));
}
END_TEST

START_TEST(zero_bytes_are_octets_like_others)
{
    static const char a[] = "User-agent: *\nDisallow: /a\0b\nDisallow: /c\n";
    static const char b[] = "\0\nUser-agent: *\n\0Disallow: /a\nDisallow: /c";

    ck_assert(!allows_bytes(bytes_of(a, sizeof a - 1), "x", "/a%00b"));
    ck_assert(allows_bytes(bytes_of(a, sizeof a - 1), "x", "/a"));
    ck_assert(!allows_bytes(bytes_of(a, sizeof a - 1), "x", "/c"));
    ck_assert(allows_bytes(bytes_of(b, sizeof b - 1), "x", "/a"));
    ck_assert(!allows_bytes(bytes_of(b, sizeof b - 1), "x", "/c"));
}
END_TEST

/* ---- other records --------------------------------------------------------*/

START_TEST(sitemaps_stand_anywhere_and_for_everybody)
{
    struct robots *r = robots_parse(
        bytes_of_str("Sitemap: http://h/1.xml\nUser-agent: other\n"
                     "SITEMAP:http://h/2.xml # two\nDisallow: /\n"
                     "site-map: /3.xml\nSitemap:\nSitemap http://h:80/4.xml\n"
                     "Sitemaps: http://h/5.xml"),
        bytes_of_str("foobot"));
    static const char *const want[] = {"http://h/1.xml", "http://h/2.xml",
                                       "/3.xml", "http://h:80/4.xml",
                                       "http://h/5.xml"};

    ck_assert_uint_eq(robots_sitemap_count(r), 5);
    for (size_t i = 0; i < 5; i++)
        ck_assert(bytes_is(robots_sitemap(r, i), want[i]));
    robots_free(r);
}
END_TEST

START_TEST(crawl_delay_is_the_groups_own)
{
    const char *f = "User-agent: a\nCrawl-delay: 10\n\n"
                    "User-agent: b\nDisallow: /\n"
                    "User-agent: *\nCrawl-delay: 0.5\nDisallow: /x\n";

    ck_assert_double_eq(delay_of(f, "a"), 10);
    ck_assert_double_eq(delay_of(f, "other"), 0.5);
    ck_assert_double_eq(
        delay_of("User-agent: a\nDisallow: /x\nUser-agent: *\nCrawl-delay: 3\n",
                 "a"),
        -1);
}
END_TEST

START_TEST(crawl_delay_is_seconds_with_a_fraction_or_nothing)
{
    static const struct {
        const char *text;
        double seconds;
    } t[] = {{"10", 10},
             {"0", 0},
             {"0.25", 0.25},
             {".5", 0.5},
             {"5.", 5},
             {"1 # one", 1},
             {"-1", -1},
             {"ten", -1},
             {"10s", -1},
             {"1,5", -1},
             {"1.2.3", -1},
             {"", -1},
             {".", -1},
             {"1e3", -1},
             {"0x10", -1},
             {"nan", -1},
             {"99999999999999999999999999", 1e9}};
    char file[128];

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        snprintf(file, sizeof file, "User-agent: *\nCrawl-delay: %s\n",
                 t[i].text);
        ck_assert_msg(delay_of(file, "a") == t[i].seconds, "%s gave %g",
                      t[i].text, delay_of(file, "a"));
    }
    ck_assert_double_eq(delay_of("User-agent: *\nCrawl-delay 7\n", "a"), 7);
}
END_TEST

START_TEST(ours_an_agent_has_the_first_delay_behind_its_own_line)
{
    const char *f = "User-agent: a\nCrawl-delay: 5\n"
                    "User-agent: b\nCrawl-delay: 10\nDisallow: /\n";
    const char *shared = "User-agent: a\nCrawl-delay: 5\nUser-agent: b\n"
                         "Disallow: /\n";

    ck_assert_double_eq(delay_of(f, "a"), 5);
    ck_assert_double_eq(delay_of(f, "b"), 10);
    ck_assert_double_eq(delay_of(shared, "a"), 5);
    ck_assert_double_eq(delay_of(shared, "b"), 5);
}
END_TEST

START_TEST(ours_of_several_groups_for_one_agent_the_longest_delay_counts)
{
    ck_assert_double_eq(delay_of("User-agent: a\nCrawl-delay: 9\nDisallow: /\n"
                                 "User-agent: a\nCrawl-delay: 2\n",
                                 "a"),
                        9);
}
END_TEST

/* ---- the deciding line ----------------------------------------------------*/

START_TEST(names_the_line_that_decided)
{
    struct robots *r =
        robots_parse(bytes_of_str(
                         "User-agent: *\n  Disallow: /a  # keep out \r\n"
                         "Allow: /a\nDisallow: /b%41\n"),
                     bytes_of_str("foobot"));
    struct bytes line;

    ck_assert(robots_allows(r, bytes_of_str("/a"), &line));
    ck_assert(bytes_is(line, "Allow: /a"));
    ck_assert(!robots_allows(r, bytes_of_str("/bA"), &line));
    ck_assert(bytes_is(line, "Disallow: /b%41"));
    ck_assert(robots_allows(r, bytes_of_str("/c"), &line));
    ck_assert_uint_eq(line.len, 0);
    ck_assert(robots_allows(r, bytes_of_str("/robots.txt"), &line));
    ck_assert_uint_eq(line.len, 0);
    robots_free(r);
}
END_TEST

START_TEST(allow_all_and_deny_all_are_what_they_say)
{
    struct robots *all = robots_allow_all(), *none = robots_deny_all();

    ck_assert(robots_allows(all, bytes_of_str("/a"), NULL));
    ck_assert(!robots_allows(none, bytes_of_str("/a"), NULL));
    ck_assert(robots_allows(none, bytes_of_str("/robots.txt"), NULL));
    ck_assert_double_eq(robots_crawl_delay(none), -1);
    robots_free(all);
    robots_free(none);
    robots_free(NULL);
}
END_TEST

/* ---- sizes ----------------------------------------------------------------*/

/* A file for all agents, filled with comments up to `size` octets, with `tail`
 * as its last octets. */
static char *filled(size_t size, const char *tail)
{
    static const char head[] = "User-agent: *\n";
    char *file = xmalloc(size + 1);
    size_t tail_at = size - strlen(tail);

    for (size_t i = 0; i < size; i++)
        file[i] = i % 64 == 63 ? '\n' : '#';
    memcpy(file, head, strlen(head));
    file[tail_at - 1] = '\n';
    memcpy(file + tail_at, tail, strlen(tail) + 1);
    return file;
}

START_TEST(rfc9309_2_5_reads_500_kib)
{
    char *file = filled(512000, "Disallow: /x");

    ck_assert(!allows(file, "a", "/x"));
    free(file);
    file = filled(511990, "Disallow: /x\n");
    ck_assert(!allows(file, "a", "/x"));
    free(file);
}
END_TEST

START_TEST(rfc9309_2_5_never_cuts_a_rule_in_two)
{
    char *file = filled(512001, "Disallow: /xy");

    /* Cut it would be `Disallow: /x`. */
    ck_assert(allows(file, "a", "/xz"));
    ck_assert(allows(file, "a", "/xy"));
    free(file);
    file = filled(512001, "Disallow: /x\n");
    ck_assert(!allows(file, "a", "/xz"));
    free(file);
    file = filled(513000, "Disallow: /x\n");
    ck_assert(allows(file, "a", "/x"));
    free(file);
}
END_TEST

START_TEST(a_line_of_a_megabyte_is_dropped_and_costs_nothing)
{
    char *file = xmalloc((1 << 20) + 64);

    memset(file, 'a', (1 << 20) + 63);
    memcpy(file, "User-agent: *\nDisallow: /", 25);
    file[(1 << 20) + 63] = '\0';
    ck_assert(allows(file, "a", "/aaaa"));
    free(file);
}
END_TEST

START_TEST(a_long_rule_is_matched_whole)
{
    char *file = xmalloc(400000), *path = xmalloc(400000);

    memset(file, 'a', 399999);
    memcpy(file, "User-agent: *\nDisallow: /", 25);
    file[399999] = '\0';
    memset(path, 'a', 399999);
    path[0] = '/';
    path[399999] = '\0';
    ck_assert(!allows(file, "a", path));
    path[300000] = 'b';
    ck_assert(allows(file, "a", path));
    free(file);
    free(path);
}
END_TEST

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

/* Whoever tried each letter of the rule at each of the path would take 10^11
 * steps; these take milliseconds. */
START_TEST(wildcards_never_blow_up)
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
    /* The case that is quadratic for going back to the last star. */
    strcpy(file, "User-agent: *\nDisallow: *");
    append_many(file, 'a', rule);
    strcat(file, "b$\nDisallow: *");
    append_many(file, 'a', rule);
    strcat(file, "b*c\n");
    ck_assert_double_lt(seconds_for(file, path), 10.0);
    free(path);
    free(file);
}
END_TEST

/* ---- the matcher against a plain model ------------------------------------*/

/* By trying everything, for short strings. */
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

START_TEST(matches_as_a_plain_model_does)
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
END_TEST

Suite *suite_robots(void)
{
    Suite *s = suite_create("robots");
    TCase *t = tcase_create("robots");

    tcase_set_timeout(t, 60);
    tcase_add_test(t, rfc9309_2_2_1_agents_match_whole_and_without_case);
    tcase_add_test(t,
                   rfc9309_2_2_1_only_the_product_token_counts_on_both_sides);
    tcase_add_test(t, rfc9309_2_2_1_groups_of_one_agent_merge);
    tcase_add_test(t, rfc9309_2_2_1_groups_of_the_star_merge_too);
    tcase_add_test(t, rfc9309_2_2_1_star_only_where_no_group_names_the_agent);
    tcase_add_test(t, rfc9309_2_2_1_no_group_for_us_allows_all);
    tcase_add_test(t, rfc9309_2_1_consecutive_agent_lines_share_their_rules);
    tcase_add_test(t, rfc9309_2_2_4_other_records_do_not_end_a_run_of_agents);
    tcase_add_test(t, rfc9309_2_2_2_rules_before_any_agent_line_are_ignored);
    tcase_add_test(t, an_agent_line_without_a_token_opens_a_group_of_nobody);
    tcase_add_test(t, ours_a_star_with_letters_behind_it_is_no_star);
    tcase_add_test(t, rfc9309_5_1_simple_example);
    tcase_add_test(t, rfc9309_2_2_2_longest_match_wins);
    tcase_add_test(t, rfc9309_2_2_2_ties_go_to_allow);
    tcase_add_test(t,
                   rfc9309_2_2_2_matching_starts_at_the_first_octet_with_case);
    tcase_add_test(t, rfc9309_2_2_2_robots_txt_is_always_allowed);
    tcase_add_test(t, rfc9309_2_2_empty_disallow_matches_nothing);
    tcase_add_test(t, ours_a_pattern_without_a_slash_or_star_matches_nothing);
    tcase_add_test(t, rfc9309_2_2_3_star_and_final_dollar);
    tcase_add_test(t,
                   rfc9309_2_2_3_special_characters_are_matched_when_encoded);
    tcase_add_test(t, rfc9309_2_2_2_unreserved_octets_equal_their_percent_form);
    tcase_add_test(
        t, rfc9309_2_2_2_reserved_octets_differ_from_their_percent_form);
    tcase_add_test(t, rfc9309_2_2_2_hex_digits_have_no_case);
    tcase_add_test(t, rfc9309_2_2_2_non_ascii_equals_its_utf8_percent_form);
    tcase_add_test(t, ours_octets_a_url_cannot_hold_equal_their_percent_form);
    tcase_add_test(t, ours_weight_is_counted_in_octets_as_compared);
    tcase_add_test(t, the_url_is_parsed_first);
    tcase_add_test(t, rfc9309_2_2_lines_end_by_lf_cr_or_crlf);
    tcase_add_test(t, rfc9309_2_2_names_have_no_case_and_may_be_indented);
    tcase_add_test(t, rfc9309_2_2_comments_are_cut_off);
    tcase_add_test(t, a_byte_order_mark_counts_at_the_start_only);
    tcase_add_test(t, ours_a_byte_order_mark_cut_short_is_dropped);
    tcase_add_test(t, a_missing_colon_is_accepted);
    tcase_add_test(t, common_misspellings_are_accepted);
    tcase_add_test(t, zero_bytes_are_octets_like_others);
    tcase_add_test(t, sitemaps_stand_anywhere_and_for_everybody);
    tcase_add_test(t, crawl_delay_is_the_groups_own);
    tcase_add_test(t, crawl_delay_is_seconds_with_a_fraction_or_nothing);
    tcase_add_test(t, ours_an_agent_has_the_first_delay_behind_its_own_line);
    tcase_add_test(
        t, ours_of_several_groups_for_one_agent_the_longest_delay_counts);
    tcase_add_test(t, names_the_line_that_decided);
    tcase_add_test(t, allow_all_and_deny_all_are_what_they_say);
    tcase_add_test(t, rfc9309_2_5_reads_500_kib);
    tcase_add_test(t, rfc9309_2_5_never_cuts_a_rule_in_two);
    tcase_add_test(t, a_line_of_a_megabyte_is_dropped_and_costs_nothing);
    tcase_add_test(t, a_long_rule_is_matched_whole);
    tcase_add_test(t, wildcards_never_blow_up);
    tcase_add_test(t, matches_as_a_plain_model_does);
    suite_add_tcase(s, t);
    return s;
}
