/* SPDX-License-Identifier: MIT */
#include <libxml/xmlreader.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "crawler/sitemap/xml_scan.h"
#include "tests/unit/unit.h"

/* ---- events as text: <ns|name a=v> text </n> ------------------------------*/

struct record {
    struct buf out;
    struct buf text; /* joins the pieces of one run of text */
    bool lost;
};

static void flush_text(struct record *r)
{
    if (r->text.len > 0 || r->lost) {
        buf_add_str(&r->out, "[");
        buf_add_bytes(&r->out, buf_bytes(&r->text));
        buf_add_str(&r->out, r->lost ? "(lost)]" : "]");
    }
    buf_clear(&r->text);
    r->lost = false;
}

static void record_start(void *ctx, const struct xml_name *name,
                         const struct xml_attr *attrs, size_t attr_count,
                         size_t depth)
{
    struct record *r = ctx;

    (void)depth;
    flush_text(r);
    buf_add_str(&r->out, "<");
    if (name->ns.len > 0) {
        buf_add_bytes(&r->out, name->ns);
        buf_add_str(&r->out, "|");
    }
    buf_add_bytes(&r->out, name->local);
    for (size_t i = 0; i < attr_count; i++) {
        buf_add_str(&r->out, " ");
        buf_add_bytes(&r->out, attrs[i].name);
        buf_add_str(&r->out, "=");
        buf_add_bytes(&r->out, attrs[i].value);
    }
    buf_add_str(&r->out, ">");
}

static void record_end(void *ctx, size_t depth, bool closed)
{
    struct record *r = ctx;

    (void)depth;
    flush_text(r);
    buf_add_str(&r->out, closed ? "</>" : "</cut>");
}

static void record_text(void *ctx, struct bytes text, bool lost)
{
    struct record *r = ctx;

    buf_add_bytes(&r->text, text);
    r->lost |= lost;
}

/* Returns the events of `in`, pushed in pieces of `piece` octets; the caller
 * frees them. */
static char *events_in_pieces(struct bytes in, size_t piece)
{
    struct record r = {.lost = false};
    struct xml_handler h = {.start = record_start,
                            .end = record_end,
                            .text = record_text,
                            .ctx = &r};
    struct xml_scan *s = xml_scan_new(&h);
    size_t len;
    char *out;

    buf_init(&r.out, (size_t)1 << 24);
    buf_init(&r.text, (size_t)1 << 24);
    for (size_t i = 0; i < in.len; i += piece)
        xml_scan_push(s, bytes_of(in.at + i,
                                  in.len - i < piece ? in.len - i : piece));
    xml_scan_finish(s);
    flush_text(&r);
    xml_scan_free(s);
    buf_fini(&r.text);
    buf_add_char(&r.out, '\0');
    ck_ok(buf_failed(&r.out));
    out = buf_take(&r.out, &len);
    return out;
}

static void gives(const char *in, const char *want)
{
    for (size_t piece = 1; piece < 70; piece++) {
        char *got = events_in_pieces(bytes_of_str(in), piece);

        ck_assert_msg(strcmp(got, want) == 0,
                      "%s\nin pieces of %zu gave\n%s\nnot\n%s", in, piece, got,
                      want);
        free(got);
    }
}

/* ---- well-formed documents ------------------------------------------------*/

TEST(reports_elements_attributes_and_text)
{
    gives("<a><b x='1' y=\"2\"/>text<c>t</c></a>",
          "<a><b x=1 y=2></>[text]<c>[t]</></>");
    gives("<?xml version='1.0'?>\n<!-- <x> -- ->--><a \n b = '>' />",
          "[\n]<a b=>></>");
    gives("<a><![CDATA[<b>&amp;]]]]><![CDATA[>]]></a>", "<a>[<b>&amp;]]>]</>");
    gives("<\xc3\xa9>\xe2\x82\xac</\xc3\xa9>", "<\xc3\xa9>[\xe2\x82\xac]</>");
}

TEST(xml_4_6_replaces_references_of_characters_and_predefined_entities)
{
    gives("<a>&lt;&gt;&amp;&quot;&apos;&#65;&#x20AC;</a>",
          "<a>[<>&\"'A\xe2\x82\xac]</>");
    gives("<a b='&amp;c&#61;'/>", "<a b=&c=></>");
    gives("<a>&amp;amp;</a>", "<a>[&amp;]</>");
}

