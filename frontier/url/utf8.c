/* SPDX-License-Identifier: MIT */
/*
 * utf8.c - decoding text that should be UTF-8 but may not be.
 *
 * As in the Encoding Standard, section 8.1.1: the first octet says how many
 * follow and within which bounds the second must lie; those bounds exclude
 * overlong forms, surrogates and code points above U+10FFFF.
 */
#include "frontier/url/utf8.h"

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
