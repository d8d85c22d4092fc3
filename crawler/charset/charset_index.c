/* SPDX-License-Identifier: MIT */
/*
 * charset_index.c - indexes, read from iconv once.
 *
 * Asking iconv for each octet pair costs about two milliseconds an index, and
 * only in a process that meets such a page. Decoding by index instead of by
 * iconv makes bad sequences end where the standard ends them, and needs no
 * handle for every page.
 */
#include "crawler/charset/charset_index.h"

#include <iconv.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/logger.h"
#include "base/mem.h"
#include "crawler/charset/charset_tables.h"

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

const uint16_t *charset_high(const struct charset *c)
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

uint32_t index_code_point(enum charset_index id, uint32_t pointer)
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

bool index_pointer(enum charset_index id, uint32_t code_point, uint32_t first,
                   uint32_t last, uint32_t *pointer)
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

uint32_t gb18030_code_point(uint32_t pointer)
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

uint32_t gb18030_pointer(uint32_t code_point)
{
    size_t i = GB18030_RANGE_COUNT;

    if (code_point == 0xe7c7)
        return 7457;
    while (gb18030_ranges[--i].code_point > code_point)
        ;
    return gb18030_ranges[i].pointer + code_point -
           gb18030_ranges[i].code_point;
}