TEST(xml_4_4_replaces_entities_the_document_declares)
{
    gives("<!DOCTYPE a [<!ENTITY h \"http://h\"><!ENTITY p '&h;/p'>\n"
          "<!-- <!ENTITY h 'x'> > ]> --><!ELEMENT a (#PCDATA)>"
          "<!ENTITY h 'second'><!ENTITY % q 'r'><!ENTITY s '&#38;amp;'>]>"
          "<a b='&h;'>&p;&s;&q;</a>",
          "<a b=http://h>[http://h/p&&q;]</>");
}

/* Returns the events that libxml2's reader gives for a well-formed document, in
 * the same form. */
static char *events_of_libxml2(const char *in)
{
    xmlTextReaderPtr reader =
        xmlReaderForMemory(in, (int)strlen(in), NULL, NULL,
                           XML_PARSE_NOENT | XML_PARSE_NONET);
    struct record r = {.lost = false};
    size_t len;

    buf_init(&r.out, (size_t)1 << 20);
    buf_init(&r.text, (size_t)1 << 20);
    while (xmlTextReaderRead(reader) == 1) {
        int type = xmlTextReaderNodeType(reader);
        const char *ns = (const char *)xmlTextReaderConstNamespaceUri(reader);

        if (type == XML_READER_TYPE_ELEMENT) {
            flush_text(&r);
            buf_addf(&r.out, "<%s%s%s", ns != NULL ? ns : "",
                     ns != NULL ? "|" : "",
                     (const char *)xmlTextReaderConstLocalName(reader));
            while (xmlTextReaderMoveToNextAttribute(reader) == 1)
                buf_addf(&r.out, " %s=%s",
                         (const char *)xmlTextReaderConstName(reader),
                         (const char *)xmlTextReaderConstValue(reader));
            xmlTextReaderMoveToElement(reader);
            buf_add_str(&r.out, ">");
            if (xmlTextReaderIsEmptyElement(reader) == 1)
                buf_add_str(&r.out, "</>");
        } else if (type == XML_READER_TYPE_END_ELEMENT) {
            flush_text(&r);
            buf_add_str(&r.out, "</>");
        } else if (type == XML_READER_TYPE_TEXT ||
                   type == XML_READER_TYPE_CDATA ||
                   type == XML_READER_TYPE_WHITESPACE ||
                   type == XML_READER_TYPE_SIGNIFICANT_WHITESPACE) {
            buf_add_str(&r.text, (const char *)xmlTextReaderConstValue(reader));
        }
    }
    xmlFreeTextReader(reader);
    buf_fini(&r.text);
    buf_add_char(&r.out, '\0');
    return buf_take(&r.out, &len);
}

/* Writes a random well-formed document. */
static void write_element(struct buf *b, uint64_t *x, int depth)
{
    static const char *const names[] = {"a", "url", "p:loc", "q:x", "b.c-d"};
    static const char *const texts[] = {"t",
                                        " \n ",
                                        "&amp;",
                                        "&#x41;",
                                        "<![CDATA[<&]]>",
                                        "<!-- <z> -->",
                                        "<?pi <y> ?>",
                                        "&e;",
                                        "\xc3\xa9",
                                        "a > b"};
    const char *name;
    size_t n;

    *x = *x * 6364136223846793005u + 1442695040888963407u;
    name = names[(*x >> 33) % 5];
    buf_addf(b, "<%s", name);
    if ((*x >> 40) % 4 == 0)
        buf_addf(b, " xmlns='urn:u%d'", (int)((*x >> 44) % 3));
    if ((*x >> 48) % 4 == 0)
        buf_addf(b, " xmlns:p=\"urn:v%d\"", (int)((*x >> 51) % 3));
    if ((*x >> 53) % 3 == 0)
        buf_add_str(b, "\n w = \"1>&lt;&e;'\"");
    n = (*x >> 56) % 5;
    if (depth > 6 || n == 0) {
        buf_add_str(b, " />");
        return;
    }
    buf_add_str(b, ">");
    for (size_t i = 0; i < n; i++) {
        write_element(b, x, depth + 1);
        buf_add_str(b, texts[(*x >> (33 + i)) % 10]);
    }
    buf_addf(b, "</%s >", name);
}

