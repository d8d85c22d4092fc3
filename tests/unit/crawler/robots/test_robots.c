/* SPDX-License-Identifier: MIT */
/*
 * test_robots.c - which group of a rule file applies, and which of its rules
 * decides.
 *
 * test_robots_lines.c tests how a file is read line by line,
 * test_robots_pattern.c what a pattern matches.
 */
/* Promise 4: Politeness holds, also across restarts. See also
 * `robots_cache`, `schedule`, `make sim`. */
#include "frontier/url/url.h"
#include "tests/unit/crawler/robots/robots_text.h"

/* ---- groups ---------------------------------------------------------------*/

TEST(rfc9309_2_2_1_agents_match_whole_and_without_case)
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

TEST(rfc9309_2_2_1_only_the_product_token_counts_on_both_sides)
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

TEST(rfc9309_2_2_1_groups_of_one_agent_merge)
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

TEST(rfc9309_2_2_1_groups_of_the_star_merge_too)
{
    const char *f = "User-agent: *\nDisallow: /a\n"
                    "User-agent: BarBot\nDisallow: /b\n"
                    "User-agent: *\nDisallow: /c\n";

    ck_assert(!allows(f, "FooBot", "/a"));
    ck_assert(!allows(f, "FooBot", "/c"));
}

TEST(rfc9309_2_2_1_star_only_where_no_group_names_the_agent)
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

TEST(rfc9309_2_2_1_no_group_for_us_allows_all)
{
    ck_assert(allows("User-agent: BarBot\nDisallow: /\n", "FooBot", "/a"));
    ck_assert(allows("", "FooBot", "/a"));
    ck_assert(allows("<html><body>Not found</body></html>", "FooBot", "/a"));
}

TEST(rfc9309_2_1_consecutive_agent_lines_share_their_rules)
{
    const char *f = "User-agent: a\nUser-agent: b\n\n# both\nDisallow: /x\n"
                    "User-agent: c\nDisallow: /y\n";

    ck_assert(!allows(f, "a", "/x"));
    ck_assert(!allows(f, "b", "/x"));
    ck_assert(allows(f, "c", "/x"));
    ck_assert(allows(f, "b", "/y"));
}

TEST(rfc9309_2_2_4_other_records_do_not_end_a_run_of_agents)
{
    const char *f = "User-agent: a\nCrawl-delay: 5\nUser-agent: b\n"
                    "Sitemap: http://h/s.xml\nUser-agent: c\nHost: h\n"
                    "User-agent: d\nNoindex: /\nDisallow: /x\n";

    ck_assert(!allows(f, "a", "/x"));
    ck_assert(!allows(f, "b", "/x"));
    ck_assert(!allows(f, "c", "/x"));
    ck_assert(!allows(f, "d", "/x"));
}

TEST(rfc9309_2_2_2_rules_before_any_agent_line_are_ignored)
{
    const char *f = "Disallow: /x\nUser-agent: *\nDisallow: /y\n";

    ck_assert(allows(f, "FooBot", "/x"));
    ck_assert(!allows(f, "FooBot", "/y"));
}

TEST(an_agent_line_without_a_token_opens_a_group_of_nobody)
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

TEST(ours_a_star_with_letters_behind_it_is_no_star)
{
    ck_assert(allows("User-agent: *bot\nDisallow: /\n", "foobot", "/"));
    ck_assert(!allows("User-agent: * all\nDisallow: /\n", "foobot", "/"));
}

TEST(rfc9309_5_1_simple_example)
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

/* ---- rules ----------------------------------------------------------------*/

