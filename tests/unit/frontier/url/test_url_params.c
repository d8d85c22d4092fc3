/* SPDX-License-Identifier: MIT */
#include <check.h>

#include "frontier/url/url_params.h"

static const char *const names[] = {"sid", "utm_*"};

static void becomes(const char *in, const char *want)
{
    struct url u, again;

    url_init(&u);
    url_init(&again);
    ck_assert_int_eq(url_canonical(&u, bytes_of_str(in), NULL, NULL), URL_OK);
    url_drop_params(&u, names, 2);
    ck_assert_str_eq(buf_str(&u.text), want);
    /* The result must be canonical, with its parts in place. */
    ck_assert_int_eq(url_canonical(&again, url_text(&u), NULL, NULL), URL_OK);
    ck_assert_str_eq(buf_str(&again.text), want);
    ck_assert_uint_eq(u.query_at, again.query_at);
    url_fini(&u);
    url_fini(&again);
}

START_TEST(named_parameters_go_and_the_others_keep_their_order)
{
    becomes("http://h/p?b=2&sid=77&a=1", "http://h/p?b=2&a=1");
    becomes("http://h/p?sid=1&b=2", "http://h/p?b=2");
    becomes("http://h/p?b=2&sid", "http://h/p?b=2");
    becomes("http://h/p?utm_source=x&utm_=&utm=1&q=a=b",
            "http://h/p?utm=1&q=a=b");
}
END_TEST

START_TEST(a_query_with_nothing_left_goes_with_its_question_mark)
{
    becomes("http://h/p?sid=1", "http://h/p");
    becomes("http://h/p?sid&utm_a=1&sid=2", "http://h/p");
}
END_TEST

START_TEST(only_whole_names_count_and_case_does)
{
    becomes("http://h/p?SID=1&asid=2&sidx=3", "http://h/p?SID=1&asid=2&sidx=3");
    becomes("http://h/sid=1?x=sid", "http://h/sid=1?x=sid");
    becomes("http://h/p", "http://h/p");
}
END_TEST

START_TEST(empty_pairs_stay_as_they_are)
{
    becomes("http://h/p?a=1&&b=2&sid=3", "http://h/p?a=1&&b=2");
}
END_TEST

Suite *suite_url_params(void)
{
    Suite *s = suite_create("url_params");
    TCase *t = tcase_create("url_params");

    tcase_add_test(t, named_parameters_go_and_the_others_keep_their_order);
    tcase_add_test(t, a_query_with_nothing_left_goes_with_its_question_mark);
    tcase_add_test(t, only_whole_names_count_and_case_does);
    tcase_add_test(t, empty_pairs_stay_as_they_are);
    suite_add_tcase(s, t);
    return s;
}
