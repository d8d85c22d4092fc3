/* SPDX-License-Identifier: MIT */
/* url_text.c - small helpers of the URL parsers. */
#include "frontier/url/url_text.h"

#include "base/ascii.h"

/* ---- the percent-encode sets of the URL Standard, and their use ---- */

/*
 * The table is written out, not computed, so that a reader can hold it beside
 * section 1.3 ("percent-encoded bytes") and 3.1 (forbidden code points). Each
 * set contains the C0 controls, DEL and all that is not ASCII.
 */

enum {
    P = OCTET_PATH,
    Q = OCTET_QUERY,
    U = OCTET_USERINFO,
    D = OCTET_DOMAIN,
    M = OCTET_MARK,
    R = OCTET_UNRESERVED,
    A = OCTET_UNRESERVED | OCTET_UPPER,
    N = P | Q | U | D, /* always encoded */
    H = P | Q | U | OCTET_HIGH
};

#define X8(v)  v, v, v, v, v, v, v, v
#define X32(v) X8(v), X8(v), X8(v), X8(v)

/* clang-format off */
const uint8_t octet_classes[256] = {
    X32(N),
    /*       !      "      #      $      %      &      '   */
    N,      0,     P|Q|U, N,     0,     D|M,   0,     Q,
    /* (     )      *      +      ,      -      .      /   */
    0,      0,     0,     0,     0,     R,     R,     U|D,
    /* 0 to 7                                              */
    X8(R),
    /* 8     9      :      ;      <      =      >      ?   */
    R,      R,     U|D,   U,     N,     U,     N,     P|U|D,
    /* @     A to G                                        */
    U|D,    A,     A,     A,     A,     A,     A,     A,
    X8(A),
    X8(A),
    /* X     Y      Z      [      \      ]      ^      _   */
    A,      A,     A,     U|D,   U|D|M, U|D,   P|U|D, R,
    /* `     a to g                                        */
    P|U,    R,     R,     R,     R,     R,     R,     R,
    X8(R),
    X8(R),
    /* x     y      z      {      |      }      ~      DEL */
    R,      R,     R,     P|U,   U|D,   P|U,   R,     N,
    X32(H), X32(H), X32(H), X32(H),
};

/* clang-format on */

unsigned octet_classes_of(struct bytes in)
{
    unsigned classes = 0;

    for (size_t i = 0; i < in.len; i++)
        classes |= octet_class(in.at[i]);
    return classes;
}

static void add_escape(struct buf *out, char c)
{
    static const char hex[] = "0123456789ABCDEF";
    unsigned u = (unsigned char)c;
    char escape[3] = {'%', hex[u >> 4], hex[u & 15]};

    buf_add(out, escape, sizeof escape);
}

void percent_encode(struct buf *out, struct bytes in, enum octet_class set)
{
    size_t i = 0;

    while (i < in.len) {
        size_t run = i;

        while (i < in.len && !(octet_class(in.at[i]) & set))
            i++;
        buf_add(out, in.at + run, i - run);
        for (; i < in.len && octet_class(in.at[i]) & set; i++)
            add_escape(out, in.at[i]);
    }
}

void percent_decode(struct buf *out, struct bytes in)
{
    for (size_t i = 0; i < in.len; i++) {
        int high = -1, low = -1;

        if (in.at[i] == '%' && in.len - i > 2) {
            high = ascii_hex(in.at[i + 1]);
            low = ascii_hex(in.at[i + 2]);
        }
        if (high < 0 || low < 0) {
            buf_add_char(out, in.at[i]);
        } else {
            buf_add_char(out, (char)(high << 4 | low));
            i += 2;
        }
    }
}

/* ---- decoding text that should be UTF-8 but may not be ---- */

/*
 * As in the Encoding Standard, section 8.1.1: the first octet says how many
 * follow and within which bounds the second must lie; those bounds exclude
 * overlong forms, surrogates and code points above U+10FFFF.
 */

struct lead {
    int more;              /* octets that follow */
    unsigned char low, up; /* bounds of the second octet */
    uint32_t bits;         /* the bits in the first octet */
};

static struct lead lead_of(unsigned char c)
{
    if (c >= 0xc2 && c <= 0xdf)
        return (struct lead){1, 0x80, 0xbf, c & 0x1fu};
    if (c >= 0xe0 && c <= 0xef)
        return (struct lead){2, c == 0xe0 ? 0xa0 : 0x80,
                             c == 0xed ? 0x9f : 0xbf, c & 0x0fu};
    if (c >= 0xf0 && c <= 0xf4)
        return (struct lead){3, c == 0xf0 ? 0x90 : 0x80,
                             c == 0xf4 ? 0x8f : 0xbf, c & 0x07u};
    return (struct lead){0, 0, 0, 0xfffd};
}

uint32_t utf8_next(const char **at, const char *end)
{
    unsigned char c = (unsigned char)*(*at)++;
    struct lead l;

    if (c < 0x80)
        return c;
    l = lead_of(c);
    for (; l.more > 0; l.more--) {
        if (*at == end)
            return 0xfffd;
        c = (unsigned char)**at;
        if (c < l.low || c > l.up)
            return 0xfffd; /* and read this octet again */
        l.bits = l.bits << 6 | (c & 0x3fu);
        l.low = 0x80;
        l.up = 0xbf;
        (*at)++;
    }
    return l.bits;
}

void utf8_add_clean(struct buf *out, struct bytes in)
{
    const char *at = in.at, *end = in.at + in.len;

    while (at < end) {
        const char *run = at;

        while (at < end && (unsigned char)*at < 0x80)
            at++;
        buf_add(out, run, (size_t)(at - run));
        if (at < end)
            buf_add_utf8(out, utf8_next(&at, end));
    }
}
