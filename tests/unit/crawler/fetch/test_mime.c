/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "crawler/fetch/mime.h"
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

TEST(a_type_is_two_tokens_of_bounded_length)
{
    static const char *const none[] = {"a/",    "/a",    "//",
                                       "a//b",  "a b/c", "a/b\x7f",
                                       "a/(b)", "a/b,c", "\xe9/a"};
    char text[MIME_SIZE];

    ck_assert(bytes_is(mime_essence(bytes_of_str("a/b"), text), "a/b"));
    ck_assert(
        bytes_is(mime_essence(bytes_of_str("\tA/b.+-9 ;x"), text), "a/b.+-9"));
    ck_assert_uint_eq(mime_essence(bytes_of_str("ab"), text).len, 0);
    ck_assert_uint_eq(mime_essence(bytes_of("a/b\0", 4), text).len, 0);
    ck_assert_uint_eq(mime_essence(bytes_of(NULL, 0), text).len, 0);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        ck_assert_msg(mime_essence(bytes_of_str(none[i]), text).len == 0, "%s",
                      none[i]);
    strcpy(text, "?");
    ck_assert(bytes_is(mime_essence(bytes_of_str("x/y"), text), "x/y"));
    ck_assert_str_eq(text, "x/y"); /* also as a string */
}

TEST(an_empty_list_entry_is_no_family)
{
    static const char *const list[] = {"", "text/"};

    ck_assert(mime_accepted(bytes_of_str("text/plain"), list, 2));
    ck_assert(!mime_accepted(bytes_of_str("text/"), list, 1));
    ck_assert(!mime_accepted(bytes_of_str("a/b"), list, 2));
    ck_assert(mime_is_html(bytes_of_str("application/xhtml+xml")));
    ck_assert(!mime_is_html(bytes_of_str("text/xml")));
    ck_assert(mime_is_xml(bytes_of_str("application/xml")));
    ck_assert(mime_is_xml(bytes_of_str("a+xml")));
}

/* In memory of their own, so that nothing beyond the end is read. */
TEST(what_looks_like_html_is_judged_within_its_octets)
{
    static const char *const tags[] = {"<!doctype html",
                                       "<html",
                                       "<head",
                                       "<script",
                                       "<iframe",
                                       "<h1",
                                       "<div",
                                       "<font",
                                       "<table",
                                       "<a",
                                       "<style",
                                       "<title",
                                       "<b",
                                       "<body",
                                       "<br",
                                       "<p"};
    char text[32];

    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        struct bytes g = guarded(bytes_of_str(tags[i]));

        ck_assert_msg(!looks_like_html(g), "%s", tags[i]);
        guarded_free(g);
        for (int j = 0; j < 3; j++) {
            snprintf(text, sizeof text, "%s%c", tags[i], " >x"[j]);
            g = guarded(bytes_of_str(text));
            ck_assert_msg(looks_like_html(g) == (j < 2), "%s", text);
            guarded_free(g);
        }
    }
    ck_assert(!looks_like_html(bytes_of("\0<html>", 7)));
    ck_assert(!looks_like_html(bytes_of_str(" \t\n\f\r")));
    ck_assert(looks_like_html(bytes_of_str("\xef\xbb\xbf \f<b>")));
    ck_assert(!looks_like_html(bytes_of_str("\xef\xbb<b>")));
    ck_assert(looks_like_html(bytes_of_str("<!--")));
    ck_assert(!looks_like_html(bytes_of_str("<!-")));
}
