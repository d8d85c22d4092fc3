/* SPDX-License-Identifier: MIT */
/* parse.c - the head of an HTTP/1.1 request (RFC 9112 sections 2 to 5). */
#include "tests/support/web/parse.h"

#include <string.h>

size_t request_head_length(struct bytes in, size_t scanned)
{
    size_t from = scanned > 3 ? scanned - 3 : 0;
    const char *end = in.len > from
                          ? memmem(in.at + from, in.len - from, "\r\n\r\n", 4)
                          : NULL;

    return end != NULL ? (size_t)(end - in.at) + 4 : 0;
}

/* Cuts up to the next `c`, which is dropped from *rest; false: there is
 * none. */
static bool cut(struct bytes *rest, char c, struct bytes *out)
{
    const char *at = memchr(rest->at, c, rest->len);

    if (at == NULL)
        return false;
    *out = bytes_of(rest->at, (size_t)(at - rest->at));
    *rest = bytes_of(at + 1, rest->len - out->len - 1);
    return true;
}

/* RFC 9110 section 5.6.2. */
static bool is_token(struct bytes s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.at[i];

        if (c <= ' ' || c >= 127 || strchr("\"(),/:;<=>?@[\\]{}", c) != NULL)
            return false;
    }
    return s.len > 0;
}

/* Is `word` in the comma-separated list, with any parameters? A weight of zero
 * ("gzip;q=0") counts as no. */
static bool list_has(struct bytes list, const char *word)
{
    while (list.len > 0) {
        struct bytes item, name;

        if (!cut(&list, ',', &item)) {
            item = list;
            list.len = 0;
        }
        name = item;
        if (!cut(&item, ';', &name))
            name = item;
        name = bytes_trim(name);
        if (bytes_equal_nocase(name, bytes_of_str(word)))
            return memmem(item.at, item.len, "q=0", 3) == NULL ||
                   memmem(item.at, item.len, "q=0.", 4) != NULL;
    }
    return false;
}

/* Origin form, or absolute form, of which the origin is dropped (RFC 9112
 * section 3.2). */
static bool parse_target(struct bytes t, struct request *rq)
{
    const char *slash;

    for (size_t i = 0; i < t.len; i++)
        if ((unsigned char)t.at[i] <= ' ' || t.at[i] == 127 || t.at[i] == '#')
            return false;
    if (bytes_starts_with(t, "http://")) {
        slash = memchr(t.at + 7, '/', t.len - 7);
        t = slash != NULL ? bytes_of(slash, t.len - (size_t)(slash - t.at))
                          : bytes_of("/", 1);
    }
    rq->target = t;
    return t.len > 0 && t.at[0] == '/';
}

static int parse_line(struct bytes line, struct request *rq, bool *keep)
{
    struct bytes target;

    if (!cut(&line, ' ', &rq->method) || !cut(&line, ' ', &target) ||
        !is_token(rq->method) || !parse_target(target, rq))
        return 400;
    if (!bytes_is(line, "HTTP/1.1") && !bytes_is(line, "HTTP/1.0"))
        return bytes_starts_with(line, "HTTP/") ? 505 : 400;
    *keep = bytes_is(line, "HTTP/1.1");
    rq->head = bytes_is(rq->method, "HEAD");
    return rq->head || bytes_is(rq->method, "GET") ? 0 : 405;
}

static bool name_is(struct bytes name, const char *s)
{
    return bytes_equal_nocase(name, bytes_of_str(s));
}

static int parse_field(struct bytes name, struct bytes value,
                       struct request *rq, bool *keep)
{
    if (name_is(name, "connection")) {
        if (list_has(value, "close"))
            *keep = false;
        else if (list_has(value, "keep-alive"))
            *keep = true;
    } else if (name_is(name, "accept-encoding")) {
        rq->gzip = list_has(value, "gzip");
        rq->deflate = list_has(value, "deflate");
    } else if (name_is(name, "if-none-match")) {
        rq->if_none_match = value;
    } else if (name_is(name, "transfer-encoding") ||
               (name_is(name, "content-length") && !bytes_is(value, "0"))) {
        return 413;
    }
    return 0;
}

int request_parse(struct bytes head, struct request *rq, bool *keep)
{
    struct bytes line, name;
    bool host = false, modern;
    int refusal;

    if (!cut(&head, '\n', &line) || line.len == 0)
        return 400;
    line.len--; /* its CR */
    refusal = parse_line(line, rq, keep);
    modern = *keep;
    while (refusal == 0 && cut(&head, '\n', &line)) {
        line = bytes_of(line.at, line.len > 0 ? line.len - 1 : 0);
        if (line.len == 0)
            break;
        if (!cut(&line, ':', &name) || !is_token(name))
            return 400;
        host = host || name_is(name, "host");
        refusal = parse_field(name, bytes_trim(line), rq, keep);
    }
    if (refusal == 0 && modern && !host)
        return 400; /* RFC 9112 section 3.2 */
    return refusal;
}
