/* SPDX-License-Identifier: MIT */
/*
 * coding.c - a chain of decoders of content codings.
 *
 *     wire ──► layer 0 ──piece──► layer 1 ──piece──► ... ──► caller
 *
 * Layer 0 removes the coding that was applied last. Each layer but the first
 * buffers a small piece of the output of the one before it. We do not use
 * libcurl's decoders: they cannot stop in the middle of a piece from the
 * network, and do not report a stream that ends too early.
 *
 * Decoders allocate memory through this module, so that it can be charged: six
 * octets can announce a window of 8 MiB. The highest amount is charged, and
 * given back when the coding is freed.
 */
#include "crawler/fetch/coding.h"

#include <brotli/decode.h>
#include <stdlib.h>
#include <string.h>
#define ZLIB_CONST
#include <zlib.h>
#define ZSTD_STATIC_LINKING_ONLY /* for ZSTD_createDStream_advanced */
#include <zstd.h>

#include "base/mem.h"

#define LAYERS_MOST     2
#define PIECE           ((size_t)8192)
#define ZSTD_WINDOW_LOG 23
#define BETWEEN_FREE    ((uint64_t)1 << 20) /* octets that need no output */
#define ALLOCATION_MOST ((size_t)64 << 20)

enum kind { GZIP, DEFLATE, BROTLI, ZSTD };

struct layer {
    enum kind kind;
    struct coding *coding;
    bool begun; /* input has come */
    bool ended; /* at the end of its stream */
    unsigned char head[2];
    size_t head_len; /* octets seen of a deflate stream of unknown kind */
    bool z_ready;
    z_stream z;
    BrotliDecoderState *brotli;
    ZSTD_DStream *zstd;
    struct bytes in; /* in `piece`, from the layer before */
    char *piece;     /* NULL in layer 0 */
};

struct coding {
    size_t count;
    struct layer layers[LAYERS_MOST];
    uint64_t between, made; /* octets into layer 1; out of it */
    struct coding_memory memory;
    size_t held, charged; /* octets that decoders have; that were charged */
    bool refused;
};

/* ---- memory of the decoders ---- */

union allocation { /* before each allocation, aligned like malloc's */
    size_t size;
    max_align_t align;
};

static bool charge(struct coding *c, size_t size)
{
    size_t more;

    if (size > ALLOCATION_MOST)
        return false;
    if (c->held + size <= c->charged)
        return true;
    more = c->held + size - c->charged;
    if (c->memory.take != NULL && !c->memory.take(c->memory.ctx, more))
        return false;
    c->charged += more;
    return true;
}

static void *allocate(void *coding, size_t size)
{
    struct coding *c = coding;
    union allocation *a = NULL;

    if (charge(c, size))
        a = malloc(sizeof *a + size);
    if (a == NULL) {
        c->refused = true;
        return NULL;
    }
    a->size = size;
    c->held += size;
    return a + 1;
}

static void release(void *coding, void *at)
{
    struct coding *c = coding;
    union allocation *a = at;

    if (a == NULL)
        return;
    c->held -= a[-1].size;
    free(a - 1);
}

static void *z_allocate(void *coding, unsigned items, unsigned size)
{
    return allocate(coding, (size_t)items * size);
}

/* ---- the value of Content-Encoding ---- */

