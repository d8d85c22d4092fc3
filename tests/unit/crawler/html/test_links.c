/* SPDX-License-Identifier: MIT */
/* Links of pages, as in the tree that a browser builds with scripting off. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "crawler/html/link_values.h"
#include "crawler/html/links.h"
#include "tests/unit/unit.h"

#define MOST ((size_t)1 << 26)
#define BASE "http://e/d/p"

static struct link_parser *parser;
static struct url base;
static struct buf rows;

static void setup(void)
{
    parser = link_parser_new("urlweir");
    url_init(&base);
    ck_assert_int_eq(url_parse(&base, bytes_of_str(BASE), NULL, NULL), URL_OK);
    buf_init(&rows, MOST);
}

static void teardown(void)
{
    link_parser_free(parser);
    url_fini(&base);
    buf_fini(&rows);
}

/* Writes "kind url" rows; a nofollow link has a ! before its kind, and BASE's
 * host and folder are left out. */
static void add_row(void *ctx, const struct found_link *link)
{
    struct bytes url = url_text(link->url);
    const char *known = "http://e/d/";

    (void)ctx;
    if (bytes_starts_with(url, known))
        url = bytes_of(url.at + strlen(known), url.len - strlen(known));
    buf_addf(&rows, "%s%s %.*s\n", link->nofollow ? "!" : "",
             link_kind_name(link->kind), (int)url.len, url.at);
}

static struct page_info run(struct bytes page, uint32_t kinds, const char *type)
{
    struct link_options o = {.kinds = kinds,
                             .content_type = bytes_of_str(type),
                             .page_url = &base};
    struct page_info info;

    buf_clear(&rows);
    ck_ok(link_parser_html(parser, page, &o, add_row, NULL, &info));
    return info;
}

static void check(const char *page, const char *want)
{
    run(bytes_of_str(page), LINK_SET_BASIC, "");
    ck_assert_msg(strcmp(buf_str(&rows), want) == 0, "%s\nwant:\n%s\ngot:\n%s",
                  page, want, buf_str(&rows));
}

static void check_all(const char *page, const char *want)
{
    run(bytes_of_str(page), LINK_SET_ALL, "");
    ck_assert_msg(strcmp(buf_str(&rows), want) == 0, "%s\nwant:\n%s\ngot:\n%s",
                  page, want, buf_str(&rows));
}

static void add_said(void *ctx, const struct found_link *l)
{
    (void)ctx;
    buf_addf(&rows, "%s [%.*s][%.*s]\n", link_kind_name(l->kind),
             (int)l->rel.len, l->rel.at, (int)l->text.len, l->text.at);
}

/* ---- L1: the tree of a browser ------------------------------------------- */

FIXTURE(setup, teardown);

TEST(l1_raw_text_and_comments_hold_no_links)
{
    check("<textarea><a href=1></textarea><title><a href=2></title>"
          "<style><a href=3></style><xmp><a href=4></xmp>"
          "<iframe><a href=5></iframe><noembed><a href=6></noembed>"
          "<noframes><a href=7></noframes><!-- <a href=8> -->"
          "<script>'<a href=9>'</script><a href=ok>",
          "a ok\n");
    check("<a href=1><plaintext><a href=2></plaintext><a href=3>", "a 1\n");
    check("<script><!--<script></script><a href=1>--></script><a href=2>",
          "a 2\n");
}

TEST(l1_noscript_and_what_follows_the_end_count)
{
    check("<head><noscript><link href=1></noscript></head><body><noscript>"
          "<a href=2></noscript></body></html><a href=3>",
          "link 1\na 2\na 3\n");
}

TEST(html_13_2_6_5_foreign_content_has_no_raw_text)
{
    check("<svg><title><a href=1></a></title><style><a xlink:href=2></style>"
          "<script><a href=3 xlink:href=x></script></svg>",
          "a 1\na 2\na 3\n");
    check("<svg><![CDATA[<a href=1>]]></svg><![CDATA[<a href=2>]]>", "");
    check("<svg><form action=1><iframe src=2></iframe><link href=3></svg>", "");
    check("<svg><image href=1></svg><image src=2>", "img 2\n");
    check("<svg><g><div><title><a href=1></title>", "");
    check("<svg><font><title><a href=1></title></font><font size=1><title>"
          "<a href=2></title>",
          "a 1\n");
}

TEST(html_13_2_6_integration_points_hold_html)
{
    check("<svg><foreignObject><title><a href=1></title>", "");
    check("<svg><desc><iframe src=1></iframe></desc><iframe src=2>",
          "iframe 1\n");
    check("<math><mi><title><a href=1></title></mi><title><a href=2></title>",
          "a 2\n");
    check("<math><annotation-xml encoding='Text/HTML'><title><a href=1>"
          "</title></annotation-xml>",
          "");
    check("<math><annotation-xml><title><a href=1></title></annotation-xml>",
          "a 1\n");
    check("<div><svg><g></div><title><a href=1></title>", "");
    check("<svg><g></div><title><a href=1></title>", "a 1\n");
}

TEST(html_13_2_6_4_20_a_frameset_has_frames_and_nothing_else)
{
    check("<head><link href=1></head><frameset><frame src=2><a href=3>"
          "<noframes><a href=4></noframes></frameset><frame src=5>",
          "link 1\niframe 2\n");
    check("<p><a href=1></a><frameset><frame src=2>", "iframe 2\n");
    check("<p>text<a href=1></a><frameset><frame src=2>", "a 1\n");
    check("<body><frameset><frame src=1>", "");
    check("<frame src=1><a href=2>", "a 2\n");
    check("</html><script src=1></script><frameset><frame src=2>",
          "iframe 2\n");
    check("</br><frameset><frame src=1>", "");
}

TEST(html_13_2_6_4_7_a_form_inside_a_form_is_none)
{
    check("<form action=1><form action=2></form><form action=3></form>",
          "form 1\nform 3\n");
    check("<form action=1><div></form><form action=2>", "form 1\nform 2\n");
}

