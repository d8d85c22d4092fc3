/*
 * grpc_text.h - the small texts of gRPC over HTTP/2: status codes, messages,
 * time-outs.
 *
 * Source: grpc/doc/PROTOCOL-HTTP2.md and grpc/doc/statuscodes.md.
 */
#ifndef URLWEIR_SERVICE_GRPC_GRPC_TEXT_H
#define URLWEIR_SERVICE_GRPC_GRPC_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"

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
