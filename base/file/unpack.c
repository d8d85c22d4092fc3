/* SPDX-License-Identifier: MIT */
/*
 * unpack.c - unpacks a file that may be gzip, zstd or bzip2, step by step.
 *
 * The three libraries have the same shape: a stream is given input and room,
 * and says when its member ends. `between` is true before the first member and
 * behind each.
 */
#include "base/file/unpack.h"

#include <bzlib.h>
#include <limits.h>
#include <stdlib.h>
#define ZLIB_CONST
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/mem.h"

#define GZIP_WINDOW     (15 + 16) /* zlib: accept gzip only */
#define ZSTD_WINDOW_LOG 27        /* what zstd itself unpacks without --long */
#define INPUT_MOST      ((size_t)INT_MAX) /* fits the counters of all */

struct unpack {
    enum packing packing;
    bool between;
    bool ready; /* the library's stream exists */
    z_stream gzip;
    ZSTD_DStream *zstd;
    bz_stream bzip2;
};

/* ---- the first octets ---------------------------------------------------- */

/* bzip2's magic is text, so that of its first block, or of the end of an empty
 * stream, belongs to it. A zstd file of several threads begins with a frame
 * that is skipped. */
static const struct {
    const char *octets, *mask; /* a mask's zero: any octet */
    size_t len;
    enum packing packing;
} magics[] = {
    {"\x1f\x8b", "\xff\xff", 2, PACKING_GZIP},
    {"\x28\xb5\x2f\xfd", "\xff\xff\xff\xff", 4, PACKING_ZSTD},
    {"\x50\x2a\x4d\x18", "\xf0\xff\xff\xff", 4, PACKING_ZSTD},
    {"BZh\x30\x31\x41\x59\x26\x53\x59",
     "\xff\xff\xff\xf0\xff\xff\xff\xff\xff\xff", 10, PACKING_BZIP2},
    {"BZh\x30\x17\x72\x45\x38\x50\x90",
     "\xff\xff\xff\xf0\xff\xff\xff\xff\xff\xff", 10, PACKING_BZIP2},
};

#define MAGICS (sizeof magics / sizeof *magics)

static bool begins(struct bytes head, size_t k)
{
    for (size_t i = 0; i < head.len && i < magics[k].len; i++)
        if ((head.at[i] & magics[k].mask[i]) != magics[k].octets[i])
            return false;
    return true;
}

enum packing packing_of(struct bytes head, bool *more)
{
    *more = false;
    for (size_t k = 0; k < MAGICS; k++) {
        if (!begins(head, k))
            continue;
        if (head.len >= magics[k].len)
            return magics[k].packing;
        *more = true;
    }
    return PACKING_NONE;
}

const char *packing_name(enum packing p)
{
    static const char *const names[] = {"plain", "gzip", "zstd", "bzip2"};

    return names[p];
}

/* ---- life ---------------------------------------------------------------- */

struct unpack *unpack_new(enum packing p)
{
    struct unpack *u = xcalloc(1, sizeof *u);

    u->packing = p;
    u->between = true;
    return u;
}

static void end_stream(struct unpack *u)
{
    if (u->ready && u->packing == PACKING_GZIP)
        inflateEnd(&u->gzip);
    else if (u->ready && u->packing == PACKING_BZIP2)
        BZ2_bzDecompressEnd(&u->bzip2);
    u->ready = false;
}

void unpack_free(struct unpack *u)
{
    if (u == NULL)
        return;
    end_stream(u);
    ZSTD_freeDStream(u->zstd);
    free(u);
}

bool unpack_is_whole(const struct unpack *u)
{
    return u->between;
}

/* ---- one step of each ---------------------------------------------------- */

struct step {
    struct bytes in;
    char *to;
    size_t room;
    bool ended; /* the member */
};

static enum status step_gzip(struct unpack *u, struct step *s)
{
    int r = Z_OK;

