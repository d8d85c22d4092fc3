/* SPDX-License-Identifier: MIT */
/* test_text_digest.c - which changes of a page are changes of its text. */
/* Promise (Archives): what a reader does not see of a page (scripts,
 * attributes, hidden inputs, comments, white space) does not change its text
 * digest, and what a reader sees does; the digest is equal in every crawl;
 * numbers and dates count or not, as asked. See also `page_change`. */
#include "crawler/html/text_digest.h"

#include <stdio.h>
#include <string.h>

#include "crawler/html/links.h"
#include "tests/unit/unit.h"

static void ignore(void *ctx, const struct found_link *link)
{
    (void)ctx;
    (void)link;
}

static struct digest of_page(const char *html, bool no_numbers)
{
    struct link_parser *p = link_parser_new(NULL);
    struct page_info info;
    struct link_options o = {.kinds = LINK_SET_BASIC,
                             .text_digest = true,
                             .no_numbers = no_numbers};
    struct url base;

    url_init(&base);
    ck_assert_int_eq(url_parse(&base, bytes_of_str("http://h/"), NULL, NULL),
                     URL_OK);
    o.page_url = &base;
    ck_ok(link_parser_html(p, bytes_of_str(html), &o, ignore, NULL, &info));
    url_fini(&base);
    link_parser_free(p);
    return info.text_digest;
}

static bool same(const char *a, const char *b, bool no_numbers)
{
    return digest_equal(of_page(a, no_numbers), of_page(b, no_numbers));
}

#define PAGE "<title>t</title><p id=a1>Hello, big world</p>"

TEST(what_nobody_reads_is_no_change)
{
    static const char *const others[] = {
        "<title>t</title><p id=b77 class=x>Hello, big world</p>",
        "<title>another</title><p>Hello, big world",
        "<p>Hello,  big\r\n\t world </p>\n",
        "<p>Hello, <b>big</b> world",
        "<script>token = 'f00'</script>" PAGE,
        "<style>p { color: red }</style>" PAGE,
        "<!-- built in 12 ms -->" PAGE,
        "<form><input type=hidden name=csrf value=8f3a></form>" PAGE,
        "<img src=/banner-3.png alt=Banner>" PAGE,
        "<template>not yet</template>" PAGE,
    };

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ck_assert_msg(same(PAGE, others[i], false), "%s", others[i]);
}

TEST(what_one_reads_is_a_change)
{
    static const char *const others[] = {
        "<p>Hello, big worlds", "<p>Hello, bigworld",
        "<p>Hello big world",   "<p>hello, big world",
        "<p>Hello, big",        "",
        "<p>Hello, big world!", "<p>Hello, big world<p>more",
    };

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ck_assert_msg(!same(PAGE, others[i], false), "%s", others[i]);
}

TEST(numbers_and_dates_are_left_out_if_asked)
{
    static const char dated[] = "<p>Posted on Monday, 3 May 2021 10:15 by ann";

    ck_assert(same(dated, "<p>Posted on Tue 14 Sept. 2022 by ann", true));
    ck_assert(same(dated, "<p>Posted on <b>2022-09-14</b> by ann", true));
    ck_assert(!same(dated, "<p>Posted on Monday, 3 May 2021 by bob", true));
    ck_assert(!same(dated, "<p>Posted on Tue 14 Sept. 2022 by ann", false));
    ck_assert(!same(dated, "<p>Posted on Mondays by ann", true));
}

/* It is stored and compared with that of other crawls, so it must not depend on
 * the program's version. */
TEST(its_value_is_part_of_the_format)
{
    struct digest d = of_page("<p>Hello, big world", false);
    struct digest w = text_digest_whole(bytes_of_str("body {}"));
    char text[80];

    snprintf(text, sizeof text, "%016llx%016llx %016llx",
             (unsigned long long)d.hi, (unsigned long long)d.lo,
             (unsigned long long)w.hi);
    ck_assert_str_eq(text, "ef24cd0c4ad66ef76324f414b82aea87 9146b8243e43f750");
    ck_assert(digest_equal(text_digest_whole(bytes_of("", 0)),
                           (struct digest){0, 0}));
    d = of_page("<script>x</script>", false);
    ck_assert(d.hi != 0);
}

/* Digests are stored and compared with later ones: these are those of the first
 * version, of a text with all white space, in pieces that end everywhere in a
 * block and in a chunk. */
TEST(a_text_keeps_its_digest)
{
    static const struct {
        size_t piece;
        uint64_t without_numbers, digest;
    } of[] = {
        {1, UINT64_C(0x4f0addb86050f609), UINT64_C(0x9c1fedde37017409)},
        {7, UINT64_C(0xf820c852767f96bd), UINT64_C(0x35ec6f7148faed0f)},
        {63, UINT64_C(0xacb74cc91a75c719), UINT64_C(0x3e4d28be6a909b47)},
        {64, UINT64_C(0x1c0a2d41b93edf31), UINT64_C(0xa509483ad1fe9ad5)},
        {65, UINT64_C(0x5e23602180b59ab1), UINT64_C(0x09a33e81f655c41b)},
        {200, UINT64_C(0x4bac349316a788c7), UINT64_C(0x0e55c39e0cb73c3b)},
        {4096, UINT64_C(0x5d15fda8656ab4b3), UINT64_C(0xa4c94f9ee320abc7)},
        {100000, UINT64_C(0x05f3bb38fdea0459), UINT64_C(0xf75ee6d4b53ab831)},
    };
    char text[20000];
    uint32_t random = 1;

    for (size_t i = 0; i < sizeof text; i++) {
        random = random * 1664525U + 1013904223U;
        text[i] = "ab \n\t\f\r\vz9\xc3\xa9,  "[random >> 28];
    }
    for (size_t i = 0; i < 2 * sizeof of / sizeof *of; i++) {
        size_t piece = of[i / 2].piece;
        bool numbers = i % 2 != 0;
        struct text_digest t;

        text_digest_begin(&t, numbers);
        for (size_t at = 0; at < sizeof text; at += piece)
            text_digest_add(&t, bytes_of(text + at, sizeof text - at < piece
                                                        ? sizeof text - at
                                                        : piece));
        ck_assert_uint_eq(text_digest_end(&t).hi,
                          numbers ? of[i / 2].digest
                                  : of[i / 2].without_numbers);
    }
}
