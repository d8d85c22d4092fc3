/* SPDX-License-Identifier: MIT */
/* answer.c - builds answers. */
#include "tests/support/web/answer.h"

#include <zlib.h>

#define HEAD_CEILING ((size_t)1 << 20)

void answer_init(struct answer *an)
{
    *an = (struct answer){0};
    buf_init(&an->head, HEAD_CEILING);
    buf_init(&an->body, ANSWER_CEILING);
}

void answer_fini(struct answer *an)
{
    buf_fini(&an->head);
    buf_fini(&an->body);
}

void answer_clear(struct answer *an)
{
    buf_clear(&an->head);
    buf_clear(&an->body);
    an->status = 0;
    an->end = END_KEEP;
    an->delay_ns = an->drip_ns = 0;
    an->drip = 0;
}

static const char *phrase(int status)
{
    switch (status) {
    case 200:
        return "OK";
    case 301:
        return "Moved Permanently";
    case 302:
        return "Found";
    case 304:
        return "Not Modified";
    case 404:
        return "Not Found";
    case 410:
        return "Gone";
    case 429:
        return "Too Many Requests";
    case 500:
        return "Internal Server Error";
    case 503:
        return "Service Unavailable";
    default:
        return "Status";
    }
}

void answer_status(struct answer *an, int status)
{
    an->status = status;
    buf_add_str(&an->head, "HTTP/1.1 ");
    buf_add_uint(&an->head, (uint64_t)status);
    buf_add_char(&an->head, ' ');
    buf_add_str(&an->head, phrase(status));
    buf_add_str(&an->head, "\r\nServer: site\r\n");
}

void answer_field(struct answer *an, const char *name, const char *value)
{
    buf_add_str(&an->head, name);
    buf_add_str(&an->head, ": ");
    buf_add_str(&an->head, value);
    buf_add_str(&an->head, "\r\n");
}

/* RFC 9110 section 8.6: no Content-Length with 204, and 304 needs none. */
void answer_done(struct answer *an)
{
    if (an->status != 204 && an->status != 304) {
        buf_add_str(&an->head, "Content-Length: ");
        buf_add_uint(&an->head, an->body.len);
        buf_add_str(&an->head, "\r\n");
    }
    if (an->end == END_CLOSE)
        answer_field(an, "Connection", "close");
    buf_add_str(&an->head, "\r\n");
}

void answer_text(struct answer *an, int status, const char *type,
                 const char *text)
{
    buf_add_str(&an->body, text);
    answer_status(an, status);
    if (type != NULL)
        answer_field(an, "Content-Type", type);
    answer_done(an);
}

/* `window`: 15 gives the zlib form, 15 + 16 gzip (zlib.h, deflateInit2). */
static void encode(struct answer *an, int window, const char *name)
{
    z_stream z = {0};
    struct buf out;
    char *room;
    size_t most;

    if (deflateInit2(&z, 1, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return;
    buf_init(&out, ANSWER_CEILING);
    most = deflateBound(&z, an->body.len);
    room = buf_room(&out, most);
    if (room != NULL) {
        z.next_in = (unsigned char *)an->body.at;
        z.avail_in = (unsigned)an->body.len;
        z.next_out = (unsigned char *)room;
        z.avail_out = (unsigned)most;
        (void)deflate(&z, Z_FINISH); /* deflateBound made room for all */
        buf_grew(&out, most - z.avail_out);
        buf_clear(&an->body);
        buf_add_bytes(&an->body, buf_bytes(&out));
        answer_field(an, "Content-Encoding", name);
    }
    deflateEnd(&z);
    buf_fini(&out);
}

void answer_gzip(struct answer *an)
{
    encode(an, 15 + 16, "gzip");
}

void answer_deflate(struct answer *an)
{
    encode(an, 15, "deflate");
}