static bool kind_of(struct bytes name, enum kind *out)
{
    static const struct {
        const char *name;
        enum kind kind;
    } known[] = {{"gzip", GZIP},
                 {"x-gzip", GZIP},
                 {"deflate", DEFLATE},
                 {"br", BROTLI},
                 {"zstd", ZSTD}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (bytes_equal_nocase(name, bytes_of_str(known[i].name))) {
            *out = known[i].kind;
            return true;
        }
    return false;
}

struct bytes coding_next_name(struct bytes *list)
{
    const char *comma = memchr(list->at, ',', list->len);
    size_t len = comma != NULL ? (size_t)(comma - list->at) : list->len;
    size_t step = comma != NULL ? len + 1 : len;
    struct bytes name = bytes_trim(bytes_of(list->at, len));

    *list = bytes_of(list->at + step, list->len - step);
    return name;
}

static enum status read_value(struct bytes value, enum kind kinds[LAYERS_MOST],
                              size_t *count, bool *unknown)
{
    *count = 0;
    *unknown = false;
    while (value.len > 0) {
        struct bytes name = coding_next_name(&value);
        enum kind kind;

        if (name.len == 0 || bytes_equal_nocase(name, bytes_of_str("identity")))
            continue;
        if (!kind_of(name, &kind)) {
            *unknown = true;
            continue;
        }
        if (*count == LAYERS_MOST)
            return STATUS_FORMAT;
        kinds[(*count)++] = kind;
    }
    return STATUS_OK;
}

/* ---- zlib: gzip and deflate ---- */

/* Do these first two octets begin a zlib stream? By RFC 1950 section 2.2 its
 * header has method 8 and is a multiple of 31. */
static bool is_zlib(const unsigned char head[2])
{
    return (head[0] & 0x0f) == 8 && (head[0] * 256 + head[1]) % 31 == 0;
}

static bool z_start(struct layer *l, int window_bits)
{
    l->z =
        (z_stream){.zalloc = z_allocate, .zfree = release, .opaque = l->coding};
    l->z_ready = inflateInit2(&l->z, window_bits) == Z_OK;
    return l->z_ready;
}

/* One step of inflate. */
static enum status z_step(struct layer *l, struct bytes *in, char *to,
                          size_t room, size_t *got)
{
    int rc;

    l->z.next_in = (const unsigned char *)in->at;
    l->z.avail_in = (unsigned)in->len;
    l->z.next_out = (unsigned char *)to;
    l->z.avail_out = (unsigned)room;
    rc = inflate(&l->z, Z_NO_FLUSH);
    *got = room - l->z.avail_out;
    *in = bytes_of(l->z.next_in, l->z.avail_in);
    l->ended = rc == Z_STREAM_END;
    return rc == Z_OK || rc == Z_STREAM_END || rc == Z_BUF_ERROR
               ? STATUS_OK
               : STATUS_FORMAT;
}

/* After a member: begins the next one; other octets are dropped. */
static bool next_member(struct layer *l, struct bytes *in)
{
    if (in->len > 0 && (unsigned char)in->at[0] == 0x1f)
        return inflateReset(&l->z) == Z_OK;
    in->len = 0;
    return false;
}

static enum status gzip_step(struct layer *l, struct bytes *in, char *to,
                             size_t room, size_t *got)
{
    if (!l->z_ready && !z_start(l, 15 + 16))
        return STATUS_NOMEM;
    if (l->ended && !next_member(l, in))
        return STATUS_OK;
    return z_step(l, in, to, room, got);
}

/* The first two octets tell zlib from raw deflate; they may arrive
 * separately. */
static enum status deflate_start(struct layer *l, struct bytes *in)
{
    struct bytes head;
    size_t got;

    while (l->head_len < 2 && in->len > 0) {
        l->head[l->head_len++] = (unsigned char)in->at[0];
        *in = bytes_of(in->at + 1, in->len - 1);
    }
    if (l->head_len < 2)
        return STATUS_OK;
    if (!z_start(l, is_zlib(l->head) ? 15 : -15))
        return STATUS_NOMEM;
    head = bytes_of(l->head, 2);
    /* Two octets make no output: a block's header is longer, or the block is
     * stored or ends at once. */
    return z_step(l, &head, (char *)l->head, 0, &got);
}

static enum status deflate_step(struct layer *l, struct bytes *in, char *to,
                                size_t room, size_t *got)
{
    enum status st = STATUS_OK;

    if (!l->z_ready)
        st = deflate_start(l, in);
    if (st != STATUS_OK || !l->z_ready)
        return st;
    if (l->ended) {
        in->len = 0; /* dropped */
        return STATUS_OK;
    }
    return z_step(l, in, to, room, got);
}

/* ---- brotli and zstd ---- */

static enum status brotli_step(struct layer *l, struct bytes *in, char *to,
                               size_t room, size_t *got)
{
    const uint8_t *from = (const uint8_t *)in->at;
    uint8_t *out = (uint8_t *)to;
    size_t left = in->len, free = room;
    BrotliDecoderResult rc;

    if (l->brotli == NULL)
        l->brotli = BrotliDecoderCreateInstance(allocate, release, l->coding);
    if (l->brotli == NULL)
        return STATUS_NOMEM;
    if (l->ended) {
        in->len = 0; /* dropped */
        return STATUS_OK;
    }
    rc = BrotliDecoderDecompressStream(l->brotli, &left, &from, &free, &out,
                                       NULL);
    *got = room - free;
    *in = bytes_of(from, left);
    l->ended = rc == BROTLI_DECODER_RESULT_SUCCESS;
    return rc == BROTLI_DECODER_RESULT_ERROR ? STATUS_FORMAT : STATUS_OK;
}

/* Frames one after the other are one stream. */
static enum status zstd_step(struct layer *l, struct bytes *in, char *to,
                             size_t room, size_t *got)
{
    ZSTD_inBuffer from = {in->at, in->len, 0};
    ZSTD_outBuffer out = {to, room, 0};
    size_t rc;

    if (l->zstd == NULL) {
        l->zstd = ZSTD_createDStream_advanced(
            (ZSTD_customMem){allocate, release, l->coding});
        if (l->zstd == NULL ||
            ZSTD_isError(ZSTD_DCtx_setParameter(l->zstd, ZSTD_d_windowLogMax,
                                                ZSTD_WINDOW_LOG)))
            return STATUS_NOMEM;
    }
    if (l->ended && in->len == 0)
        return STATUS_OK; /* another call would begin a new frame */
    rc = ZSTD_decompressStream(l->zstd, &out, &from);
    *got = out.pos;
    *in = bytes_of(in->at + from.pos, in->len - from.pos);
    l->ended = rc == 0;
    return ZSTD_isError(rc) ? STATUS_FORMAT : STATUS_OK;
}

/* ---- layers ---- */

static enum status step(struct layer *l, struct bytes *in, char *to,
                        size_t room, size_t *got)
{
    *got = 0;
    l->begun = l->begun || in->len > 0;
    switch (l->kind) {
    case GZIP:
        return gzip_step(l, in, to, room, got);
    case DEFLATE:
        return deflate_step(l, in, to, room, got);
    case BROTLI:
        return brotli_step(l, in, to, room, got);
    case ZSTD:
        break;
    }
    return zstd_step(l, in, to, room, got);
}

/* Runs layer `i` on its input, the wire's or its own piece. A layer may have
 * output without further input, so it is called until it has none. */
static enum status read_layer(struct coding *c, size_t i, struct bytes *wire,
                              char *to, size_t room, size_t *got)
{
    struct layer *l = &c->layers[i];
    struct bytes *in = i == 0 ? wire : &l->in;
    enum status st;

    for (;;) {
        size_t before = in->len, made = 0;

        st = step(l, in, to, room, got);
        if (st != STATUS_OK && c->refused)
            return STATUS_NOMEM;
        if (st != STATUS_OK || *got > 0)
            return st;
        if (in->len > 0 && in->len < before)
            continue;
        if (in->len > 0) /* it neither reads nor writes anything */
            return STATUS_FORMAT;
        if (i == 0)
            return STATUS_OK;
        st = read_layer(c, i - 1, wire, l->piece, PIECE, &made);
        l->in = bytes_of(l->piece, made);
        if (st != STATUS_OK || made == 0)
            return st;
        c->between += made;
        if (c->between > BETWEEN_FREE + 2 * c->made)
            return STATUS_FORMAT; /* it yields almost nothing */
    }
}

enum status coding_read(struct coding *c, struct bytes *in, void *to,
                        size_t room, size_t *got)
{
    enum status st = read_layer(c, c->count - 1, in, to, room, got);

    c->made += *got;
    return st;
}

bool coding_has_signature(const struct coding *c, struct bytes body)
{
    switch (c->layers[0].kind) {
    case GZIP:
        return bytes_starts_with(body, "\x1f\x8b");
    case ZSTD: /* RFC 8878 sections 3.1.1 and 3.1.2 */
        return bytes_starts_with(body, "\x28\xb5\x2f\xfd") ||
               (body.len >= 4 && (body.at[0] & 0xf0) == 0x50 &&
                memcmp(body.at + 1, "\x2a\x4d\x18", 3) == 0);
    default:
        return false;
    }
}

bool coding_is_whole(const struct coding *c)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->layers[i].begun && !c->layers[i].ended)
            return false;
    return true;
}

/* ---- life ---- */

enum status coding_new(struct coding **out, struct bytes value,
                       const struct coding_memory *memory, bool *unknown)
{
    enum kind kinds[LAYERS_MOST];
    struct coding *c;
    size_t count;
    enum status st = read_value(value, kinds, &count, unknown);

    *out = NULL;
    if (st != STATUS_OK || count == 0)
        return st;
    c = xcalloc(1, sizeof *c);
    c->count = count;
    c->memory = *memory;
    c->charged = CODING_FREE;
    for (size_t i = 0; i < count; i++) {
        c->layers[i].coding = c;
        c->layers[i].kind = kinds[count - 1 - i];
        c->layers[i].in = bytes_of("", 0);
        if (i > 0)
            c->layers[i].piece = xmalloc(PIECE);
    }
    *out = c;
    return STATUS_OK;
}

void coding_free(struct coding *c)
{
    if (c == NULL)
        return;
    for (size_t i = 0; i < c->count; i++) {
        struct layer *l = &c->layers[i];

        if (l->z_ready)
            inflateEnd(&l->z);
        if (l->brotli != NULL)
            BrotliDecoderDestroyInstance(l->brotli);
        ZSTD_freeDStream(l->zstd);
        free(l->piece);
    }
    free(c);
}