TEST(html_13_2_5_spellings_of_tags)
{
    check("<a/href=1><A HREF='2'id=x><a href=3/><a\nhref\n=\n4\n>",
          "a 1\na 2\na 3/\na 4\n");
    check("<a href=1 href=2><a href='' href=3><a href><a href=' '>", "a 1\n");
    check("<a href=1", "");
    check("<a href='1><a href=2>", "");
    check("<a href='?a&amp;b&copy=1&lt;&#x26;&#38;\"'>",
          "a p?a&b&copy=1%3C&&%22\n");
    check("<a href='\n x\ty\r\n '>", "a xy\n");
}

/* ---- L2: kinds ----------------------------------------------------------- */

/* Promise (Links): each link has its kind; a reference to something that is not
 * a document is no link; Refresh and canonical in the HTTP head count too. See
 * also `links/l2_a_link_that_names_no_document_is_no_link`,
 * `fetcher_links/l2_refresh_and_canonical_of_the_head_are_followed_as_those_of_a_page`,
 * `links/l8_the_other_kinds_come_when_asked_for`. */
TEST(l2_each_element_has_its_kind)
{
    check("<a href=1><area href=2><img src=3 srcset='4 1x'><picture>"
          "<source srcset='5'></picture><iframe src=6></iframe>"
          "<script src=7></script><form action=8></form>",
          "a 1\narea 2\nimg 3\nsrcset 4\nsrcset 5\niframe 6\nscript 7\n"
          "form 8\n");
}

TEST(l2_the_first_word_of_rel_that_holds_names_the_kind)
{
    check("<link rel='next canonical stylesheet' href=1>"
          "<link rel='alternate stylesheet' href=2>"
          "<link rel='sitemap alternate' href=3>"
          "<link rel=alternate hreflang=x href=4>"
          "<link rel=ALTERNATE type='Application/RSS+xml; x=y' href=5>"
          "<link rel=alternate type=application/atom+xml href=6>"
          "<link rel=alternate type=application/feed+json href=7>"
          "<link rel=icon href=8><link href=9><link rel=canonicals href=10>",
          "canonical 1\ncss 2\nsitemap 3\nalternate 4\nfeed 5\nfeed 6\n"
          "feed 7\nlink 8\nlink 9\nlink 10\n");
}

TEST(l2_a_link_that_names_no_document_is_no_link)
{
    check("<link rel=dns-prefetch href=//fonts.example>"
          "<link rel='Preconnect dns-prefetch' href=//cdn.example>"
          "<link rel=pingback href=1><link rel=EditURI href=2>"
          "<link rel=wlwmanifest href=3><link rel=search href=4>"
          "<link rel='https://api.w.org/' href=5><link rel=me href=6>"
          "<link rel=schema.DC href=7><link rel=webmention href=8>"
          "<link rel=openid.server href=9>",
          "");
    check("<link rel='preconnect icon' href=1><link rel='me author' href=2>"
          "<link rel=schema href=3><link rel='search alternate' href=4>"
          "<link rel='' href=5><link rel=preload href=6><a rel=me href=7>",
          "link 1\nlink 2\nlink 3\nalternate 4\nlink 5\nlink 6\na 7\n");
}

TEST(l2_only_urls_of_http_and_https_are_links)
{
    check("<a href='mailto:a@b'><a href='javascript:x'><a href='data:,x'>"
          "<a href='http://['><a href='//f/x'><a href='HTTPS:g'>"
          "<a href='#top'>",
          "a http://f/x\na https://g/\na p\n");
}

/* ---- L3: base ------------------------------------------------------------ */

TEST(l3_the_first_usable_base_holds_for_the_whole_page)
{
    check("<a href=1><base href='http://['><base target=x>"
          "<base href=/b/><base href=/c/><a href=2>",
          "a http://e/b/1\na http://e/b/2\n");
    check("<template><base href=/b/></template><a href=1>", "a 1\n");
    check("<svg><base href=/b/></svg><a href=1>", "a 1\n");
    check("<base href=''><base href=/b/><a href=1>", "a 1\n");
}

/* ---- L6: encoding -------------------------------------------------------- */

TEST(l6_a_query_is_in_the_encoding_of_the_page_and_a_path_in_utf8)
{
    check("<meta charset=iso-8859-1><a href='\xe9?\xe9\xff'>",
          "a %C3%A9?%E9%FF\n");
    check("<meta charset=windows-1252><a href='?&#x4f60;'>",
          "a p?%26%2320320%3B\n");
    check("<meta charset=shift_jis><a href='\x93\xfa?\x93\xfa'>",
          "a %E6%97%A5?%93%FA\n");
    check("<meta charset=utf-16><a href='?\xc3\xa9'>", "a p?%C3%A9\n");
    run(bytes_of_str("<meta charset=koi8-r><a href='?\xe9'>"), LINK_SET_BASIC,
        "text/html; charset=utf-8");
    ck_assert_str_eq(buf_str(&rows), "a p?%EF%BF%BD\n");
}

TEST(l6_utf16_pages_are_read)
{
    static const char page[] = "\xff\xfe<\0a\0 \0h\0r\0e\0f\0=\0?\0\xe9\0>\0";

    run(bytes_of(page, sizeof page - 1), LINK_SET_BASIC, "");
    ck_assert_str_eq(buf_str(&rows), "a p?%C3%A9\n");
}

/* ---- L6b: pages in XML --------------------------------------------------- */

#define XHTML     "application/xhtml+xml"
#define XHTML_NS  "xmlns='http://www.w3.org/1999/xhtml'"
#define XHTML_DTD "<!DOCTYPE html PUBLIC '-//W3C//DTD XHTML 1.1//EN' 'x'>"

/* Reads `page` as XML; `line` is where it is to break, 0: nowhere. */
static struct page_info check_xml(const char *page, const char *want,
                                  uint64_t line)
{
    struct page_info i = run(bytes_of_str(page), LINK_SET_ALL, XHTML);

    ck_assert_msg(strcmp(buf_str(&rows), want) == 0, "%s\nwant:\n%s\ngot:\n%s",
                  page, want, buf_str(&rows));
    ck_assert_msg(i.broken_line == line, "%s\nbreaks at line %" PRIu64, page,
                  i.broken_line);
    return i;
}

