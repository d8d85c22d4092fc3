/* SPDX-License-Identifier: MIT */
/*
 * charset_codec.c - decoders and encoders of the Encoding Standard, to UTF-8
 * and back.
 *
 * Each decoder is a function from the next octets to one code point. The
 * standard also says how many octets of a bad sequence are consumed (section 4.3 on): an
 * ASCII octet after a lead is always read again, so that a broken character
 * cannot swallow a quote or a `<`.
 */

#include <iconv.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/logger.h"
#include "base/mem.h"
#include "crawler/charset/charset.h"
#include "crawler/charset/charset_tables.h"
#include "frontier/url/url_text.h"

/*
 * The indexes of the Encoding Standard.
 *
 * An index is made at its first use from iconv's tables and our patches
 * (charset_tables.h), and stays in memory: some hundred kilobytes each, or 256
 * octets of a single-octet encoding. Where
 * the system's iconv lacks an encoding, its index is empty and a warning says
 * so. Any thread.
 *
 * Asking iconv for each octet pair costs about two milliseconds an index, and
 * only in a process that meets such a page. Decoding by index instead of by
 * iconv makes bad sequences end where the standard ends them, and needs no
 * handle for every page.
 */

enum charset_index {
    INDEX_BIG5,
    INDEX_EUC_KR,
    INDEX_GB18030, /* of GBK as well */
    INDEX_JIS0208, /* of Shift_JIS, EUC-JP and ISO-2022-JP */
    INDEX_JIS0212,
    INDEX_COUNT_
};

struct reverse {
    uint32_t code_point;
    uint16_t pointer;
};

static const struct shape {
    const char *iconv_name;
    uint32_t count, width; /* pointers, and pointers per lead octet */
    const struct charset_patch *patches;
} shapes[INDEX_COUNT_] = {
    [INDEX_BIG5] = {"BIG5-HKSCS", 19782, 157, patches_big5},
    [INDEX_EUC_KR] = {"UHC", 23940, 190, patches_euc_kr},
    [INDEX_GB18030] = {"GB18030", 23940, 190, patches_gb18030},
    [INDEX_JIS0208] = {"CP932", 11280, 188, patches_jis0208},
    [INDEX_JIS0212] = {"EUC-JP-MS", 8836, 94, patches_jis0212},
};

static struct {
    pthread_once_t once;
    uint32_t *code_points;
    struct reverse *reverse; /* by code point, then by pointer */
    size_t reverse_count;
} indexes[INDEX_COUNT_] = {
    {.once = PTHREAD_ONCE_INIT}, {.once = PTHREAD_ONCE_INIT},
    {.once = PTHREAD_ONCE_INIT}, {.once = PTHREAD_ONCE_INIT},
    {.once = PTHREAD_ONCE_INIT},
};

/* ---- filling ------------------------------------------------------------- */

/* Writes `pointer` as octets and returns their number. */
static size_t octets_of(enum charset_index id, uint32_t pointer, char out[3])
{
    uint32_t lead = pointer / shapes[id].width;
    uint32_t trail = pointer % shapes[id].width;
    size_t n = 0;

    switch (id) {
    case INDEX_BIG5:
        lead += 0x81;
        trail += trail < 0x3f ? 0x40 : 0x62;
        break;
    case INDEX_EUC_KR:
        lead += 0x81;
        trail += 0x41;
        break;
    case INDEX_GB18030:
        lead += 0x81;
        trail += trail < 0x3f ? 0x40 : 0x41;
        break;
    case INDEX_JIS0208:
        lead += lead < 0x1f ? 0x81 : 0xc1;
        trail += trail < 0x3f ? 0x40 : 0x41;
        break;
    default:
        out[n++] = '\x8f';
        lead += 0xa1;
        trail += 0xa1;
    }
    out[n++] = (char)lead;
    out[n++] = (char)trail;
    return n;
}

/* Returns 0 if the octets are not exactly one code point. */
static uint32_t ask_iconv(iconv_t cd, char *octets, size_t len)
{
    uint32_t got[4] = {0, 0, 0, 0};
    char *out = (char *)got;
    size_t room = sizeof got;

    iconv(cd, NULL, NULL, NULL, NULL);
    if (iconv(cd, &octets, &len, &out, &room) != 0 || len != 0)
        return 0;
    /* Some converters hold back the last character until flushed. */
    iconv(cd, NULL, NULL, &out, &room);
    return sizeof got - room == sizeof *got ? got[0] : 0;
}

