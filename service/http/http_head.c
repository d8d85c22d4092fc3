/* SPDX-License-Identifier: MIT */
/*
 * http_head.c - refuses heads that servers read differently.
 *
 * If a proxy and a server disagree on where a request ends, or which host it is
 * for, one caller's request can be taken for another's (request smuggling). The
 * library accepts such heads; we refuse them (RFC 9112 sections 2.2, 3.2, 5.1,
 * 6.1 and 6.3) before anything else. The answer closes the connection, as does
 * any answer before the end of its request.
 *
 * The library ends strings at a zero byte. In the request line we can tell from
 * the position of the version; in a header field we cannot.
 */
#include <string.h>

#include "service/http/http_server_impl.h"

#include "base/ascii.h"

struct head {
    unsigned hosts, lengths, codings;
    bool chunked; /* the last coding is chunked */
    const char *wrong;
};

/* RFC 9110 section 5.6.2. */
static bool is_token(struct bytes b)
{
    static const char others[] = "!#$%&'*+-.^_`|~";

    for (size_t i = 0; i < b.len; i++) {
        char c = b.at[i];

        if (!ascii_is_alnum(c) && (c == '\0' || strchr(others, c) == NULL))
            return false;
    }
    return b.len > 0;
}

static bool has_control(struct bytes b)
{
    for (size_t i = 0; i < b.len; i++)
        if (((unsigned char)b.at[i] < ' ' && b.at[i] != '\t') ||
            b.at[i] == 0x7f)
            return true;
    return false;
}

static bool names(struct bytes name, const char *field)
{
    return bytes_equal_nocase(name, bytes_of_str(field));
}

static enum MHD_Result look_at(void *ctx, enum MHD_ValueKind kind,
                               const char *name, size_t name_len,
                               const char *value, size_t value_len)
{
    struct head *h = ctx;
    struct bytes n = bytes_of(name, name_len), v = bytes_of(value, value_len);

    (void)kind;
    if (!is_token(n))
        h->wrong = "the name of a header field is not valid";
    else if (has_control(v))
        h->wrong = "a header field holds control characters";
    if (names(n, MHD_HTTP_HEADER_HOST)) {
        h->hosts++;
    } else if (names(n, MHD_HTTP_HEADER_CONTENT_LENGTH)) {
        h->lengths++;
    } else if (names(n, MHD_HTTP_HEADER_TRANSFER_ENCODING)) {
        h->codings++;
        h->chunked = names(v, "chunked");
    }
    return h->wrong == NULL ? MHD_YES : MHD_NO;
}

static const char *why_not(struct MHD_Connection *conn, const char *version)
{
    struct head h = {.wrong = NULL};

    MHD_get_connection_values_n(conn, MHD_HEADER_KIND, look_at, &h);
    if (h.wrong != NULL)
        return h.wrong;
    if (h.hosts > 1)
        return "there is more than one Host";
    if (h.lengths > 1)
        return "there is more than one Content-Length";
    if (h.codings > 0 && h.lengths > 0)
        return "there are both Content-Length and Transfer-Encoding";
    if (h.codings > 0 && strcmp(version, MHD_HTTP_VERSION_1_0) == 0)
        return "HTTP/1.0 has no Transfer-Encoding";
    if (h.codings > 1 || (h.codings == 1 && !h.chunked))
        return "Transfer-Encoding can only be chunked, once";
    return NULL;
}

/* In the library's buffer the version begins one space after the target; if the
 * target has a zero byte, it is farther away. */
static bool is_cut_short(const struct http_request *r, const char *version)
{
    uintptr_t target = (uintptr_t)r->target, at = (uintptr_t)version;

    return at > target && at - target < HTTP_HEADERS_MOST &&
           at - target != strlen(r->uri) + 1;
}

void http_head_check(struct http_request *r, const char *version)
{
    const char *why = why_not(r->conn, version);

    if (why == NULL && (is_cut_short(r, version) || strchr(r->uri, ' ')))
        why = "the request line holds a zero byte or too many spaces";
    if (why == NULL && strstr(r->path, "%00") != NULL)
        why = "the path holds a zero byte";
    if (why != NULL)
        http_problem(r, 400, "%s", why);
}