TEST(l6b_in_xml_the_tags_are_the_tree)
{
    struct page_info i;

    i = check_xml("<?xml version='1.0'?><!-- <a href='no'/> -->"
                  "<html " XHTML_NS " xml:lang='de'><head>"
                  "<title>A &amp;amp; B</title><script src='1'/><style/>"
                  "<title/><base href='/b/'/></head><body background='2'>"
                  "<textarea/><iframe src='3'/><xmp><a href='4'/></xmp>"
                  "<form action='5'><form action='6'/></form>"
                  "<a href='7?a&amp;b=&#x26;c'/><td background='8'/>"
                  "<style>p{background:url(9)}<!-- a{b:url(no)} --></style>"
                  "<p style='background:url(10)'/></body></html> <!-- x -->",
                  "script http://e/b/1\nmedia http://e/b/2\n"
                  "iframe http://e/b/3\na http://e/b/4\nform http://e/b/5\n"
                  "form http://e/b/6\na http://e/b/7?a&b=&c\n"
                  "media http://e/b/8\nstyle http://e/b/9\n"
                  "style http://e/b/10\n",
                  0);
    ck_assert(bytes_is(i.title, "A &amp; B"));
    ck_assert(bytes_is(i.lang, "de"));
    check_xml("<html><body><script><![CDATA[if (a<b) '<a href=\"no\">']]>"
              "</script><![CDATA[<a href='no'>]]><a href='1'/></body></html>",
              "a 1\n", 0);
}

TEST(l6b_in_xml_names_have_a_namespace_and_a_case)
{
    check_xml("<h:html xmlns:h='http://www.w3.org/1999/xhtml' xmlns:s="
              "'http://www.w3.org/2000/svg' xmlns='urn:x'>"
              "<h:body><h:a href='1'/><a href='no'/><s:image href='2'/>"
              "<h:image src='no'/><u:a href='no'/><s:a xlink:href='3'/>"
              "<x xmlns='http://www.w3.org/1999/xhtml'><img src='4'/></x>"
              "</h:body></h:html>",
              "a 1\nmedia 2\na 3\nimg 4\n", 0);
    check_xml("<html " XHTML_NS "><body><A href='no'/><a HREF='no'/>"
              "<a href='1'/><_a href='no'/><\xc3\xa4 href='no'/></body></html>",
              "a 1\n", 0);
}