TEST(reads_well_formed_documents_as_libxml2_does)
{
    uint64_t x = 1;
    size_t total = 0;

    for (int round = 0; round < 2000; round++) {
        struct buf b;
        char *ours, *theirs;

        buf_init(&b, (size_t)1 << 20);
        buf_add_str(&b, "<?xml version='1.0'?><!DOCTYPE r [<!ENTITY e 'ent&#38;"
                        "amp;'>]><r xmlns:p='urn:p' xmlns:q='urn:q'>");
        write_element(&b, &x, 0);
        buf_add_str(&b, "</r>");
        ours = events_in_pieces(buf_bytes(&b), 1 + (size_t)round % 97);
        theirs = events_of_libxml2(buf_str(&b));
        ck_assert_msg(strcmp(ours, theirs) == 0, "%s\nours:   %s\nlibxml: %s",
                      buf_str(&b), ours, theirs);
        total += strlen(ours);
        free(ours);
        free(theirs);
        buf_fini(&b);
    }
    ck_assert_uint_gt(total, 500000);
}

/* ---- broken documents -----------------------------------------------------*/

TEST(s5_a_bare_ampersand_is_text)
{
    gives("<a>b&c=d&e;f& g&;&#;&#x;&#12a;&</a>",
          "<a>[b&c=d&e;f& g&;&#;&#x;&#12a;&]</>");
    gives("<a>&nbsp;&eacute;</a>", "<a>[&nbsp;&eacute;]</>");
    gives("<a>&amp</a>", "<a>[&amp]</>");
    gives("<a b='x&y=1&amp;z'/>", "<a b=x&y=1&z></>");
}

TEST(s5_a_bare_less_than_is_text)
{
    gives("<a>1 < 2 <3 <</a>", "<a>[1 < 2 <3 <]</>");
    gives("<a></ ></a>", "<a>[</ >]</>");
}

TEST(s5_end_tags_close_the_nearest_or_nothing)
{
    gives("<a><b><c>t</b>u</a>", "<a><b><c>[t]</></>[u]</>");
    gives("<a>t</b>u</a></a>v", "<a>[tu]</>[v]");
    gives("<a><b/></b></a>", "<a><b></></>");
}

TEST(s5_reading_goes_on_behind_the_root)
{
    gives("x<a/>y<b>z</b>", "[x]<a></>[y]<b>[z]</>");
}

TEST(s5_a_tag_without_its_end_stops_at_the_next)
{
    gives("<a><b<c>t</c</a>", "<a><b><c>[t]</></></>");
    gives("<a b='1<c>t</c></a>", "<a b=1><c>[t]</></>");
    gives("<a b='1>t</a>", "<a b=1>[t]</>");
    gives("<a b=1 c d='2'>t</a>", "<a b=1 c= d=2>[t]</>");
    gives("<a \"x\" ='y' / z>t</a>", "<a x= z=>[t]</>");
}

TEST(s5_what_is_cut_short_ends_there)
{
    gives("<a><b>te", "<a><b>[te]</cut></cut>");
    gives("<a>t&am", "<a>[t&am]</cut>");
    gives("<a>t</b", "<a>[t]</cut>");
    gives("<a>t<b x='1", "<a>[t]<b x=1></cut></cut>");
    gives("<a>t<", "<a>[t<]</cut>");
    gives("<a><![CDATA[te]]", "<a>[te]]]</cut>");
    gives("<a><!-- t", "<a></cut>");
    gives("<a><?pi t", "<a></cut>");
    gives("<!DOCTYPE a [<!ENTITY e 'f'>", "");
}

TEST(ours_a_doctype_without_end_stops_at_its_first_greater_than)
{
    gives("<!DOCTYPE a [ <!ELEMENT a ANY>\n<a>t</a>", "[\n]<a>[t]</>");
    gives("<!DOCTYPE a \"unclosed><a>t</a>", "<a>[t]</>");
}

TEST(bad_utf8_and_zero_bytes_pass_through)
{
    static const char in[] = "<a>\xff\0\xc3</a>";
    char *got = events_in_pieces(bytes_of(in, sizeof in - 1), 3);

    ck_assert_mem_eq(got, "<a>[\xff\0\xc3]</>", 11);
    free(got);
}

