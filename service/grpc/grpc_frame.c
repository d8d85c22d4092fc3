/* SPDX-License-Identifier: MIT */
/*
 * grpc_frame.c - messages out of a byte stream, and gRPC's small texts.
 *
 * Messages passed on stay in `in` until the next feed, which moves the rest to
 * the front: only the octets of an incomplete message are copied.
 */
#include "service/grpc/grpc_frame.h"

#include <string.h>

#include "base/clock.h"
#include "base/file/unpack.h"

void grpc_reader_init(struct grpc_reader *r, bool gzip, size_t held_most)
{
    memset(r, 0, sizeof *r);
    buf_init(&r->in, GRPC_PREFIX + GRPC_MESSAGE_MOST + held_most);
    buf_init(&r->plain, GRPC_MESSAGE_MOST);
    r->gzip = gzip;
}

void grpc_reader_fini(struct grpc_reader *r)
{
    buf_fini(&r->in);
    buf_fini(&r->plain);
    r->at = 0;
}

static void drop_given(struct grpc_reader *r)
{
    if (r->at == 0)
        return;
    if (r->at < r->in.len)
        memmove(r->in.at, r->in.at + r->at, r->in.len - r->at);
    buf_truncate(&r->in, r->in.len - r->at);
    r->at = 0;
    /* The memory of a rare large message is not kept for the stream's life. */
    if (r->in.len == 0 && r->in.cap > 4 * 65536)
        buf_fini(&r->in);
    if (r->plain.cap > 4 * 65536)
        buf_fini(&r->plain);
}

enum status grpc_reader_feed(struct grpc_reader *r, struct bytes b)
{
    drop_given(r);
    buf_add_bytes(&r->in, b);
    return buf_failed(&r->in);
}

static size_t prefix_length(const char *p)
{
    const unsigned char *u = (const unsigned char *)p;

    return (size_t)u[1] << 24 | (size_t)u[2] << 16 | (size_t)u[3] << 8 | u[4];
}

size_t grpc_reader_held(const struct grpc_reader *r)
{
    return r->in.len - r->at;
}

size_t grpc_reader_coming(const struct grpc_reader *r)
{
    if (grpc_reader_held(r) < GRPC_PREFIX)
        return 0;
    return GRPC_PREFIX + prefix_length(r->in.at + r->at);
}

/* Decompresses all members of the gzip stream; nothing may follow them (RFC
 * 1952 2.2). */
static enum status gunzip(struct bytes in, struct buf *out)
{
    enum status st;

    buf_clear(out);
    do {
        st = gunzip_member(&in, out);
    } while (st == STATUS_OK && in.len > 0);
    return st;
}

enum status grpc_reader_next(struct grpc_reader *r, struct bytes *message)
{
    enum status st;
    const char *p;
    size_t len;

    if (grpc_reader_held(r) < GRPC_PREFIX)
        return STATUS_AGAIN;
    p = r->in.at + r->at;
    if (p[0] != 0 && (p[0] != 1 || !r->gzip))
        return STATUS_FORMAT;
    len = prefix_length(p);
    if (len > GRPC_MESSAGE_MOST)
        return STATUS_LIMIT;
    if (grpc_reader_held(r) < GRPC_PREFIX + len)
        return STATUS_AGAIN;
    r->at += GRPC_PREFIX + len;
    if (p[0] == 0) {
        *message = bytes_of(p + GRPC_PREFIX, len);
        return STATUS_OK;
    }
    st = gunzip(bytes_of(p + GRPC_PREFIX, len), &r->plain);
    if (st == STATUS_OK)
        *message = buf_bytes(&r->plain);
    return st;
}

void grpc_prefix(char out[GRPC_PREFIX], size_t len)
{
    out[0] = 0;
    for (int i = 0; i < 4; i++)
        out[1 + i] = (char)(unsigned char)(len >> (24 - 8 * i) & 0xff);
}

/* ---- status messages, time-outs and content types of gRPC ---- */

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
    int64_t unit;
    uint64_t value;

    if (text.len < 2 || text.len > 9 ||
        !bytes_number(bytes_of(text.at, text.len - 1), UINT64_MAX, &value))
        return false;
    unit = unit_ns(text.at[text.len - 1]);
    if (unit == 0)
        return false;
    *ns = (int64_t)value > TIMEOUT_MOST / unit ? TIMEOUT_MOST
                                               : (int64_t)value * unit;
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
