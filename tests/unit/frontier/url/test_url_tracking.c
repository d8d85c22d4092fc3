/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "frontier/url/url_form.h"
#include "tests/unit/unit.h"

static bool has(const char *name)
{
    return url_tracking_has(bytes_of_str(name));
}

TEST(the_list_is_sorted_and_finds_each_of_its_names)
{
    const char *name, *last = "";

    for (size_t i = 0; (name = url_tracking_name(i)) != NULL; i++) {
        char text[64];

        ck_assert_msg(strcmp(last, name) < 0, "%s after %s", name, last);
        ck_assert_uint_lt(strlen(name), sizeof text);
        strcpy(text, name);
        if (strchr(text, '*') != NULL)
            strcpy(strchr(text, '*'), "x");
        ck_assert_msg(has(text), "%s", text);
        last = name;
    }
}

TEST(ours_names_that_may_mean_something_stay)
{
    static const char *const stay[] = {"",       "id",      "sid",     "ref",
                                       "source", "utm",     "gcl",     "gclid2",
                                       "page",   "q",       "session", "token",
                                       "cid",    "campaign"};

    for (size_t i = 0; i < sizeof stay / sizeof *stay; i++)
        ck_assert_msg(!has(stay[i]), "%s", stay[i]);
}

TEST(case_does_not_count_and_a_star_stands_for_any_end)
{
    ck_assert(has("PHPSESSID"));
    ck_assert(has("hsCtaTracking"));
    ck_assert(has("UTM_Source"));
    ck_assert(has("utm_"));
    ck_assert(has("ASPSESSIONIDQQABCDEF"));
}

TEST(java_sessions_leave_a_path_at_the_next_slash_or_semicolon)
{
    static const char *const cases[][2] = {{"/a;jsessionid=1F/b", "/a/b"},
                                           {"/a;JSESSIONID=1F", "/a"},
                                           {"/a;v=1;jsessionid=2;w=3",
                                            "/a;v=1;w=3"},
                                           {"/;jsessionid=;jsessionid=2", "/"},
                                           {"/a;jsessionid", "/a;jsessionid"},
                                           {"/a;xjsessionid=1",
                                            "/a;xjsessionid=1"},
                                           {"/a", "/a"}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64];
        size_t len;

        strcpy(text, cases[i][0]);
        len = url_tracking_strip_path(text, strlen(text));
        ck_assert_uint_eq(len, strlen(cases[i][1]));
        ck_assert_int_eq(memcmp(text, cases[i][1], len), 0);
    }
}
