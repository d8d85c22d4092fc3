/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/mem.h"
#include "crawler/sitemap/sitemap.h"
#include "tests/unit/crawler/sitemap/rows.h"
#include "tests/unit/unit.h"

#define NS "http://www.sitemaps.org/schemas/sitemap/0.9"

static void urlset(const char *in, const char *want)
{
    rows_are(bytes_of_str(in), SITEMAP_URLSET, want);
}

/* Wraps `inner` in a <urlset> with the usual namespace. */
static void entries(const char *inner, const char *want)
{
    struct buf b;

    buf_init(&b, 1 << 20);
    buf_addf(
        &b,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"" NS
        "\" xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1"
        "\" xmlns:video=\"http://www.google.com/schemas/sitemap-video/1.1"
        "\" xmlns:news=\"http://www.google.com/schemas/sitemap-news/0.9"
        "\" xmlns:xhtml=\"http://www.w3.org/1999/xhtml\">\n%s\n</urlset>\n",
        inner);
    rows_are(buf_bytes(&b), SITEMAP_URLSET, want);
    buf_fini(&b);
}

/* ---- S1: the formats ------------------------------------------------------*/

TEST(s1_urlset)
{
    entries("<url><loc>http://h/1</loc><lastmod>2024-01-31</lastmod>"
            "<changefreq>daily</changefreq><priority>0.8</priority></url>\n"
            "<url><priority>1</priority><loc>http://h/2</loc></url>",
            "page http://h/1 2024-01-31 0.8 daily\n"
            "page http://h/2 - 1 -\n");
}

TEST(s1_sitemapindex)
{
    rows_are(bytes_of_str("<sitemapindex xmlns='" NS "'><sitemap>"
                          "<loc>http://h/a.xml.gz</loc>"
                          "<lastmod>2024-01-31T10:00:00+02:00</lastmod>"
                          "</sitemap><sitemap><loc>http://h/b.xml</loc>"
                          "</sitemap></sitemapindex>"),
             SITEMAP_INDEX,
             "sitemap http://h/a.xml.gz 2024-01-31T10:00:00+02:00 - -\n"
             "sitemap http://h/b.xml - - -\n");
}

TEST(s1_text_has_one_url_a_line)
{
    rows_are(bytes_of_str("http://h/1\nhttp://h/2\r\n\r\n  http://h/3 \r"
                          "http://h/4"),
             SITEMAP_TEXT,
             "page http://h/1 - - -\npage http://h/2 - - -\n"
             "page http://h/3 - - -\npage http://h/4 - - -\n");
    rows_are(bytes_of_str("\xef\xbb\xbfhttp://h/caf\xc3\xa9\n"), SITEMAP_TEXT,
             "page http://h/caf%C3%A9 - - -\n");
    rows_are(bytes_of_str(""), SITEMAP_TEXT, "");
}

static void gzip(struct buf *out, struct bytes in)
{
    z_stream z = {0};
    char *room = buf_room(out, in.len + 100);

    ck_assert_int_eq(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8,
                                  Z_DEFAULT_STRATEGY),
                     Z_OK);
    z.next_in = (unsigned char *)(uintptr_t)in.at;
    z.avail_in = (unsigned)in.len;
    z.next_out = (unsigned char *)room;
    z.avail_out = (unsigned)in.len + 100;
    ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
    buf_grew(out, in.len + 100 - z.avail_out);
    deflateEnd(&z);
}

TEST(s1_gzip_by_magic_once_or_twice)
{
    static const char text[] = "<urlset><url><loc>http://h/1</loc></url>"
                               "</urlset>";
    struct buf once, twice;

    buf_init(&once, 1 << 16);
    buf_init(&twice, 1 << 16);
    gzip(&once, bytes_of_str(text));
    gzip(&twice, buf_bytes(&once));
    rows_are(buf_bytes(&once), SITEMAP_URLSET, "page http://h/1 - - -\n");
    rows_are(buf_bytes(&twice), SITEMAP_URLSET, "page http://h/1 - - -\n");
    buf_clear(&once);
    gzip(&once, bytes_of_str("http://h/1\nhttp://h/2\n"));
    rows_are(buf_bytes(&once), SITEMAP_TEXT,
             "page http://h/1 - - -\npage http://h/2 - - -\n");
    buf_fini(&twice);
    buf_fini(&once);
}

