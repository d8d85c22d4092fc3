/* SPDX-License-Identifier: MIT */

#include "tests/unit/crawler/sitemap/rows.h"
#include "tests/unit/unit.h"

static void rss(const char *in, const char *want)
{
    rows_are(bytes_of_str(in), SITEMAP_RSS, want);
}

static void rdf(const char *in, const char *want)
{
    rows_are(bytes_of_str(in), SITEMAP_RDF, want);
}

static void atom(const char *in, const char *want)
{
    rows_are(bytes_of_str(in), SITEMAP_ATOM, want);
}

/* ---- RSS ------------------------------------------------------------------*/

TEST(rss_2_items_with_link_and_date)
{
    rss("<?xml version='1.0'?><rss version='2.0'><channel><title>t</title>"
        "<link>http://h/</link><pubDate>Mon, 01 Jan 2024 00:00:00 GMT</pubDate>"
        "<image><url>http://h/i.png</url><link>http://h/i</link></image>"
        "<item><title>a</title><link> http://h/1?a&amp;b </link>"
        "<pubDate>Sun, 06 Nov 1994 08:49:37 GMT</pubDate>"
        "<enclosure url='http://h/1.mp3'/><comments>http://h/c</comments>"
        "<source url='http://s/feed'>s</source></item>"
        "<item><link><![CDATA[http://h/2]]></link></item></channel></rss>",
        "item http://h/1?a&b Sun, 06 Nov 1994 08:49:37 GMT - -\n"
        "item http://h/2 - - -\n");
}

TEST(rss_0_91_needs_no_dates)
{
    rss("<!DOCTYPE rss PUBLIC \"-//Netscape Communications//DTD RSS 0.91//EN\""
        " \"http://my.netscape.com/publish/formats/rss-0.91.dtd\">\n"
        "<rss version=\"0.91\"><channel><link>http://h/</link><item><title>a"
        "</title><link>http://h/1</link><description>d</description></item>"
        "<textinput><link>http://h/search</link></textinput></channel></rss>",
        "item http://h/1 - - -\n");
}

TEST(rss_2_guid_is_a_link_unless_it_says_not)
{
    rss("<rss><channel><item><guid>http://h/1</guid></item>"
        "<item><guid isPermaLink='true'>http://h/2</guid></item>"
        "<item><guid isPermaLink='false'>http://h/3</guid></item>"
        "<item><guid>tag:h,2024:4</guid></item>"
        "<item><guid>http://h/g</guid><link>http://h/5</link></item>"
        "<item><guid>http://h/6</guid><link/></item></channel></rss>",
        "item http://h/1 - - -\nitem http://h/2 - - -\n"
        "item http://h/5 - - -\nitem http://h/6 - - -\n");
}

TEST(rss_elements_of_other_vocabularies_are_passed_over)
{
    rss("<rss xmlns:atom='http://www.w3.org/2005/Atom'"
        " xmlns:media='http://search.yahoo.com/mrss/'"
        " xmlns:dc='http://purl.org/dc/elements/1.1/'"
        " xmlns:content='http://purl.org/rss/1.0/modules/content/'>"
        "<channel><atom:link href='http://h/feed' rel='self'/><item>"
        "<atom:link href='http://h/self'/><atom:link>http://h/a</atom:link>"
        "<media:content url='http://h/m'><link>http://h/m2</link>"
        "</media:content><content:encoded>&lt;a href='http://h/x'&gt;"
        "</content:encoded><link>http://h/1</link><dc:date>2024-01-02</dc:date>"
        "</item></channel></rss>",
        "item http://h/1 2024-01-02 - -\n");
}

TEST(rss_pub_date_comes_before_dc_date)
{
    rss("<rss xmlns:dc='http://purl.org/dc/elements/1.1/'><item><dc:date>1"
        "</dc:date><pubDate>2</pubDate><link>http://h/1</link></item></rss>",
        "item http://h/1 2 - -\n");
}

TEST(rss_in_a_namespace)
{
    rss("<rss xmlns='http://backend.userland.com/rss2'><channel><item>"
        "<link>http://h/1</link></item></channel></rss>",
        "item http://h/1 - - -\n");
}

TEST(rss_links_may_be_relative)
{
    rss("<rss><channel><item><link>/1</link></item><item xml:base='/x/'>"
        "<link>2</link></item><item><link>3</link></item></channel></rss>",
        "item http://base.example/1 - - -\nitem http://base.example/x/2 - - -\n"
        "item http://base.example/dir/3 - - -\n");
}

TEST(ours_a_link_in_the_other_dialect_counts_where_there_is_none)
{
    rss("<rss xmlns:a='http://www.w3.org/2005/Atom'><channel>"
        "<item><link href='http://h/1'/></item>"
        "<item><a:link rel='alternate' href='http://h/2'/></item>"
        "<item><a:link href='http://h/no'/><link>http://h/3</link></item>"
        "<item><a:link rel='self' href='http://h/no'/>"
        "<guid>http://h/4</guid></item>"
        "<item><a:link href='http://h/no'/><guid>http://h/5</guid></item>"
        "<item xml:base='http://b/'><link href='6'></link></item>"
        "</channel></rss>",
        "item http://h/1 - - -\n"
        "item http://h/2 - - -\n"
        "item http://h/3 - - -\n"
        "item http://h/4 - - -\n"
        "item http://h/5 - - -\n"
        "item http://b/6 - - -\n");
    atom("<feed xmlns='http://www.w3.org/2005/Atom'>"
         "<entry><link>http://h/1</link></entry>"
         "<entry><link>http://h/no</link><link href='http://h/2'/></entry>"
         "<entry><link href='http://h/3'>http://h/no</link></entry></feed>",
         "item http://h/1 - - -\n"
         "item http://h/2 - - -\n"
         "item http://h/3 - - -\n");
}

