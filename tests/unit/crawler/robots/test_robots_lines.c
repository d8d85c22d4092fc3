/* SPDX-License-Identifier: MIT */
/*
 * test_robots_lines.c - how a rule file is read: its lines, records other than
 * rules, and how much of it is read.
 */
#include <stdio.h>

#include "base/buf.h"
#include "tests/unit/crawler/robots/robots_text.h"

/* ---- lines ----------------------------------------------------------------*/

TEST(rfc9309_2_2_lines_end_by_lf_cr_or_crlf)
{
    ck_assert(!allows("User-agent: *\nDisallow: /x\n", "a", "/x"));
    ck_assert(!allows("User-agent: *\rDisallow: /x\r", "a", "/x"));
    ck_assert(!allows("User-agent: *\r\nDisallow: /x\r\n", "a", "/x"));
    ck_assert(!allows("User-agent: *\n\rDisallow: /x", "a", "/x"));
    ck_assert(!allows("User-agent: a\r\n\r\nDisallow: /x\r\n\r\n"
                      "Disallow: /y",
                      "a", "/y"));
}

TEST(rfc9309_2_2_names_have_no_case_and_may_be_indented)
{
    ck_assert(!allows("USER-AGENT:*\nDISALLOW:/x\n", "a", "/x"));
    ck_assert(!allows("\t uSeR-aGeNt \t: * \n  disallow : /x \t\n", "a", "/x"));
    ck_assert(allows("user-agent: *\ndisallow: /\naLLow: /x\n", "a", "/x"));
}

TEST(rfc9309_2_2_comments_are_cut_off)
{
    ck_assert(!under("Disallow: /x # not this\n", "/x"));
    ck_assert(!under("Disallow: /x#y\n", "/xz"));
    ck_assert(under("# Disallow: /x\n", "/x"));
    ck_assert(under("Disallow # : /x\n", "/x"));
    ck_assert(!allows("User-agent: a#b\nDisallow: /\n", "a", "/x"));
}

TEST(ours_a_file_in_utf16_with_a_mark_is_read)
{
    static const char text[] = "User-agent: *\nDisallow: /x\n";
    char wide[2 * sizeof text];
    struct robots *r;

    for (size_t little = 0; little < 2; little++) {
        memcpy(wide, little ? "\xff\xfe" : "\xfe\xff", 2);
        for (size_t i = 0; i < sizeof text - 1; i++) {
            wide[2 + 2 * i + !little] = text[i];
            wide[2 + 2 * i + little] = '\0';
        }
        r = robots_parse(bytes_of(wide, sizeof wide), bytes_of_str("a"));
        ck_assert(!robots_allows(r, bytes_of_str("/x"), NULL));
        ck_assert(robots_allows(r, bytes_of_str("/y"), NULL));
        robots_free(r);
        r = robots_parse(bytes_of(wide, 3), bytes_of_str("a")); /* cut short */
        ck_assert(robots_allows(r, bytes_of_str("/x"), NULL));
        robots_free(r);
    }
}

/* ASCII has no octets of zero, and UTF-16 of ASCII is half of them. */
TEST(ours_a_mark_of_utf16_before_ascii_is_dropped)
{
    ck_assert(!allows("\xff\xfeUser-agent: *\nDisallow: /x\n", "a", "/x"));
    ck_assert(!allows("\xfe\xffUser-agent: *\nDisallow: /x\n", "a", "/x"));
    ck_assert(allows("\xfe\xffUser-agent: *\nDisallow: /x\n", "a", "/y"));
}

TEST(a_byte_order_mark_counts_at_the_start_only)
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

TEST(ours_a_byte_order_mark_cut_short_is_dropped)
{
    ck_assert(!allows("\xef\xbbUser-agent: *\nDisallow: /x\n", "a", "/x"));
    ck_assert(!allows("\xefUser-agent: *\nDisallow: /x\n", "a", "/x"));
    ck_assert(allows("\xef\x11\xbfUser-agent: *\nDisallow: /x\n", "a", "/x"));
}

TEST(a_missing_colon_is_accepted)
{
    ck_assert(!allows("User-agent FooBot\nDisallow /x\n", "FooBot", "/x"));
    ck_assert(!allows("User-agent\t*\nDisallow  /x # y\n", "FooBot", "/x"));
    ck_assert(!allows("user agent FooBot\ndisallow: /\n", "FooBot", "/x"));
    ck_assert(!under("Disallow /a:b\n", "/a:b"));
    ck_assert(under("Disallow/x\n", "/x"));
    ck_assert(under("Disallow /x /y\n", "/x"));
    ck_assert(under("Disallow\n", "/x"));
}

