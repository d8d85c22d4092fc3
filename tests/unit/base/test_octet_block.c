/* SPDX-License-Identifier: MIT */
/* test_octet_block.c - classes of octets as bits. */
#include "base/octet_block.h"

#include <stdlib.h>

#include "base/ascii.h"
#include "tests/unit/unit.h"

static void expect_words(const char text[OCTET_BLOCK])
{
    struct octet_words w = octet_words(text);

    for (unsigned i = 0; i < OCTET_BLOCK; i++) {
        unsigned char c = (unsigned char)text[i];

        ck_assert_uint_eq(w.all >> i & 1, ascii_is_alnum(text[i]) || c >= 0x80);
        ck_assert_uint_eq(w.ideographs >> i & 1, c >= 0xe3 && c <= 0xe9);
        ck_assert_uint_eq(w.odd >> i & 1, c & 1);
    }
}

/* Every octet at every place of a text of every length, between octets of other
 * classes. Nothing behind the text counts. */
TEST(bits_are_those_of_the_octets)
{
    for (unsigned n = 0; n < 256 * (OCTET_BLOCK + 1); n++) {
        unsigned len = n % (OCTET_BLOCK + 1), digits = 0;
        char *text = malloc(len + 1);
        struct octet_bits b;

        for (unsigned i = 0; i < len; i++)
            text[i] = (char)(n / (OCTET_BLOCK + 1) * (i + 1) + n);
        text[len] = '7';
        b = octet_bits(text, len);
        ck_assert_uint_eq((b.digits | b.letters) & ~octet_below(len), 0);
        for (unsigned i = 0; i < len; i++) {
            bool digit = ascii_is_digit(text[i]);

            digits += digit;
            ck_assert_uint_eq(b.digits >> i & 1, digit);
            ck_assert_uint_eq(b.letters >> i & 1, ascii_is_letter(text[i]));
        }
        if (len == OCTET_BLOCK) {
            ck_assert_int_eq(octet_has_digit(text), digits > 0);
            expect_words(text);
        }
        if (len > 0)
            ck_assert_uint_eq(octet_count(text, len, text[len / 2]),
                              octet_count(text, len / 2, text[len / 2]) + 1 +
                                  octet_count(text + len / 2 + 1,
                                              len - len / 2 - 1,
                                              text[len / 2]));
        free(text);
    }
}

TEST(sixteen_octets_are_classed_and_white_space_becomes_spaces)
{
    for (unsigned n = 0; n < 256 * 17; n++) {
        unsigned len = n % 17, spaces, same, others;
        char *text = malloc(len + 1), folded[16];

        for (unsigned i = 0; i < len; i++)
            text[i] = (char)(n / 17 * (i + 1) + n);
        text[len] = ' ';
        spaces = octet_fold(folded, text, len);
        same = octet_equal(text, len, '-');
        others = octet_unprintable_or(text, len, "-<~z");
        ck_assert_uint_eq((spaces | same | others) & ~octet_below(len), 0);
        for (unsigned i = 0; i < len; i++) {
            bool space = ascii_is_space(text[i]);

            ck_assert_uint_eq(same >> i & 1, text[i] == '-');
            ck_assert_uint_eq(others >> i & 1,
                              text[i] < ' ' || text[i] == 0x7f ||
                                  strchr("-<~z", text[i]) != NULL);
            ck_assert_uint_eq(spaces >> i & 1, space);
            ck_assert_int_eq(folded[i], space ? ' ' : text[i]);
        }
        free(text);
    }
}

TEST(one_digit_in_a_block_and_all_of_many_octets_are_found)
{
    static char text[16 * 4096];

    memset(text, 'x', sizeof text);
    ck_assert(!octet_has_digit(text));
    for (unsigned i = 0; i < OCTET_BLOCK; i++) {
        text[i] = (char)('0' + i % 10);
        ck_assert(octet_has_digit(text));
        text[i] = 'x';
    }
    ck_assert_uint_eq(octet_count(text, sizeof text, 'x'), sizeof text);
    ck_assert_uint_eq(octet_count(text, sizeof text, 'y'), 0);
    ck_assert_uint_eq(octet_count(text, 1001, 'x'), 1001);
}

TEST(the_next_bit_may_be_the_last_or_none)
{
    ck_assert_uint_eq(octet_next(0, 0), 64);
    ck_assert_uint_eq(octet_next(UINT64_MAX, 64), 64);
    ck_assert_uint_eq(octet_next(UINT64_C(1) << 63, 0), 63);
    ck_assert_uint_eq(octet_next(UINT64_C(1) << 63 | 4, 2), 2);
    ck_assert_uint_eq(octet_next(UINT64_C(1) << 63 | 4, 3), 63);
    ck_assert_uint_eq(octet_below(0), 0);
    ck_assert_uint_eq(octet_below(64), UINT64_MAX);
}