/* (iconv_t)-1, which is logged: the system has no such encoding. */
static iconv_t open_iconv(const char *name)
{
    const uint16_t one = 1;
    iconv_t cd =
        iconv_open(*(const char *)&one == 1 ? "UTF-32LE" : "UTF-32BE", name);

    if (cd == (iconv_t)-1)
        log_warn("iconv lacks an encoding", "name=%s", name);
    return cd;
}

static void fill_from_iconv(enum charset_index id, uint32_t *code_points)
{
    iconv_t cd = open_iconv(shapes[id].iconv_name);

    if (cd == (iconv_t)-1)
        return;
    for (uint32_t p = 0; p < shapes[id].count; p++) {
        char octets[3];
        size_t len = octets_of(id, p, octets);

        code_points[p] = ask_iconv(cd, octets, len);
    }
    iconv_close(cd);
}

static int compare_reverse(const void *a, const void *b)
{
    const struct reverse *x = a, *y = b;

    if (x->code_point != y->code_point)
        return x->code_point < y->code_point ? -1 : 1;
    return (int)x->pointer - (int)y->pointer;
}

static void fill(enum charset_index id)
{
    const struct charset_patch *patch = shapes[id].patches;
    uint32_t count = shapes[id].count;
    uint32_t *code_points = xcalloc(count, sizeof *code_points);
    struct reverse *reverse = xcalloc(count, sizeof *reverse);
    size_t n = 0;

    fill_from_iconv(id, code_points);
    for (; patch->first != UINT16_MAX; patch++)
        for (uint32_t p = patch->first; p <= patch->last; p++)
            code_points[p] = patch->code_point;
    for (uint32_t p = 0; p < count; p++)
        if (code_points[p] != 0)
            reverse[n++] = (struct reverse){code_points[p], (uint16_t)p};
    qsort(reverse, n, sizeof *reverse, compare_reverse);
    indexes[id].code_points = code_points;
    indexes[id].reverse = reverse;
    indexes[id].reverse_count = n;
}

/* pthread_once() passes no argument to its function. */
static void fill_big5(void)
{
    fill(INDEX_BIG5);
}

static void fill_euc_kr(void)
{
    fill(INDEX_EUC_KR);
}

static void fill_gb18030(void)
{
    fill(INDEX_GB18030);
}

static void fill_jis0208(void)
{
    fill(INDEX_JIS0208);
}

static void fill_jis0212(void)
{
    fill(INDEX_JIS0212);
}

static void need(enum charset_index id)
{
    static void (*const fills[INDEX_COUNT_])(
        void) = {fill_big5, fill_euc_kr, fill_gb18030, fill_jis0208,
                 fill_jis0212};

    pthread_once(&indexes[id].once, fills[id]);
}

/* ---- single octets ---- */

/* In the standard an octet below 0xA0 that iconv lacks is itself. */
static uint16_t *fill_single(const struct charset *c)
{
    iconv_t cd = open_iconv(c->iconv_name);
    uint16_t *high = xcalloc(128, sizeof *high);

    for (unsigned octet = 0x80; octet < 0x100; octet++) {
        uint32_t code_point =
            cd != (iconv_t)-1 ? ask_iconv(cd, (char[]){(char)octet}, 1) : 0;

        high[octet - 0x80] = (uint16_t)(code_point != 0 ? code_point
                                        : octet < 0xa0  ? octet
                                                        : 0);
    }
    for (size_t i = 0; i < sizeof c->patches / sizeof *c->patches; i++)
        if (c->patches[i].octet != 0)
            high[c->patches[i].octet - 0x80] = c->patches[i].code_point;
    if (cd != (iconv_t)-1)
        iconv_close(cd);
    return high;
}