TEST(l6b_the_type_and_the_root_say_that_it_is_xml)
{
    static const char page[] = "\xef\xbb\xbf<?xml version='1.0'?>\n<!DOCTYPE "
                               "html [<!-- ]> --> <!ENTITY a '>'>]>\n<html>"
                               "<script src='1'/><a href='2'/></html>";
    static const struct {
        const char *type;
        bool xml;
    } cases[] = {
        {XHTML, true},
        {"Application/XHTML+XML; charset=utf-8", true},
        {"text/xml", true},
        {"application/xml;x=y", true},
        {"text/html", false},
        {"", false},
        {"image/svg+xml", false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run(bytes_of_str(page), LINK_SET_BASIC, cases[i].type);
        ck_assert_msg(strcmp(buf_str(&rows), cases[i].xml ? "script 1\na 2\n"
                                                          : "script 1\n") == 0,
                      "%s: %s", cases[i].type, buf_str(&rows));
    }
    run(bytes_of_str("<htm><script src='1'/><a href='2'/></htm>"),
        LINK_SET_BASIC, "text/xml");
    ck_assert_str_eq(buf_str(&rows), "script 1\n");
}

/* What was read stays, and what is open stays open. */
TEST(l6b_from_where_it_is_not_well_formed_it_is_read_as_html)
{
    struct page_info i;

    check_xml("<html><script src='1'/>\n<a href='2'/>\n<a href=3>"
              "<textarea><a href=no></textarea><a href='4'/></html>",
              "script 1\na 2\na 3\na 4\n", 3);
    i = check_xml("<html><head><title>Tom & Jerry &lt;3</title></head><body>"
                  "<a href='1'/></body></html>",
                  "a 1\n", 1);
    ck_assert_msg(bytes_is(i.title, "Tom & Jerry <3"), "%.*s", (int)i.title.len,
                  i.title.at);
    check_xml("<html><script>if (a < b && c) '<a href=\"no\">';</script>"
              "<style>p{a:url(1)} b > c < d {a:url(2)}</style><a href='3'/>",
              "style 1\nstyle 2\na 3\n", 1);
    check_xml("<html><body><table><tr><td background='1'>&nbsp;"
              "<tr><td background=2></table><td background=no>",
              "media 1\nmedia 2\n", 1);
    check_xml("<html><body><svg xmlns='http://www.w3.org/2000/svg'><g>&</g>"
              "<image href=1 /></svg><frameset><image href=no>",
              "media 1\n", 1);
    check_xml("<html><body><p>x<br></p><a href='1'/></body></html>"
              "<a href=2>",
              "a 1\na 2\n", 1);
    check_xml("<html><frameset><frame src='1'/><frame src=2><a href=no>",
              "iframe 1\niframe 2\n", 1);
    check_xml("<html/><a href='1'/>", "a 1\n", 1);
    check_xml("<!doctype html><script src='1'/><a href='no'/>", "script 1\n",
              1);
    check_xml("text <a href='1'/>", "a 1\n", 1);
    check_xml("<html><a href='1'/><a href='no", "a 1\n", 1);
    check_xml("<html><a href='1'/><![CDATA[ <a href='2'>", "a 1\n", 1);
    check_xml("<html><a href='1'/>\n", "a 1\n", 2); /* cut short */
    check_xml("<html><a href='1'/><a", "a 1\n", 1);
    check_xml("", "", 0);
}

TEST(l6b_a_page_in_xml_says_what_it_would_in_html)
{
    static const char page[] = XHTML_DTD
        "<html " XHTML_NS " lang='en'><head><title> A\n page"
        "</title></head><body><h1>Big <i>st</i>art</h1><p>caf&eacute;"
        " &#228;&amp;b, c<!-- no -->d</p><a href='1' rel='x'>one "
        "<img src='2' alt='two'/></a><script>no</script></body></html>";
    static const char *const types[] = {XHTML, "text/html"};
    struct link_options o = {.kinds = LINK_SET_ALL,
                             .page_url = &base,
                             .texts = true,
                             .about = true,
                             .simhash = true,
                             .text_digest = true};
    struct digest digest[2];
    uint64_t simhash[2];

    for (int i = 0; i < 2; i++) {
        struct page_info info;

        buf_clear(&rows);
        o.content_type = bytes_of_str(types[i]);
        ck_ok(link_parser_html(parser, bytes_of_str(page), &o, add_said, NULL,
                               &info));
        ck_assert_str_eq(buf_str(&rows), "a [x][one two]\nimg [][two]\n");
        ck_assert(bytes_is(info.title, "A page"));
        ck_assert(bytes_is(info.lang, "en"));
        ck_assert(bytes_is(info.h1, "Big start"));
        ck_assert_uint_eq(info.broken_line, 0);
        ck_assert_uint_eq(info.words, 8);
        digest[i] = info.text_digest;
        simhash[i] = info.simhash;
    }
    ck_assert(digest_equal(digest[0], digest[1]));
    ck_assert_uint_eq(simhash[0], simhash[1]);
}

TEST(l6b_no_dtd_has_any_effect)
{
    struct page_info i;

    i = check_xml("<!DOCTYPE html SYSTEM 'file:///etc/passwd' ["
                  "<!ENTITY x SYSTEM 'file:///etc/passwd'>"
                  "<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;'>"
                  "<!ENTITY c '<a href=\"no\"/>'><!ENTITY % p 'x'> %p;"
                  "<!ATTLIST a href CDATA 'no'>]>"
                  "<html><head><title>&x;&b;t</title></head>"
                  "<a/>&c;<a href='1&b;'/></html>",
                  "a 1&b;\n", 0);
    ck_assert(bytes_is(i.title, "t"));
    check_xml(XHTML_DTD "<html><a href='1&auml;'>&nbsp;&NotEqualTilde;</a>"
                        "</html>",
              "a 1%C3%A4\n", 0);
    check_xml(XHTML_DTD "<html><a href='1'/>&none;<a href='2'/></html>",
              "a 1\na 2\n", 1);
}

/* In time that grows with the page alone: libxml2 compares each attribute of a
 * tag, and each namespace, with each. */
TEST(l6b_a_page_in_xml_is_bounded)
{
    struct buf page;

    buf_init(&page, MOST);
    buf_add_str(&page, "<html><a href='1'/><p");
    for (int i = 0; i < 300000; i++)
        buf_addf(&page, " a%d=''", i);
    buf_add_str(&page, "/><a href='2'/></html>");
    check_xml(buf_str(&page), "a 1\na 2\n", 1);

    buf_clear(&page);
    buf_add_str(&page, "<html>");
    for (int i = 0; i < 200; i++) {
        buf_add_str(&page, "<p");
        for (int k = 0; k < 200; k++)
            buf_addf(&page, " xmlns:n%d-%d='u'", i, k);
        buf_add_str(&page, ">");
    }
    for (int i = 0; i < 100000; i++)
        buf_add_str(&page, "<n0-0:a n1-1:b='x'/>");
    buf_add_str(&page, "<a href='1'/>");
    check_xml(buf_str(&page), "a 1\n", 1);

    buf_clear(&page);
    buf_add_str(&page, "<html>");
    for (int i = 0; i < 300000; i++)
        buf_add_str(&page, "<b>");
    buf_add_str(&page, "<a href='1'/>");
    check_xml(buf_str(&page), "a 1\n", 1);

    buf_clear(&page);
    buf_add_str(&page, "<html>");
    for (int i = 0; i < 300000; i++)
        buf_add_str(&page, "& a &b c]]>");
    buf_add_str(&page, "<a href='1'/>");
    check_xml(buf_str(&page), "a 1\n", 1);
    buf_fini(&page);
}

TEST(l6b_the_encoding_is_that_of_the_xml_declaration)
{
    check_xml("<?xml version='1.0' encoding='koi8-r'?>\n<html>"
              "<a href='\xc1?\xc1'/></html>",
              "a %D0%B0?%C1\n", 0);
    check_xml("<html><a href='\xc3\xa9?\xc3\xa9'/></html>", "a %C3%A9?%C3%A9\n",
              0);
    check_xml("<html><meta charset='koi8-r'/><a href='\xc1?\xc1'/></html>",
              "a %D0%B0?%C1\n", 0);
}

/* ---- L8: --all ----------------------------------------------------------- */

TEST(l8_the_other_kinds_come_when_asked_for)
{
    const char *page =
        "<object data=1></object><embed src=2><video src=3 poster=23></video>"
        "<audio src=4></audio><track src=5><source src=6 srcset='7'>"
        "<blockquote cite=8></blockquote><q cite=9></q><ins cite=10></ins>"
        "<del cite=11></del><link rel=manifest href=12>"
        "<link rel=amphtml href=13><meta property=og:image content=14>"
        "<meta property=og:title content=x><img data-src=15 "
        "data-srcset='16 1x, 17 2x'><p data-src=18 style='a:url(19)'>"
        "<style>@import \"20\";</style><svg><style>a{b:url(21)}</style>"
        "<g style='a:url(22)'></svg>";

    check_all(
        page,
        "object 1\nembed 2\nmedia 3\nmedia 23\nmedia 4\nmedia 5\nmedia 6\n"
        "srcset 7\ncite 8\ncite 9\ncite 10\ncite 11\nmanifest 12\n"
        "amphtml 13\nog 14\nlazy 15\nlazy 16\nlazy 17\nlazy 18\n"
        "style 19\nstyle 20\nstyle 21\nstyle 22\n");
    check(page, "srcset 7\nlink 12\nlink 13\n");
}

/* Promise (Links): --assets fetches a page's requisites from any host, all that
 * Chromium requests, through style sheets and redirects, and no farther;
 * archives hold whole bodies; such a page replays in a browser. See also
 * `tests/cli/assets.sh`,
 * `links/ours_what_a_browser_loads_is_a_kind_of_its_own_if_asked_for`,
 * `tests/interop/assets_browser.py`, `tests/interop/replay_browser.py`. */
TEST(l8_media_are_all_images_that_a_browser_loads)
{
    const char *page =
        "<body background=1><link imagesrcset='2 1x, 3 2x' href=4>"
        "<input type=image src=5><input type=Image src=6><input src=no>"
        "<input type=text src=no><table background=7><colgroup background=8>"
        "<col background=9></colgroup><thead background=10>"
        "<tr background=11><th background=12><tbody background=13>"
        "<td background=14></table><p background=no><caption background=no>"
        "<svg><image href=15 /><image xlink:href=16 /><use xlink:href='17#i'/>"
        "<use href=18 xlink:href=no /><use href=' #i'/><feImage href=19 />"
        "<feImage href='#i'/><rect href=no /></svg><use href=no></use>"
        "<math><image href=no></image><use href=no></use></math>";

    check_all(page,
              "media 1\nlink 4\nmedia 2\nmedia 3\nmedia 5\nmedia 6\nmedia 7\n"
              "media 8\nmedia 9\nmedia 10\nmedia 11\nmedia 12\nmedia 13\n"
              "media 14\nmedia 15\nmedia 16\nmedia 17\nmedia 18\nmedia 19\n");
    check(page, "link 4\n");
    check("<svg><script href=1></script><script xlink:href=2 /></svg>"
          "<script href=no></script>",
          "script 1\nscript 2\n");
}

TEST(l8_presentation_attributes_of_svg_are_styles)
{
    const char *page =
        "<svg><path fill='url(1)' stroke=\"url('2')\" style='x:url(3)'/>"
        "<g FILTER='blur(1px) url(4#i)' clip-path='url(#i)' fill=red>"
        "<rect mask='url(5' marker-start=url&#40;6) marker-mid='URL(7)'"
        " marker-end='url(8)' cursor='url(9),auto' fill='url(10)'"
        " fill='url(no)'/><image href=11 filter='url(12)' /></g>"
        "<foreignObject><p filter='url(no)'></foreignObject></svg>"
        "<p fill='url(no)'><math><mi fill='url(no)'></mi></math>";

    check_all(page, "style 3\nstyle 1\nstyle 2\nstyle 4\nstyle 10\nstyle 5\n"
                    "style 6\nstyle 7\nstyle 8\nstyle 9\nmedia 11\n"
                    "style 12\n");
    check(page, "");
    run(bytes_of_str("<html xmlns='http://www.w3.org/1999/xhtml'>"
                     "<svg xmlns='http://www.w3.org/2000/svg'>"
                     "<g fill='url(1)' FILL='url(no)'/></svg></html>"),
        LINK_SET_ALL, "application/xhtml+xml");
    ck_assert_str_eq(buf_str(&rows), "style 1\n");
}

/* ---- documents in srcdoc ---- */

TEST(l1_a_document_in_srcdoc_is_one_in_the_page)
{
    check_all("<iframe src=no srcdoc='<title>no</title><a href=1>x</a>"
              "<img src=2><meta http-equiv=refresh content=\"0;url=3\">"
              "<script>\"<a href=no>\"</script><noscript><a href=4></a>'>"
              "<a href=no></iframe><iframe src=no srcdoc></iframe>"
              "<iframe src=5></iframe><frame srcdoc='<a href=no>'>"
              "<object srcdoc='<a href=no>'></object>",
              "a 1\nimg 2\nmeta-refresh 3\na 4\niframe 5\n");
    check("<iframe srcdoc='<a href=1><embed src=2>'></iframe>", "a 1\n");
    run(bytes_of_str("<html xmlns='http://www.w3.org/1999/xhtml'>"
                     "<iframe srcdoc='&lt;a href=1>&lt;p>'/></html>"),
        LINK_SET_BASIC, "application/xhtml+xml");
    ck_assert_str_eq(buf_str(&rows), "a 1\n");
}

/* Its base URL is that of the page unless it has its own; its encoding is
 * UTF-8, whatever the page's is. */
TEST(html_7_4_2_3_1_srcdoc_has_the_base_of_its_page)
{
    check("<iframe srcdoc='<a href=1><base href=/in/><a href=2>'></iframe>"
          "<a href=3></a><base href=/b/><iframe srcdoc='<a href=4>'></iframe>",
          "a http://e/in/1\na http://e/in/2\na http://e/b/3\na http://e/b/4\n");
    check("<iframe srcdoc='<base href=/in/><iframe srcdoc=\"<a href=1>\">'>"
          "</iframe>",
          "a http://e/in/1\n");
    run(bytes_of_str("<a href='?\xe9'></a><iframe srcdoc='<a href=?\xe9>'>"),
        LINK_SET_BASIC, "text/html; charset=windows-1252");
    ck_assert_str_eq(buf_str(&rows), "a p?%E9\na p?%C3%A9\n");
}

/* What it says of robots and of itself says nothing of the page. */
TEST(ours_srcdoc_speaks_for_itself_alone)
{
    struct page_info info =
        run(bytes_of_str("<html lang=en><title>A</title><iframe srcdoc='"
                         "<html lang=de><title>B</title><meta name=robots "
                         "content=none><a href=1>'></iframe>"),
            LINK_SET_BASIC, "");

    ck_assert(!info.noindex && !info.nofollow);
    ck_assert(bytes_is(info.title, "A") && bytes_is(info.lang, "en"));
    ck_assert_uint_eq(info.found, 1);
}

/* So many documents, so deep, and so many links of all together. */
TEST(ours_srcdoc_is_bounded)
{
    struct link_options o = {.kinds = LINK_SET_BASIC,
                             .page_url = &base,
                             .most = 3};
    struct page_info info;
    struct buf page, outer;

    buf_init(&page, 1 << 20);
    buf_init(&outer, 1 << 20);
    buf_add_str(&page, "<a href=0>");
    for (int i = 1; i < 8; i++) {
        struct bytes in = buf_bytes(&page);

        buf_clear(&outer);
        buf_addf(&outer, "<a href=%d><iframe srcdoc=\"", i);
        for (size_t k = 0; k < in.len; k++)
            if (in.at[k] == '"' || in.at[k] == '&')
                buf_add_str(&outer, in.at[k] == '"' ? "&quot;" : "&amp;");
            else
                buf_add_char(&outer, in.at[k]);
        buf_add_str(&outer, "\"></iframe>");
        buf_clear(&page);
        buf_add_bytes(&page, buf_bytes(&outer));
    }
    run(buf_bytes(&page), LINK_SET_BASIC, "");
    ck_assert_str_eq(buf_str(&rows), "a 7\na 6\na 5\na 4\na 3\n");
    buf_clear(&rows);
    ck_assert_int_eq(link_parser_html(parser, buf_bytes(&page), &o, add_row,
                                      NULL, &info),
                     STATUS_LIMIT);
    ck_assert_str_eq(buf_str(&rows), "a 7\na 6\na 5\n");
    ck_assert_uint_eq(info.found, 3);
    buf_clear(&page);
    for (int i = 0; i < 1010; i++)
        buf_addf(&page, "<iframe srcdoc='<a href=%d>'></iframe>", i);
    ck_assert_uint_eq(run(buf_bytes(&page), LINK_SET_BASIC, "").found, 1000);
    buf_fini(&page);
    buf_fini(&outer);
}

TEST(ours_what_a_browser_loads_is_a_kind_of_its_own_if_asked_for)
{
    const char *page = "<link rel=icon href=1><link rel='preload' href=2>"
                       "<link rel=modulepreload href=3><link rel=next href=4>"
                       "<link rel='prefetch stylesheet' href=5>";

    run(bytes_of_str(page), LINK_SET_BASIC | LINK_BIT(LINK_RESOURCE), "");
    ck_assert_str_eq(buf_str(&rows),
                     "resource 1\nresource 2\nresource 3\nlink 4\ncss 5\n");
    check_all(page, "link 1\nlink 2\nlink 3\nlink 4\ncss 5\n");
}

TEST(ours_only_the_kinds_asked_for_are_visited)
{
    const char *page = "<a href=1><img src=2 srcset=3><link href=4>"
                       "<link rel=canonical href=5><source src=6>";

    run(bytes_of_str(page), LINK_BIT(LINK_CANONICAL), "");
    ck_assert_str_eq(buf_str(&rows), "canonical 5\n");
    run(bytes_of_str(page), LINK_BIT(LINK_SRCSET) | LINK_BIT(LINK_MEDIA), "");
    ck_assert_str_eq(buf_str(&rows), "srcset 3\nmedia 6\n");
    run(bytes_of_str(page), 0, "");
    ck_assert_str_eq(buf_str(&rows), "");
}

static void check_said(const char *page, const char *want)
{
    struct link_options o = {.kinds = LINK_SET_ALL,
                             .page_url = &base,
                             .texts = true,
                             .text_digest = strlen(page) % 2 == 0};
    struct page_info info;

    buf_clear(&rows);
    ck_ok(link_parser_html(parser, bytes_of_str(page), &o, add_said, NULL,
                           &info));
    ck_assert_msg(strcmp(buf_str(&rows), want) == 0, "%s\nwant:\n%s\ngot:\n%s",
                  page, want, buf_str(&rows));
}

/* Promise (Links): with --record links the text, rel and kind of each link of a
 * page are known, and which links were dropped for their URL; they are removed
 * with their fetch, and a recrawl carries them over. See also
 * `links/ours_images_say_what_they_show_and_rel_is_told_whole`,
 * `link_store/texts_that_cannot_be_are_damage`,
 * `link_store/a_range_that_cannot_be_is_damage`,
 * `past_crawl/the_links_of_an_unchanged_page_are_admitted_as_if_it_had_come`,
 * `tests/cli/export.sh`. */
TEST(ours_the_text_of_a_link_ends_with_its_tag_or_the_next_link)
{
    check_said("<a href=1> one\n\t<b>t</b>wo <i> three</i> </a>not this",
               "a [][one two three]\n");
    check_said("<a href=1>one<a href=2>two</a>no<a name=x>no<a href=3>three",
               "a [][one]\na [][two]\na [][three]\n");
    check_said("<a href=1>&lt;&amp;&#228;&nbsp;x</a>",
               "a [][<&\xc3\xa4\xc2\xa0x]\n");
    check_said("<a href=1><script>no</script><style>no</style><!--no-->yes"
               "<textarea>no</textarea><template>no</template></a>",
               "a [][yes]\n");
    check_said("<a href=1></a><a href=2> </a><a href=3>x</a>",
               "a [][]\na [][]\na [][x]\n");
    check_said("<svg><a xlink:href=1 rel=x><text>in</text></a></svg>"
               "<a href=2>out</a>",
               "a [x][in]\na [][out]\n");
    check_said("<a style='background:url(x)'>0</a><a href=1>1</a>",
               "style [][0]\na [][1]\n");
}

TEST(ours_images_say_what_they_show_and_rel_is_told_whole)
{
    check_said("<a href=1>a<img src=2 alt=' b  c '>d</a><img src=3>",
               "a [][a b c d]\nimg [][b c]\nimg [][]\n");
    check_said("<area href=1 alt=here rel='  noopener\n nofollow '>",
               "area [noopener nofollow][here]\n");
    check_said("<link rel=canonical href=1><form action=2 rel=external>",
               "canonical [canonical][]\nform [external][]\n");
    check_said("<a href=1 rel=noopener>x</a>", "a [noopener][x]\n");
    /* a frameset replaces the body, and its links */
    check_said("<a href=1></a><frameset><frame src=2></frameset>",
               "iframe [][]\n");
}

TEST(ours_texts_of_links_are_cut_between_characters)
{
    struct buf page, want;

    buf_init(&page, MOST);
    buf_init(&want, MOST);
    buf_add_str(&page, "<meta charset=utf-8><a href=1>x");
    buf_add_str(&want, "a [][x");
    for (int i = 0; i < 150; i++) /* 199 octets of these have room */
        buf_add_str(&page, "\xc3\xa4");
    for (int i = 0; i < 99; i++)
        buf_add_str(&want, "\xc3\xa4");
    buf_add_str(&page, " more</a><a href=2>y</a>");
    buf_add_str(&want, "]\na [][y]\n");
    check_said(buf_str(&page), buf_str(&want));
    buf_fini(&page);
    buf_fini(&want);
}

TEST(ours_the_number_of_links_can_be_bounded)
{
    struct link_options o = {.kinds = LINK_SET_BASIC,
                             .page_url = &base,
                             .most = 2};
    struct page_info info;

    ck_assert_int_eq(link_parser_html(parser,
                                      bytes_of_str("<a href=1><a href=2>"
                                                   "<a href=3>"),
                                      &o, add_row, NULL, &info),
                     STATUS_LIMIT);
    ck_assert_str_eq(buf_str(&rows), "a 1\na 2\n");
    ck_assert_uint_eq(info.found, 2);
}

/* ---- what the page says of itself ---------------------------------------- */

static void check_text(struct bytes got, const char *want)
{
    ck_assert_msg(bytes_is(got, want), "want %s, got %.*s", want, (int)got.len,
                  got.at);
}

TEST(l7_directions_for_robots_are_told_and_hide_nothing)
{
    struct page_info i;

    i = run(bytes_of_str("<meta name=Robots content='NoIndex , x'>"
                         "<a href=1 rel='x NoFollow'><a href=2 rel=next>"),
            LINK_SET_BASIC, "");
    ck_assert(i.noindex && !i.nofollow);
    ck_assert_str_eq(buf_str(&rows), "!a 1\na 2\n");
    i = run(bytes_of_str("<meta name=URLWEIR content=none>"), LINK_SET_BASIC,
            "");
    ck_assert(i.noindex && i.nofollow);
    i = run(bytes_of_str("<meta name=otherbot content=none>"
                         "<meta name=robots content=all>"),
            LINK_SET_BASIC, "");
    ck_assert(!i.noindex && !i.nofollow);
    ck_assert_uint_eq(i.found, 0);
}

TEST(ours_title_and_language_are_short_and_clean)
{
    struct buf page;
    struct page_info i;

    i = run(bytes_of_str("<html lang=' en '><svg><title>no</title></svg>"
                         "<title>\n A&amp;B \t<i>\xe9</title>"
                         "<title>second</title><html lang=fr>"),
            LINK_SET_BASIC, "text/html; charset=latin1");
    check_text(i.title, "A&B <i>\u00e9");
    check_text(i.lang, "en");
    ck_assert_str_eq(i.charset, "windows-1252");
    buf_init(&page, MOST);
    buf_add_str(&page, "<title>a ");
    for (int k = 0; k < 400; k++)
        buf_add_str(&page, "\u00e9");
    i = run(buf_bytes(&page), LINK_SET_BASIC, "text/html; charset=utf-8");
    ck_assert_uint_eq(i.title.len, 512);
    ck_assert_mem_eq(i.title.at + 510, "\u00e9", 2);
    for (int k = 0; k < 20000; k++) /* and one without an end */
        buf_add_str(&page, "&eacute; ");
    i = run(buf_bytes(&page), LINK_SET_BASIC, "text/html; charset=utf-8");
    ck_assert_uint_eq(i.title.len, 512);
    ck_assert_mem_eq(i.title.at, "a \u00e9", 4);
    buf_fini(&page);
    i = run(bytes_of_str("<p>"), LINK_SET_BASIC, "");
    check_text(i.title, "");
}

static struct page_info about(struct bytes page)
{
    struct link_options o = {.kinds = LINK_SET_BASIC,
                             .page_url = &base,
                             .about = true,
                             .text_digest = true};
    struct page_info info;

    buf_clear(&rows);
    ck_ok(link_parser_html(parser, page, &o, add_row, NULL, &info));
    return info;
}

static void check_h1(const char *page, const char *want)
{
    check_text(about(bytes_of_str(page)).h1, want);
}

/* Promise (Links): with --record meta each page has its description, first
 * heading, canonical URL, directives for robots, number of versions in other
 * languages and of words, within bounds; an unchanged page keeps them. See also
 * `links/ours_what_a_page_says_of_itself_is_cut`, `page_meta`,
 * `tests/cli/guides.sh`. */
TEST(ours_a_page_says_what_it_is_about)
{
    const struct bytes page = bytes_of_str(
        "<title>not counted</title><meta name=description content=' '>"
        "<meta name=' Description' content=' What &amp;\n  why '>"
        "<meta name=description content=second><meta name=robots "
        "content='noindex,  Follow'><meta name=otherbot content=none>"
        "<meta name=urlweir content=noarchive>"
        "<link rel=alternate hreflang=de href=1><link rel='alternate x' "
        "hreflang=fr href=2><link rel=alternate href=3>"
        "<link rel=next hreflang=it href=4><link rel=alternate hreflang=es>"
        "<h1>One<b>two</b>\n three</h1> four <script>no</script>4-5 &mdash;");
    struct page_info i = about(page);

    check_text(i.description, "What & why");
    check_text(i.robots, "noindex, Follow, noarchive");
    check_text(i.h1, "Onetwo three");
    ck_assert_uint_eq(i.hreflang, 2);
    ck_assert_uint_eq(i.words, 6);
    i = run(page, LINK_SET_BASIC, ""); /* if it is not asked */
    check_text(i.description, "");
    check_text(i.robots, "");
    check_text(i.h1, "");
    ck_assert_uint_eq(i.hreflang, 0);
    i = about(bytes_of_str("<p>"));
    check_text(i.description, "");
    check_text(i.robots, "");
    ck_assert_uint_eq(i.hreflang + i.words, 0);
    check_h1("<h2>a</h2><h1> </h1><h1>b</h1><h1>c</h1>", "b");
    check_h1("<h1>a<h2>b</h2>c</h1>", "a");
    check_h1("<h1>a</h3>b", "a");
    check_h1("<h1><img src=x alt=' a  picture'>&lt;</h1>", "a picture <");
    check_h1("<template><h1>a</h1></template><svg><h1>b</h1></svg>", "b");
    check_h1("<h1><frameset><frame src=x></frameset>a", "");
}

TEST(ours_what_a_page_says_of_itself_is_cut)
{
    struct buf page;
    struct page_info i;

    buf_init(&page, MOST);
    buf_add_str(&page, "<meta charset=utf-8><meta name=description content='");
    for (int k = 0; k < 100000; k++)
        buf_add_str(&page, "\u00e9\u00e9 ");
    buf_add_str(&page, "'>");
    for (int k = 0; k < 1000; k++)
        buf_add_str(&page, "<meta name=robots content='noindex, x'>");
    buf_add_str(&page, "<h1>");
    for (int k = 0; k < 100000; k++)
        buf_add_str(&page, "<b>\u00e9</b>");
    i = about(buf_bytes(&page));
    ck_assert_uint_eq(i.description.len, 512);
    ck_assert_uint_eq(i.h1.len, 512);
    ck_assert_uint_le(i.robots.len, 256);
    ck_assert_uint_gt(i.robots.len, 250);
    ck_assert_mem_eq(i.description.at + 509, " \u00e9", 3);
    ck_assert_uint_eq(i.words, 100000);
    buf_fini(&page);
}

/* ---- hostile pages ------------------------------------------------------- */

static void add_repeated(struct buf *b, const char *s, size_t times)
{
    while (times-- > 0)
        buf_add_str(b, s);
}

TEST(ours_depth_costs_nothing)
{
    static const char *const tags[] = {"<div>",           "<svg>",
                                       "<svg><g>",        "<b>",
                                       "<table><tr><td>", "<math><mi>",
                                       "<select>",        "<template>",
                                       "<ul><li>"};

    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        struct buf page;

        buf_init(&page, MOST);
        add_repeated(&page, tags[i], 200000);
        buf_add_str(&page, "<a href=1>");
        add_repeated(&page, "</x></div></g></td></b>", 20000);
        buf_add_str(&page, "<a href=2>");
        run(buf_bytes(&page), LINK_SET_BASIC, "");
        ck_assert_str_eq(buf_str(&rows), "a 1\na 2\n");
        buf_fini(&page);
    }
}