TEST(rfc9309_2_2_2_longest_match_wins)
{
    const char *f = "Allow: /example/page/\n"
                    "Disallow: /example/page/disallowed.gif\n";

    ck_assert(!under(f, "/example/page/disallowed.gif"));
    ck_assert(under(f, "/example/page/other.gif"));
    ck_assert(under("Disallow: /\nAllow: /p\n", "/page"));
    ck_assert(!under("Allow: /\nDisallow: /p\n", "/page"));
    ck_assert(!under("Disallow: /x\nAllow: /x/\n", "/x"));
    ck_assert(under("Disallow: /x\nAllow: /x/\n", "/x/"));
    /* Wildcards count as octets like any other. */
    ck_assert(!under("Allow: /page\nDisallow: /*.htm\n", "/page.htm"));
    ck_assert(under("Allow: /$\nDisallow: /\n", "/"));
    ck_assert(!under("Allow: /$\nDisallow: /\n", "/page.htm"));
    ck_assert(!under("Allow: /fish\nDisallow: /fish*\n", "/fish"));
}

TEST(rfc9309_2_2_2_ties_go_to_allow)
{
    ck_assert(under("Disallow: /folder\nAllow: /folder\n", "/folder/page"));
    ck_assert(under("Allow: /folder\nDisallow: /folder\n", "/folder/page"));
    ck_assert(under("Disallow: /*a\nAllow: /b*\n", "/ba"));
}

TEST(rfc9309_2_2_2_matching_starts_at_the_first_octet_with_case)
{
    ck_assert(under("Disallow: /fish\n", "/catfish"));
    ck_assert(under("Disallow: /fish\n", "/?id=fish"));
    ck_assert(under("Disallow: /fish\n", "/Fish.asp"));
    ck_assert(!under("Disallow: /fish\n", "/fish.html?id=1"));
    ck_assert(!under("Disallow: /fish\n", "/fishheads/a"));
    ck_assert(under("Disallow: /fish/\n", "/fish"));
    ck_assert(!under("Disallow: /a?b=c\n", "/a?b=cd"));
}

TEST(rfc9309_2_2_2_robots_txt_is_always_allowed)
{
    ck_assert(under("Disallow: /\n", "/robots.txt"));
    ck_assert(under("Disallow: /robots.txt\n", "/robots.txt"));
    ck_assert(under("Disallow: /\n", "/%72obots%2Etxt"));
    ck_assert(!under("Disallow: /\n", "/robots.txt.bak"));
    ck_assert(!under("Disallow: /\n", "/robots.txt?a"));
    ck_assert(!under("Disallow: /\n", "/a/robots.txt"));
}

TEST(rfc9309_2_2_empty_disallow_matches_nothing)
{
    ck_assert(under("Disallow:\n", "/a"));
    ck_assert(under("Disallow: # all\n", "/a"));
    ck_assert(!under("Allow:\nDisallow: /\n", "/a"));
    /* It is still a rule: the User-agent line after it starts a new group. */
    ck_assert(allows("User-agent: a\nDisallow:\nUser-agent: b\nDisallow: /\n",
                     "a", "/x"));
}

TEST(ours_a_pattern_without_a_slash_or_star_matches_nothing)
{
    ck_assert(under("Disallow: fish\n", "/fish"));
    ck_assert(under("Disallow: ?a\n", "/?a"));
    ck_assert(under("Disallow: $\n", "/"));
    ck_assert(under("Disallow: http://h/fish\n", "/fish"));
    ck_assert(under("Disallow: %2Ffish\n", "/fish"));
    ck_assert(!under("Disallow: *fish\n", "/a/fish"));
}

/* The way a rule is spelt does not change its weight. */
TEST(ours_weight_is_counted_in_octets_as_compared)
{
    ck_assert(
        under("Disallow: /%E3%83%84\nAllow: /\xe3\x83\x84\n", "/%E3%83%84"));
    ck_assert(under("Disallow: /%61%62%63\nAllow: /abcd\n", "/abcde"));
    /* Octets, not characters: e with an acute accent counts as six. */
    ck_assert(!under("Allow: /*****\nDisallow: /\xc3\xa9\n", "/%C3%A9"));
}

TEST(the_url_is_parsed_first)
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

/* ---- the deciding line ----------------------------------------------------*/

TEST(names_the_line_that_decided)
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
