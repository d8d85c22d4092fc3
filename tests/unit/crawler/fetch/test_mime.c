/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "crawler/fetch/response.h"
#include "tests/unit/guarded.h"
#include "tests/unit/unit.h"

TEST(the_essence_is_lower_case_without_parameters)
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
        {"Unknown/unknown", ""},
        {"application/unknown; charset=x", ""},
        {"*/*", ""},
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

TEST(a_list_names_types_and_families)
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

TEST(xml_is_known_by_name_and_suffix)
{
    ck_assert(mime_is_xml(bytes_of_str("text/xml")));
    ck_assert(mime_is_xml(bytes_of_str("application/atom+xml")));
    ck_assert(!mime_is_xml(bytes_of_str("text/html")));
    ck_assert(!mime_is_xml(bytes_of_str("+xml")));
}

static bool looks_like_html(struct bytes body)
{
    return bytes_is(mime_sniff(body), "text/html");
}

/* https://mimesniff.spec.whatwg.org/#identifying-a-resource-with-an-unknown-mime-type
 */
TEST(mimesniff_7_1_html_is_known_by_its_first_tag)
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
        "<?XML version='1.0'?>",
        "<?xm",
        "x<?xml",
        "x<html>",
        "<h2>",
        "<a\thref=x>",
    };

    for (size_t i = 0; i < sizeof html / sizeof *html; i++)
        ck_assert_msg(looks_like_html(bytes_of_str(html[i])), "%s", html[i]);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        ck_assert_msg(mime_sniff(bytes_of_str(other[i])).len == 0, "%s",
                      other[i]);
}

TEST(mimesniff_7_1_xml_is_known_by_its_declaration)
{
    static const char *const xml[] = {"<?xml version='1.0'?>", " \t\r\n<?xml ",
                                      "\xef\xbb\xbf<?xml?>", "<?xml"};

    for (size_t i = 0; i < sizeof xml / sizeof *xml; i++)
        ck_assert_msg(bytes_is(mime_sniff(bytes_of_str(xml[i])), "text/xml"),
                      "%s", xml[i]);
}
