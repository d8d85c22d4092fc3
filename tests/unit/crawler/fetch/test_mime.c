/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <string.h>

#include "crawler/fetch/mime.h"

START_TEST(the_essence_is_lower_case_without_parameters)
{
    static const struct {
        const char *value, *essence;
    } cases[] = {
        {"text/html", "text/html"},
        {" Text/HTML ; charset=UTF-8", "text/html"},
        {"text/html;", "text/html"},
        {"application/rss+xml;charset=x;y", "application/rss+xml"},
        {"", ""},
        {"html", ""},
        {"/html", ""},
        {"text/", ""},
        {"text/html/x", ""},
        {"text /html", ""},
        {"te\"xt/html", ""},
        {"; charset=utf-8", ""},
    };
    char text[MIME_SIZE], longest[MIME_SIZE + 1];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_msg(bytes_is(mime_essence(bytes_of_str(cases[i].value), text),
                               cases[i].essence),
                      "%s", cases[i].value);
    memset(longest, 'x', sizeof longest);
    longest[4] = '/';
    ck_assert_uint_eq(mime_essence(bytes_of(longest, MIME_SIZE - 1), text).len,
                      MIME_SIZE - 1);
    ck_assert_uint_eq(mime_essence(bytes_of(longest, MIME_SIZE), text).len, 0);
}
END_TEST

START_TEST(a_list_names_types_and_families)
{
    static const char *const list[] = {"text/html", "Image/"};

    ck_assert(mime_accepted(bytes_of_str("text/html"), list, 2));
    ck_assert(mime_accepted(bytes_of_str("image/png"), list, 2));
    ck_assert(!mime_accepted(bytes_of_str("text/plain"), list, 2));
    ck_assert(!mime_accepted(bytes_of_str("image"), list, 2));
    ck_assert(!mime_accepted(bytes_of_str("text/html5"), list, 2));
    ck_assert(!mime_accepted(bytes_of_str(""), list, 2));
    ck_assert(mime_accepted(bytes_of_str("a/b"), NULL, 0));
}
END_TEST

START_TEST(xml_is_known_by_name_and_suffix)
{
    ck_assert(mime_is_xml(bytes_of_str("text/xml")));
    ck_assert(mime_is_xml(bytes_of_str("application/atom+xml")));
    ck_assert(!mime_is_xml(bytes_of_str("text/html")));
    ck_assert(!mime_is_xml(bytes_of_str("+xml")));
}
END_TEST

/* https://mimesniff.spec.whatwg.org/#identifying-a-resource-with-an-unknown-mime-type
 */
START_TEST(mimesniff_7_1_html_is_known_by_its_first_tag)
{
    static const char *const html[] = {
        "<!DOCTYPE html>", " \t\r\n<HtMl ",   "<a href=x>",
        "<!-- x",          "\xef\xbb\xbf<p>", "<h1>",
    };
    static const char *const other[] = {
        "",
        "<",
        "<!DOCTYPE html",
        "<article>",
        "<?xml version='1.0'?>",
        "x<html>",
        "<h2>",
        "<a\thref=x>",
    };

    for (size_t i = 0; i < sizeof html / sizeof *html; i++)
        ck_assert_msg(mime_looks_like_html(bytes_of_str(html[i])), "%s",
                      html[i]);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        ck_assert_msg(!mime_looks_like_html(bytes_of_str(other[i])), "%s",
                      other[i]);
}
END_TEST

Suite *suite_mime(void)
{
    Suite *s = suite_create("mime");
    TCase *t = tcase_create("mime");

    tcase_add_test(t, the_essence_is_lower_case_without_parameters);
    tcase_add_test(t, a_list_names_types_and_families);
    tcase_add_test(t, xml_is_known_by_name_and_suffix);
    tcase_add_test(t, mimesniff_7_1_html_is_known_by_its_first_tag);
    suite_add_tcase(s, t);
    return s;
}
