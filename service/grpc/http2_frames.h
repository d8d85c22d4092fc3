/*
 * http2_frames.h - the heads of frames among the octets of a connection
 * (RFC 9113 section 4.1), as they come in, cut anywhere.
 *
 * nghttp2 passes over frames that it does not know or need without a word; here
 * each is seen. Nothing is checked: octets that are no HTTP/2 give heads all
 * the same, and nghttp2 refuses them.
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
    bool in_block;      /* header fields have begun and not ended */
    bool block_is_last; /* no CONTINUATION follows */
    uint64_t blocks;    /* that have begun */
};

/* At the beginning of a connection, whose preface comes first. */
void http2_frames_init(struct http2_frames *f);
/* The next head in `*in`, which is left behind it. False: all of `in` has been
 * taken. Once it is, `in_block` and `blocks` are as of its end. */
bool http2_frames_next(struct http2_frames *f, struct bytes *in,
                       struct http2_frame_head *out);

#endif
