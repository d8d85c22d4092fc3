/* SPDX-License-Identifier: MIT */
/*
 * url_canonical.c - one spelling for the URLs that are surely one resource.
 *
 * RFC 3986, 6.2.2 and 6.2.3 allow all of this; whatever a server may treat as
 * different (case, empty segments, parameter order) is left alone. Applying it
 * twice changes nothing, because each step leaves nothing for an earlier one to
 * do: decoding looks again at what it wrote, dot segments are removed after
 * decoding, and the host is parsed again after its trailing dots are removed.
 */
#include "base/ascii.h"
#include "frontier/url/percent.h"
#include "frontier/url/url.h"
#include "frontier/url/url_authority.h"

/* Replaces `len` octets at `at` by `with`, and moves what follows. The caller
 * adjusts offsets after `at`. False: over the ceiling. */
static bool replace(struct url *u, size_t at, size_t len, struct bytes with)
{
    struct buf *text = &u->text;
    size_t tail = text->len - at - len;

    if (with.len > len && text->len - len > text->ceiling - with.len)
        return false;
    if (with.len > len && buf_room(text, with.len - len) == NULL)
        return false;
    memmove(text->at + at + with.len, text->at + at + len, tail);
    if (with.len > 0)
        memcpy(text->at + at, with.at, with.len);
    text->len = at + with.len + tail;
    text->at[text->len] = '\0';
    return true;
}

/* C2. */
static void drop_userinfo(struct url *u)
{
    size_t n = u->host_at - u->userinfo_at;

    if (n == 0)
        return;
    replace(u, u->userinfo_at, n, bytes_of_str(""));
    u->host_at -= n;
    u->path_at -= n;
    u->query_at -= n;
}

/* C4. The rest may now be an IPv4 address ("0x7f.1.." was not), or not parse at
 * all ("foo.0x4.."), so it goes through the host parser. */
static void drop_trailing_dots(struct url *u)
{
    struct bytes host = url_host(u);
    struct buf parsed;
    size_t old = host.len;

    if (host.at[host.len - 1] != '.')
        return;
    while (host.len > 0 && host.at[host.len - 1] == '.')
        host.len--;
    buf_init(&parsed, URL_LENGTH_CEILING);
    if (url_host_parse(&parsed, host) == URL_OK &&
        replace(u, u->host_at, old, buf_bytes(&parsed))) {
        u->host_len = parsed.len;
        u->path_at = u->path_at - old + parsed.len;
        u->query_at = u->query_at - old + parsed.len;
    }
    buf_fini(&parsed);
}

/* Applies C3 to an escape that ends at `end`, and returns the new end. A
 * decoded digit may complete another escape, so it looks again. */
static size_t settle_escape(char *at, size_t from, size_t end)
{
    while (end - from >= 3 && at[end - 3] == '%') {
        int high = ascii_hex(at[end - 2]), low = ascii_hex(at[end - 1]);
        char octet;

        if (high < 0 || low < 0)
            break;
        octet = (char)(high << 4 | low);
        if (!(octet_class(octet) & OCTET_UNRESERVED)) {
            at[end - 2] = "0123456789ABCDEF"[high];
            at[end - 1] = "0123456789ABCDEF"[low];
            break;
        }
        end -= 2;
        at[end - 1] = octet;
    }
    return end;
}

/* C3, over [from, to) in place; returns the new end. */
static size_t settle_escapes(char *at, size_t from, size_t to)
{
    const char *first = memchr(at + from, '%', to - from);
    size_t end;

    if (first == NULL)
        return to;
    end = (size_t)(first - at);
    for (size_t i = end; i < to; i++) {
        at[end++] = at[i];
        end = settle_escape(at, from, end);
    }
    return end;
}

/* C6, on a path that holds no escaped dots any more; returns the new end. */
static size_t remove_dots(char *at, size_t from, size_t to)
{
    size_t end = from, i = from;

    while (i < to) { /* at a slash */
        size_t next = i + 1, n;
        bool last;

        while (next < to && at[next] != '/')
            next++;
        n = next - i - 1;
        last = next == to;
        if (n == 1 && at[i + 1] == '.') {
            if (last)
                at[end++] = '/';
        } else if (n == 2 && at[i + 1] == '.' && at[i + 2] == '.') {
            while (end > from && at[--end] != '/')
                ;
            if (last)
                at[end++] = '/';
        } else {
            memmove(at + end, at + i, n + 1);
            end += n + 1;
        }
        i = next;
    }
    return end;
}

/* C3, C5 and C6. */
static void settle_path_and_query(struct url *u)
{
    char *at = u->text.at;
    size_t query_at = u->query_at, query_len = u->text.len - query_at;
    size_t end = settle_escapes(at, u->path_at, query_at);

    if (end < query_at)
        end = remove_dots(at, u->path_at, end);
    memmove(at + end, at + query_at, query_len);
    u->query_at = end;
    end = settle_escapes(at, end, end + query_len);
    if (end == u->query_at + 1)
        end = u->query_at;
    buf_truncate(&u->text, end);
}

void url_canonicalise(struct url *u)
{
    drop_userinfo(u);
    drop_trailing_dots(u);
    settle_path_and_query(u);
}

enum url_reason url_canonical(struct url *out, struct bytes in,
                              const struct url *base,
                              const struct url_encoder *query_encoder)
{
    enum url_reason reason = url_parse(out, in, base, query_encoder);

    if (reason == URL_OK)
        url_canonicalise(out);
    return reason;
}
