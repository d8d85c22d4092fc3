/* SPDX-License-Identifier: MIT */
/* Labels, sniffing, decoders and encoders of the Encoding Standard. */
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/file/file.h"
#include "crawler/html/html_tree.h"
#include "tests/unit/unit.h"

#define MOST ((size_t)1 << 20)

static const struct charset *named(const char *label)
{
    const struct charset *c = charset_of_label(bytes_of_str(label));

    ck_assert_msg(c != NULL, "no label %s", label);
    return c;
}

static void check_name(const char *label, const char *name)
{
    ck_assert_str_eq(charset_name(named(label)), name);
}

TIMEOUT(30);

TEST(encoding_4_2_labels_mean_what_the_standard_says)
{
    check_name("iso-8859-1", "windows-1252");
    check_name(" ASCII\n", "windows-1252");
    check_name("GB2312", "GBK");
    check_name("ks_c_5601-1987", "EUC-KR");
    check_name("iso-8859-9", "windows-1254");
    check_name("tis-620", "windows-874");
    check_name("utf8", "UTF-8");
    check_name("unicode", "UTF-16LE");
    check_name("hz-gb-2312", "replacement");
    check_name("logical", "ISO-8859-8-I");
    ck_assert_ptr_null(charset_of_label(bytes_of_str("utf-7")));
    ck_assert_ptr_null(charset_of_label(bytes_of_str("")));
    ck_assert_ptr_null(charset_of_label(bytes_of("utf-8\0", 6)));
    ck_assert_ptr_null(charset_of_label(
        bytes_of_str("a-label-that-is-longer-than-any-that-there-is")));
}

/* ---- sniffing ------------------------------------------------------------ */

static void check_sniff(const char *page, const char *type, const char *name)
{
    ck_assert_str_eq(charset_name(
                         html_charset(bytes_of_str(page), bytes_of_str(type))),
                     name);
}

/* Promise (Links): the charset of a page is that of its byte order mark, else
 * of HTTP, else of meta, else windows-1252. See also
 * `charset/url_queries_are_written_in_the_encoding_of_the_page`. */
TEST(html_13_2_3_the_mark_wins_then_http_then_meta)
{
    check_sniff("\xef\xbb\xbf<meta charset=koi8-r>", "text/html;charset=big5",
                "UTF-8");
    check_sniff("\xff\xfe<", "", "UTF-16LE");
    check_sniff("<meta charset=koi8-r>", "text/html; Charset = \"big5\"",
                "Big5");
    check_sniff("<meta charset=koi8-r>", "text/html; charset=nonsense",
                "KOI8-R");
    /* MIME Sniffing, "collect an HTTP quoted string": the end ends it too. */
    check_sniff("<meta charset=koi8-r>", "text/html; charset=\"gbk", "GBK");
    check_sniff("<meta charset=koi8-r>", "text/html; charset='gbk", "KOI8-R");
    check_sniff("<p>", "", "windows-1252");
    check_sniff("", "", "windows-1252");
}

TEST(html_13_2_3_2_the_prescan_has_its_own_rules)
{
    check_sniff("<meta charset=utf-16>", "", "UTF-8");
    check_sniff("<meta charset=x-user-defined>", "", "windows-1252");
    check_sniff("<!-- <meta charset=big5> --><meta charset=koi8-u>", "",
                "KOI8-U");
    check_sniff("<!--><meta charset=big5>", "", "Big5");
    check_sniff("<script>'<meta charset=big5>'</script>", "", "Big5");
    check_sniff("<a title='<meta charset=big5>'>", "", "windows-1252");
    check_sniff("<meta http-equiv=content-type "
                "content='text/html; charset=shift_jis'>",
                "", "Shift_JIS");
    check_sniff("<meta content='text/html; charset=shift_jis'>", "",
                "windows-1252");
    check_sniff("<meta charset=big5", "", "windows-1252");
    check_sniff("<meta http-equiv=content-type "
                "content='text/html; charset=\"shift_jis'>",
                "", "windows-1252");
    check_sniff("<meta charset=nonsense><meta charset=big5>", "", "Big5");
}

/* Fills `octets` before the meta by repeating the last octet of `filler`. */
static const char *after(const char *filler, size_t octets)
{
    static char page[4096];
    size_t n = strlen(filler);

    memcpy(page, filler, n);
    memset(page + n, filler[n - 1], octets - n);
    strcpy(page + octets, "<meta charset=big5>");
    return page;
}

TEST(html_13_2_3_2_the_prescan_ends_after_1024_octets)
{
    check_sniff(after("<body> ", 1024 - 19), "", "Big5");
    check_sniff(after("<body> ", 1024 - 18), "", "windows-1252");
    check_sniff(after("<p>text", 1100), "", "windows-1252");
}

