/* SPDX-License-Identifier: MIT */
/*
 * url_canonical.c - one spelling for the URLs that are surely one resource.
 *
 * RFC 3986, 6.2.2 and 6.2.3 allow what stands here; whatever a server may
 * tell apart (case, empty segments, parameter order) is left alone. The form
 * is a fixed point because each step leaves nothing for an earlier one to do:
 * decoding looks back at what it wrote, dots are removed after it, and the
 * host is parsed again once its last dots are gone.
 */
#include "base/ascii.h"
#include "frontier/url/host.h"
#include "frontier/url/percent.h"
#include "frontier/url/url.h"
#include "frontier/url/url_authority.h"

/* Puts `with` where u has `len` octets at `at`, and moves what stands behind.
 * Offsets behind `at` are the caller's to mend. False: over the ceiling. */
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

/* C4. What is left may be an IPv4 address ("0x7f.1.." was none), or nothing
 * that parses ("foo.0x4.."), so it goes through the host parser. */
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

/* Turns an escape that ends at `end` into what C3 wants. Returns the new end;
 * a digit that came out may complete another escape, so this looks again. */
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