TEST(s1_gzip_of_many_members)
{
    struct buf b;

    buf_init(&b, 1 << 16);
    gzip(&b, bytes_of_str("<urlset><url><loc>http://h"));
    gzip(&b, bytes_of_str("/1</loc></url>"));
    gzip(&b, bytes_of_str("<url><loc>http://h/2</loc></url></urlset>"));
    rows_are(buf_bytes(&b), SITEMAP_URLSET,
             "page http://h/1 - - -\npage http://h/2 - - -\n");
    buf_fini(&b);
}

TEST(s1_gzip_cut_short_gives_the_whole_entries)
{
    struct buf text, b;
    struct rows r;
    size_t rows = 0;

    buf_init(&text, 1 << 20);
    buf_init(&b, 1 << 20);
    buf_add_str(&text, "<urlset>");
    for (unsigned i = 0; i < 1000; i++)
        buf_addf(&text, "<url><loc>http://h/%u</loc></url>\n",
                 (i * 2654435761u) | 0x80000000u);
    gzip(&b, buf_bytes(&text));
    rows_of(&r, bytes_of(b.at, b.len / 2), 1000, NULL);
    ck_assert_int_eq(r.status, STATUS_FORMAT);
    for (size_t i = 0; i < r.text.len; i++)
        rows += r.text.at[i] == '\n';
    ck_assert_uint_gt(rows, 300);
    ck_assert_uint_lt(rows, 700);
    /* Each has ten digits, so none was cut. */
    ck_assert_uint_eq(r.text.len,
                      rows * strlen("page http://h/1234567890 - - -\n"));
    buf_fini(&r.text);
    buf_fini(&b);
    buf_fini(&text);
}

/* ---- S2: the entry's own loc ----------------------------------------------*/

TEST(s2_locs_of_images_videos_and_news_are_no_locs)
{
    entries("<url><image:image><image:loc>http://h/i.png</image:loc>"
            "</image:image><loc>http://h/1</loc><video:video>"
            "<video:content_loc>http://h/v</video:content_loc>"
            "<video:player_loc>http://h/p</video:player_loc></video:video>"
            "<news:news><news:publication_date>1999</news:publication_date>"
            "</news:news><xhtml:link rel='alternate' hreflang='de'"
            " href='http://h/de'/><lastmod>2024</lastmod></url>"
            "<url><image:loc>http://h/j.png</image:loc></url>",
            "page http://h/1 2024 - -\n");
}

TEST(s2_the_namespace_counts_not_the_prefix)
{
    urlset("<x:urlset xmlns:x='" NS "' xmlns='http://www.google.com/schemas/"
           "sitemap-image/1.1'><x:url><loc>http://h/i</loc><image><loc>"
           "http://h/j</loc></image><x:loc>http://h/1</x:loc></x:url>"
           "</x:urlset>",
           "page http://h/1 - - -\n");
    entries("<url><image xmlns='http://www.google.com/schemas/sitemap-image/"
            "1.1'><loc>http://h/i</loc></image><loc>http://h/1</loc></url>",
            "page http://h/1 - - -\n");
    /* A prefix that nothing declares is foreign. */
    urlset("<urlset xmlns='" NS "'><url><img:loc>http://h/i</img:loc>"
           "<loc>http://h/1</loc></url></urlset>",
           "page http://h/1 - - -\n");
    urlset("<urlset><url><image:image><image:loc>http://h/i</image:loc>"
           "</image:image><loc>http://h/1</loc></url></urlset>",
           "page http://h/1 - - -\n");
}

TEST(s2_any_sitemap_namespace_or_none)
{
    static const char *const ns[] = {
        "",
        " xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'",
        " xmlns='https://www.sitemaps.org/schemas/sitemap/0.9'",
        " xmlns='http://www.google.com/schemas/sitemap/0.84'",
        " xmlns='http://www.google.com/schemas/sitemap/0.9'",
        " xmlns='http://www.example.com/other'"};

    for (size_t i = 0; i < sizeof ns / sizeof *ns; i++) {
        struct buf b;

        buf_init(&b, 1 << 16);
        buf_addf(&b, "<urlset%s><url><loc>http://h/1</loc></url></urlset>",
                 ns[i]);
        urlset(buf_str(&b), "page http://h/1 - - -\n");
        buf_fini(&b);
    }
    urlset("<a:urlset><a:url><a:loc>http://h/1</a:loc></a:url></a:urlset>",
           "page http://h/1 - - -\n");
    entries("<url xmlns=''><loc>http://h/1</loc></url>",
            "page http://h/1 - - -\n");
}