TEST(ours_long_values_and_comments_are_read_in_linear_time)
{
    struct buf page;

    buf_init(&page, MOST);
    buf_add_str(&page, "<a title='");
    add_repeated(&page, "x&amp", (size_t)1 << 20);
    buf_add_str(&page, "' href=1><img srcset='");
    add_repeated(&page, ",", (size_t)1 << 20);
    buf_add_str(&page, "x'><!--");
    add_repeated(&page, "--!-", (size_t)1 << 20);
    buf_add_str(&page, "--><a ");
    add_repeated(&page, "a=b ", (size_t)1 << 20);
    buf_add_str(&page, "href=2><a href='");
    add_repeated(&page, "x", (size_t)4 << 20);
    buf_add_str(&page, "'><a href=3>");
    run(buf_bytes(&page), LINK_SET_BASIC, "");
    ck_assert_str_eq(buf_str(&rows), "a 1\nsrcset x\na 2\na 3\n");
    buf_fini(&page);
}

TEST(ours_zero_octets_and_controls_pass_through_libxml2)
{
    static const char page[] = "<a href='x\0y'>\0<a href='\x01z\x02?\x7f'>";

    run(bytes_of(page, sizeof page - 1), LINK_SET_BASIC, "");
    ck_assert_str_eq(buf_str(&rows), "a x%EF%BF%BDy\na z%02?%7F\n");
}

