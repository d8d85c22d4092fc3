/* SPDX-License-Identifier: MIT */
/* http2_frames.c - the heads of frames among the octets of a connection. */
#include "service/grpc/http2_frames.h"

#include <nghttp2/nghttp2.h>
#include <string.h>

void http2_frames_init(struct http2_frames *f)
{
    *f = (struct http2_frames){.skip = NGHTTP2_CLIENT_MAGIC_LEN};
}

static void skip(struct http2_frames *f, struct bytes *in)
{
    size_t n = f->skip < in->len ? f->skip : in->len;

    f->skip -= (uint32_t)n;
    *in = bytes_of(in->at + n, in->len - n);
    if (f->skip == 0 && f->have == 0 && f->block_is_last)
        f->in_block = false;
}

static void note_block(struct http2_frames *f, const struct http2_frame_head *h)
{
    if (h->type == NGHTTP2_HEADERS)
        f->blocks++;
    else if (h->type != NGHTTP2_CONTINUATION)
        return;
    f->in_block = true;
    f->block_is_last = (h->flags & NGHTTP2_FLAG_END_HEADERS) != 0;
    if (h->len == 0 && f->block_is_last)
        f->in_block = false;
}

static struct http2_frame_head read_head(const uint8_t b[9])
{
    return (struct http2_frame_head){
        .len = (uint32_t)b[0] << 16 | (uint32_t)b[1] << 8 | b[2],
        .type = b[3],
        .flags = b[4],
        .stream = ((uint32_t)b[5] << 24 | (uint32_t)b[6] << 16 |
                   (uint32_t)b[7] << 8 | b[8]) &
                  INT32_MAX,
    };
}

bool http2_frames_next(struct http2_frames *f, struct bytes *in,
                       struct http2_frame_head *out)
{
    size_t n;

    skip(f, in);
    n = sizeof f->head - f->have;
    n = n < in->len ? n : in->len;
    if (n > 0)
        memcpy(f->head + f->have, in->at, n);
    *in = bytes_of(in->at + n, in->len - n);
    f->have += (unsigned)n;
    if (f->have < sizeof f->head)
        return false;
    f->have = 0;
    *out = read_head(f->head);
    f->skip = out->len;
    note_block(f, out);
    return true;
}
