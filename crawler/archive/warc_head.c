/* SPDX-License-Identifier: MIT */
/*
 * warc_head.c - HTTP heads in the form for WARC records.
 *
 * Content-Length is written in place of the first one, or at the end; repeats
 * are dropped (by RFC 9110 section 8.6 they are equal). If nothing has to
 * change, the lines are written as they came.
 */
#include "crawler/archive/warc_head.h"

#include <string.h>

#define CHANGED_LINE_MOST ((size_t)200) /* of a line in `changed` */

/* RFC 9110 section 15, and 429 and 451 of their own RFCs; HTTP/2 has no
 * phrases. Other statuses are written without one. */
static const struct {
    uint16_t status;
    const char *phrase;
} phrases[] = {
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {203, "Non-Authoritative Information"},
    {204, "No Content"},
    {206, "Partial Content"},
    {300, "Multiple Choices"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {410, "Gone"},
    {414, "URI Too Long"},
    {429, "Too Many Requests"},
    {451, "Unavailable For Legal Reasons"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
};

/* The next line of *left without its end. False: none is left. */
static bool next_line(struct bytes *left, struct bytes *line)
{
    const char *end;

    if (left->len == 0)
        return false;
    end = memchr(left->at, '\n', left->len);
    *line =
        bytes_of(left->at, end != NULL ? (size_t)(end - left->at) : left->len);
    left->at += line->len + (end != NULL);
    left->len -= line->len + (end != NULL);
    if (line->len > 0 && line->at[line->len - 1] == '\r')
        line->len--;
    return true;
}

static bool is_field(struct bytes line, const char *name)
{
    size_t n = strlen(name);

    return line.len > n && line.at[n] == ':' &&
           bytes_equal_nocase(bytes_of(line.at, n), bytes_of_str(name));
}

static struct bytes value_of(struct bytes line)
{
    const char *colon = memchr(line.at, ':', line.len);
    size_t at = (size_t)(colon - line.at) + 1;

    return bytes_trim(bytes_of(line.at + at, line.len - at));
}

static void add_line(struct buf *out, struct bytes line)
{
    buf_add_bytes(out, line);
    buf_add_str(out, "\r\n");
}

static void note_changed(struct buf *changed, struct bytes line)
{
    size_t n = line.len < CHANGED_LINE_MOST ? line.len : CHANGED_LINE_MOST;

    if (changed->len > 0)
        buf_add_str(changed, "; ");
    buf_add(changed, line.at, n);
}

/* "HTTP/2 200 " becomes "HTTP/1.1 200 OK". */
static void add_status_line(struct buf *out, struct bytes line)
{
    struct bytes code;

    if (!bytes_starts_with(line, "HTTP/2 ") || line.len < 10) {
        add_line(out, line);
        return;
    }
    code = bytes_of(line.at + 7, 3);
    buf_add_str(out, "HTTP/1.1 ");
    buf_add_bytes(out, code);
    buf_add_char(out, ' ');
    for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++) {
        if (phrases[i].status == (code.at[0] - '0') * 100 +
                                     (code.at[1] - '0') * 10 + code.at[2] - '0')
            buf_add_str(out, phrases[i].phrase);
    }
    buf_add_str(out, "\r\n");
}

struct correction {
    const struct warc_body *body;
    struct buf *out, *changed;
    bool length_written;
};

static void add_length(struct correction *c)
{
    if (!c->length_written)
        buf_addf(c->out, "Content-Length: %llu\r\n",
                 (unsigned long long)c->body->length);
    c->length_written = true;
}

static bool is_number(struct bytes text, uint64_t n)
{
    struct buf number;
    bool same;

    buf_init(&number, 32);
    buf_add_uint(&number, n);
    same = bytes_equal(text, buf_bytes(&number));
    buf_fini(&number);
    return same;
}

static void correct_length(struct correction *c, struct bytes line)
{
    if (c->body->none && !is_number(value_of(line), 0)) {
        note_changed(c->changed, line); /* readers would wait for that body */
    } else if (!c->length_written &&
               is_number(value_of(line), c->body->length)) {
        add_line(c->out, line);
        c->length_written = true;
    } else {
        note_changed(c->changed, line);
        add_length(c);
    }
}

static void correct(struct correction *c, struct bytes line)
{
    if (is_field(line, "transfer-encoding"))
        note_changed(c->changed, line);
    else if (c->body->decoded && is_field(line, "content-encoding"))
        note_changed(c->changed, line);
    else if (is_field(line, "content-length"))
        correct_length(c, line);
    else
        add_line(c->out, line);
}

void warc_response_head(struct bytes raw, const struct warc_body *body,
                        struct buf *out, struct buf *changed)
{
    struct correction c = {.body = body, .out = out, .changed = changed};
    struct bytes line;

    if (next_line(&raw, &line))
        add_status_line(out, line);
    while (next_line(&raw, &line) && line.len > 0)
        correct(&c, line);
    if (!body->none)
        add_length(&c);
    buf_add_str(out, "\r\n");
}

/* "GET / HTTP/2" becomes "GET / HTTP/1.1". */
static void add_request_line(struct buf *out, struct bytes line)
{
    if (line.len > 7 &&
        bytes_is(bytes_of(line.at + line.len - 7, 7), " HTTP/2")) {
        line.len--;
        buf_add_bytes(out, line);
        buf_add_str(out, "1.1\r\n");
    } else {
        add_line(out, line);
    }
}

void warc_request_head(struct bytes raw, struct buf *out)
{
    struct bytes line;

    if (next_line(&raw, &line))
        add_request_line(out, line);
    while (next_line(&raw, &line) && line.len > 0) {
        if (!is_field(line, "proxy-authorization"))
            add_line(out, line);
    }
    buf_add_str(out, "\r\n");
}
