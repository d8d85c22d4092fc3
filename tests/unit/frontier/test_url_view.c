/* SPDX-License-Identifier: MIT */
/* test_url_view.c - which URLs a list of another program shows, and how many.
 */
#include <stdlib.h>

#include "frontier/url_view.h"
#include "tests/unit/unit.h"

static const char page[] = "http://a.example/News/2026";

static bool matches(const char *filter, bool ignore_case, const char *url)
{
    struct url_list l = {.filtered = true, .ignore_case = ignore_case};

    l.filter = bytes_of_str(filter);
    return url_list_matches(&l, bytes_of_str(url));
}

TEST(a_state_has_one_name)
{
    ck_assert_str_eq(url_state_name(URL_STATE_NONE), "none");
    ck_assert_str_eq(url_state_name(URL_STATE_REMOVED), "removed");
    ck_assert_str_eq(url_state_name(URL_STATE_QUEUED), "queued");
    ck_assert_str_eq(url_state_name(URL_STATE_LEASED), "leased");
    ck_assert_str_eq(url_state_name(URL_STATE_COMPLETED), "completed");
}

TEST(a_list_without_a_filter_shows_every_url)
{
    struct url_list l = {.filter = bytes_of_str("not there")};

    ck_assert(url_list_matches(&l, bytes_of_str(page)));
    ck_assert(matches("", false, page));
    ck_assert(matches("", true, page));
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

TEST(a_list_is_full_when_what_it_skips_and_shows_has_passed)
{
    struct url_list l = {.skip = 3, .most = 2};

    for (l.passed = 0; l.passed < 5; l.passed++)
        ck_assert(!url_list_is_full(&l));
    ck_assert(url_list_is_full(&l));
    l.passed = 6;
    ck_assert(url_list_is_full(&l));
    l.most = 0;
    ck_assert(!url_list_is_full(&l));
}
