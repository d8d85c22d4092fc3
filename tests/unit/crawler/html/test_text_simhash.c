/* SPDX-License-Identifier: MIT */
/* test_text_simhash.c - fingerprints of texts, and which text of a page counts.
 */
#include "crawler/html/text_digest.h"

#include <stdio.h>
#include <string.h>

#include "crawler/html/links.h"
#include "tests/unit/unit.h"

static uint64_t print_of(const char *text)
{
    struct text_simhash s;

    text_simhash_begin(&s);
    text_simhash_add(&s, bytes_of_str(text));
    return text_simhash_end(&s);
}

/* `n` words, of which number `other` (-1: none) is another one. */
static void write_text(struct buf *out, int n, int other)
{
    buf_clear(out);
    for (int i = 0; i < n; i++)
        buf_addf(out, "word%d%s ", i * 7919 % 5003, i == other ? "x" : "");
}

static unsigned distance(uint64_t a, uint64_t b)
{
    return (unsigned)__builtin_popcountll(a ^ b);
}

TEST(charikar_near_texts_have_near_prints_and_others_have_not)
{
    unsigned near = 0;
    struct buf a, b;

    buf_init(&a, 1 << 20);
    buf_init(&b, 1 << 20);
    write_text(&a, 1000, -1);
    for (int other = 0; other < 1000; other += 10) {
        write_text(&b, 1000, other);
        near += distance(print_of(buf_str(&a)), print_of(buf_str(&b))) <= 3;
    }
    ck_assert_uint_ge(near, 90);
    write_text(&a, 500, -1);
    buf_clear(&b);
    for (int i = 0; i < 500; i++)
        buf_addf(&b, "other%d ", i);
    ck_assert_uint_gt(distance(print_of(buf_str(&a)), print_of(buf_str(&b))),
                      10);
    buf_fini(&a);
    buf_fini(&b);
}

/* Fingerprints are stored and compared with later ones: these are those of
 * format 17 of the store, of texts whose words and pieces end everywhere in a
 * block. */
TEST(a_text_keeps_its_print)
{
    static const struct {
        int words;
        size_t piece;
        uint64_t print;
    } of[] = {
        {20, 100000, UINT64_C(0xc040838cc0643c21)},
        {21, 64, UINT64_C(0x843043194060f923)},
        {22, 63, UINT64_C(0xca4349bb04a8b801)},
        {23, 65, UINT64_C(0x087909870462340d)},
        {24, 7, UINT64_C(0xd118b2c0075c04f1)},
        {25, 1, UINT64_C(0x60d214a24b908aca)},
        {26, 128, UINT64_C(0xf459a78e81f0fca3)},
        {27, 191, UINT64_C(0xc65081dc04727c20)},
        {28, 16, UINT64_C(0x4816d1c9d886582d)},
        {500, 100000, UINT64_C(0x041eba52f1c23620)},
        {2500, 1000, UINT64_C(0x0db4fd4e7ca27671)},
        {9000, 100000, UINT64_C(0x01e47d667d0b1669)},
    };
    struct text_simhash s;
    struct buf b;

    buf_init(&b, 1 << 20);
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        write_text(&b, of[i].words, -1);
        buf_add_str(&b,
                    "\xc3\xa9t\xc3\xa9 Zebra0 @[`{/: aLongWordOf21Octets a");
        text_simhash_begin(&s);
        for (size_t at = 0; at < b.len; at += of[i].piece)
            text_simhash_add(&s, bytes_of(b.at + at, b.len - at < of[i].piece
                                                         ? b.len - at
                                                         : of[i].piece));
        ck_assert_uint_eq(text_simhash_end(&s), of[i].print);
    }
    buf_fini(&b);
}