TEST(rss_with_html_that_nobody_escaped)
{
    rss("<rss><channel><item><description><p>a<br>b &nbsp; <img src='x'>"
        "</description><link>http://h/1</link></item>"
        "<item><link>http://h/2</link><description><ul><li>x</item>"
        "<item><title>&eacute; & co</title><link>http://h/?a&b</link></item>",
        "item http://h/1 - - -\nitem http://h/2 - - -\n"
        "item http://h/?a&b - - -\n");
}

/* ---- RDF ------------------------------------------------------------------*/

TEST(rss_1_0_items_beside_the_channel)
{
    rdf("<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'"
        " xmlns='http://purl.org/rss/1.0/'"
        " xmlns:dc='http://purl.org/dc/elements/1.1/'>"
        "<channel rdf:about='http://h/rss'><link>http://h/</link><items>"
        "<rdf:Seq><rdf:li rdf:resource='http://h/1'/></rdf:Seq></items>"
        "</channel><item rdf:about='http://h/1'><title>t</title>"
        "<link>http://h/1</link><dc:date>2024-01-02T03:04Z</dc:date></item>"
        "<item rdf:about='http://h/2'><title>t</title></item></rdf:RDF>",
        "item http://h/1 2024-01-02T03:04Z - -\nitem http://h/2 - - -\n");
}

TEST(rss_0_90_items)
{
    rdf("<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'"
        " xmlns='http://my.netscape.com/rdf/simple/0.9/'><channel>"
        "<link>http://h/</link></channel><item><link>http://h/1</link></item>"
        "</rdf:RDF>",
        "item http://h/1 - - -\n");
}

/* ---- Atom -----------------------------------------------------------------*/

TEST(rfc4287_4_2_7_an_entrys_alternate_link_is_its_location)
{
    atom("<feed xmlns='http://www.w3.org/2005/Atom'><id>http://h/</id>"
         "<link href='http://h/'/><link rel='self' href='http://h/feed'/>"
         "<updated>2025</updated>"
         "<entry><link rel='self' href='http://h/s'/><link rel='enclosure'"
         " href='http://h/e.mp3'/><link rel='alternate' type='text/html'"
         " href='http://h/1'/><link href='http://h/1.pdf'/><id>http://h/id</id>"
         "<updated>2024-01-01T00:00:00Z</updated>"
         "<published>2023-01-01T00:00:00Z</published></entry>"
         "<entry><link href='http://h/2?a&amp;b'></link>"
         "<published>2023</published></entry>"
         "<entry><link rel='edit' href='http://h/3'/></entry></feed>",
         "item http://h/1 2024-01-01T00:00:00Z - -\n"
         "item http://h/2?a&b 2023 - -\n");
}

TEST(rfc4287_2_xml_base_is_obeyed)
{
    atom("<feed xmlns='http://www.w3.org/2005/Atom' xml:base='http://b/x/'>"
         "<entry><link href='1'/></entry><entry xml:base='y/'><link href='2'/>"
         "</entry><entry><link xml:base='/z/' href='3'/></entry></feed>",
         "item http://b/x/1 - - -\nitem http://b/x/y/2 - - -\n"
         "item http://b/z/3 - - -\n");
    atom("<feed xmlns='http://www.w3.org/2005/Atom'><entry><link href='1'/>"
         "</entry></feed>",
         "item http://base.example/dir/1 - - -\n");
}

TEST(rfc4287_4_2_11_the_source_of_an_entry_is_not_the_entry)
{
    atom("<feed xmlns='http://www.w3.org/2005/Atom'><entry><source>"
         "<link href='http://s/'/><updated>1</updated></source>"
         "<author><uri>http://h/a</uri></author>"
         "<content type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'>"
         "<a href='http://h/x'>x</a><link href='http://h/l'/></div></content>"
         "<link href='http://h/1'/><updated>2</updated></entry></feed>",
         "item http://h/1 2 - -\n");
}

TEST(atom_with_a_prefix)
{
    atom("<a:feed xmlns:a='http://www.w3.org/2005/Atom'><a:entry>"
         "<b:link xmlns:b='urn:b' href='http://h/no'/>"
         "<a:link href='http://h/1'/></a:entry>"
         "<b:entry xmlns:b='urn:b'><a:link href='http://h/2'/></b:entry>"
         "</a:feed>",
         "item http://h/1 - - -\n");
}

TEST(atom_0_3_dates)
{
    atom("<feed version='0.3' xmlns='http://purl.org/atom/ns#'><entry>"
         "<link rel='alternate' type='text/html' href='http://h/1'/>"
         "<issued>1</issued><modified>2</modified></entry></feed>",
         "item http://h/1 2 - -\n");
}

TEST(atom_cut_short)
{
    atom("<feed xmlns='http://www.w3.org/2005/Atom'><entry>"
         "<link href='http://h/1'/><updated>20",
         "item http://h/1 - - -\n");
}
