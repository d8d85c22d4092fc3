/* SPDX-License-Identifier: MIT */
/*
 * charset_encode.c - queries in a page's encoding.
 *
 * The encoders of the Encoding Standard, for links on pages that are not in
 * UTF-8: a browser that sends the same form sends the same octets. A code point
 * that the encoding lacks is written as a numeric reference, percent-encoded
 * (URL Standard, "percent-encode after encoding").
 */
#include "crawler/charset/charset.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "crawler/charset/charset_index.h"
#include "crawler/charset/charset_tables.h"
#include "frontier/url/utf8.h"

struct encoder {
    struct url_encoder face; /* must be first: its address is the encoder's */
    const struct charset *charset;
};

static void add_pair(struct buf *out, uint32_t lead, uint32_t trail)
{
    const char pair[2] = {(char)lead, (char)trail};

    buf_add(out, pair, 2);
}

/* A range that excludes no pointer, for index_pointer(). */
#define NO_GAP UINT32_MAX, UINT32_MAX

static bool add_single(const struct charset *c, uint32_t u, struct buf *out)
{
    for (unsigned i = 0; i < 128; i++)
        if (c->high[i] == u && u != 0) {
            buf_add_char(out, (char)(0x80 + i));
            return true;
        }
    return false;
}

static bool add_big5(uint32_t u, struct buf *out)
{
    uint32_t p, trail;

    /* The rows before 0xA1 (Hong Kong) are decoded but never written. */
    if (!index_pointer(INDEX_BIG5, u, 0, (0xa1 - 0x81) * 157 - 1, &p))
        return false;
    trail = p % 157;
    add_pair(out, p / 157 + 0x81, trail + (trail < 0x3f ? 0x40 : 0x62));
    return true;
}

static bool add_euc_kr(uint32_t u, struct buf *out)
{
    uint32_t p;

    if (!index_pointer(INDEX_EUC_KR, u, NO_GAP, &p))
        return false;
    add_pair(out, p / 190 + 0x81, p % 190 + 0x41);
    return true;
}

/* GB 18030-2022 took 18 code points out of the private use area. Pages and
 * servers of before still have the former ones, so both are written as the same
 * octets (Encoding Standard, section 10.2.2). */
static uint32_t fold_chinese(uint32_t u)
{
    static const uint16_t moved[][2] = {
        {0xe78d, 0xfe10}, {0xe78e, 0xfe12}, {0xe78f, 0xfe11}, {0xe790, 0xfe13},
        {0xe791, 0xfe14}, {0xe792, 0xfe15}, {0xe793, 0xfe16}, {0xe794, 0xfe17},
        {0xe795, 0xfe18}, {0xe796, 0xfe19}, {0xe81e, 0x9fb4}, {0xe826, 0x9fb5},
        {0xe82b, 0x9fb6}, {0xe82c, 0x9fb7}, {0xe832, 0x9fb8}, {0xe843, 0x9fb9},
        {0xe854, 0x9fba}, {0xe864, 0x9fbb},
    };

    for (size_t i = 0; i < sizeof moved / sizeof *moved; i++)
        if (moved[i][0] == u)
            return moved[i][1];
    return u;
}

static bool add_gb(uint32_t u, bool gbk, struct buf *out)
{
    uint32_t p, trail;

    u = fold_chinese(u);
    if (u == 0xe5e5)
        return false;
    if (gbk && u == 0x20ac) {
        buf_add_char(out, '\x80');
        return true;
    }
    if (index_pointer(INDEX_GB18030, u, NO_GAP, &p)) {
        trail = p % 190;
        add_pair(out, p / 190 + 0x81, trail + (trail < 0x3f ? 0x40 : 0x41));
        return true;
    }
    if (gbk)
        return false;
    p = gb18030_pointer(u);
    add_pair(out, p / 12600 + 0x81, p / 1260 % 10 + 0x30);
    add_pair(out, p / 10 % 126 + 0x81, p % 10 + 0x30);
    return true;
}

static bool is_half_katakana(uint32_t u)
{
    return u >= 0xff61 && u <= 0xff9f;
}

/* Maps characters that Shift_JIS and EUC-JP have as one octet or with another
 * code point. */
static uint32_t fold_japanese(uint32_t u)
{
    return u == 0xa5 ? '\\' : u == 0x203e ? '~' : u == 0x2212 ? 0xff0d : u;
}

static bool add_shift_jis(uint32_t u, struct buf *out)
{
    uint32_t p, lead, trail;

    u = fold_japanese(u);
    if (u <= 0x80) {
        buf_add_char(out, (char)u);
        return true;
    }
    if (is_half_katakana(u)) {
        buf_add_char(out, (char)(u - 0xff61 + 0xa1));
        return true;
    }
    /* NEC's row repeats IBM's; write IBM's. */
    if (!index_pointer(INDEX_JIS0208, u, 8272, 8835, &p))
        return false;
    lead = p / 188;
    trail = p % 188;
    add_pair(out, lead + (lead < 0x1f ? 0x81 : 0xc1),
             trail + (trail < 0x3f ? 0x40 : 0x41));
    return true;
}