TEST(white_space_and_punctuation_do_not_count_and_case_does)
{
    static const char text[] = "a b c d e f g h i j k l m n o p q r s t";

    ck_assert_uint_ne(print_of(text), 0);
    ck_assert_uint_eq(
        print_of(text),
        print_of("a, b; c.\n\n d - e\tf g (h) i j k l m n o p q r s t!  "));
    ck_assert_uint_ne(print_of(text),
                      print_of("A B C D E F g h i j k l m n o p q r s t"));
}

TEST(ours_a_text_of_few_words_has_none)
{
    ck_assert_uint_eq(print_of(""), 0);
    ck_assert_uint_eq(print_of("a b c d e f g h i j k l m n o p q"), 0);
    ck_assert_uint_ne(print_of("a b c d e f g h i j k l m n o p q r"), 0);
}

/* Text without spaces, a kana to three ideographs, in which one is another. */
static void write_ideographs(struct buf *out, int other)
{
    buf_clear(out);
    for (int i = 0; i < 400; i++) {
        int n = i == other ? 5000 : i * 7919 % 3001;

        buf_add_utf8(out,
                     (uint32_t)(i % 4 == 0 ? 0x3041 + n % 80 : 0x4e00 + n));
    }
}

TEST(ideographs_make_words_without_spaces)
{
    struct buf a, b;
    unsigned near = 0;
    uint64_t print;

    buf_init(&a, 1 << 16);
    buf_init(&b, 1 << 16);
    write_ideographs(&a, -1);
    print = print_of(buf_str(&a));
    ck_assert_uint_ne(print, 0);
    for (int other = 0; other < 400; other++) {
        write_ideographs(&b, other);
        near += distance(print, print_of(buf_str(&b))) <= 3;
    }
    ck_assert_uint_ge(near, 200);
    buf_clear(&b);
    for (int i = 0; i < 400; i++)
        buf_add_utf8(&b, (uint32_t)(0x6e00 + i * 7919 % 3001));
    ck_assert_uint_gt(distance(print, print_of(buf_str(&b))), 10);
    buf_fini(&a);
    buf_fini(&b);
}

/* ---- of a page ---- */

static void ignore(void *ctx, const struct found_link *link)
{
    (void)ctx;
    (void)link;
}

static uint64_t page_print(const char *html, bool simhash)
{
    struct link_parser *p = link_parser_new(NULL);
    struct page_info info;
    struct link_options o = {.kinds = LINK_SET_BASIC, .simhash = simhash};
    struct url base;

    url_init(&base);
    ck_assert_int_eq(url_parse(&base, bytes_of_str("http://h/"), NULL, NULL),
                     URL_OK);
    o.page_url = &base;
    ck_ok(link_parser_html(p, bytes_of_str(html), &o, ignore, NULL, &info));
    url_fini(&base);
    link_parser_free(p);
    return info.simhash;
}

#define WORDS "b c d e f g h i j k l m n o p q r s t u v"

TEST(visible_text_counts_and_nothing_else)
{
    const uint64_t want = print_of("caf\303\251 " WORDS);
    static const char *const same[] = {
        "caf\303\251 " WORDS,
        "<title>another</title><p>caf&eacute; " WORDS,
        "<p>caf\303\251</p><b>b</b> c<!-- x y z --> d "
        "e f g h i j k l m n o p q r s t u v",
        "<script>x y z</script><style>a b c</style>caf&#233; " WORDS
        "<template>no no no</template>",
        "<a href='x y z' title='x y z'>caf\303\251 " WORDS "</a>",
        "<noscript>caf\303\251</noscript> " WORDS,
        "<svg><style>no no</style><text>caf\303\251 " WORDS "</text></svg>"};

    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        char html[1024];

        snprintf(html, sizeof html, "<meta charset=utf-8>%s", same[i]);
        ck_assert_msg(page_print(html, true) == want, "%s", same[i]);
        ck_assert_uint_eq(page_print(html, false), 0);
    }
    ck_assert_uint_ne(page_print("caf\303\251 no " WORDS, true), want);
}
