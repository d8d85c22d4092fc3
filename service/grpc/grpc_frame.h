/*
 * grpc_frame.h - length-prefixed messages: one octet that says whether it is
 * compressed, four octets of length, the message.
 *
 * The reader takes the body of a request in pieces of any size and gives it
 * back message by message, compressed ones decompressed. What a message may
 * hold is bounded before memory is taken for it. One thread at a time.
 *
 * Source: grpc/doc/PROTOCOL-HTTP2.md, "Length-Prefixed-Message".
 */
#ifndef URLWEIR_SERVICE_GRPC_GRPC_FRAME_H
#define URLWEIR_SERVICE_GRPC_GRPC_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"

#define GRPC_PREFIX       5
#define GRPC_MESSAGE_MOST (4u << 20)

struct grpc_reader {
    struct buf in;    /* received and not yet given out */
    size_t at;        /* of it, given out already */
    struct buf plain; /* a message decompressed */
    bool gzip;        /* what grpc-encoding said */
};

/* `held_most`: the most it may hold beside one message of full size, that is
 * the peer's flow-control window. */
void grpc_reader_init(struct grpc_reader *r, bool gzip, size_t held_most);
void grpc_reader_fini(struct grpc_reader *r);

/* STATUS_LIMIT: more than it may hold; the peer ignores flow control. */
MUST_CHECK enum status grpc_reader_feed(struct grpc_reader *r, struct bytes b);

/* The next message; it lives until the reader is next called.
 * STATUS_AGAIN: not all of it is here. STATUS_LIMIT: it is longer than
 * GRPC_MESSAGE_MOST, compressed or not. STATUS_FORMAT: its flag is neither 0
 * nor 1, it is compressed although no encoding was named, or it does not
 * decompress. After the last two the reader is of no more use. */
MUST_CHECK enum status grpc_reader_next(struct grpc_reader *r,
                                        struct bytes *message);

/* Octets of the message that is coming in, its prefix included; 0: not even
 * its prefix is here. */
size_t grpc_reader_coming(const struct grpc_reader *r);
/* Octets that are here and not given out. */
size_t grpc_reader_held(const struct grpc_reader *r);

/* The prefix of a message that is not compressed. */
void grpc_prefix(char out[GRPC_PREFIX], size_t len);

#endif