/* The code points of the octets 0x80 to 0xFF in a CHARSET_SINGLE; 0: none. */
static const uint16_t *charset_high(const struct charset *c)
{
    static pthread_mutex_t mtx = PTHREAD_MUTEX_INITIALIZER;
    static uint16_t *_Atomic singles[CHARSET_COUNT];
    uint16_t *_Atomic *at = &singles[c - charsets];
    uint16_t *high = atomic_load(at);

    if (high == NULL) {
        pthread_mutex_lock(&mtx);
        high = atomic_load(at);
        if (high == NULL) {
            high = fill_single(c);
            atomic_store(at, high);
        }
        pthread_mutex_unlock(&mtx);
    }
    return high;
}

/* ---- asking -------------------------------------------------------------- */

/* The code point at `pointer`; 0: none. */
static uint32_t index_code_point(enum charset_index id, uint32_t pointer)
{
    need(id);
    return pointer < shapes[id].count ? indexes[id].code_points[pointer] : 0;
}

/* For these code points Big5 writes the last duplicate, otherwise the first. */
static bool writes_last(enum charset_index id, uint32_t c)
{
    return id == INDEX_BIG5 && (c == 0x2550 || c == 0x255e || c == 0x2561 ||
                                c == 0x256a || c == 0x5341 || c == 0x5345);
}

/* The pointer of `code_point`, outside the range first to last; the standard's
 * rule for encoders chooses between duplicates. False: there is none. */
static bool index_pointer(enum charset_index id, uint32_t code_point,
                          uint32_t first, uint32_t last, uint32_t *pointer)
{
    const struct reverse *r;
    size_t low = 0, high, n;
    bool found = false;

    need(id);
    r = indexes[id].reverse;
    n = high = indexes[id].reverse_count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (r[mid].code_point < code_point)
            low = mid + 1;
        else
            high = mid;
    }
    for (; low < n && r[low].code_point == code_point; low++) {
        if (r[low].pointer >= first && r[low].pointer <= last)
            continue;
        *pointer = r[low].pointer;
        found = true;
        if (!writes_last(id, code_point))
            break;
    }
    return found;
}

/* As above, for the four-octet part of gb18030. */
static uint32_t gb18030_code_point(uint32_t pointer)
{
    size_t i = GB18030_RANGE_COUNT;

    if ((pointer > 39419 && pointer < 189000) || pointer > 1237575)
        return 0;
    if (pointer == 7457)
        return 0xe7c7;
    while (gb18030_ranges[--i].pointer > pointer)
        ;
    return gb18030_ranges[i].code_point + pointer - gb18030_ranges[i].pointer;
}

static uint32_t gb18030_pointer(uint32_t code_point)
{
    size_t i = GB18030_RANGE_COUNT;

    if (code_point == 0xe7c7)
        return 7457;
    while (gb18030_ranges[--i].code_point > code_point)
        ;
    return gb18030_ranges[i].pointer + code_point -
           gb18030_ranges[i].code_point;
}

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
    uint32_t u;
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
        u = charset_high(c)[o - 0x80];
        return u != 0 ? u : BAD;
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

/* ---- queries in a page's encoding ---- */

/*
 * The encoders of the Encoding Standard, for links on pages that are not in
 * UTF-8: a browser that sends the same form sends the same octets. A code point
 * that the encoding lacks is written as a numeric reference, percent-encoded
 * (URL Standard, "percent-encode after encoding").
 */

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
    const uint16_t *high = charset_high(c);

    for (unsigned i = 0; i < 128; i++)
        if (high[i] == u && u != 0) {
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

enum jis_set { ENCODE_JIS_ASCII, ENCODE_JIS_ROMAN, ENCODE_JIS_TWO };

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
        switch_set(set, ENCODE_JIS_ROMAN, out);
        buf_add_char(out, u == 0xa5 ? '\\' : '~');
        return true;
    }
    if (u < 0x80) {
        if (*set == ENCODE_JIS_TWO || u == '\\' || u == '~')
            switch_set(set, ENCODE_JIS_ASCII, out);
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
        if (*set == ENCODE_JIS_TWO)
            switch_set(set, ENCODE_JIS_ASCII, out);
        return false;
    }
    switch_set(set, ENCODE_JIS_TWO, out);
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
    enum jis_set set = ENCODE_JIS_ASCII;

    while (at < end) {
        uint32_t u = utf8_next(&at, end);

        if (!add_of(e->charset, u, &set, out))
            buf_addf(out, "%%26%%23%u%%3B", (unsigned)u);
    }
    switch_set(&set, ENCODE_JIS_ASCII, out);
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