TEST(html_13_2_3_4_a_later_meta_counts_in_the_head)
{
    check_sniff(after("<title>x</title> ", 1100), "", "Big5");
    check_sniff(after("<script>x", 1100), "", "windows-1252");
    check_sniff(after("<!-- ", 1100), "", "windows-1252");
    check_sniff(after("<!-- --><head><title></title> ", 3000), "", "Big5");
    check_sniff(after("<template> ", 1100), "", "Big5");
}

TEST(html_13_2_3_2_a_page_that_names_none_is_utf8_if_it_is_valid)
{
    check_sniff("caf\xc3\xa9", "", "UTF-8");
    check_sniff("caf\xc3\xa9 \xe2\x82", "", "UTF-8"); /* cut */
    check_sniff("caf\xe9", "", "windows-1252");
    check_sniff("caf\xc3\xa9 caf\xe9 au lait", "", "windows-1252");
    check_sniff("caf\xc3", "", "windows-1252");
    check_sniff("cafe", "", "windows-1252");
    check_sniff("", "", "windows-1252");
    check_sniff("caf\xc3\xa9", "text/html; charset=latin1", "windows-1252");
    check_sniff("<meta charset=latin1>caf\xc3\xa9", "", "windows-1252");
}

TEST(xml_4_3_3_the_declaration_names_the_encoding)
{
    const struct {
        const char *xml, *type, *name;
    } cases[] = {
        {"<?xml version='1.0' encoding='koi8-r'?>", "", "KOI8-R"},
        {"<?xml version='1.0' encoding='koi8-r'?>", "text/xml; charset=big5",
         "Big5"},
        {"<?xml version='1.0'?>", "", "UTF-8"},
        {"<rss>", "", "UTF-8"},
        {"\xfe\xff", "", "UTF-16BE"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_str_eq(charset_name(
                             charset_sniff_xml(bytes_of_str(cases[i].xml),
                                               bytes_of_str(cases[i].type))),
                         cases[i].name);
}

TEST(css_syntax_3_2_only_the_exact_rule_names_the_encoding)
{
    const struct {
        const char *css, *name;
    } cases[] = {
        {"@charset \"big5\";", "Big5"},    {"@charset 'big5';", "UTF-8"},
        {" @charset \"big5\";", "UTF-8"},  {"@charset \"big5\"", "UTF-8"},
        {"@charset \"utf-16\";", "UTF-8"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_str_eq(charset_name(
                             charset_sniff_css(bytes_of_str(cases[i].css),
                                               bytes_of("", 0))),
                         cases[i].name);
}

/* ---- html5lib-tests, encoding -------------------------------------------- */

struct counts {
    unsigned passed, failed;
};

static void run_case(struct bytes data, struct bytes want, struct counts *n)
{
    const struct charset *c = html_charset(data, bytes_of("", 0));
    const struct charset *w = charset_of_label(want);

    if (c == w) {
        n->passed++;
        return;
    }
    n->failed++;
    printf("html5lib encoding: want %.*s, got %s of\n%.*s\n", (int)want.len,
           want.at, charset_name(c), (int)data.len, data.at);
}

/* `#data` LF octets LF `#encoding` LF name LF, and again. */
static void run_file(const char *path, struct counts *n)
{
    struct buf b;
    const char *at, *end, *data, *mark, *name;

    buf_init(&b, MOST);
    ck_ok(file_read(path, &b));
    at = b.at;
    end = at + b.len;
    while ((data = memmem(at, (size_t)(end - at), "#data\n", 6)) != NULL) {
        data += 6;
        mark = memmem(data, (size_t)(end - data), "\n#encoding\n", 11);
        ck_assert_ptr_nonnull(mark);
        name = mark + 11;
        at = memchr(name, '\n', (size_t)(end - name));
        at = at != NULL ? at : end;
        run_case(bytes_of(data, (size_t)(mark - data)),
                 bytes_of(name, (size_t)(at - name)), n);
    }
    buf_fini(&b);
}

TEST(html_13_2_3_2_sniffs_the_cases_of_html5lib)
{
    static const char *const files[] = {"tests1.dat", "tests2.dat",
                                        "test-yahoo-jp.dat"};
    const char *shared = getenv("SHARED");
    struct counts n = {0, 0};
    char path[1024];

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        uint64_t size;

        snprintf(path, sizeof path, "%s/testdata/html5lib-encoding/%s",
                 shared != NULL ? shared : "../shared", files[i]);
        if (file_size(path, &size) != STATUS_OK) {
            printf("html5lib encoding cases: skipped, no %s here\n", path);
            fflush(stdout);
            return;
        }
        run_file(path, &n);
    }
    printf("html5lib encoding: %u passed, %u failed\n", n.passed, n.failed);
    fflush(stdout);
    ck_assert_uint_eq(n.passed, 82);
    ck_assert_uint_eq(n.failed, 0);
}

/* ---- decoding ------------------------------------------------------------ */

static void check_decode_octets(const char *label, struct bytes in,
                                const char *want)
{
    struct buf b;
    struct bytes view;

    buf_init(&b, MOST);
    ck_ok(charset_decode(named(label), in, &b, &view));
    ck_assert_msg(bytes_is(view, want), "%s: want %s, got %.*s", label, want,
                  (int)view.len, view.at);
    buf_fini(&b);
}

static void check_decode(const char *label, const char *in, const char *want)
{
    check_decode_octets(label, bytes_of_str(in), want);
}

TEST(encoding_8_1_bad_utf8_is_one_replacement_for_each_sequence)
{
    check_decode("utf-8",
                 "\xef\xbb\xbf"
                 "a\xc3\xa9",
                 "a\u00e9");
    check_decode("utf-8", "\xff<", "\ufffd<");
    check_decode("utf-8", "\xe2\x82<", "\ufffd<");
    check_decode("utf-8", "\xe2\x82\xe2\x82\xac", "\ufffd\u20ac");
    check_decode("utf-8", "\xc0\x80", "\ufffd\ufffd");
    check_decode("utf-8", "\xed\xa0\x80", "\ufffd\ufffd\ufffd");
    check_decode("utf-8", "\xf0\x9f\x98", "\ufffd");
    check_decode("utf-8", "\xef\xbf\xbd!", "\ufffd!");
}

TEST(ours_valid_utf8_is_not_copied)
{
    const char *page = "na\u00efve \ufffd and long enough for eight at once";
    struct buf b;
    struct bytes view;

    buf_init(&b, 0);
    ck_ok(charset_decode(charset_utf8(), bytes_of_str(page), &b, &view));
    ck_assert_ptr_eq(view.at, page);
    ck_assert_uint_eq(view.len, strlen(page));
    ck_ok(charset_decode(named("big5"), bytes_of_str("ascii only"), &b, &view));
    ck_assert_ptr_null(b.at);
}

TEST(ours_decoding_stops_at_the_ceiling_of_its_buffer)
{
    struct buf b;
    struct bytes view;

    buf_init(&b, 5);
    ck_assert_int_eq(charset_decode(named("latin1"),
                                    bytes_of_str("\xe9\xe9\xe9\xe9"), &b,
                                    &view),
                     STATUS_LIMIT);
    ck_assert(bytes_is(view, "\u00e9\u00e9"));
    buf_fini(&b);
}

TEST(encoding_9_single_octets_have_all_the_standard_maps)
{
    check_decode("windows-1252", "\x80\x81\x9f", "\u20ac\xc2\x81\u0178");
    check_decode("iso-8859-3", "\xa5\xa6", "\ufffd\u0124");
    check_decode("koi8-u", "\xae\xbe", "\u045e\u040e");
    check_decode("macintosh", "\xdb", "\u20ac");
    check_decode("windows-874", "\xdb\xa1", "\ufffd\u0e01");
    check_decode("x-user-defined", "a\x80\xff", "a\uf780\uf7ff");
}

#define GB18030_2022                                                           \
    "\xa6\xd9\xa6\xda\xa6\xdb\xa6\xdc\xa6\xdd\xa6\xde\xa6\xdf\xa6\xec"         \
    "\xa6\xed\xa6\xf3\xfe\x59\xfe\x61\xfe\x66\xfe\x67\xfe\x6d\xfe\x7e"         \
    "\xfe\x90\xfe\xa0"

TEST(encoding_10_chinese_and_korean)
{
    static const char now[] =
        "\ufe10\ufe12\ufe11\ufe13\ufe14\ufe15\ufe16\ufe17\ufe18\ufe19"
        "\u9fb4\u9fb5\u9fb6\u9fb7\u9fb8\u9fb9\u9fba\u9fbb";

    check_decode("gbk", "\xc4\xe3\xba\xc3\x80", "\u4f60\u597d\u20ac");
    check_decode("gb18030", "\x84\x31\xa4\x37", "\ufffd");
    check_decode("gb18030", "\x81\x30\x81\x30\x90\x30\x81\x30",
                 "\xc2\x80\U00010000");
    check_decode("gbk", "\xc4<", "\ufffd<");
    /* the 18 code points that GB 18030-2022 took out of the private use area */
    check_decode("gb18030", GB18030_2022, now);
    check_decode("gbk", GB18030_2022, now);
    check_decode("gb18030", "\x81\x30<", "\ufffd0<");
    check_decode("gb18030", "\x81\x30\x81", "\ufffd");
    check_decode("big5", "\xa7\x41\xa6\x6e\x88\x62",
                 "\u4f60\u597d"
                 "\u00ca\u0304");
    check_decode("big5", "\xa7\"\x80", "\ufffd\"\ufffd");
    check_decode("euc-kr", "\xbe\xc8\xb3\xe7", "\uc548\ub155");
    check_decode("euc-kr", "\x81\x41", "\uac02");
}

TEST(encoding_12_japanese)
{
    check_decode("shift_jis", "\x93\xfa\x96\x7b\xb1\x80",
                 "\u65e5\u672c"
                 "\uff71\xc2\x80");
    check_decode("shift_jis", "\x93\"", "\ufffd\"");
    check_decode("shift_jis", "\xf0\x40", "\ue000");
    check_decode("euc-jp", "\xc6\xfc\xcb\xdc\x8e\xb1", "\u65e5\u672c\uff71");
    check_decode("euc-jp", "\x8f\xb0\xa1\x8f\xa2\xc3", "\u4e02\u00a6");
    check_decode("euc-jp", "\xc6<", "\ufffd<");
    check_decode("iso-2022-jp", "a\x1b$BF|K\\\x1b(Bb",
                 "a\u65e5\u672c"
                 "b");
    check_decode("iso-2022-jp", "\x1b(J\\\x1b(I1\x1b(B~", "\u00a5\uff71~");
    check_decode("iso-2022-jp", "\x1b(B\x1b(Ba\x0e", "\ufffda\ufffd");
}

TEST(encoding_14_utf16_and_replacement)
{
    check_decode_octets("utf-16le", bytes_of("\xff\xfe<\0\x3d\xd8\0\xde", 8),
                        "<\U0001f600");
    check_decode_octets("utf-16be", bytes_of("\0<\xd8\x3d\0a\xdc", 7),
                        "<\ufffda\ufffd");
    check_decode("iso-2022-kr", "<a href=x>", "\ufffd");
    check_decode("iso-2022-kr", "", "");
}

/* ---- encoding ------------------------------------------------------------ */

static void check_encode(const char *label, const char *in, const char *want)
{
    struct url_encoder *e = charset_encoder_new(named(label));
    struct buf b;

    buf_init(&b, MOST);
    e->encode(e->ctx, bytes_of_str(in), &b);
    ck_assert_msg(bytes_is(buf_bytes(&b), want), "%s: %s gives %s", label, in,
                  buf_str(&b));
    buf_fini(&b);
    charset_encoder_free(e);
}

TEST(url_queries_are_written_in_the_encoding_of_the_page)
{
    check_encode("windows-1252", "a\u00e9\u20ac\xc2\x81", "a\xe9\x80\x81");
    check_encode("windows-1252", "\u4f60", "%26%2320320%3B");
    check_encode("gbk", "\u4f60\u20ac\U0001f600",
                 "\xc4\xe3\x80%26%23128512%3B");
    check_encode("gb18030", "\u4f60\u20ac\U0001f600",
                 "\xc4\xe3\xa2\xe3\x94\x39\xfc\x36");
    check_encode("gb18030",
                 "\ufe10\ufe12\ufe11\ufe13\ufe14\ufe15\ufe16\ufe17\ufe18\ufe19"
                 "\u9fb4\u9fb5\u9fb6\u9fb7\u9fb8\u9fb9\u9fba\u9fbb",
                 GB18030_2022);
    check_encode("gbk",
                 "\ue78d\ue78e\ue78f\ue790\ue791\ue792\ue793\ue794\ue795\ue796"
                 "\ue81e\ue826\ue82b\ue82c\ue832\ue843\ue854\ue864",
                 GB18030_2022);
    check_encode("big5", "\u4f60\u2550\u00ca",
                 "\xa7\x41\xf9\xf9"
                 "%26%23202%3B");
    check_encode("euc-kr", "\uc548\uac02", "\xbe\xc8\x81\x41");
    check_encode("shift_jis", "\u65e5\u00a5\uff71\u2212\u2252\ue000",
                 "\x93\xfa\\\xb1\x81\x7c\x81\xe0%26%2357344%3B");
    check_encode("euc-jp", "\u65e5\u203e\uff71\u4e02",
                 "\xc6\xfc~\x8e\xb1%26%2319970%3B");
    check_encode("iso-2022-jp", "a\u65e5\u00a5\uff71~",
                 "a\x1b$BF|\x1b(J\\\x1b$B%\"\x1b(B~");
    check_encode("x-user-defined", "\uf780\u00e9", "\x80%26%23233%3B");
}

TEST(encoding_4_3_output_of_unicode_pages_is_utf8)
{
    ck_assert_ptr_null(charset_encoder_new(charset_utf8()));
    ck_assert_ptr_null(charset_encoder_new(named("utf-16le")));
    ck_assert_ptr_null(charset_encoder_new(named("iso-2022-kr")));
}
