/*
 * grpc_frame.h - length-prefixed messages: an octet that says whether the
 * message is compressed, four octets of length, the message.
 *
 * The reader takes the body of a request in pieces of any size and gives it
 * back message by message, compressed ones decompressed. The length of a
 * message is checked before memory is allocated. Threads: one at a time.
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
    struct buf in;    /* received and not passed on */
    size_t at;        /* octets of it passed on */
    struct buf plain; /* a message decompressed */
    bool gzip;        /* grpc-encoding was gzip */
};

/* `held_most`: the most it may hold besides one message of full size: the
 * peer's flow-control window. */
void grpc_reader_init(struct grpc_reader *r, bool gzip, size_t held_most);
/* Frees its memory and what it holds; more may be fed to it. */
void grpc_reader_fini(struct grpc_reader *r);

/* STATUS_LIMIT: more than it may hold; the peer ignores flow control. */
MUST_CHECK enum status grpc_reader_feed(struct grpc_reader *r, struct bytes b);

/* The next message, valid until the next call of the reader. STATUS_AGAIN: it
 * is not complete. STATUS_LIMIT: it is longer than GRPC_MESSAGE_MOST,
 * compressed or not. STATUS_FORMAT: its flag is neither 0 nor 1, it is
 * compressed although no encoding was named, or it does not decompress. After
 * the last two the reader cannot be used any more. */
MUST_CHECK enum status grpc_reader_next(struct grpc_reader *r,
                                        struct bytes *message);

/* The size of the incomplete message with its prefix; 0: not even its prefix is
 * here. */
size_t grpc_reader_coming(const struct grpc_reader *r);
/* Octets received and not passed on. */
size_t grpc_reader_held(const struct grpc_reader *r);

/* The prefix of a message that is not compressed. */
void grpc_prefix(char out[GRPC_PREFIX], size_t len);

/* ---- the small texts of gRPC: status codes, messages, time-outs ----
 *
 * Source: grpc/doc/PROTOCOL-HTTP2.md and grpc/doc/statuscodes.md.
 */

enum grpc_code {
    GRPC_OK = 0,
    GRPC_CANCELLED = 1,
    GRPC_UNKNOWN = 2,
    GRPC_INVALID_ARGUMENT = 3,
    GRPC_DEADLINE_EXCEEDED = 4,
    GRPC_NOT_FOUND = 5,
    GRPC_PERMISSION_DENIED = 7,
    GRPC_RESOURCE_EXHAUSTED = 8,
    GRPC_FAILED_PRECONDITION = 9,
    GRPC_UNIMPLEMENTED = 12,
    GRPC_INTERNAL = 13,
    GRPC_UNAVAILABLE = 14,
    GRPC_UNAUTHENTICATED = 16,
    GRPC_CODES_ /* one past the last of the protocol's numbers */
};

/* A name such as "DEADLINE_EXCEEDED", also for codes not named above.
 * Static. */
const char *grpc_code_name(unsigned code);

/* grpc-message: octets outside printable ASCII, and %, as %XX. */
void grpc_percent_encode(struct buf *out, struct bytes text);

/* grpc-timeout: at most eight digits and a unit (H M S m u n), in ns; at most
 * three years. False: it is not a timeout. */
bool grpc_parse_timeout(struct bytes text, int64_t *ns);

/* Is it application/grpc, perhaps followed by +proto or parameters? */
bool grpc_content_type(struct bytes text);

#endif
