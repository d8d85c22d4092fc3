/* SPDX-License-Identifier: MIT */

#include "frontier/url/url_form.h"
#include "tests/unit/unit.h"

static const char *const names[] = {"sid", "utm_*"};
static const struct url_params_drop named = {.names = names, .count = 2};

static void gives(const char *in, const char *want,
                  const struct url_params_drop *drop, bool sort)
{
    struct url u, again;

    url_init(&u);
    url_init(&again);
    ck_assert_int_eq(url_canonical(&u, bytes_of_str(in), NULL, NULL), URL_OK);
    url_params_drop(&u, drop);
    if (sort)
        url_params_sort(&u);
    ck_assert_str_eq(buf_str(&u.text), want);
    /* The result must be canonical, with its parts in place. */
    ck_assert_int_eq(url_canonical(&again, url_text(&u), NULL, NULL), URL_OK);
    ck_assert_str_eq(buf_str(&again.text), want);
    ck_assert_uint_eq(u.query_at, again.query_at);
    url_fini(&u);
    url_fini(&again);
}

static void becomes(const char *in, const char *want)
{
    gives(in, want, &named, false);
}

TEST(named_parameters_go_and_the_others_keep_their_order)
{
    becomes("http://h/p?b=2&sid=77&a=1", "http://h/p?b=2&a=1");
    becomes("http://h/p?sid=1&b=2", "http://h/p?b=2");
    becomes("http://h/p?b=2&sid", "http://h/p?b=2");
    becomes("http://h/p?utm_source=x&utm_=&utm=1&q=a=b",
            "http://h/p?utm=1&q=a=b");
}

TEST(a_query_with_nothing_left_goes_with_its_question_mark)
{
    becomes("http://h/p?sid=1", "http://h/p");
    becomes("http://h/p?sid&utm_a=1&sid=2", "http://h/p");
}

TEST(only_whole_names_count_and_case_does)
{
    becomes("http://h/p?SID=1&asid=2&sidx=3", "http://h/p?SID=1&asid=2&sidx=3");
    becomes("http://h/sid=1?x=sid", "http://h/sid=1?x=sid");
    becomes("http://h/p", "http://h/p");
}

TEST(empty_pairs_stay_as_they_are)
{
    becomes("http://h/p?a=1&&b=2&sid=3", "http://h/p?a=1&&b=2");
    becomes("http://h/p?&&b=2&sid=3&", "http://h/p?&&b=2&");
}

TEST(ours_empty_values_go_and_a_name_alone_stays)
{
    const struct url_params_drop empty = {.empty = true};

    gives("http://h/p?a=&print&b=1&&c=", "http://h/p?print&b=1", &empty, false);
    gives("http://h/p?a=", "http://h/p", &empty, false);
    gives("http://h/p?&", "http://h/p", &empty, false);
    gives("http://h/p?==", "http://h/p?==", &empty, false);
    gives("http://h/p", "http://h/p", &empty, false);
}

/* https://url.spec.whatwg.org/#dom-urlsearchparams-sort */
TEST(url_standard_parameters_are_sorted_by_name_and_those_of_one_keep_order)
{
    const struct url_params_drop none = {.count = 0};

    gives("http://h/p?b=2&a=1", "http://h/p?a=1&b=2", &none, true);
    gives("http://h/p?a=2&a=1&A", "http://h/p?A&a=2&a=1", &none, true);
    gives("http://h/p?ab=1&a=2&&a", "http://h/p?&a=2&a&ab=1", &none, true);
    gives("http://h/p?z", "http://h/p?z", &none, true);
    gives("http://h/p?b&", "http://h/p?&b", &none, true);
    gives("http://h/p", "http://h/p", &none, true);
}

TEST(a_query_of_too_many_parameters_is_not_sorted)
{
    struct buf url;

    for (int n = URL_PARAMS_SORTED; n <= URL_PARAMS_SORTED + 1; n++) {
        struct url u;

        buf_init(&url, 100000);
        buf_add_str(&url, "http://h/?z=1");
        for (int i = 1; i < n; i++)
            buf_add_str(&url, "&a");
        url_init(&u);
        ck_assert_int_eq(url_canonical(&u, buf_bytes(&url), NULL, NULL),
                         URL_OK);
        url_params_sort(&u);
        ck_assert_int_eq(bytes_ends_with(url_text(&u), "&z=1"),
                         n == URL_PARAMS_SORTED);
        ck_assert_uint_eq(url_text(&u).len, url.len);
        url_fini(&u);
        buf_fini(&url);
    }
}
