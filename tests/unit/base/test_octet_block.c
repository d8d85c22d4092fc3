/* SPDX-License-Identifier: MIT */
/* test_octet_block.c - classes of octets as bits. */
#include "base/octet_block.h"

#include <check.h>

#include "base/ascii.h"

/* Every octet at every place, between octets of other classes. */
START_TEST(bits_are_those_of_the_octets)
{
    for (unsigned n = 0; n < 256 * OCTET_BLOCK; n++) {
        char block[OCTET_BLOCK], folded[OCTET_BLOCK];
        struct octet_bits b;

        for (unsigned i = 0; i < OCTET_BLOCK; i++)
            block[i] = (char)(n / OCTET_BLOCK * (i + 1 + n));
        b = octet_bits(block);
        octet_fold(folded, block);
        for (unsigned i = 0; i < OCTET_BLOCK; i++) {
            char c = block[i];
            bool space = ascii_is_space(c);

            ck_assert_uint_eq(b.digits >> i & 1, ascii_is_digit(c));
            ck_assert_uint_eq(b.letters >> i & 1, ascii_is_letter(c));
            ck_assert_uint_eq(b.high >> i & 1, (unsigned char)c >= 0x80);
            ck_assert_uint_eq(b.spaces >> i & 1, space);
            ck_assert_int_eq(folded[i], space ? ' ' : c);
        }
    }
}
END_TEST

START_TEST(the_next_bit_may_be_the_last_or_none)
{
    ck_assert_uint_eq(octet_next(0, 0), 64);
    ck_assert_uint_eq(octet_next(UINT64_MAX, 64), 64);
    ck_assert_uint_eq(octet_next(UINT64_C(1) << 63, 0), 63);
    ck_assert_uint_eq(octet_next(UINT64_C(1) << 63 | 4, 2), 2);
    ck_assert_uint_eq(octet_next(UINT64_C(1) << 63 | 4, 3), 63);
    ck_assert_uint_eq(octet_below(0), 0);
    ck_assert_uint_eq(octet_below(64), UINT64_MAX);
}
END_TEST

Suite *suite_octet_block(void)
{
    Suite *s = suite_create("octet_block");
    TCase *t = tcase_create("octet_block");

    tcase_add_test(t, bits_are_those_of_the_octets);
    tcase_add_test(t, the_next_bit_may_be_the_last_or_none);
    suite_add_tcase(s, t);
    return s;
}