    if (!u->ready)
        r = inflateInit2(&u->gzip, GZIP_WINDOW);
    if (r != Z_OK)
        return STATUS_NOMEM;
    u->ready = true;
    u->gzip.next_in = (const unsigned char *)s->in.at;
    u->gzip.avail_in = (unsigned)s->in.len;
    u->gzip.next_out = (unsigned char *)s->to;
    u->gzip.avail_out = (unsigned)s->room;
    r = inflate(&u->gzip, Z_NO_FLUSH);
    s->in = bytes_of(u->gzip.next_in, u->gzip.avail_in);
    s->room = u->gzip.avail_out;
    s->ended = r == Z_STREAM_END;
    return r == Z_MEM_ERROR                            ? STATUS_NOMEM
           : r == Z_OK || r == Z_BUF_ERROR || s->ended ? STATUS_OK
                                                       : STATUS_FORMAT;
}

static enum status step_bzip2(struct unpack *u, struct step *s)
{
    char *from = (char *)(uintptr_t)s->in.at; /* the library only reads it */
    int r = BZ_OK;

    if (!u->ready)
        r = BZ2_bzDecompressInit(&u->bzip2, 0, 0);
    if (r != BZ_OK)
        return STATUS_NOMEM;
    u->ready = true;
    u->bzip2.next_in = from;
    u->bzip2.avail_in = (unsigned)s->in.len;
    u->bzip2.next_out = s->to;
    u->bzip2.avail_out = (unsigned)s->room;
    r = BZ2_bzDecompress(&u->bzip2);
    s->in = bytes_of(u->bzip2.next_in, u->bzip2.avail_in);
    s->room = u->bzip2.avail_out;
    s->ended = r == BZ_STREAM_END;
    return r == BZ_MEM_ERROR        ? STATUS_NOMEM
           : r == BZ_OK || s->ended ? STATUS_OK
                                    : STATUS_FORMAT;
}

static enum status step_zstd(struct unpack *u, struct step *s)
{
    ZSTD_inBuffer from = {s->in.at, s->in.len, 0};
    ZSTD_outBuffer out = {s->to, s->room, 0};
    size_t left;

    if (u->zstd == NULL) {
        u->zstd = ZSTD_createDStream();
        if (u->zstd == NULL ||
            ZSTD_isError(ZSTD_DCtx_setParameter(u->zstd, ZSTD_d_windowLogMax,
                                                ZSTD_WINDOW_LOG)))
            return STATUS_NOMEM;
    }
    left = ZSTD_decompressStream(u->zstd, &out, &from);
    s->in = bytes_of(s->in.at + from.pos, s->in.len - from.pos);
    s->room -= out.pos;
    s->ended = left == 0;
    switch (ZSTD_isError(left) ? ZSTD_getErrorCode(left)
                               : ZSTD_error_no_error) {
    case ZSTD_error_no_error:
        return STATUS_OK;
    case ZSTD_error_memory_allocation:
        return STATUS_NOMEM;
    case ZSTD_error_frameParameter_windowTooLarge:
        return STATUS_LIMIT;
    default:
        return STATUS_FORMAT;
    }
}

static enum status step(struct unpack *u, struct step *s)
{
    switch (u->packing) {
    case PACKING_GZIP:
        return step_gzip(u, s);
    case PACKING_ZSTD:
        return step_zstd(u, s);
    case PACKING_BZIP2:
        return step_bzip2(u, s);
    case PACKING_NONE:
        break;
    }
    return STATUS_FORMAT;
}

enum status unpack_step(struct unpack *u, struct bytes *in, char *to,
                        size_t room, size_t *got)
{
    struct step s = {.in = *in, .to = to};
    enum status st;

    *got = 0;
    while (u->between && s.in.len > 0 && s.in.at[0] == '\0')
        s.in = bytes_skip(s.in, 1);
    *in = s.in;
    if (u->between && s.in.len == 0)
        return STATUS_OK;
    if (s.in.len > INPUT_MOST)
        s.in.len = INPUT_MOST;
    room = room < INPUT_MOST ? room : INPUT_MOST;
    s.room = room;
    st = step(u, &s);
    *in = bytes_skip(*in, (size_t)(s.in.at - in->at));
    *got = room - s.room;
    u->between = st == STATUS_OK && s.ended;
    if (u->between)
        end_stream(u);
    return st;
}