TEST(common_misspellings_are_accepted)
{
    static const char *const agents[] = {"useragent",   "user agent",
                                         "User  Agent", "user-agents",
                                         "useragents",  "user_agent",
                                         "useg-agent"};
    static const char *const disallows[] = {"dissallow", "dissalow",
                                            "disalow",   "diasllow",
                                            "disallaw",  "disallows",
                                            "Dis allow", "disallowed",
                                            "Desallow"};
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

TEST(zero_bytes_are_octets_like_others)
{
    static const char a[] = "User-agent: *\nDisallow: /a\0b\nDisallow: /c\n";
    static const char b[] = "\0\nUser-agent: *\n\0Disallow: /a\nDisallow: /c";

    ck_assert(!allows_bytes(bytes_of(a, sizeof a - 1), "x", "/a%00b"));
    ck_assert(allows_bytes(bytes_of(a, sizeof a - 1), "x", "/a"));
    ck_assert(!allows_bytes(bytes_of(a, sizeof a - 1), "x", "/c"));
    ck_assert(allows_bytes(bytes_of(b, sizeof b - 1), "x", "/a"));
    ck_assert(!allows_bytes(bytes_of(b, sizeof b - 1), "x", "/c"));
}

/* ---- other records --------------------------------------------------------*/

TEST(sitemaps_stand_anywhere_and_for_everybody)
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

TEST(ours_a_line_may_name_several_sitemaps_in_brackets_or_quotes)
{
    struct robots *r =
        robots_parse(bytes_of_str(
                         "Sitemap: <http://h/1.xml>\n"
                         "Sitemap: \"http://h/2.xml\"\n"
                         "Sitemap: 'http://h/3.xml'\n"
                         "Sitemap: http://h/4.xml, http://h/5.xml,/6.xml\n"
                         "Sitemap: http://h/7,a.xml,http://h/8.xml\n"
                         "Sitemap: http://h/9.xml HTTPS://h/10.xml ,\n"
                         "Sitemap: <http://h/11.xml>,<http://h/12.xml>\n"
                         "Sitemap: \"http://h/13.xml\n"
                         "Sitemap: http://h/my map.xml\n"
                         "Sitemap: <>, \"\", ,'\n"),
                     bytes_of_str("foobot"));
    static const char *const want[] = {
        "http://h/1.xml",     "http://h/2.xml",        "http://h/3.xml",
        "http://h/4.xml",     "http://h/5.xml,/6.xml", "http://h/7,a.xml",
        "http://h/8.xml",     "http://h/9.xml",        "HTTPS://h/10.xml",
        "http://h/11.xml",    "http://h/12.xml",       "http://h/13.xml",
        "http://h/my map.xml"};

    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        ck_assert_msg(i < robots_sitemap_count(r) &&
                          bytes_is(robots_sitemap(r, i), want[i]),
                      "%s", want[i]);
    ck_assert_uint_eq(robots_sitemap_count(r), sizeof want / sizeof *want);
    robots_free(r);
}

TEST(crawl_delay_is_the_groups_own)
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

/* Promise (Politeness): Crawl-delay is obeyed, within bounds. See also
 * `schedule/the_pause_grows_as_the_table_says`,
 * `cross_host/a_crawl_delay_that_stands_at_another_host_holds_at_once`,
 * `make sim`. */
TEST(ours_crawl_delay_is_the_number_that_its_value_begins_with)
{
    static const struct {
        const char *text;
        double seconds;
    } t[] = {{"10", 10},      {"0", 0},
             {"0.25", 0.25},  {".5", 0.5},
             {"5.", 5},       {"1 # one", 1},
             {"-1", -1},      {"ten", -1},
             {"10s", 10},     {"10 seconds", 10},
             {"1,5", 1},      {"1.2.3", 1.2},
             {"2.5sec", 2.5}, {"1e3", 1},
             {"", -1},        {".", -1},
             {".s", -1},      {"s10", -1},
             {"nan", -1},     {"99999999999999999999999999", 1e9}};
    char file[128];

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        snprintf(file, sizeof file, "User-agent: *\nCrawl-delay: %s\n",
                 t[i].text);
        ck_assert_msg(delay_of(file, "a") == t[i].seconds, "%s gave %g",
                      t[i].text, delay_of(file, "a"));
    }
    ck_assert_double_eq(delay_of("User-agent: *\nCrawl-delay 7\n", "a"), 7);
}

TEST(ours_of_several_groups_for_one_agent_the_longest_delay_counts)
{
    ck_assert_double_eq(delay_of("User-agent: a\nCrawl-delay: 9\nDisallow: /\n"
                                 "User-agent: a\nCrawl-delay: 2\n",
                                 "a"),
                        9);
}

/* ---- sizes ----------------------------------------------------------------*/

/* Makes a file for all agents of `size` octets: comments, then `tail`. */
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

TEST(rfc9309_2_5_reads_500_kib)
{
    char *file = filled(512000, "Disallow: /x");

    ck_assert(!allows(file, "a", "/x"));
    free(file);
    file = filled(511990, "Disallow: /x\n");
    ck_assert(!allows(file, "a", "/x"));
    free(file);
}

TEST(rfc9309_2_5_never_cuts_a_rule_in_two)
{
    char *file = filled(512001, "Disallow: /xy");

    /* If cut, it would be `Disallow: /x`. */
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

TEST(a_line_of_a_megabyte_is_dropped_and_costs_nothing)
{
    char *file = xmalloc((1 << 20) + 64);

    memset(file, 'a', (1 << 20) + 63);
    memcpy(file, "User-agent: *\nDisallow: /", 25);
    file[(1 << 20) + 63] = '\0';
    ck_assert(allows(file, "a", "/aaaa"));
    free(file);
}
