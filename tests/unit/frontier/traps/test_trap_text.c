/* SPDX-License-Identifier: MIT */
/* test_trap_text.c - what a page says without its numbers and address. */
#include "frontier/traps/trap_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "tests/unit/unit.h"

static struct digest_key key(void)
{
    struct digest_key k;
    unsigned char seed[DIGEST_SEED_SIZE] = {7};

    digest_key_init(&k, seed);
    return k;
}

static struct trap_text read_of(const char *url, const char *body,
                                bool leads_on)
{
    const struct digest_key k = key();
    struct trap_text out;

    trap_text_read(&k, bytes_of_str(url), bytes_of_str(body), leads_on, &out);
    return out;
}

static struct trap_text read_at(const char *url, const char *body)
{
    return read_of(url, body, false);
}

static uint64_t body_at(const char *url, const char *body)
{
    const struct digest_key k = key();
    struct bytes b = bytes_of_str(body);

    return trap_text_body(&k, bytes_of_str(url), b, digest_bytes(&k, b)).hi;
}

static uint64_t tag(const char *body)
{
    return read_at("http://h/p?n=1", body).tag;
}

TEST(pages_that_differ_in_numbers_alone_say_the_same)
{
    ck_assert_uint_eq(tag("<a href=\"?y=2024\">May 3rd</a>"),
                      tag("<a href=\"?y=1\">May 12</a>"));
    ck_assert_uint_eq(tag("id c0ffee."), tag("id 7."));
    ck_assert_uint_eq(tag("7"), tag("0123abc"));
    ck_assert_uint_ne(tag("May 3"), tag("June 3"));
    ck_assert_uint_ne(tag("a 1 b"), tag("ab"));
    ck_assert_uint_ne(tag("a 1 b"), tag("a 1 b 2"));
}

TEST(a_url_that_no_rule_suspects_needs_no_tag)
{
    ck_assert_uint_eq(read_at("http://10.0.0.1:8080/a", "x").tag, 0);
    ck_assert_uint_eq(read_at("http://h", "x").tag, 0);
    ck_assert_uint_eq(read_at("http://h/a?b=c", "x").tag, 0);
    ck_assert_uint_ne(read_at("http://h/a?b=c&d", "x").tag, 0);
    ck_assert(read_at("http://h/a?b=c&d", "x").without_own);
    ck_assert(!read_at("http://h/a?b=c&d=7", "x").without_own);
    ck_assert(read_at("http://h/a?b=c&d=7&e", "x").without_own);
    ck_assert(read_at("http://h/a?b=c,7", "x").without_own);
    ck_assert_uint_ne(read_at("http://h/a/a/a/", "x").tag, 0);
    ck_assert_uint_eq(read_at("http://h/a/b/c", "x").tag, 0);
    ck_assert(read_of("http://h/a/b/c", "x", true).without_own);
    ck_assert(read_of("http://h/a/b", "x", true).without_own);
    ck_assert_uint_eq(read_of("http://h/a/", "x", true).tag, 0);
    ck_assert_uint_eq(tag(""), 0);
    ck_assert_uint_ne(tag("x"), 0);
}

#define PAGE_OF(url, more)                                                     \
    "<title>Shop</title><link rel=canonical href=\"" url "\">"                 \
    "<meta property=og:url content='" url "'><a href=" url more ">Sizes</a>"

