/* SPDX-License-Identifier: MIT */
/*
 * served_name.c - names in the URLFrontier API: crawl IDs and queue keys.
 *
 * Where a key is in a URL is found without frontier/url/url.h's parser: it must
 * be where clients of the reference service expect it, even in text that is not
 * a URL. That parser only says how a host is spelt.
 */
#include "frontier/served/served_name.h"

#include <string.h>

#include "base/ascii.h"
#include "frontier/url/url.h"

struct bytes served_crawl_name(struct bytes crawl)
{
    for (size_t i = 0; i < crawl.len; i++) {
        if ((unsigned char)crawl.at[i] > ' ')
            return crawl;
    }
    return bytes_of_str("DEFAULT");
}

static size_t length_until(struct bytes s, const char *stops)
{
    size_t n = 0;

    while (n < s.len && (s.at[n] == '\0' || strchr(stops, s.at[n]) == NULL))
        n++;
    return n;
}

static struct bytes without_userinfo(struct bytes authority)
{
    const char *at =
        authority.len > 0 ? memrchr(authority.at, '@', authority.len) : NULL;

    return at == NULL ? authority
                      : bytes_of(at + 1, authority.len -
                                             (size_t)(at + 1 - authority.at));
}

/* The key as it is spelt. */
static struct bytes spelt_key(struct bytes url)
{
    const char *at = url.len > 0 ? memmem(url.at, url.len, "://", 3) : NULL;
    struct bytes rest = url;
    const char *end;

    if (at == NULL) { /* no authority: no userinfo, no brackets */
        rest.len = length_until(rest, ":/?&");
        return rest;
    }
    rest = bytes_of(at + 3, url.len - (size_t)(at + 3 - url.at));
    rest.len = length_until(rest, "/?&");
    rest = without_userinfo(rest);
    end = rest.len > 0 && rest.at[0] == '[' ? memchr(rest.at, ']', rest.len)
                                            : NULL;
    rest.len =
        end != NULL ? (size_t)(end + 1 - rest.at) : length_until(rest, ":");
    return rest;
}

static bool begins_with(struct bytes s, const char *prefix)
{
    size_t n = strlen(prefix);

    return s.len >= n &&
           bytes_equal_nocase(bytes_of(s.at, n), bytes_of(prefix, n));
}

/* Most keys: a name of lower-case letters, digits, hyphens and dots whose last
 * label is no number, and no dot at its end. */
static bool is_canonical_name(struct bytes key)
{
    bool label_begins = true, number = true;

    for (size_t i = 0; i < key.len; i++) {
        char c = key.at[i];

        if (c != '.' && c != '-' && !ascii_is_digit(c) && (c < 'a' || c > 'z'))
            return false;
        if (label_begins)
            number = ascii_is_digit(c);
        label_begins = c == '.';
    }
    return key.len > 0 && !label_begins && !number;
}

struct bytes served_key_of_url(struct bytes url, struct buf *room)
{
    struct bytes key = spelt_key(url), host;
    struct url u;

    if ((!begins_with(url, "http://") && !begins_with(url, "https://")) ||
        is_canonical_name(key))
        return key;
    buf_clear(room);
    buf_add_str(room, "http://");
    buf_add_bytes(room, key);
    url_init(&u);
    if (url_canonical(&u, buf_bytes(room), NULL, NULL) == URL_OK) {
        host = url_host(&u);
        buf_clear(room);
        buf_add_bytes(room, host);
        if (!bytes_equal(host, key))
            key = buf_bytes(room);
    }
    url_fini(&u);
    return key;
}

bool served_key_fits(struct bytes key)
{
    size_t units = 0;

    for (size_t i = 0; i < key.len && units <= SERVED_KEY_MOST; i++) {
        unsigned char c = (unsigned char)key.at[i];

        if (c < 0x80 || c >= 0xc0) /* not a continuation */
            units += c >= 0xf0 ? 2 : 1;
    }
    return units <= SERVED_KEY_MOST && key.len <= 4 * SERVED_KEY_MOST;
}