TEST(s2_only_children_of_the_entry_count)
{
    entries("<url><x><loc>http://h/x</loc></x><loc>http://h/1</loc>"
            "<image:image><lastmod>1999</lastmod></image:image></url>"
            "<loc>http://h/stray</loc>",
            "page http://h/1 - - -\n");
}

/* ---- S3: order, lastmod, priority -----------------------------------------*/

TEST(s3_values_stand_as_written_trimmed)
{
    entries("<url>\n <loc>\n  http://h/1\n </loc>\n <lastmod>\t last\n week "
            "</lastmod><priority> high </priority></url>"
            "<url><loc><![CDATA[ http://h/2?a&b ]]></loc>"
            "<lastmod/><priority></priority></url>",
            "page http://h/1 last\n week high -\npage http://h/2?a&b - - -\n");
}

TEST(s3_the_first_value_of_a_field_counts)
{
    entries("<url><loc></loc><loc>http://h/1</loc>"
            "<lastmod>1</lastmod><lastmod>2</lastmod></url>",
            "page http://h/1 1 - -\n");
}

TEST(s4_every_location_of_an_entry_counts)
{
    entries("<url><lastmod>1</lastmod><loc>http://h/1</loc><loc>/no</loc>"
            "<loc>http://h/2</loc><x><loc>http://h/no</loc></x></url>"
            "<url><loc>http://h/3</loc></url>",
            "page http://h/1 1 - -\npage http://h/2 - - -\n"
            "page http://h/3 - - -\n");
}

TEST(s4_each_location_of_an_entry_has_what_follows_it)
{
    entries("<url><loc>http://h/1</loc><lastmod>1</lastmod><priority>0.1"
            "</priority><loc>http://h/2</loc><lastmod>2</lastmod>"
            "<loc>http://h/3</loc><priority>0.3</priority></url>",
            "page http://h/1 1 0.1 -\npage http://h/2 2 - -\n"
            "page http://h/3 - 0.3 -\n");
}

/* Google's documentation of localised pages in sitemaps; `urlweir sitemap`
 * prints the entries' own locations alone. */
TEST(s2_links_to_other_languages_come_when_asked_for)
{
    static const char in[] =
        "<urlset xmlns:xhtml='http://www.w3.org/1999/xhtml'>"
        "<xhtml:link rel='alternate' hreflang='de' href='http://h/no'/>"
        "<url><loc>http://h/1</loc><lastmod>1</lastmod>"
        "<xhtml:link rel='alternate' hreflang='de' href='http://h/de'/>"
        "<xhtml:link hreflang='fr' rel='Alternate nofollow' href=' /fr '/>"
        "<link rel='alternate' hreflang='es' href='http://h/es?a&amp;b'>"
        "<xhtml:link rel='stylesheet' href='http://h/css'/>"
        "<xhtml:link rel='alternate' hreflang='it'/></url>"
        "<url><loc>http://h/2</loc></url></urlset>";
    const struct sitemap_options o = {.alternates = true, .entries_most = 2};
    struct rows r;

    urlset(in, "page http://h/1 1 - -\npage http://h/2 - - -\n");
    rows_of(&r, bytes_of_str(in), 5, &o);
    ck_assert_str_eq(buf_str(&r.text), "alternate http://h/de - - -\n"
                                       "alternate http://h/es?a&b - - -\n"
                                       "page http://h/1 1 - -\n"
                                       "page http://h/2 - - -\n");
    ck_ok(r.status);
    ck_assert_uint_eq(r.passed_over, 0);
    buf_fini(&r.text);
}

TEST(s4_an_entry_of_an_index_may_be_the_location_itself)
{
    rows_are(bytes_of_str(
                 "<sitemapindex><sitemap> http://h/1 </sitemap>"
                 "<sitemap>http://h/2<lastmod>1</lastmod></sitemap>"
                 "<sitemap>no<loc>http://h/3</loc>no</sitemap></sitemapindex>"),
             SITEMAP_INDEX,
             "sitemap http://h/1 - - -\nsitemap http://h/2 1 - -\n"
             "sitemap http://h/3 - - -\n");
    entries("<url>http://h/no</url>", "");
}