/* ---- values -------------------------------------------------------------- */

static void check_srcset(const char *value, const char *want)
{
    struct bytes rest = bytes_of_str(value), url;

    buf_clear(&rows);
    while (srcset_next(&rest, &url)) {
        buf_add_bytes(&rows, url);
        buf_add_char(&rows, '|');
    }
    ck_assert_msg(strcmp(buf_str(&rows), want) == 0, "%s gives %s", value,
                  buf_str(&rows));
}

TEST(html_4_8_4_2_srcset_is_not_split_at_commas)
{
    check_srcset("a,b 1x, c", "a,b|c|");
    check_srcset(" a, b ,,c,d 1x", "a|b|c,d|");
    check_srcset("a 1x,b 2x", "a|b|");
    check_srcset("data:,x 1x, b", "data:,x|b|");
    check_srcset("a 100w 50h, b 2.5e1x, c -0x", "a|b|c|");
    check_srcset("a (1x, 2x), b", "b|");
    check_srcset("a 0w, b -1x, c 1h, d 1w 2x, e 1q, f 1.x, g 1x 1x, h", "h|");
    check_srcset(",,,", "");
    check_srcset("", "");
    check_srcset("a (", "");
}

static void check_refresh(const char *value, const char *want)
{
    struct bytes url;
    bool found = refresh_url(bytes_of_str(value), &url);

    ck_assert_msg(found == (want != NULL), "%s", value);
    if (found)
        check_text(url, want);
}

TEST(html_4_2_5_3_refresh_is_read_step_by_step)
{
    check_refresh("5; url=x", "x");
    check_refresh("0,URL = 'x y' z", "x y");
    check_refresh(" 1.5.5 \"x", "x");
    check_refresh(".;x", "x");
    check_refresh("5;ur=x", "ur=x");
    check_refresh("5;url x", "url x");
    check_refresh("5 url='x\"", "x\"");
    check_refresh("5", NULL);
    check_refresh("5;", NULL);
    check_refresh("5x", NULL);
    check_refresh("url=x", NULL);
    check_refresh(";url=x", NULL);
    check_refresh("", NULL);
    check("<meta http-equiv=Refresh content='0;url=1'>"
          "<meta http-equiv=refresh content='0;url='>"
          "<meta http-equiv=refresh name=x content=5>",
          "meta-refresh 1\n");
}

TEST(ours_kinds_have_names)
{
    enum link_kind k;

    for (int i = 0; i < LINK_KIND_COUNT_; i++) {
        ck_assert(
            link_kind_of_name(bytes_of_str(link_kind_name((enum link_kind)i)),
                              &k));
        ck_assert_int_eq(k, i);
    }
    ck_assert(!link_kind_of_name(bytes_of_str("A"), &k));
}