/* ---- bounds ---------------------------------------------------------------*/

TEST(s6_external_entities_have_no_text)
{
    gives("<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>"
          "<!ENTITY y PUBLIC 'p' 'http://h/'><!ENTITY z '1&x;2'>]>"
          "<a b='&x;'>&x;</a>",
          "<a b=>[(lost)]</>");
    gives("<!DOCTYPE a SYSTEM 'http://h/a.dtd' [<!ENTITY z '1&x;2'>"
          "<!ENTITY x SYSTEM 'u'>]><a>0&z;3</a>",
          "<a>[03(lost)]</>");
}

TEST(s6_entities_in_circles_have_no_text)
{
    gives("<!DOCTYPE a [<!ENTITY b '&c;'><!ENTITY c '&b;'>]><a>&b;</a><d/>",
          "<a>[(lost)]</><d></>");
}

/* Ten entities, l0 to l9, each of them ten times the one before. */
static char *laughs(const char *document)
{
    struct buf b;
    char *got;

    buf_init(&b, (size_t)1 << 20);
    buf_add_str(&b, "<!DOCTYPE a [<!ENTITY l0 'lol'>");
    for (int i = 1; i < 10; i++) {
        buf_addf(&b, "<!ENTITY l%d '", i);
        for (int j = 0; j < 10; j++)
            buf_addf(&b, "&l%d;", i - 1);
        buf_add_str(&b, "'>");
    }
    buf_addf(&b, "]>%s", document);
    got = events_in_pieces(buf_bytes(&b), 4096);
    buf_fini(&b);
    return got;
}

TEST(s6_a_billion_laughs_are_refused)
{
    char *got = laughs("<a>x&l9;<b>t</b>&l1;</a>");

    ck_assert_str_eq(got, "<a>[x(lost)]<b>[t]</>"
                          "[lollollollollollollollollollol]</>");
    free(got);
}

TEST(s6_expansions_of_a_document_end_at_a_megabyte)
{
    char *got = laughs("<a>&l6;<b>t</b>&l1;</a><c>u</c>");

    ck_assert_str_eq(got, "<a>[(lost)]<b>[t]</>[(lost)]</><c>[u]</>");
    free(got);
}

TEST(s6_one_entity_used_a_million_times_costs_a_megabyte)
{
    struct buf b;
    char *got;

    buf_init(&b, (size_t)1 << 24);
    buf_add_str(&b, "<!DOCTYPE a [<!ENTITY l '");
    for (int i = 0; i < 4000; i++)
        buf_add_char(&b, 'x');
    buf_add_str(&b, "'>]><a>");
    for (int i = 0; i < 1000000; i++)
        buf_add_str(&b, "&l;");
    buf_add_str(&b, "</a>");
    got = events_in_pieces(buf_bytes(&b), 65536);
    ck_assert_uint_lt(strlen(got), (size_t)2 << 20);
    free(got);
    buf_fini(&b);
}

TEST(elements_past_the_bound_of_depth_are_passed_over)
{
    struct buf b;
    char *got;

    buf_init(&b, (size_t)1 << 24);
    for (int i = 0; i < 100000; i++)
        buf_add_str(&b, "<a>");
    buf_add_str(&b, "deep");
    for (int i = 0; i < 100000; i++)
        buf_add_str(&b, "</a>");
    got = events_in_pieces(buf_bytes(&b), 4096);
    ck_assert_ptr_null(strstr(got, "deep"));
    ck_assert_uint_eq(strlen(got), (size_t)XML_DEPTH_MOST * 6);
    free(got);
    buf_fini(&b);
}

/* As in a description whose HTML is not escaped. */
TEST(elements_never_closed_do_not_hide_the_rest)
{
    struct buf b;
    char *got;

    buf_init(&b, (size_t)1 << 20);
    buf_add_str(&b, "<r><i>");
    for (int i = 0; i < 1000; i++)
        buf_add_str(&b, "<br>");
    buf_add_str(&b, "</i><j>t</j></r>");
    got = events_in_pieces(buf_bytes(&b), 100);
    ck_assert_ptr_nonnull(strstr(got, "</><j>[t]</></>"));
    free(got);
    buf_fini(&b);
}
