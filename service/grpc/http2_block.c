/* SPDX-License-Identifier: MIT */
/*
 * http2_block.c - a block of header fields, as it comes in.
 *
 * nghttp2 gives field after field. Past the limit, fields are counted and
 * dropped, so that the request can still be answered, and a peer that sends a
 * few fields too many can be told from one that sends nothing else.
 */
#include "service/grpc/http2_session_impl.h"

void http2_block_clear(struct http2_block *b)
{
    buf_clear(&b->text);
    b->count = b->octets = 0;
}

void http2_block_add(struct http2_block *b, struct bytes name,
                     struct bytes value, size_t most)
{
    b->octets += name.len + value.len + 32;
    if (b->octets > most || b->count == HTTP2_FIELDS_MOST)
        return;
    b->field[b->count].name = b->text.len;
    b->field[b->count].name_len = name.len;
    buf_add_bytes(&b->text, name);
    b->field[b->count].value = b->text.len;
    b->field[b->count].value_len = value.len;
    buf_add_bytes(&b->text, value);
    b->count++;
}

void http2_block_read(const struct http2_block *b, size_t most,
                      struct http2_header *headers, struct http2_request *out)
{
    struct http2_request r = {.headers = headers};

    r.too_large =
        b->octets > most || b->count == HTTP2_FIELDS_MOST || b->text.failed;
    for (size_t i = 0; i < b->count && !b->text.failed; i++) {
        struct http2_header h = {
            bytes_of(b->text.at + b->field[i].name, b->field[i].name_len),
            bytes_of(b->text.at + b->field[i].value, b->field[i].value_len),
        };

        if (bytes_is(h.name, ":method"))
            r.method = h.value;
        else if (bytes_is(h.name, ":path"))
            r.path = h.value;
        else if (h.name.len > 0 && h.name.at[0] != ':')
            headers[r.count++] = h;
    }
    *out = r;
}

struct bytes http2_request_header(const struct http2_request *r,
                                  const char *name)
{
    for (size_t i = 0; i < r->count; i++)
        if (bytes_is(r->headers[i].name, name))
            return r->headers[i].value;
    return bytes_of(NULL, 0);
}