static bool add_euc_jp(uint32_t u, struct buf *out)
{
    uint32_t p;

    u = fold_japanese(u);
    if (u < 0x80) {
        buf_add_char(out, (char)u);
        return true;
    }
    if (is_half_katakana(u)) {
        add_pair(out, 0x8e, u - 0xff61 + 0xa1);
        return true;
    }
    if (!index_pointer(INDEX_JIS0208, u, NO_GAP, &p))
        return false;
    add_pair(out, p / 94 + 0xa1, p % 94 + 0xa1);
    return true;
}

/* ---- ISO-2022-JP: which set is switched to matters ----------------------- */

enum jis_set { JIS_ASCII, JIS_ROMAN, JIS_TWO };

static void switch_set(enum jis_set *now, enum jis_set to, struct buf *out)
{
    static const char escapes[][4] = {"\x1b(B", "\x1b(J", "\x1b$B"};

    if (*now != to)
        buf_add(out, escapes[to], 3);
    *now = to;
}

/* Full-width forms of U+FF61 and on. */
static const uint16_t full_katakana[63] = {
    0x3002, 0x300c, 0x300d, 0x3001, 0x30fb, 0x30f2, 0x30a1, 0x30a3, 0x30a5,
    0x30a7, 0x30a9, 0x30e3, 0x30e5, 0x30e7, 0x30c3, 0x30fc, 0x30a2, 0x30a4,
    0x30a6, 0x30a8, 0x30aa, 0x30ab, 0x30ad, 0x30af, 0x30b1, 0x30b3, 0x30b5,
    0x30b7, 0x30b9, 0x30bb, 0x30bd, 0x30bf, 0x30c1, 0x30c4, 0x30c6, 0x30c8,
    0x30ca, 0x30cb, 0x30cc, 0x30cd, 0x30ce, 0x30cf, 0x30d2, 0x30d5, 0x30d8,
    0x30db, 0x30de, 0x30df, 0x30e0, 0x30e1, 0x30e2, 0x30e4, 0x30e6, 0x30e8,
    0x30e9, 0x30ea, 0x30eb, 0x30ec, 0x30ed, 0x30ef, 0x30f3, 0x309b, 0x309c,
};

static bool add_iso_2022_jp(uint32_t u, enum jis_set *set, struct buf *out)
{
    uint32_t p;

    if (u == 0xa5 || u == 0x203e) {
        switch_set(set, JIS_ROMAN, out);
        buf_add_char(out, u == 0xa5 ? '\\' : '~');
        return true;
    }
    if (u < 0x80) {
        if (*set == JIS_TWO || u == '\\' || u == '~')
            switch_set(set, JIS_ASCII, out);
        /* Octets that would switch sets themselves must not be written. */
        if (u == 0x0e || u == 0x0f || u == 0x1b)
            buf_add_str(out, "%26%2365533%3B");
        else
            buf_add_char(out, (char)u);
        return true;
    }
    if (u == 0x2212)
        u = 0xff0d;
    if (is_half_katakana(u))
        u = full_katakana[u - 0xff61];
    if (!index_pointer(INDEX_JIS0208, u, NO_GAP, &p)) {
        if (*set == JIS_TWO)
            switch_set(set, JIS_ASCII, out);
        return false;
    }
    switch_set(set, JIS_TWO, out);
    add_pair(out, p / 94 + 0x21, p % 94 + 0x21);
    return true;
}

/* ---- all of them --------------------------------------------------------- */

static bool add_of(const struct charset *c, uint32_t u, enum jis_set *set,
                   struct buf *out)
{
    if (c->kind == CHARSET_ISO_2022_JP)
        return add_iso_2022_jp(u, set, out);
    if (u < 0x80) {
        buf_add_char(out, (char)u);
        return true;
    }
    switch (c->kind) {
    case CHARSET_BIG5:
        return add_big5(u, out);
    case CHARSET_EUC_KR:
        return add_euc_kr(u, out);
    case CHARSET_GBK:
    case CHARSET_GB18030:
        return add_gb(u, c->kind == CHARSET_GBK, out);
    case CHARSET_SHIFT_JIS:
        return add_shift_jis(u, out);
    case CHARSET_EUC_JP:
        return add_euc_jp(u, out);
    case CHARSET_USER_DEFINED:
        if (u < 0xf780 || u > 0xf7ff)
            return false;
        buf_add_char(out, (char)(u - 0xf780 + 0x80));
        return true;
    default:
        return add_single(c, u, out);
    }
}

static void encode(void *ctx, struct bytes in, struct buf *out)
{
    const struct encoder *e = ctx;
    const char *at = in.at, *end = in.at + in.len;
    enum jis_set set = JIS_ASCII;

    while (at < end) {
        uint32_t u = utf8_next(&at, end);

        if (!add_of(e->charset, u, &set, out))
            buf_addf(out, "%%26%%23%u%%3B", (unsigned)u);
    }
    switch_set(&set, JIS_ASCII, out);
}

struct url_encoder *charset_encoder_new(const struct charset *c)
{
    struct encoder *e;

    if (c->kind == CHARSET_UTF8 || c->kind == CHARSET_UTF16LE ||
        c->kind == CHARSET_UTF16BE || c->kind == CHARSET_REPLACEMENT)
        return NULL;
    e = xmalloc(sizeof *e);
    *e = (struct encoder){.face = {.encode = encode, .ctx = e}, .charset = c};
    return &e->face;
}

void charset_encoder_free(struct url_encoder *e)
{
    free(e);
}
