/* SPDX-License-Identifier: MIT */
/* test_url_view.c - which URLs a list of another program shows, and how many.
 */

#include "frontier/url_view.h"
#include "tests/unit/unit.h"

static const char page[] = "http://a.example/News/2026";

static bool matches(const char *filter, bool ignore_case, const char *url)
{
    struct url_list l = {.filtered = true, .ignore_case = ignore_case};

    l.filter = bytes_of_str(filter);
    return url_list_matches(&l, bytes_of_str(url));
}

TEST(a_filter_is_a_part_of_the_url)
{
    ck_assert(matches("http://a", false, page));
    ck_assert(matches("News", false, page));
    ck_assert(matches("2026", false, page));
    ck_assert(matches(page, false, page));
    ck_assert(!matches("2027", false, page));
    ck_assert(!matches("http://a.example/News/2026/", false, page));
    ck_assert(!matches("a", false, ""));
}

TEST(case_counts_unless_it_is_ignored)
{
    ck_assert(!matches("news", false, page));
    ck_assert(matches("nEWs", true, page));
    ck_assert(matches("HTTP", true, page));
    ck_assert(matches("/2026", true, page));
    ck_assert(matches(page, true, page));
    ck_assert(!matches("newt", true, page));
    ck_assert(!matches("http://a.example/News/20266", true, page));
    ck_assert(!matches("a", true, ""));
}