TEST(s4_blanks_of_unicode_around_a_location_are_cut)
{
    entries("<url><loc>\xc2\xa0http://h/1\xe2\x80\x8b\xe3\x80\x80 </loc></url>"
            "<url><loc>http://h/\xe3\x80\x80/2&#160;</loc></url>",
            "page http://h/1 - - -\npage http://h/%E3%80%80/2 - - -\n");
    rows_are(bytes_of_str("\xe2\x80\x83http://h/1\xef\xbb\xbf\n"), SITEMAP_TEXT,
             "page http://h/1 - - -\n");
}

TEST(names_count_in_any_case)
{
    urlset("<URLSET><Url><LOC>http://h/1</LOC><LastMod>1</LastMod></Url>"
           "</URLSET>",
           "page http://h/1 1 - -\n");
}

/* ---- S4: entries without a usable URL ------------------------------------ */

TEST(s4_entries_without_an_http_url_are_passed_over)
{
    static const char in[] =
        "<urlset><url><loc>ftp://h/1</loc></url><url><loc>/2</loc></url>"
        "<url><loc>h/3</loc></url><url><loc></loc></url><url></url><url/>"
        "<url><loc>http://</loc></url><url><loc>HTTPS://H:443/x/../4</loc>"
        "</url><url><loc>mailto:a@h</loc></url></urlset>";
    struct rows r;

    urlset(in, "page https://h/4 - - -\n");
    rows_of(&r, bytes_of_str(in), 100, NULL);
    ck_assert_uint_eq(r.passed_over, 8);
    ck_ok(r.status);
    buf_fini(&r.text);
    rows_are(bytes_of_str("# a list\nhttp://h/1\nh/2\n/3\nftp://h/4\n"),
             SITEMAP_TEXT, "page http://h/1 - - -\n");
}

TEST(something_else_gives_nothing)
{
    rows_are(bytes_of_str("<!DOCTYPE html><html><body><a href='http://h/'>x"
                          "</a><url><loc>http://h/1</loc></url></body></html>"),
             SITEMAP_UNKNOWN, "");
    rows_are(bytes_of_str("<x><y>http://h/1</y></x>"), SITEMAP_UNKNOWN, "");
    rows_are(bytes_of_str("{\"urls\": [\"http://h/1\"]}"), SITEMAP_TEXT, "");
}

/* ---- S5: not well formed --------------------------------------------------*/

TEST(s5_a_bare_ampersand_is_literal)
{
    entries("<url><loc>http://h/?a=1&b=2&amp;c=3&copy=4&#38;d</loc></url>",
            "page http://h/?a=1&b=2&c=3&copy=4&d - - -\n");
    entries("<url><loc>http://h/1&Acirc;&ordm;</loc></url>",
            "page http://h/1&Acirc;&ordm; - - -\n");
}

TEST(s5_missing_end_tags)
{
    entries("<url><loc>http://h/1</url><url><loc>http://h/2<lastmod>3</lastmod>"
            "</url><url><loc>http://h/4</loc><url><loc>http://h/5</loc>",
            "page http://h/1 - - -\npage http://h/2 3 - -\n"
            "page http://h/4 - - -\npage http://h/5 - - -\n");
    entries("<url><loc>http://h/1<loc></url>"
            "<url><loc>http://h/2</lco></url>"
            "<url><loc>http://h/3</loc></ur><url><loc>http://h/4</loc></url>",
            "page http://h/1 - - -\npage http://h/2 - - -\n"
            "page http://h/3 - - -\npage http://h/4 - - -\n");
    entries("<url><loc>http://h/1</loc><image:image></url>"
            "<url><loc>http://h/2</loc></url>",
            "page http://h/1 - - -\npage http://h/2 - - -\n");
}

TEST(s5_missing_or_closed_root)
{
    urlset("<url><loc>http://h/1</loc></url><url><loc>http://h/2</loc></url>",
           "page http://h/1 - - -\npage http://h/2 - - -\n");
    urlset("<urlset xmlns='" NS "'><url><loc>http://h/1</loc></url></urlset>"
           "<url><loc>http://h/2</loc></url>",
           "page http://h/1 - - -\npage http://h/2 - - -\n");
    urlset("Warning: line 1\n<?xml version='1.0'?><urlset><url>"
           "<loc>http://h/1</loc></url></urlset>",
           "page http://h/1 - - -\n");
    urlset("<data><urlset><url><loc>http://h/1</loc></url></urlset></data>",
           "page http://h/1 - - -\n");
}

