/* SPDX-License-Identifier: MIT */
/*
 * charset_decode.c - the decoders of the Encoding Standard, to UTF-8.
 *
 * Each is a function from the next octets to one code point. The standard also
 * says how many octets of a bad sequence are consumed (section 4.3 on): an
 * ASCII octet after a lead is always read again, so that a broken character
 * cannot swallow a quote or a `<`.
 */
#include "crawler/charset/charset.h"

#include <stdint.h>

#include "crawler/charset/charset_index.h"
#include "crawler/charset/charset_tables.h"
#include "frontier/url/utf8.h"

#define BAD 0xfffd

typedef unsigned char octet;

/* The input still to read; at < end whenever a decoder is called. */
struct reader {
    const octet *at, *end;
    struct buf *out;
};

static bool within(unsigned c, unsigned low, unsigned high)
{
    return c >= low && c <= high;
}

/* ---- UTF-8 --------------------------------------------------------------- */

/* The first octet that is not ASCII. */
static const char *ascii_until(const char *at, const char *end)
{
    uint64_t v[4];

    while (end - at >= (ptrdiff_t)sizeof v) {
        memcpy(v, at, sizeof v);
        if ((v[0] | v[1] | v[2] | v[3]) & UINT64_C(0x8080808080808080))
            break;
        at += sizeof v;
    }
    while (at < end && (octet)*at < 0x80)
        at++;
    return at;
}

/* The first octet that is not part of valid UTF-8. */
static const char *valid_until(const char *at, const char *end)
{
    while ((at = ascii_until(at, end)) < end) {
        const char *begin = at;

        if (utf8_next(&at, end) == BAD &&
            (at - begin != 3 || memcmp(begin, "\xef\xbf\xbd", 3) != 0))
            return begin;
    }
    return end;
}

static void decode_utf8(struct bytes in, struct buf *out)
{
    const char *at = in.at, *end = in.at + in.len;

    while (at < end) {
        const char *stop = valid_until(at, end);

        buf_add(out, at, (size_t)(stop - at));
        at = stop;
        if (at < end)
            buf_add_utf8(out, utf8_next(&at, end));
    }
}

/* ---- one code point at a time -------------------------------------------- */

static uint32_t utf16_unit(const octet *p, bool big)
{
    return big ? (uint32_t)p[0] << 8 | p[1] : (uint32_t)p[1] << 8 | p[0];
}

static uint32_t next_utf16(struct reader *r, bool big)
{
    uint32_t u, low;

    if (r->end - r->at < 2) {
        r->at = r->end;
        return BAD;
    }
    u = utf16_unit(r->at, big);
    r->at += 2;
    if (!within(u, 0xd800, 0xdfff))
        return u;
    if (u >= 0xdc00)
        return BAD;
    if (r->end - r->at < 2) {
        r->at = r->end;
        return BAD;
    }
    low = utf16_unit(r->at, big);
    if (!within(low, 0xdc00, 0xdfff))
        return BAD;
    r->at += 2;
    return 0x10000 + ((u - 0xd800) << 10) + (low - 0xdc00);
}

/* Ends a two-octet sequence whose second octet is at r->at: returns its code
 * point, or U+FFFD, in which case an ASCII octet is read again. */
static uint32_t end_pair(struct reader *r, uint32_t code_point)
{
    if (code_point != 0 || *r->at >= 0x80)
        r->at++;
    return code_point != 0 ? code_point : BAD;
}

static uint32_t next_big5(struct reader *r)
{
    octet lead = *r->at++, trail;
    uint32_t pointer;

    if (lead < 0x80)
        return lead;
    if (!within(lead, 0x81, 0xfe) || r->at == r->end)
        return BAD;
    trail = *r->at;
    if (!within(trail, 0x40, 0x7e) && !within(trail, 0xa1, 0xfe))
        return end_pair(r, 0);
    pointer = (lead - 0x81u) * 157 + trail - (trail < 0x7f ? 0x40 : 0x62);
    if (pointer == 1133 || pointer == 1135 || pointer == 1164 ||
        pointer == 1166) {
        r->at++;
        buf_add_utf8(r->out, pointer < 1164 ? 0xca : 0xea);
        return pointer == 1133 || pointer == 1164 ? 0x304 : 0x30c;
    }
    return end_pair(r, index_code_point(INDEX_BIG5, pointer));
}

static uint32_t next_euc_kr(struct reader *r)
{
    octet lead = *r->at++, trail;

    if (lead < 0x80)
        return lead;
    if (!within(lead, 0x81, 0xfe) || r->at == r->end)
        return BAD;
    trail = *r->at;
    if (!within(trail, 0x41, 0xfe))
        return end_pair(r, 0);
    return end_pair(r, index_code_point(INDEX_EUC_KR,
                                        (lead - 0x81u) * 190 + trail - 0x41u));
}

