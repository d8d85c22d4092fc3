/* SPDX-License-Identifier: MIT */
#include <ctype.h>

#include "base/ascii.h"
#include "base/bytes.h"
#include "tests/unit/unit.h"

static bool utf8(const char *s)
{
    return bytes_is_utf8(bytes_of_str(s));
}

/* The first and last code point of each length, and those around the
 * surrogates. */
TEST(rfc3629_4_takes_what_is_well_formed)
{
    ck_assert(utf8(""));
    ck_assert(utf8("a\x7f"));
    ck_assert(utf8("\xc2\x80\xdf\xbf"));
    ck_assert(utf8("\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf"));
    ck_assert(utf8("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"));
    ck_assert(bytes_is_utf8(bytes_of("a\0b", 3)));
}

TEST(rfc3629_10_refuses_what_is_not)
{
    static const char *const bad[] = {
        "\x80",
        "\xbf",
        "\xc0\x80",
        "\xc1\xbf",
        "\xc2",
        "\xc2z",
        "\xe0\x9f\xbf",
        "\xe2\x82",
        "\xe2\x82z",
        "\xed\xa0\x80",
        "\xed\xbf\xbf",
        "\xf0\x8f\xbf\xbf",
        "\xf0\x9f\x98",
        "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80",
        "\xff",
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_msg(!utf8(bad[i]), "%zu", i);
        ck_assert_uint_eq(bytes_utf8_length(bytes_of_str(bad[i])), 0);
    }
}

TEST(never_reads_past_the_end)
{
    ck_assert_uint_eq(bytes_utf8_length(bytes_of("\xe2\x82\xac", 2)), 0);
    ck_assert_uint_eq(bytes_utf8_length(bytes_of("\xe2\x82\xac", 3)), 3);
}

static const struct {
    const char *text;
    uint64_t most, is;
    bool fits;
} numbers[] = {
    {"0", 0, 0, true},
    {"65535", 65535, 65535, true},
    {"65536", 65535, 0, false},
    {"000080", 65535, 0, false}, /* no more digits than the limit has */
    {"18446744073709551615", UINT64_MAX, UINT64_MAX, true},
    {"18446744073709551616", UINT64_MAX, 0, false},
    {"99999999999999999999", UINT64_MAX, 0, false},
    {"", 9, 0, false},
    {"-1", 65535, 0, false},
    {"+1", 65535, 0, false},
    {" 1", 65535, 0, false},
    {"1x", 65535, 0, false},
};

TEST_EACH(a_number_is_digits_up_to_its_limit, numbers)
{
    uint64_t n = 0;

    ck_assert_int_eq(bytes_number(bytes_of_str(numbers[_i].text),
                                  numbers[_i].most, &n),
                     numbers[_i].fits);
    ck_assert_uint_eq(n, numbers[_i].is);
}
