/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "crawler/html/link_values.h"
#include "tests/unit/unit.h"

/* Returns the targets of `value`, each after a bar; "!" marks nofollow, "=" a
 * canonical one, "+" a resource, "-" one that is no link. */
static const char *targets(const char *value)
{
    static char out[200];
    struct bytes rest = bytes_of_str(value);
    struct header_link l;
    enum link_kind kind;
    size_t n = 0;

    out[0] = '\0';
    while (link_header_next(&rest, &l)) {
        const char *mark =
            !link_kind_of_header(&l, LINK_BIT(LINK_RESOURCE), &kind) ? "-"
            : kind == LINK_CANONICAL                                 ? "="
            : kind == LINK_RESOURCE                                  ? "+"
            : words_have(l.rel, "nofollow")                          ? "!"
                                                                     : "";

        n += (size_t)snprintf(out + n, sizeof out - n, "|%.*s%s",
                              (int)l.target.len, l.target.at, mark);
    }
    return out;
}

TEST(rfc8288_3_finds_the_targets_of_all_links)
{
    ck_assert_str_eq(targets("<http://example.com/TheBook/chapter2>; "
                             "rel=\"previous\"; title=\"previous chapter\""),
                     "|http://example.com/TheBook/chapter2");
    ck_assert_str_eq(targets("</>; rel=\"http://example.net/foo\""), "|/");
    ck_assert_str_eq(targets("</TheBook/chapter2>; rel=\"previous\"; "
                             "title*=UTF-8'de'letztes%20Kapitel, "
                             "</TheBook/chapter4>; rel=\"next\""),
                     "|/TheBook/chapter2|/TheBook/chapter4");
    ck_assert_str_eq(targets("<a>,<b>"), "|a|b");
}

TEST(rfc8288_3_quoted_parameters_hide_commas_and_brackets)
{
    ck_assert_str_eq(targets("<a>; title=\"x, <no>; \\\" <no>\", <b>"), "|a|b");
    ck_assert_str_eq(targets("<a;b,c>; rel=x"), "|a;b,c");
}

TEST(rel_nofollow_is_seen_in_any_case_and_company)
{
    ck_assert_str_eq(targets("<a>; rel=nofollow, <b>; REL = \"next NoFollow\","
                             "<c>; title=nofollow"),
                     "|a!|b!|c");
}

TEST(rfc8288_3_3_the_first_rel_counts)
{
    ck_assert_str_eq(targets("<a>; rel=next; rel=nofollow, <b>; rel=canonical;"
                             "rel=next, <c>; rel=; rel=canonical"),
                     "|a|b=|c");
}

TEST(l2_a_canonical_is_one_of_this_document)
{
    ck_assert_str_eq(targets("<a>; rel=\"shortlink Canonical\", "
                             "<b>; rel=canonical; anchor=\"/other\""),
                     "|a=|b");
}

TEST(ours_what_a_browser_loads_is_a_resource)
{
    ck_assert_str_eq(targets("<a>; rel=preload; as=image, <b>; rel=\"next "
                             "modulepreload\", <c>; rel=icon; anchor=x"),
                     "|a+|b+|c");
}

TEST(l2_what_names_no_document_is_no_link)
{
    ck_assert_str_eq(targets("<https://f.example>; rel=preconnect; crossorigin,"
                             "</wp-json/>; rel=\"https://api.w.org/\","
                             "<x>; rel=\"preconnect next\", <y>"),
                     "|https://f.example-|/wp-json/-|x|y");
}

TEST(rfc8288_b_2_broken_values_give_what_they_have)
{
    ck_assert_str_eq(targets(""), "");
    ck_assert_str_eq(targets("no link"), "");
    ck_assert_str_eq(targets("<never closed"), "");
    ck_assert_str_eq(targets("< a >;;;rel=\"open"), "|a");
    ck_assert_str_eq(targets("<a> junk <b>"), "|a|b");
    ck_assert_str_eq(targets("<a>; x=\"\\"), "|a");
}
