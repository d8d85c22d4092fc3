/* SPDX-License-Identifier: MIT */
/*
 * unpack.c - unpacks a file that may be gzip, zstd or bzip2, step by step; and
 * gzip from the web.
 *
 * The three libraries have the same shape: a stream is given input and room,
 * and says when its member ends. `between` is true before the first member and
 * behind each.
 */
#include "base/file/unpack.h"

#include <bzlib.h>
#include <limits.h>
#include <stdbool.h>
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

/* ---- decompresses octets that may be gzipped ----
 *
 *     UNKNOWN --magic--> MEMBER --its end--> BETWEEN --no magic--> DROP
 *        |                  ^                   |
 *        +--other--> PLAIN  +-------magic-------+
 *
 * RFC 1952. The magic may be split between two pushes, so `held` remembers its
 * first octet.
 */

enum state { UNKNOWN, PLAIN, MEMBER, BETWEEN, DROP };

struct gunzip {
    enum status (*take)(void *ctx, struct bytes octets);
    void *ctx;
    size_t left; /* octets that may still be output */
    enum state state;
    bool held; /* 0x1f has come, the next octet not yet */
    bool damaged;
    enum status failed;
    z_stream z;
    bool z_ready;
    char out[1 << 16];
};

struct gunzip *gunzip_new(size_t most,
                          enum status (*take)(void *ctx, struct bytes octets),
                          void *ctx)
{
    struct gunzip *g = xcalloc(1, sizeof *g);

    g->take = take;
    g->ctx = ctx;
    g->left = most;
    return g;
}

void gunzip_free(struct gunzip *g)
{
    if (g == NULL)
        return;
    if (g->z_ready)
        inflateEnd(&g->z);
    free(g);
}

static enum status unpack_give(struct gunzip *g, struct bytes octets)
{
    bool over = octets.len > g->left;
    enum status st;

    if (over)
        octets.len = g->left;
    g->left -= octets.len;
    st = octets.len > 0 ? g->take(g->ctx, octets) : STATUS_OK;
    return st == STATUS_OK && over ? STATUS_LIMIT : st;
}

static enum status start_member(struct gunzip *g)
{
    static const char magic[] = "\x1f\x8b";
    int r = g->z_ready ? inflateReset(&g->z) : inflateInit2(&g->z, GZIP_WINDOW);

    if (r != Z_OK)
        return STATUS_NOMEM;
    g->z_ready = true;
    g->state = MEMBER;
    g->z.next_in = (const unsigned char *)magic;
    g->z.avail_in = 2;
    g->z.next_out = (unsigned char *)g->out;
    g->z.avail_out = sizeof g->out;
    return inflate(&g->z, Z_NO_FLUSH) == Z_OK ? STATUS_OK : STATUS_NOMEM;
}

/* Inflates *in up to its end or the member's end. */
static enum status run_member(struct gunzip *g, struct bytes *in)
{
    g->z.next_in = (const unsigned char *)in->at;
    g->z.avail_in = (unsigned)in->len;
    for (;;) {
        enum status st;
        int r;

        g->z.next_out = (unsigned char *)g->out;
        g->z.avail_out = sizeof g->out;
        r = inflate(&g->z, Z_NO_FLUSH);
        st = unpack_give(g, bytes_of(g->out, sizeof g->out - g->z.avail_out));
        if (st != STATUS_OK)
            return st;
        if (r == Z_STREAM_END) {
            g->state = BETWEEN;
            break;
        }
        if (r == Z_BUF_ERROR || (r == Z_OK && g->z.avail_out > 0))
            break; /* wants more input */
        if (r == Z_MEM_ERROR)
            return STATUS_NOMEM;
        if (r != Z_OK) {
            g->damaged = true;
            g->state = DROP;
            break;
        }
    }
    *in = bytes_of(g->z.next_in, g->z.avail_in);
    return STATUS_OK;
}

/* In UNKNOWN or BETWEEN: checks for the two octets of the magic. */
static enum status look_for_magic(struct gunzip *g, struct bytes *in)
{
    bool first = g->state == UNKNOWN;
    unsigned char c = (unsigned char)in->at[0];

    if (!g->held && c == 0x1f) {
        g->held = true;
        *in = bytes_of(in->at + 1, in->len - 1);
        return STATUS_OK;
    }
    if (g->held && c == 0x8b) {
        g->held = false;
        *in = bytes_of(in->at + 1, in->len - 1);
        return start_member(g);
    }
    g->state = first ? PLAIN : DROP;
    if (first && g->held)
        return unpack_give(g, bytes_of("\x1f", 1));
    return STATUS_OK;
}

static enum status push(struct gunzip *g, struct bytes in)
{
    enum status st = STATUS_OK;

    while (in.len > 0 && st == STATUS_OK) {
        switch (g->state) {
        case UNKNOWN:
        case BETWEEN:
            st = look_for_magic(g, &in);
            break;
        case PLAIN:
            return unpack_give(g, in);
        case MEMBER:
            st = run_member(g, &in);
            break;
        case DROP:
            return STATUS_OK;
        }
    }
    return st;
}

enum status gunzip_push(struct gunzip *g, struct bytes in)
{
    while (in.len > 0 && g->failed == STATUS_OK) {
        size_t n = in.len < INPUT_MOST ? in.len : INPUT_MOST;

        g->failed = push(g, bytes_of(in.at, n));
        in = bytes_of(in.at + n, in.len - n);
    }
    return g->failed;
}

enum status gunzip_finish(struct gunzip *g)
{
    if (g->failed == STATUS_OK && g->state == UNKNOWN && g->held)
        g->failed = unpack_give(g, bytes_of("\x1f", 1));
    if (g->failed != STATUS_OK)
        return g->failed;
    return g->damaged || g->state == MEMBER ? STATUS_FORMAT : STATUS_OK;
}

enum status gunzip_member(struct bytes *in, struct buf *out)
{
    size_t len = in->len < UINT_MAX ? in->len : UINT_MAX;
    z_stream z = {.next_in = (const unsigned char *)in->at,
                  .avail_in = (unsigned)len};
    int r = inflateInit2(&z, GZIP_WINDOW);
    char piece[1 << 14];

    while (r == Z_OK && buf_failed(out) == STATUS_OK) {
        z.next_out = (unsigned char *)piece;
        z.avail_out = sizeof piece;
        r = inflate(&z, Z_NO_FLUSH);
        buf_add(out, piece, sizeof piece - z.avail_out);
    }
    inflateEnd(&z);
    *in = bytes_of(z.next_in, in->len - (len - z.avail_in));
    if (buf_failed(out) != STATUS_OK)
        return STATUS_LIMIT;
    if (r == Z_MEM_ERROR)
        return STATUS_NOMEM;
    return r == Z_STREAM_END ? STATUS_OK : STATUS_FORMAT;
}