static uint32_t next_shift_jis(struct reader *r)
{
    octet lead = *r->at++, trail;
    uint32_t pointer;

    if (lead <= 0x80)
        return lead;
    if (within(lead, 0xa1, 0xdf))
        return 0xff61u - 0xa1 + lead;
    if ((!within(lead, 0x81, 0x9f) && !within(lead, 0xe0, 0xfc)) ||
        r->at == r->end)
        return BAD;
    trail = *r->at;
    if (!within(trail, 0x40, 0x7e) && !within(trail, 0x80, 0xfc))
        return end_pair(r, 0);
    pointer = (lead - (lead < 0xa0 ? 0x81u : 0xc1u)) * 188 + trail -
              (trail < 0x7f ? 0x40 : 0x41);
    if (within(pointer, 8836, 10715))
        return end_pair(r, 0xe000 - 8836 + pointer);
    return end_pair(r, index_code_point(INDEX_JIS0208, pointer));
}

static uint32_t next_euc_jp(struct reader *r)
{
    octet lead = *r->at++;
    enum charset_index id = INDEX_JIS0208;

    if (lead < 0x80)
        return lead;
    if ((lead != 0x8e && lead != 0x8f && !within(lead, 0xa1, 0xfe)) ||
        r->at == r->end)
        return BAD;
    if (lead == 0x8e && within(*r->at, 0xa1, 0xdf))
        return 0xff61u - 0xa1 + *r->at++;
    if (lead == 0x8f && within(*r->at, 0xa1, 0xfe)) {
        id = INDEX_JIS0212;
        lead = *r->at++;
        if (r->at == r->end)
            return BAD;
    }
    if (!within(lead, 0xa1, 0xfe) || !within(*r->at, 0xa1, 0xfe))
        return end_pair(r, 0);
    return end_pair(r,
                    index_code_point(id, (lead - 0xa1u) * 94 + *r->at - 0xa1u));
}

/* A lead and a digit begin a sequence of four octets. If it is bad, only the
 * lead is consumed. */
static uint32_t next_gb18030_four(struct reader *r, octet lead)
{
    const octet *p = r->at;
    uint32_t pointer, c;

    if (r->end - p < 3) {
        /* A sequence that is cut by the end of the page is a single error. */
        if (r->end - p == 1 || within(p[1], 0x81, 0xfe))
            r->at = r->end;
        return BAD;
    }
    if (!within(p[1], 0x81, 0xfe) || !within(p[2], 0x30, 0x39))
        return BAD;
    pointer = ((lead - 0x81u) * 10 + p[0] - 0x30u) * 1260 +
              (p[1] - 0x81u) * 10 + p[2] - 0x30u;
    r->at += 3;
    c = gb18030_code_point(pointer);
    return c != 0 ? c : BAD;
}

static uint32_t next_gb18030(struct reader *r)
{
    octet lead = *r->at++, trail;

    if (lead < 0x80)
        return lead;
    if (lead == 0x80)
        return 0x20ac;
    if (lead == 0xff || r->at == r->end)
        return BAD;
    trail = *r->at;
    if (within(trail, 0x30, 0x39))
        return next_gb18030_four(r, lead);
    if (!within(trail, 0x40, 0x7e) && !within(trail, 0x80, 0xfe))
        return end_pair(r, 0);
    return end_pair(r, index_code_point(INDEX_GB18030,
                                        (lead - 0x81u) * 190 + trail -
                                            (trail < 0x7f ? 0x40 : 0x41)));
}

/* ---- ISO-2022-JP --------------------------------------------------------- */

enum jis_state { JIS_ASCII, JIS_ROMAN, JIS_KATAKANA, JIS_TWO };

/* Reads the escape after 0x1B. False: it is not valid, and nothing was
 * consumed. */
static bool read_escape(struct reader *r, enum jis_state *state)
{
    if (r->end - r->at < 2)
        return false;
    if (r->at[0] == '(' && r->at[1] == 'B')
        *state = JIS_ASCII;
    else if (r->at[0] == '(' && r->at[1] == 'J')
        *state = JIS_ROMAN;
    else if (r->at[0] == '(' && r->at[1] == 'I')
        *state = JIS_KATAKANA;
    else if (r->at[0] == '$' && (r->at[1] == '@' || r->at[1] == 'B'))
        *state = JIS_TWO;
    else
        return false;
    r->at += 2;
    return true;
}

