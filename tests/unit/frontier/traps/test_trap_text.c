/* SPDX-License-Identifier: MIT */
/* test_trap_text.c - what a page says without its numbers. */
#include "frontier/traps/trap_text.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"

static uint64_t tag(const char *body)
{
    struct digest_key k;
    unsigned char seed[DIGEST_SEED_SIZE] = {7};

    digest_key_init(&k, seed);
    return trap_text_tag(&k, bytes_of_str("http://h/p?n=1"),
                         bytes_of_str(body));
}

START_TEST(pages_that_differ_in_numbers_alone_say_the_same)
{
    ck_assert_uint_eq(tag("<a href=\"?y=2024\">May 3rd</a>"),
                      tag("<a href=\"?y=1\">May 12</a>"));
    ck_assert_uint_eq(tag("id c0ffee."), tag("id 7."));
    ck_assert_uint_eq(tag("7"), tag("0123abc"));
    ck_assert_uint_ne(tag("May 3"), tag("June 3"));
    ck_assert_uint_ne(tag("a 1 b"), tag("ab"));
    ck_assert_uint_ne(tag("a 1 b"), tag("a 1 b 2"));
}
END_TEST

START_TEST(a_url_without_a_number_needs_no_tag)
{
    struct digest_key k;
    unsigned char seed[DIGEST_SEED_SIZE] = {7};

    digest_key_init(&k, seed);
    ck_assert_uint_eq(trap_text_tag(&k, bytes_of_str("http://10.0.0.1:8080/a"),
                                    bytes_of_str("x")),
                      0);
    ck_assert_uint_eq(trap_text_tag(&k, bytes_of_str("http://h"),
                                    bytes_of_str("x")),
                      0);
    ck_assert_uint_eq(tag(""), 0);
    ck_assert_uint_ne(tag("x"), 0);
}
END_TEST

START_TEST(what_stands_far_behind_does_not_count)
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
END_TEST

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
START_TEST(a_tag_is_that_of_all_words_without_a_digit)
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

        for (size_t i = 0; i < n; i++) {
            random = random * 1664525U + 1013904223U;
            body[i] = letters[(random >> 16) % most];
        }
        len = without_numbers(body, n, out);
        d = digest_bytes(&k, bytes_of(out, len));
        ck_assert_msg(trap_text_tag(&k, bytes_of_str("http://h/1"),
                                    bytes_of(body, n)) == (d.hi | 1),
                      "%.*s", (int)n, body);
    }
}
END_TEST

Suite *suite_trap_text(void)
{
    Suite *s = suite_create("trap_text");
    TCase *t = tcase_create("trap_text");

    tcase_add_test(t, pages_that_differ_in_numbers_alone_say_the_same);
    tcase_add_test(t, a_url_without_a_number_needs_no_tag);
    tcase_add_test(t, what_stands_far_behind_does_not_count);
    tcase_add_test(t, a_tag_is_that_of_all_words_without_a_digit);
    suite_add_tcase(s, t);
    return s;
}
