/* SPDX-License-Identifier: MIT */

#include "crawler/robots/robots.h"
#include "tests/unit/guarded.h"
#include "tests/unit/unit.h"

enum { NONE = 0, NOINDEX = 1, NOFOLLOW = 2, BOTH = 3 };

static int content(const char *text)
{
    bool noindex = false, nofollow = false;

    robots_tag_directives(bytes_of_str(text), &noindex, &nofollow);
    return (noindex ? NOINDEX : 0) | (nofollow ? NOFOLLOW : 0);
}

static int header(const char *text)
{
    bool noindex = false, nofollow = false;

    robots_tag_header(bytes_of_str(text), bytes_of_str("urlweir"), &noindex,
                      &nofollow);
    return (noindex ? NOINDEX : 0) | (nofollow ? NOFOLLOW : 0);
}

TEST(reads_a_list_of_directives_in_any_case)
{
    ck_assert_int_eq(content("noindex"), NOINDEX);
    ck_assert_int_eq(content("NoFollow"), NOFOLLOW);
    ck_assert_int_eq(content("noindex, nofollow"), BOTH);
    ck_assert_int_eq(content("noarchive,NOINDEX,nosnippet"), NOINDEX);
    ck_assert_int_eq(content("none"), BOTH);
    ck_assert_int_eq(content("all"), NONE);
    ck_assert_int_eq(content("index, follow"), NONE);
    ck_assert_int_eq(content(""), NONE);
    ck_assert_int_eq(content("noindexed xnofollow no index"), NONE);
}

TEST(ours_blanks_and_semicolons_part_directives_too)
{
    ck_assert_int_eq(content("noindex nofollow"), BOTH);
    ck_assert_int_eq(content(" noindex ;nofollow\n"), BOTH);
}

/* Promise (Politeness): meta robots, X-Robots-Tag and nofollow are obeyed. See
 * also `tests/cli/exact.sh`, `make sim`. */
TEST(the_stricter_directive_wins)
{
    ck_assert_int_eq(content("all, noindex"), NOINDEX);
    ck_assert_int_eq(header("index, nofollow, follow"), NOFOLLOW);
}

TEST(a_header_may_speak_to_one_agent)
{
    ck_assert_int_eq(header("noindex"), NOINDEX);
    ck_assert_int_eq(header("urlweir: noindex, nofollow"), BOTH);
    ck_assert_int_eq(header("URLweir:none"), BOTH);
    ck_assert_int_eq(header("googlebot: noindex, nofollow"), NONE);
    ck_assert_int_eq(header("*: noindex"), NOINDEX);
    ck_assert_int_eq(header("noindex, googlebot: nofollow"), NOINDEX);
    ck_assert_int_eq(header("googlebot: nofollow, urlweir: noindex"), NOINDEX);
}

TEST(directives_with_a_value_are_no_agents)
{
    ck_assert_int_eq(header("unavailable_after: 25 Jun 2010 15:00:00 PST"),
                     NONE);
    ck_assert_int_eq(
        header("unavailable_after: Sun, 25-Jun-10 15:00:00 GMT, noindex"),
        NOINDEX);
    ck_assert_int_eq(header("max-snippet:20, nofollow"), NOFOLLOW);
    ck_assert_int_eq(header("max-image-preview:large, noindex"), NOINDEX);
    ck_assert_int_eq(header("googlebot: max-snippet:2, noindex"), NONE);
}

TEST(several_headers_add_up)
{
    bool noindex = false, nofollow = false;

    robots_tag_header(bytes_of_str("noindex"), bytes_of_str("urlweir"),
                      &noindex, &nofollow);
    robots_tag_header(bytes_of_str("urlweir: nofollow"),
                      bytes_of_str("urlweir"), &noindex, &nofollow);
    robots_tag_header(bytes_of_str("all"), bytes_of_str("urlweir"), &noindex,
                      &nofollow);
    ck_assert(noindex);
    ck_assert(nofollow);
}

/* The text ends where a page begins that nobody may touch. */
TEST(texts_are_read_to_their_end_and_no_further)
{
    static const struct {
        const char *text;
        int content, header;
    } t[] = {
        {"none", BOTH, BOTH},
        {"none,", BOTH, BOTH},
        {",;none", BOTH, BOTH},
        {"no", NONE, NONE},
        {"noindex\tnofollow", BOTH, BOTH},
        {"noindex\r\fnofollow", BOTH, BOTH},
        {"urlweir:", NONE, NONE},
        {"urlweir: none", BOTH, BOTH},
        {"urlweir :none", NONE, BOTH},
        {"other:none", NONE, NONE},
        {"robots: none", BOTH, BOTH},
        {"ROBOTS: noindex", NOINDEX, NOINDEX},
        {"*:", NONE, NONE},
        {":none", NONE, NONE},
        {"a.b: noindex", NOINDEX, NOINDEX}, /* no product token */
        {"other: noindex, *: nofollow", BOTH, NOFOLLOW},
        {"max-video-preview:3, noindex", NOINDEX, NOINDEX},
        {"Max-Snippet: other: noindex", NOINDEX, NOINDEX},
        {"other: none, unavailable_after: 1, none", BOTH, NONE},
        {"urlweirs: none", BOTH, NONE},
        {"url: none", BOTH, NONE},
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct bytes g = guarded(bytes_of_str(t[i].text));
        bool noindex = false, nofollow = false;

        robots_tag_directives(g, &noindex, &nofollow);
        ck_assert_msg(((noindex ? NOINDEX : 0) | (nofollow ? NOFOLLOW : 0)) ==
                          t[i].content,
                      "%s", t[i].text);
        noindex = nofollow = false;
        robots_tag_header(g, bytes_of_str("urlweir"), &noindex, &nofollow);
        ck_assert_msg(((noindex ? NOINDEX : 0) | (nofollow ? NOFOLLOW : 0)) ==
                          t[i].header,
                      "%s", t[i].text);
        guarded_free(g);
    }
}
