/* SPDX-License-Identifier: MIT */
/*
 * quantity.c - numbers, sizes and times as people write them.
 *
 * Read digit by digit into integers, not through strtod: that takes hex, inf,
 * leading spaces and the locale's decimal point, and 0.1 s must be 100 ms to
 * the last bit.
 */
#include "config/quantity.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/ascii.h"

#define FRACTION_DIGITS 9 /* 1G times 10^9 still fits 64 bits */

struct unit {
    const char *suffix;
    uint64_t worth;
};

static const struct unit size_units[] = {
    {"G", UINT64_C(1) << 30},
    {"M", UINT64_C(1) << 20},
    {"K", UINT64_C(1) << 10},
    {"g", UINT64_C(1) << 30},
    {"m", UINT64_C(1) << 20},
    {"k", UINT64_C(1) << 10},
    {"", 1},
};
static const struct unit count_units[] = {
    {"G", 1000000000}, {"M", 1000000}, {"K", 1000}, {"k", 1000}, {"", 1},
};
static const struct unit time_units[] = {
    {"d", 86400000}, {"h", 3600000}, {"m", 60000},
    {"s", 1000},     {"ms", 1},      {"", 1000},
};
#define LENGTH(a) (sizeof(a) / sizeof *(a))

/* A decimal number taken apart: whole + part / scale. */
struct decimal {
    uint64_t whole, part, scale;
    bool huge; /* `whole` needs more than 64 bits */
    bool fine; /* the fraction has more than FRACTION_DIGITS */
};

/* Takes digits off the front of *text into *n; returns how many. */
static size_t take_digits(struct bytes *text, uint64_t *n, bool *huge)
{
    size_t count = 0;

    while (text->len > 0 && ascii_is_digit(text->at[0])) {
        uint64_t digit = (uint64_t)(text->at[0] - '0');

        if (__builtin_mul_overflow(*n, 10, n) ||
            __builtin_add_overflow(*n, digit, n))
            *huge = true;
        text->at++;
        text->len--;
        count++;
    }
    return count;
}

/* Takes "12", "1.5", ".5", "1."; *text keeps what follows. */
static bool take_decimal(struct bytes *text, struct decimal *d)
{
    size_t before, after = 0;

    *d = (struct decimal){.scale = 1};
    before = take_digits(text, &d->whole, &d->huge);
    if (text->len > 0 && text->at[0] == '.') {
        bool overflow = false;

        text->at++;
        text->len--;
        after = take_digits(text, &d->part, &overflow);
        d->fine = after > FRACTION_DIGITS;
        for (size_t i = 0; i < after && !d->fine; i++)
            d->scale *= 10;
    }
    return before + after > 0;
}

/* `exact`: refuses a number that the unit does not make whole. */
static enum status read_units(struct bytes text, const struct unit *units,
                              size_t count, bool exact, uint64_t *value)
{
    struct decimal d;
    uint64_t v;

    if (!take_decimal(&text, &d) || d.fine)
        return STATUS_FORMAT;
    for (size_t i = 0; i < count; i++) {
        if (!bytes_is(text, units[i].suffix))
            continue;
        if (d.huge || __builtin_mul_overflow(d.whole, units[i].worth, &v))
            return STATUS_LIMIT;
        if (__builtin_add_overflow(v, d.part * units[i].worth / d.scale, &v))
            return STATUS_LIMIT;
        if ((v == 0 && d.whole + d.part > 0) ||
            (exact && d.part * units[i].worth % d.scale != 0))
            return STATUS_FORMAT;
        *value = v;
        return STATUS_OK;
    }
    return STATUS_FORMAT;
}

enum status quantity_count(struct bytes text, int64_t *n)
{
    uint64_t v;
    enum status st =
        read_units(text, count_units, LENGTH(count_units), true, &v);

    if (st == STATUS_OK && v > INT64_MAX)
        return STATUS_LIMIT;
    if (st == STATUS_OK)
        *n = (int64_t)v;
    return st;
}

enum status quantity_size(struct bytes text, uint64_t *bytes)
{
    return read_units(text, size_units, LENGTH(size_units), false, bytes);
}

enum status quantity_time(struct bytes text, int64_t *ms)
{
    uint64_t v;
    enum status st =
        read_units(text, time_units, LENGTH(time_units), false, &v);

    if (st != STATUS_OK)
        return st;
    if (v > INT64_MAX)
        return STATUS_LIMIT;
    *ms = (int64_t)v;
    return STATUS_OK;
}

/* [digits][.digits][e[sign]digits], with a digit before the exponent. */
static bool is_fraction(struct bytes text)
{
    struct decimal d;

    if (!take_decimal(&text, &d))
        return false;
    if (text.len == 0)
        return true;
    if (text.at[0] != 'e' && text.at[0] != 'E')
        return false;
    text = bytes_of(text.at + 1, text.len - 1);
    if (text.len > 0 && (text.at[0] == '-' || text.at[0] == '+'))
        text = bytes_of(text.at + 1, text.len - 1);
    return text.len <= 3 && take_digits(&text, &d.whole, &d.huge) > 0 &&
           text.len == 0;
}

enum status quantity_fraction(struct bytes text, double *f)
{
    char copy[64];
    double v;

    if (text.len >= sizeof copy || !is_fraction(text))
        return STATUS_FORMAT;
    memcpy(copy, text.at, text.len);
    copy[text.len] = '\0';
    v = strtod(copy, NULL); /* the program always runs in the C locale */
    if (!isfinite(v))
        return STATUS_LIMIT;
    *f = v;
    return STATUS_OK;
}

void quantity_add_size(struct buf *out, uint64_t bytes)
{
    for (size_t i = 0; i < 3; i++)
        if (bytes > 0 && bytes % size_units[i].worth == 0) {
            buf_addf(out, "%" PRIu64 "%s", bytes / size_units[i].worth,
                     size_units[i].suffix);
            return;
        }
    buf_add_uint(out, bytes);
}

void quantity_add_time(struct buf *out, int64_t ms)
{
    uint64_t v = (uint64_t)ms;

    for (size_t i = 0; i < 4; i++)
        if (v > 0 && v % time_units[i].worth == 0) {
            buf_addf(out, "%" PRIu64 "%s", v / time_units[i].worth,
                     time_units[i].suffix);
            return;
        }
    buf_add_uint(out, v);
    buf_add_str(out, v == 0 ? "s" : "ms");
}

void quantity_add_fraction(struct buf *out, double f)
{
    char text[40];

    /* 17 digits always read back as the same value (IEEE 754 double); fewer
     * usually do. */
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, f);
        if (strtod(text, NULL) == f)
            break;
    }
    buf_add_str(out, text);
}
