/* SPDX-License-Identifier: MIT */
/*
 * url.c - a parsed URL and its parts.
 *
 * url_parse.c parses it, url_canonical.c makes its canonical form.
 */
#include "frontier/url/url.h"

const char *url_reason_text(enum url_reason r)
{
    static const char *const texts[URL_REASON_COUNT_] = {
        [URL_OK] = "ok",
        [URL_EMPTY] = "empty",
        [URL_SCHEME] = "scheme",
        [URL_RELATIVE] = "relative",
        [URL_HOST] = "host",
        [URL_HOST_IPV4] = "host_ipv4",
        [URL_HOST_IPV6] = "host_ipv6",
        [URL_HOST_IDNA] = "host_idna",
        [URL_PORT] = "port",
        [URL_LENGTH] = "length",
    };

    return (unsigned)r < URL_REASON_COUNT_ ? texts[r] : "unknown";
}

void url_init(struct url *u)
{
    *u = (struct url){.port = 80};
    buf_init(&u->text, URL_LENGTH_CEILING);
}

void url_fini(struct url *u)
{
    buf_fini(&u->text);
    url_init(u);
}

struct bytes url_text(const struct url *u)
{
    return buf_bytes(&u->text);
}

struct bytes url_host(const struct url *u)
{
    return bytes_of(u->text.at + u->host_at, u->host_len);
}

struct bytes url_origin(const struct url *u)
{
    return bytes_of(u->text.at, u->path_at);
}

struct bytes url_path_query(const struct url *u)
{
    return bytes_of(u->text.at + u->path_at, u->text.len - u->path_at);
}

struct bytes url_path(const struct url *u)
{
    return bytes_of(u->text.at + u->path_at, u->query_at - u->path_at);
}

size_t url_origin_length(struct bytes canonical)
{
    size_t at = 0;

    if (bytes_starts_with(canonical, "http://"))
        at = 7;
    else if (bytes_starts_with(canonical, "https://"))
        at = 8;
    else
        return 0;
    for (size_t i = at; i < canonical.len; i++)
        if (canonical.at[i] == '/')
            return i > at ? i : 0;
    return 0;
}

struct bytes url_canonical_host(struct bytes canonical)
{
    struct bytes host = bytes_of("", 0);
    const char *slash;

    if (bytes_starts_with(canonical, "http://"))
        host = bytes_skip(canonical, 7);
    else if (bytes_starts_with(canonical, "https://"))
        host = bytes_skip(canonical, 8);
    slash = host.len > 0 ? memchr(host.at, '/', host.len) : NULL;
    if (slash != NULL)
        host.len = (size_t)(slash - host.at);
    for (size_t i = host.len; i > 0 && host.at[i - 1] != ']'; i--)
        if (host.at[i - 1] == ':')
            host.len = i - 1;
    return host;
}

static bool on_default_port(const struct url *u)
{
    return u->port == (u->https ? 443 : 80);
}

bool url_same_site(const struct url *a, const struct url *b)
{
    bool usual = on_default_port(a);

    return bytes_equal(url_host(a), url_host(b)) &&
           usual == on_default_port(b) && (usual || a->port == b->port);
}