TEST(s5_cut_short_a_field_that_is_not_whole_does_not_count)
{
    urlset("<urlset><url><loc>http://h/1</loc></url><url><loc>http://h/2",
           "page http://h/1 - - -\n");
    urlset("<urlset><url><loc>http://h/1</loc><lastmod>202",
           "page http://h/1 - - -\n");
    urlset("<urlset><url><loc>http://h/1</loc><lastmod>2024</lastmod><prio",
           "page http://h/1 2024 - -\n");
    urlset("<urlset><url><loc>http://h/1</lo", "");
}

TEST(s5_bad_octets_and_stray_markup)
{
    entries("<url><loc>http://h/\xff</loc></url>< ><url <loc>http://h/2</loc>"
            "</url>]]>",
            "page http://h/%FF - - -\npage http://h/2 - - -\n");
}

/* ---- S6: entities ---------------------------------------------------------*/

TEST(s6_internal_entities_are_replaced_external_ones_never)
{
    urlset("<!DOCTYPE urlset [<!ENTITY h 'http://h/'>"
           "<!ENTITY x SYSTEM 'file:///etc/hostname'>"
           "<!ENTITY y SYSTEM 'http://127.0.0.1:1/'>]>"
           "<urlset><url><loc>&h;1</loc></url>"
           "<url><loc>http://h/&x;</loc></url><url><loc>&y;</loc></url>"
           "<url><loc>http://h/2</loc><lastmod>&x;</lastmod></url></urlset>",
           "page http://h/1 - - -\npage http://h/2 - - -\n");
}

TEST(s6_an_entity_past_its_bounds_costs_its_entry_only)
{
    struct buf b;

    buf_init(&b, 1 << 20);
    buf_add_str(&b, "<!DOCTYPE urlset [<!ENTITY a0 'http://h/'>");
    for (int i = 1; i < 30; i++)
        buf_addf(&b, "<!ENTITY a%d '&a%d;&a%d;&a%d;&a%d;'>", i, i - 1, i - 1,
                 i - 1, i - 1);
    buf_add_str(&b, "]><urlset><url><loc>&a0;1</loc></url>"
                    "<url><loc>&a29;</loc></url>"
                    "<url><loc>http://h/2</loc></url></urlset>");
    urlset(buf_str(&b), "page http://h/1 - - -\npage http://h/2 - - -\n");
    buf_fini(&b);
}

/* ---- encodings ------------------------------------------------------------*/

TEST(documents_in_other_encodings_are_decoded)
{
    static const char utf16[] = "<?xml version='1.0' encoding='utf-16'?>"
                                "<urlset><url><loc>http://h/1</loc></url>"
                                "</urlset>";
    struct buf b;

    rows_are(bytes_of_str("<?xml version='1.0' encoding='iso-8859-1'?><urlset>"
                          "<url><loc>http://h/caf\xe9</loc></url></urlset>"),
             SITEMAP_URLSET, "page http://h/caf%C3%A9 - - -\n");
    buf_init(&b, 1 << 16);
    buf_add(&b, "\xff\xfe", 2);
    for (size_t i = 0; i < sizeof utf16 - 1; i++)
        buf_add(&b, (char[]){utf16[i], 0}, 2);
    rows_are(buf_bytes(&b), SITEMAP_URLSET, "page http://h/1 - - -\n");
    buf_fini(&b);
}

TEST(the_http_charset_counts_before_the_declaration)
{
    const struct sitemap_options o = {
        .content_type = bytes_of_str("text/xml; charset=windows-1251")};
    struct rows r;

    rows_of(&r,
            bytes_of_str("<?xml version='1.0' encoding='iso-8859-1'?><urlset>"
                         "<url><loc>http://h/\xe9</loc></url></urlset>"),
            10, &o);
    ck_assert_str_eq(buf_str(&r.text), "page http://h/%D0%B9 - - -\n");
    buf_fini(&r.text);
}

/* ---- bounds ---------------------------------------------------------------*/

static void add_entries(struct buf *b, unsigned n)
{
    buf_add_str(b, "<urlset>");
    for (unsigned i = 0; i < n; i++)
        buf_addf(b, "<url><loc>http://h/%u</loc></url>\n", i);
    buf_add_str(b, "</urlset>");
}

