/* SPDX-License-Identifier: MIT */
/*
 * address.c - IP addresses in the spellings the URL Standard knows.
 *
 * inet_aton() and inet_pton() come close but differ where it matters: the first
 * takes trailing white space and no number over 32 bits, and the second is
 * stricter about dotted tails in some libraries than in others.
 */
#include "frontier/url/address.h"

#include <string.h>

#include "base/ascii.h"

/* Parses one part of an IPv4 address; false if it is not a number. A number
 * that does not fit becomes UINT32_MAX + 1, which every caller refuses. */
static bool parse_number(struct bytes in, uint64_t *out)
{
    unsigned radix = 10;
    uint64_t n = 0;

    if (in.len == 0)
        return false;
    if (in.len > 1 && in.at[0] == '0') {
        radix = (in.at[1] | 0x20) == 'x' ? 16 : 8;
        in = bytes_of(in.at + (radix == 16 ? 2 : 1),
                      in.len - (radix == 16 ? 2 : 1));
    }
    for (size_t i = 0; i < in.len; i++) {
        int digit = ascii_hex(in.at[i]);

        if (digit < 0 || (unsigned)digit >= radix)
            return false;
        n = n * radix + (unsigned)digit;
        if (n > UINT32_MAX)
            n = (uint64_t)UINT32_MAX + 1;
    }
    *out = n;
    return true;
}

static bool all_digits(struct bytes in)
{
    for (size_t i = 0; i < in.len; i++)
        if (in.at[i] < '0' || in.at[i] > '9')
            return false;
    return in.len > 0;
}

/* Cuts the text after the last dot off `in`; false if there is no dot, and all
 * of it is the label. */
static bool cut_last_label(struct bytes *in, struct bytes *label)
{
    const char *dot = memrchr(in->at, '.', in->len);
    size_t from = dot == NULL ? 0 : (size_t)(dot - in->at) + 1;

    *label = bytes_of(in->at + from, in->len - from);
    in->len = dot == NULL ? 0 : from - 1;
    return dot != NULL;
}

bool address_ends_in_number(struct bytes domain)
{
    struct bytes last;
    uint64_t n;
    char c = domain.len > 0 ? domain.at[domain.len - 1] : '\0';

    if (c != '.' && c != 'x' && c != 'X' && ascii_hex(c) < 0)
        return false; /* true of nearly every name: skip the rest */
    if (cut_last_label(&domain, &last) && last.len == 0)
        cut_last_label(&domain, &last);
    if (last.len == 0 || last.at[0] < '0' || last.at[0] > '9')
        return false;
    return all_digits(last) || parse_number(last, &n);
}

bool address_parse_ipv4(struct bytes in, uint32_t *out)
{
    uint64_t parts[4], all = 0;
    size_t n = 0;
    struct bytes label;
    bool more;

    if (in.len > 1 && in.at[in.len - 1] == '.')
        in.len--;
    do { /* from the right, so parts[0] is the last */
        if (n == 4)
            return false;
        more = cut_last_label(&in, &label);
        if (!parse_number(label, &parts[n]))
            return false;
        n++;
    } while (more);
    if (parts[0] >= (uint64_t)1 << (8 * (5 - n)))
        return false;
    for (size_t i = n - 1; i > 0; i--) {
        if (parts[i] > 255)
            return false;
        all = all << 8 | parts[i];
    }
    *out = (uint32_t)(all << (8 * (5 - n)) | parts[0]);
    return true;
}

/* The dotted tail of an IPv6 address: four decimal numbers, no leading zeros,
 * which fill two pieces. */
static bool parse_dotted_tail(struct bytes in, uint16_t out[2])
{
    size_t i = 0;

    for (int part = 0; part < 4; part++) {
        unsigned n = 0;
        size_t from;

        if (part > 0 && (i == in.len || in.at[i++] != '.'))
            return false;
        from = i;
        for (; i < in.len && ascii_is_digit(in.at[i]); i++) {
            if (i > from && n == 0)
                return false;
            n = n * 10 + (unsigned)(in.at[i] - '0');
            if (n > 255)
                return false;
        }
        if (i == from)
            return false;
        out[part / 2] = (uint16_t)(part % 2 == 0 ? n << 8 : out[part / 2] | n);
    }
    return i == in.len;
}

/* One to four hexadecimal digits from *i on. */
static bool parse_piece(struct bytes in, size_t *i, uint16_t *out)
{
    size_t from = *i;
    unsigned n = 0;

    for (; *i < in.len && *i - from < 4; (*i)++) {
        int digit = ascii_hex(in.at[*i]);

        if (digit < 0)
            break;
        n = n << 4 | (unsigned)digit;
    }
    *out = (uint16_t)n;
    return *i > from;
}

/* Parses pieces up to the end of `in` and notes the gap of `::` in *gap.
 * Returns their number, or -1 if there are more than eight or the text is not
 * valid. */
static int parse_pieces(struct bytes in, uint16_t out[8], int *gap)
{
    size_t i = 0;
    int n = 0;

    *gap = -1;
    if (in.len >= 2 && in.at[0] == ':' && in.at[1] == ':') {
        *gap = 0;
        i = 2;
    }
    while (i < in.len) {
        size_t from = i;

        if (n == 8 || !parse_piece(in, &i, &out[n]))
            return -1;
        if (i < in.len && in.at[i] == '.') {
            if (n > 6 ||
                !parse_dotted_tail(bytes_of(in.at + from, in.len - from),
                                   &out[n]))
                return -1;
            return n + 2;
        }
        n++;
        if (i == in.len)
            break;
        if (in.at[i++] != ':' || i == in.len)
            return -1;
        if (in.at[i] == ':') {
            if (*gap >= 0)
                return -1;
            *gap = n;
            i++;
        }
    }
    return n;
}

bool address_parse_ipv6(struct bytes in, uint16_t out[8])
{
    int gap, n = parse_pieces(in, out, &gap);

    if (gap < 0)
        return n == 8;
    if (n < 0 || n > 7) /* the gap replaces one piece at least */
        return false;
    memmove(out + gap + 8 - n, out + gap, (size_t)(n - gap) * sizeof *out);
    memset(out + gap, 0, (size_t)(8 - n) * sizeof *out);
    return true;
}

void address_add_ipv4(struct buf *out, uint32_t address)
{
    for (int shift = 24; shift >= 0; shift -= 8) {
        buf_add_uint(out, address >> shift & 255);
        if (shift > 0)
            buf_add_char(out, '.');
    }
}

/* The first longest run of two or more zero pieces; its length is 0 if there is
 * none. */
static int longest_zeros(const uint16_t address[8], int *length)
{
    int best = 0;

    *length = 0;
    for (int i = 0; i < 8; i++) {
        int run = 0;

        while (i + run < 8 && address[i + run] == 0)
            run++;
        if (run > *length && run > 1) {
            best = i;
            *length = run;
        }
        i += run;
    }
    return best;
}

void address_add_ipv6(struct buf *out, const uint16_t address[8])
{
    int zeros, from = longest_zeros(address, &zeros);

    buf_add_char(out, '[');
    for (int i = 0; i < 8; i++) {
        if (zeros > 0 && i == from) {
            buf_add_str(out, "::");
            i += zeros - 1;
            continue;
        }
        if (i > 0 && !(zeros > 0 && i == from + zeros))
            buf_add_char(out, ':');
        buf_addf(out, "%x", (unsigned)address[i]);
    }
    buf_add_char(out, ']');
}
