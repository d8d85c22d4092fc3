/* SPDX-License-Identifier: MIT */
/*
 * fuzz_url.c - any octets as a URL: `url`, or `base` LF `url`.
 *
 * Asserts, besides memory safety: a serialised URL parses to itself, the
 * canonical form is a fixed point, parts are at their offsets, the SURT is
 * printable.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "frontier/url/host.h"
#include "frontier/url/surt.h"
#include "frontier/url/url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_parts(const struct url *u)
{
    struct bytes text = url_text(u), host = url_host(u);

    assert(u->userinfo_at == (u->https ? 8u : 7u));
    assert(u->userinfo_at <= u->host_at && host.len > 0);
    assert(u->host_at + host.len <= u->path_at);
    assert(text.at[u->path_at] == '/' && u->path_at < u->query_at);
    assert(u->query_at == text.len || text.at[u->query_at] == '?');
    assert(text.len <= URL_LENGTH_CEILING);
    assert(url_origin_length(text) == u->path_at);
    assert(host_registrable(host).len > 0);
    for (size_t i = 0; i < text.len; i++)
        assert(text.at[i] > ' ' && text.at[i] < 0x7f);
}

static void check_same(const struct url *a, const struct url *b)
{
    assert(bytes_equal(url_text(a), url_text(b)));
    assert(a->https == b->https && a->port == b->port);
    assert(a->host_at == b->host_at && a->host_len == b->host_len);
    assert(a->path_at == b->path_at && a->query_at == b->query_at);
}

static void check_key(const struct url *u)
{
    struct buf key;

    buf_init(&key, SURT_CEILING);
    surt_of(u, &key);
    assert(buf_failed(&key) == STATUS_OK && key.len > 0);
    for (size_t i = 0; i < key.len; i++)
        assert(key.at[i] > ' ' && key.at[i] < 0x7f);
    buf_fini(&key);
}

static void check_url(struct bytes in, const struct url *base)
{
    struct url u, again;

    url_init(&u);
    url_init(&again);
    if (url_parse(&u, in, base, NULL) == URL_OK) {
        check_parts(&u);
        assert(url_parse(&again, url_text(&u), NULL, NULL) == URL_OK);
        check_same(&u, &again);
        url_canonicalise(&u);
        check_parts(&u);
        assert(url_canonical(&again, url_text(&u), NULL, NULL) == URL_OK);
        check_same(&u, &again);
        check_key(&u);
    }
    url_fini(&again);
    url_fini(&u);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes in = bytes_of(data, size);
    const char *lf = size > 0 ? memchr(in.at, '\n', size) : NULL;
    struct url base;

    check_url(in, NULL);
    if (lf == NULL)
        return 0;
    url_init(&base);
    if (url_parse(&base, bytes_of(in.at, (size_t)(lf - in.at)), NULL, NULL) ==
        URL_OK)
        check_url(bytes_of(lf + 1, in.len - (size_t)(lf + 1 - in.at)), &base);
    url_fini(&base);
    return 0;
}