TEST(entries_are_bounded)
{
    struct sitemap_options o = {.entries_most = 10};
    struct rows r;
    struct buf b;

    buf_init(&b, 1 << 20);
    add_entries(&b, 10);
    rows_of(&r, buf_bytes(&b), 50, &o);
    ck_ok(r.status);
    buf_fini(&r.text);
    buf_clear(&b);
    add_entries(&b, 11);
    rows_of(&r, buf_bytes(&b), 50, &o);
    ck_assert_int_eq(r.status, STATUS_LIMIT);
    ck_assert_ptr_nonnull(strstr(buf_str(&r.text), "http://h/9 "));
    ck_assert_ptr_null(strstr(buf_str(&r.text), "http://h/10 "));
    buf_fini(&r.text);
    buf_fini(&b);
}

TEST(octets_are_bounded_after_decompression)
{
    struct sitemap_options o = {.bytes_most = 1000};
    struct rows r;
    struct buf b, z;

    buf_init(&b, 1 << 20);
    buf_init(&z, 1 << 20);
    add_entries(&b, 1000);
    gzip(&z, buf_bytes(&b));
    rows_of(&r, buf_bytes(&z), 50, &o);
    ck_assert_int_eq(r.status, STATUS_LIMIT);
    ck_assert_ptr_nonnull(strstr(buf_str(&r.text), "http://h/20 "));
    ck_assert_ptr_null(strstr(buf_str(&r.text), "http://h/40 "));
    buf_fini(&r.text);
    buf_fini(&z);
    buf_fini(&b);
}

/* 150,000 empty members, gzipped: the parser stops after the first mebibyte of
 * them and keeps what came before. */
TEST(gzip_in_gzip_that_comes_to_nothing_is_refused_soon)
{
    const struct sitemap_options o = {0};
    struct buf one, b, z;
    struct rows r;

    buf_init(&one, 1 << 10);
    buf_init(&b, 1 << 23);
    buf_init(&z, 1 << 23);
    gzip(&b, bytes_of_str("http://h/1\n"));
    gzip(&one, bytes_of_str(""));
    for (int i = 0; i < 150000; i++)
        buf_add_bytes(&b, buf_bytes(&one));
    gzip(&b, bytes_of_str("http://h/2\n"));
    gzip(&z, buf_bytes(&b));
    rows_of(&r, buf_bytes(&z), 1000, &o);
    ck_assert_int_eq(r.status, STATUS_FORMAT);
    ck_assert_ptr_null(strstr(buf_str(&r.text), "http://h/2"));
    buf_fini(&r.text);
    buf_fini(&z);
    buf_fini(&b);
    buf_fini(&one);
}

TEST(fifty_megabytes_are_read_in_little_memory)
{
    const struct sitemap_options o = {0};
    struct buf piece, out;
    struct sitemap_parser *p;
    uint64_t before;

    buf_init(&piece, 1 << 20);
    buf_init(&out, 1 << 10);
    for (int i = 0; i < 1000; i++)
        buf_add_str(&piece, "<url><loc>ftp://h/x</loc><x>&amp;</x></url>\n");
    p = sitemap_parser_new(&o, rows_visit, &out);
    ck_ok(sitemap_parser_push(p, bytes_of_str("<urlset>")));
    before = mem_resident();
    for (int i = 0; i < 1000; i++)
        ck_ok(sitemap_parser_push(p, buf_bytes(&piece)));
    ck_assert_uint_lt(mem_resident(), before + ((uint64_t)8 << 20));
    ck_ok(sitemap_parser_finish(p));
    ck_assert_uint_eq(sitemap_parser_passed_over(p), 1000000);
    sitemap_parser_free(p);
    buf_fini(&out);
    buf_fini(&piece);
}

TEST(a_location_longer_than_a_url_may_be_is_passed_over)
{
    const size_t n = URL_LENGTH_CEILING + 100;
    char *in = xmalloc(n + 100);
    struct rows r;

    memset(in, 'a', n);
    memcpy(in, "http://h/", 9);
    memcpy(in + n, "\nhttp://h/2\n", 13);
    rows_of(&r, bytes_of_str(in), 1000, NULL);
    ck_assert_str_eq(buf_str(&r.text), "page http://h/2 - - -\n");
    ck_assert_uint_eq(r.passed_over, 1);
    buf_fini(&r.text);
    free(in);
}
