/* SPDX-License-Identifier: MIT */
/* test_text_simhash.c - fingerprints of texts, and which text of a page counts.
 */
#include "crawler/html/text_simhash.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "crawler/html/links.h"

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

START_TEST(charikar_near_texts_have_near_prints_and_others_have_not)
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
END_TEST

/* Fingerprints are stored and compared with later ones: these are those of the
 * first version, of texts whose words and pieces end everywhere in a block. */
START_TEST(a_text_keeps_its_print)
{
    static const struct {
        int words;
        size_t piece;
        uint64_t print;
    } of[] = {
        {20, 100000, UINT64_C(0xa189fa4d263942a7)},
        {21, 64, UINT64_C(0xa189fa550efa4287)},
        {22, 63, UINT64_C(0x7b88e3490eba4a2f)},
        {23, 65, UINT64_C(0x11c8b8698cba4a6b)},
        {24, 7, UINT64_C(0xae746859acf26da9)},
        {25, 1, UINT64_C(0x54f7f60866deb5ca)},
        {26, 128, UINT64_C(0xb9cdfadce67bcba3)},
        {27, 191, UINT64_C(0xb1cdfadca63b4aeb)},
        {28, 16, UINT64_C(0x6dd847ccfac48983)},
        {500, 100000, UINT64_C(0xbbcaea180473ccf9)},
        {2500, 1000, UINT64_C(0x61eecb1477a9caf3)},
        {9000, 100000, UINT64_C(0x6176aa1457afef79)},
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
END_TEST

/* Each bit is the majority of the shingles' bits, however many there are. */
START_TEST(votes_are_counted_beyond_an_octet)
{
    struct buf once, often;

    buf_init(&once, 1 << 20);
    buf_init(&often, 1 << 20);
    write_text(&once, 300, -1);
    for (int i = 0; i < 40; i++)
        buf_add_bytes(&often, buf_bytes(&once));
    ck_assert_uint_le(distance(print_of(buf_str(&once)),
                               print_of(buf_str(&often))),
                      3);
    buf_fini(&once);
    buf_fini(&often);
}
END_TEST

START_TEST(white_space_and_punctuation_do_not_count_and_case_does)
{
    static const char text[] = "a b c d e f g h i j k l m n o p q r s t";

    ck_assert_uint_ne(print_of(text), 0);
    ck_assert_uint_eq(
        print_of(text),
        print_of("a, b; c.\n\n d - e\tf g (h) i j k l m n o p q r s t!  "));
    ck_assert_uint_ne(print_of(text),
                      print_of("A B C D E F g h i j k l m n o p q r s t"));
}
END_TEST

START_TEST(ours_a_text_of_few_words_has_none)
{
    ck_assert_uint_eq(print_of(""), 0);
    ck_assert_uint_eq(print_of("a b c d e f g h i j k l m n o p q"), 0);
    ck_assert_uint_ne(print_of("a b c d e f g h i j k l m n o p q r"), 0);
}
END_TEST

/* Words of any length at any distance from the end of their piece. */
START_TEST(a_word_is_the_same_wherever_it_stands)
{
    char text[4096], long_text[8192];

    for (size_t len = 1; len < 40; len++) {
        text[0] = '\0';
        for (size_t i = 0; i < 20; i++)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%.*s%c ",
                     (int)len,
                     "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstu",
                     (char)('a' + i));
        text[strlen(text) - 1] = '\0';
        snprintf(long_text, sizeof long_text, "%s                    ", text);
        ck_assert_uint_eq(print_of(text), print_of(long_text));
    }
}
END_TEST

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
    ck_assert_int_eq(link_parser_html(p, bytes_of_str(html), &o, ignore, NULL,
                                      &info),
                     STATUS_OK);
    url_fini(&base);
    link_parser_free(p);
    return info.simhash;
}

#define WORDS "b c d e f g h i j k l m n o p q r s t u v"

START_TEST(visible_text_counts_and_nothing_else)
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
END_TEST

Suite *suite_text_simhash(void)
{
    Suite *s = suite_create("text_simhash");
    TCase *t = tcase_create("text_simhash");

    tcase_add_test(t, charikar_near_texts_have_near_prints_and_others_have_not);
    tcase_add_test(t, a_text_keeps_its_print);
    tcase_add_test(t, votes_are_counted_beyond_an_octet);
    tcase_add_test(t, white_space_and_punctuation_do_not_count_and_case_does);
    tcase_add_test(t, ours_a_text_of_few_words_has_none);
    tcase_add_test(t, a_word_is_the_same_wherever_it_stands);
    tcase_add_test(t, visible_text_counts_and_nothing_else);
    suite_add_tcase(s, t);
    return s;
}
