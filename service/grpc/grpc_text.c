/* SPDX-License-Identifier: MIT */
/* grpc_text.c - status messages, time-outs and content types of gRPC. */
#include "service/grpc/grpc_text.h"

#include "base/clock.h"

#define TIMEOUT_MOST (INT64_C(3) * 365 * 86400 * NS_PER_S)

const char *grpc_code_name(unsigned code)
{
    static const char *const names[GRPC_CODES_] = {
        "OK",
        "CANCELLED",
        "UNKNOWN",
        "INVALID_ARGUMENT",
        "DEADLINE_EXCEEDED",
        "NOT_FOUND",
        "ALREADY_EXISTS",
        "PERMISSION_DENIED",
        "RESOURCE_EXHAUSTED",
        "FAILED_PRECONDITION",
        "ABORTED",
        "OUT_OF_RANGE",
        "UNIMPLEMENTED",
        "INTERNAL",
        "UNAVAILABLE",
        "DATA_LOSS",
        "UNAUTHENTICATED",
    };

    return code < GRPC_CODES_ ? names[code] : "UNKNOWN";
}

void grpc_percent_encode(struct buf *out, struct bytes text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];

        if (c >= ' ' && c <= '~' && c != '%')
            buf_add_char(out, (char)c);
        else
            buf_addf(out, "%%%02X", c);
    }
}

static int64_t unit_ns(char unit)
{
    switch (unit) {
    case 'H':
        return 3600 * NS_PER_S;
    case 'M':
        return 60 * NS_PER_S;
    case 'S':
        return NS_PER_S;
    case 'm':
        return NS_PER_MS;
    case 'u':
        return 1000;
    case 'n':
        return 1;
    default:
        return 0;
    }
}

bool grpc_parse_timeout(struct bytes text, int64_t *ns)
{
    int64_t value = 0, unit;

    if (text.len < 2 || text.len > 9)
        return false;
    for (size_t i = 0; i + 1 < text.len; i++) {
        if (text.at[i] < '0' || text.at[i] > '9')
            return false;
        value = value * 10 + (text.at[i] - '0');
    }
    unit = unit_ns(text.at[text.len - 1]);
    if (unit == 0)
        return false;
    *ns = value > TIMEOUT_MOST / unit ? TIMEOUT_MOST : value * unit;
    return true;
}

bool grpc_content_type(struct bytes text)
{
    static const char plain[] = "application/grpc";
    static const char proto[] = "application/grpc+proto";
    struct bytes rest = text;

    if (text.len >= sizeof proto - 1 &&
        bytes_equal_nocase(bytes_of(text.at, sizeof proto - 1),
                           bytes_of_str(proto)))
        rest.at += sizeof proto - 1;
    else if (text.len >= sizeof plain - 1 &&
             bytes_equal_nocase(bytes_of(text.at, sizeof plain - 1),
                                bytes_of_str(plain)))
        rest.at += sizeof plain - 1;
    else
        return false;
    rest.len -= (size_t)(rest.at - text.at);
    rest = bytes_trim(rest);
    return rest.len == 0 || rest.at[0] == ';';
}