/* Whole, in parts, escaped, decoded, with a reference, in another case. */
TEST(a_page_is_read_without_its_own_address)
{
    static const struct {
        const char *a, *page_a, *b, *page_b;
        bool same;
    } all[] = {
        {"http://h/d/d/d/", PAGE_OF("http://h/d/d/d/", "d/"),
         "http://h/d/d/d/d/", PAGE_OF("http://h/d/d/d/d/", "d/"), true},
        {"http://h/d/d/d/", "<a href=/d/>d</a> <a href=/d/d/>d</a> <a>on</a>",
         "http://h/d/d/d/d/",
         "<a href=/d/>d</a> <a href=/d/d/>d</a> <a>d</a>\n<a>on</a>", true},
        {"http://h/l?a=x&b=y", PAGE_OF("http://h/l?a=x&amp;b=y", "&amp;c"),
         "http://h/l?b=y&a=x", PAGE_OF("http://h/l?b=y&amp;a=x", "&amp;c"),
         true},
        {"http://h/l?a=x&b=y", PAGE_OF("/l?a=x&amp;b=y", "&amp;c"),
         "http://h/l?b=y&a=x", PAGE_OF("/l?b=y&amp;a=x", "&amp;d"), false},
        {"http://h/l?a=x&b=y", "<p>You chose X, Y.</p>", "http://h/l?b=y&a=x",
         "<p>You chose y, x.</p>", true},
        {"http://h/l?a=%C3%A9&b", "\303\251t \303\251 b",
         "http://h/l?b&a=%C3%A9", "\303\251t %c3%A9 b", true},
        {"http://h/l?a=x&b=y", "<p>red</p>", "http://h/l?b=y&a=x",
         "<p>blue</p>", false},
        {"http://h/l?a=x&b=y", "<p>Page 1</p>", "http://h/l?b=y&a=x",
         "<p>Page 2</p>", true},
        /* nothing is lost at an end */
        {"http://h/l?a&b", "", "http://h/l?b&a", "", true},
        {"http://h/l?a&b", "&amp", "http://h/l?b&a", "&am", false},
        {"http://h/l?a&b", "x%4", "http://h/l?b&a", "x%", false},
        {"http://h/l?a&b", "<", "http://h/l?b&a", "<script>", false},
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ck_assert_msg((read_at(all[i].a, all[i].page_a).tag ==
                       read_at(all[i].b, all[i].page_b).tag) == all[i].same,
                      "%zu: %s and %s", i, all[i].page_a, all[i].page_b);
}

/* Its address in any of its forms, at any place of a block. */
TEST(any_body_is_read_without_its_own_address)
{
    static const char *const own[] = {"http://h/list?size=m&color=red",
                                      "/list?color=red&amp;size=m",
                                      "?m,Red",
                                      "list/list/%72ed/",
                                      "color:size&7",
                                      "HTTP://H/LIST/"};
    static const char *const other[] = {
        " ",        "<b>",   "<a href='", "'>",
        "Blue",     "'",     "\n",        "<script>x<y</script>",
        "</b>",     "<!-- ", "-->",       "green",
        "\303\251", "a-b",   "<",         " 7 ",
        ">",        "."};
    uint32_t random = 7;

    for (int round = 0; round < 5000; round++) {
        char a[4096] = "", b[4096] = "";
        struct trap_text at, bt;

        for (unsigned n = random >> 16 & 31; n > 0; n--) {
            const char *next;
            bool is_own;

            random = random * 1664525U + 1013904223U;
            is_own = (random >> 24) % 3 == 0;
            next = other[(random >> 16) % (sizeof other / sizeof *other)];
            if (is_own) { /* by itself: its neighbours would be of it */
                next = own[(random >> 8) % (sizeof own / sizeof *own)];
                strcat(a, "\"");
                strcat(b, "\"");
            }
            strcat(a, is_own ? own[0] : next);
            strcat(b, next);
            strcat(a, is_own ? "\"" : "");
            strcat(b, is_own ? "\"" : "");
        }
        at = read_at(own[0], a);
        bt = read_at(own[0], b);
        ck_assert_msg(at.tag == bt.tag && at.pieces == bt.pieces &&
                          memcmp(at.piece, bt.piece,
                                 at.pieces * sizeof *at.piece) == 0,
                      "%s and %s", a, b);
        (void)read_at("http://h/red/red/red/", a);
        (void)body_at("http://h/list/", a);
    }
}

TEST(pieces_are_the_texts_between_tags)
{
    const char *url = "http://h/l?color=red&size=m";
    struct trap_text few = read_at(url, "<b>One</b> <i>two</i> one"), all;
    char body[8192] = "";

    ck_assert_uint_eq(few.pieces, 3);
    for (unsigned i = 1; i < few.pieces; i++)
        ck_assert_uint_lt(few.piece[i - 1], few.piece[i]);
    all = read_at(url, "<i class=x>two</i>One<b href=y>one <b>Red</b><b>42</b>"
                       "<script>if (a < b) three();</script><style>p {}</style>"
                       "<b>two</b>");
    ck_assert_uint_eq(all.pieces, 3);
    ck_assert_mem_eq(all.piece, few.piece, 3 * sizeof *all.piece);
    for (unsigned i = 0; i < 400; i++)
        snprintf(body + strlen(body), 32, "<p>word %c%c</p>",
                 'a' + (char)(i % 20), 'a' + (char)(i / 20));
    all = read_at(url, body);
    ck_assert_uint_eq(all.pieces, TRAP_PIECES_MOST);
    ck_assert_uint_eq(read_at("http://h/l?n=7", body).pieces, 0);
}

/* As if its links were relative. */
TEST(a_body_is_told_without_the_directory_that_it_is_in)
{
    static const struct {
        const char *a, *page_a, *b, *page_b;
        bool same;
    } all[] = {
        {"http://h/a/", PAGE_OF("http://h/a/", "x/"), "http://h/b/c/",
         PAGE_OF("http://h/b/c/", "x/"), true},
        {"http://h/a/", PAGE_OF("/a/", "x/"), "http://h/b/c/",
         PAGE_OF("http://h/b/c/", "x/"), true},
        {"http://h/a/", PAGE_OF("", "x/"), "http://h/b/c/",
         PAGE_OF("http://h/b/c/", "x/"), true},
        {"http://h/a/", PAGE_OF("http://h/a/", "x/"), "http://h/b/c/",
         PAGE_OF("http://h/b/c/", "y/"), false},
        {"http://h/t/red", PAGE_OF("http://h/t/red", ""), "http://h/t/blue",
         PAGE_OF("http://h/t/blue", ""), true},
        {"http://h/t/red", PAGE_OF("http://h/t/red", ""), "http://h/t/blue",
         PAGE_OF("http://h/t/green", ""), false},
        {"http://h/t?a&b", PAGE_OF("http://h/t?a&amp;b", ""), "http://h/t?a&c",
         PAGE_OF("http://h/t?a&c", ""), true},
        {"http://h/t/1", "Page 1 /t/1", "http://h/t/2", "Page 2 /t/2", false},
        {"http://h", "x", "http://h/", "x", true},
        {"http://h/a/b", "/a/", "http://h/c/b", "/c/", true},
        {"http://h/a/b", "//h/a/", "http://h/c/b", "//h/c/", true},
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ck_assert_msg((body_at(all[i].a, all[i].page_a) ==
                       body_at(all[i].b, all[i].page_b)) == all[i].same,
                      "%zu: %s and %s", i, all[i].page_a, all[i].page_b);
}

TEST(what_stands_far_behind_does_not_count)
{
    size_t n = TRAP_TEXT_READ + 10;
    char *a = malloc(n + 1), *b = malloc(n + 1);

    memset(a, 'x', n);
    memset(b, 'x', n);
    a[n] = b[n] = '\0';
    b[n - 1] = 'y';
    ck_assert_uint_eq(tag(a), tag(b));
    b[TRAP_TEXT_READ - 1] = 'y';
    ck_assert_uint_ne(tag(a), tag(b));
    free(a);
    free(b);
}

/* What the tag is of, octet by octet. */
static size_t without_numbers(const char *body, size_t n, char *out)
{
    size_t len = 0, word = 0;
    bool number = false;

    for (size_t i = 0; i < n; i++) {
        if (!ascii_is_alnum(body[i])) {
            len = number ? word : len;
            number = false;
            word = len + 1;
        }
        number |= ascii_is_digit(body[i]);
        out[len++] = body[i];
    }
    return number ? word : len;
}

/* Words that begin and end everywhere in a block, and longer ones. */
TEST(a_tag_is_that_of_all_words_without_a_digit)
{
    const char *const of[] = {"a1 ", "aaaaaaaaaaaaaa1 -", "abcdefgh..",
                              "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1",
                              "7"};
    const unsigned char seed[DIGEST_SEED_SIZE] = {7};
    char body[500], out[500];
    struct digest_key k;
    uint32_t random = 1;

    digest_key_init(&k, seed);
    for (int round = 0; round < 20000; round++) {
        const char *letters = of[round % 5];
        size_t most = strlen(letters), n = (size_t)(round / 5 % 500) + 1, len;
        struct digest d;
        struct trap_text t;

        for (size_t i = 0; i < n; i++) {
            random = random * 1664525U + 1013904223U;
            body[i] = letters[(random >> 16) % most];
        }
        len = without_numbers(body, n, out);
        d = digest_bytes(&k, bytes_of(out, len));
        trap_text_read(&k, bytes_of_str("http://h/1"), bytes_of(body, n), false,
                       &t);
        ck_assert_msg(t.tag == (d.hi | 1), "%.*s", (int)n, body);
    }
}
