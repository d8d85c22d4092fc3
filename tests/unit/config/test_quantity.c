/* SPDX-License-Identifier: MIT */

#include "config/quantity.h"
#include "tests/unit/unit.h"

static const struct {
    const char *text;
    uint64_t value;
} sizes[] =
    {
        {"0", 0},
        {"512", 512},
        {"1K", 1024},
        {"4M", 4194304},
        {"1.5G", 1610612736},
        {"0.5K", 512},
        {"1k", 1024},
        {"2g", UINT64_C(2) << 30},
        {"1.9999", 1},
        {"18446744073709551615", UINT64_MAX},
},
  times[] = {
      {"0", 0},       {"1", 1000},    {"1.5", 1500},   {"100ms", 100},
      {"1.5s", 1500}, {"5m", 300000}, {"2h", 7200000}, {"1d", 86400000},
      {"0.1", 100},   {".5s", 500},   {"2.s", 2000},   {"0.001", 1},
      {"1.9ms", 1},
};

TEST_EACH(reads_sizes_in_powers_of_1024, sizes)
{
    uint64_t v = 1;

    ck_ok(quantity_size(bytes_of_str(sizes[_i].text), &v));
    ck_assert_uint_eq(v, sizes[_i].value);
}

TEST_EACH(reads_times_to_the_millisecond, times)
{
    int64_t v = 1;

    ck_ok(quantity_time(bytes_of_str(times[_i].text), &v));
    ck_assert_int_eq(v, (int64_t)times[_i].value);
}

TEST(reads_counts_that_a_unit_makes_whole)
{
    static const struct {
        const char *text;
        int64_t value;
    } counts[] = {{"0", 0},           {"500", 500},
                  {"10K", 10000},     {"10k", 10000},
                  {"1.5M", 1500000},  {"0.0005M", 500},
                  {"3G", 3000000000}, {"9223372036854775807", INT64_MAX}};
    static const char *const no_counts[] = {"1.5", "1.0005K", "1m", "1g", "1T"};
    int64_t n;

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        n = 7;
        ck_ok(quantity_count(bytes_of_str(counts[i].text), &n));
        ck_assert_int_eq(n, counts[i].value);
    }
    for (size_t i = 0; i < sizeof no_counts / sizeof *no_counts; i++)
        ck_assert_int_eq(quantity_count(bytes_of_str(no_counts[i]), &n),
                         STATUS_FORMAT);
    ck_assert_int_eq(quantity_count(bytes_of_str("9223372037G"), &n),
                     STATUS_LIMIT);
}

static const char *const nonsense[] = {
    "",
    " 1",
    "1 ",
    "-1",
    "+1",
    "1e3",
    "0x10",
    "K",
    ".",
    "1..2",
    "1.2.3",
    "1KB",
    "1kb",
    "1 K",
    "1,5",
    "inf",
    "nan",
    "none",
    "1.0000000001K",
    "1mss",
    "1w",
    "\xc2\xb2",
};

TEST_EACH(refuses_what_only_looks_like_a_number, nonsense)
{
    struct bytes text = bytes_of_str(nonsense[_i]);
    uint64_t u = 7;
    int64_t t = 7, n = 7;

    ck_assert_int_eq(quantity_size(text, &u), STATUS_FORMAT);
    ck_assert_int_eq(quantity_time(text, &t), STATUS_FORMAT);
    ck_assert_int_eq(quantity_count(text, &n), STATUS_FORMAT);
    ck_assert_uint_eq(u, 7);
    ck_assert_int_eq(t, 7);
    ck_assert_int_eq(n, 7);
}

TEST(refuses_what_does_not_fit_64_bits)
{
    uint64_t u;
    int64_t t;

    ck_assert_int_eq(quantity_size(bytes_of_str("18446744073709551616"), &u),
                     STATUS_LIMIT);
    ck_assert_int_eq(quantity_size(bytes_of_str("17179869184G"), &u),
                     STATUS_LIMIT);
    ck_assert_int_eq(quantity_time(bytes_of_str("106751991168d"), &t),
                     STATUS_LIMIT);
    ck_assert_int_eq(quantity_count(bytes_of_str("9223372036854775808"), &t),
                     STATUS_LIMIT);
}

/* 0.5 ms would silently become no delay at all. */
TEST(ours_makes_nothing_of_something_for_nobody)
{
    int64_t t;
    uint64_t u;

    ck_assert_int_eq(quantity_time(bytes_of_str("0.5ms"), &t), STATUS_FORMAT);
    ck_assert_int_eq(quantity_time(bytes_of_str("0.0001"), &t), STATUS_FORMAT);
    ck_assert_int_eq(quantity_size(bytes_of_str("0.5"), &u), STATUS_FORMAT);
}

TEST(reads_fractions_with_exponents)
{
    double f;

    ck_ok(quantity_fraction(bytes_of_str("1e-3"), &f));
    ck_assert_double_eq(f, 0.001);
    ck_ok(quantity_fraction(bytes_of_str("0.00000000012"), &f));
    ck_assert_double_eq(f, 0.00000000012);
    ck_assert_int_eq(quantity_fraction(bytes_of_str("1e"), &f), STATUS_FORMAT);
    ck_assert_int_eq(quantity_fraction(bytes_of_str("0x1p-3"), &f),
                     STATUS_FORMAT);
    ck_assert_int_eq(quantity_fraction(bytes_of_str("1e999"), &f),
                     STATUS_LIMIT);
    ck_assert_int_eq(quantity_fraction(bytes_of_str("nan"), &f), STATUS_FORMAT);
}

static void size_text(uint64_t v, const char *want)
{
    uint64_t back = 0;
    struct buf b;

    buf_init(&b, 100);
    quantity_add_size(&b, v);
    ck_assert_str_eq(buf_str(&b), want);
    ck_ok(quantity_size(buf_bytes(&b), &back));
    ck_assert_uint_eq(back, v);
    buf_fini(&b);
}

static void time_text(int64_t v, const char *want)
{
    int64_t back = 0;
    struct buf b;

    buf_init(&b, 100);
    quantity_add_time(&b, v);
    ck_assert_str_eq(buf_str(&b), want);
    ck_ok(quantity_time(buf_bytes(&b), &back));
    ck_assert_int_eq(back, v);
    buf_fini(&b);
}

TEST(writes_the_largest_unit_that_is_exact)
{
    size_text(0, "0");
    size_text(1023, "1023");
    size_text(1536, "1536");
    size_text(4 << 20, "4M");
    size_text(UINT64_C(3) << 30, "3G");
    time_text(0, "0s");
    time_text(1, "1ms");
    time_text(1500, "1500ms");
    time_text(90000, "90s");
    time_text(86400000, "1d");
}

TEST(writes_fractions_that_read_back)
{
    static const double values[] = {0.001, 0.1, 1e-9, 1.0 / 3, 0.5};

    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        double back = 0;
        struct buf b;

        buf_init(&b, 100);
        quantity_add_fraction(&b, values[i]);
        ck_ok(quantity_fraction(buf_bytes(&b), &back));
        ck_assert(back == values[i]);
        buf_fini(&b);
    }
}