/* The code point that begins with `c`, not 0x1B, in `state`. */
static uint32_t jis_code_point(struct reader *r, enum jis_state state, octet c)
{
    octet trail;
    uint32_t found;

    switch (state) {
    case JIS_ROMAN:
        if (c == '\\')
            return 0xa5;
        if (c == '~')
            return 0x203e;
        return c < 0x80 && c != 0x0e && c != 0x0f ? c : BAD;
    case JIS_KATAKANA:
        return within(c, 0x21, 0x5f) ? 0xff61u - 0x21 + c : BAD;
    case JIS_TWO:
        if (!within(c, 0x21, 0x7e) || r->at == r->end || *r->at == 0x1b)
            return BAD;
        trail = *r->at++;
        if (!within(trail, 0x21, 0x7e))
            return BAD;
        found =
            index_code_point(INDEX_JIS0208, (c - 0x21u) * 94 + trail - 0x21u);
        return found != 0 ? found : BAD;
    default:
        return c < 0x80 && c != 0x0e && c != 0x0f ? c : BAD;
    }
}

static void decode_iso_2022_jp(struct reader *r)
{
    enum jis_state state = JIS_ASCII;
    bool fresh = false; /* the last thing read was an escape */

    while (r->at < r->end) {
        octet c = *r->at++;

        if (c != 0x1b) {
            buf_add_utf8(r->out, jis_code_point(r, state, c));
            fresh = false;
        } else if (!read_escape(r, &state)) {
            buf_add_utf8(r->out, BAD);
            fresh = false;
        } else {
            if (fresh)
                buf_add_utf8(r->out, BAD);
            fresh = true;
        }
    }
}

/* ---- all of them --------------------------------------------------------- */

static uint32_t next_of(const struct charset *c, struct reader *r)
{
    octet o;

    switch (c->kind) {
    case CHARSET_UTF16LE:
        return next_utf16(r, false);
    case CHARSET_UTF16BE:
        return next_utf16(r, true);
    case CHARSET_GBK:
    case CHARSET_GB18030:
        return next_gb18030(r);
    case CHARSET_BIG5:
        return next_big5(r);
    case CHARSET_EUC_JP:
        return next_euc_jp(r);
    case CHARSET_SHIFT_JIS:
        return next_shift_jis(r);
    case CHARSET_EUC_KR:
        return next_euc_kr(r);
    case CHARSET_USER_DEFINED:
        o = *r->at++;
        return o < 0x80 ? o : 0xf780u + o - 0x80u;
    default:
        o = *r->at++;
        if (o < 0x80)
            return o;
        return c->high[o - 0x80] != 0 ? c->high[o - 0x80] : BAD;
    }
}

static bool is_utf16(const struct charset *c)
{
    return c->kind == CHARSET_UTF16LE || c->kind == CHARSET_UTF16BE;
}

static void decode_units(const struct charset *c, struct bytes in,
                         struct buf *out)
{
    struct reader r = {(const octet *)in.at, NULL, out};

    r.end = r.at + in.len;
    if (c->kind == CHARSET_ISO_2022_JP) {
        decode_iso_2022_jp(&r);
        return;
    }
    while (r.at < r.end && !out->failed) {
        const octet *run = r.at;

        while (!is_utf16(c) && r.at < r.end && *r.at < 0x80)
            r.at++;
        buf_add(out, run, (size_t)(r.at - run));
        if (r.at < r.end)
            buf_add_utf8(out, next_of(c, &r));
    }
}

static struct bytes without_mark(const struct charset *c, struct bytes s)
{
    const char *mark = c->kind == CHARSET_UTF8      ? "\xef\xbb\xbf"
                       : c->kind == CHARSET_UTF16LE ? "\xff\xfe"
                       : c->kind == CHARSET_UTF16BE ? "\xfe\xff"
                                                    : NULL;

    if (mark == NULL || !bytes_starts_with(s, mark))
        return s;
    return bytes_of(s.at + strlen(mark), s.len - strlen(mark));
}

static bool is_ascii_superset(const struct charset *c)
{
    return !is_utf16(c) && c->kind != CHARSET_REPLACEMENT &&
           c->kind != CHARSET_ISO_2022_JP;
}

enum status charset_decode(const struct charset *c, struct bytes body,
                           struct buf *scratch, struct bytes *out_view)
{
    const char *stop;

    body = without_mark(c, body);
    if (body.len == 0)
        body.at = "";
    if (is_ascii_superset(c)) {
        stop = c->kind == CHARSET_UTF8
                   ? valid_until(body.at, body.at + body.len)
                   : ascii_until(body.at, body.at + body.len);
        if (stop == body.at + body.len) {
            *out_view = body;
            return STATUS_OK;
        }
    }
    buf_clear(scratch);
    if (c->kind == CHARSET_UTF8)
        decode_utf8(body, scratch);
    else if (c->kind != CHARSET_REPLACEMENT)
        decode_units(c, body, scratch);
    else if (body.len > 0)
        buf_add_utf8(scratch, BAD);
    *out_view = buf_bytes(scratch);
    return buf_failed(scratch);
}
