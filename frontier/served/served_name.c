/* SPDX-License-Identifier: MIT */
/*
 * served_name.c - names in the URLFrontier API: crawl IDs and queue keys.
 *
 * Not frontier/url/url.h's parser: keys must be what clients of the reference
 * service expect, even for text that is not a URL.
 */
#include "frontier/served/served_name.h"

#include <string.h>

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

struct bytes served_key_of_url(struct bytes url)
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
