/*
 * http2_frames.h - the heads of frames among the octets of a connection
 * (RFC 9113 section 4.1), as they come in, cut anywhere.
 *
 * nghttp2 silently skips frames that it does not know or need; this sees every
 * frame. It checks nothing: octets that are not HTTP/2 give heads too, and
 * nghttp2 refuses them.
 */
#ifndef URLWEIR_SERVICE_HTTP2_FRAMES_H
#define URLWEIR_SERVICE_HTTP2_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

struct http2_frame_head {
    uint32_t len, stream;
    uint8_t type, flags;
};

struct http2_frames {
    uint32_t skip; /* octets until the next head */
    uint8_t head[9];
    unsigned have;      /* octets of `head` */
    bool in_block;      /* in a block of header fields */
    bool block_is_last; /* no CONTINUATION follows */
    uint64_t blocks;    /* blocks that have begun */
};

/* For the beginning of a connection, which starts with the preface. */
void http2_frames_init(struct http2_frames *f);
/* Finds the next head in `*in` and moves *in past it. False: all of `in` is
 * read; then `in_block` and `blocks` are valid for its end. */
bool http2_frames_next(struct http2_frames *f, struct bytes *in,
                       struct http2_frame_head *out);

#endif
