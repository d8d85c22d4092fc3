/* SPDX-License-Identifier: MIT */
/*
 * gunzip.c - decompresses octets that may be gzipped.
 *
 *     UNKNOWN --magic--> MEMBER --its end--> BETWEEN --no magic--> DROP
 *        |                  ^                   |
 *        +--other--> PLAIN  +-------magic-------+
 *
 * RFC 1952. The magic may be split between two pushes, so `held` remembers its
 * first octet.
 */
#include "base/file/gunzip.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#define ZLIB_CONST
#include <zlib.h>

#include "base/mem.h"

#define GZIP_WINDOW (15 + 16)         /* zlib: accept gzip only */
#define INPUT_MOST  ((size_t)1 << 30) /* fits zlib's counters */

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

static enum status give(struct gunzip *g, struct bytes octets)
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
        st = give(g, bytes_of(g->out, sizeof g->out - g->z.avail_out));
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
        return give(g, bytes_of("\x1f", 1));
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
            return give(g, in);
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
        g->failed = give(g, bytes_of("\x1f", 1));
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
