/* SPDX-License-Identifier: MIT */
/*
 * fuzz_robots.c - any bytes give some rules.
 *
 * Input: an agent, LF, a path, LF, a robots.txt. Asserts, besides memory
 * safety: /robots.txt is allowed, the deciding line is in the file, reading
 * again gives the same result, and every delay is finite.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "crawler/robots/robots.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct bytes cut_line(struct bytes *rest)
{
    const char *lf = rest->len > 0 ? memchr(rest->at, '\n', rest->len) : NULL;
    struct bytes line = *rest;

    if (lf != NULL)
        line.len = (size_t)(lf - rest->at);
    *rest = bytes_of(rest->at + line.len + (lf != NULL),
                     rest->len - line.len - (lf != NULL));
    return line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes body = bytes_of(data, size);
    struct bytes agent = cut_line(&body), path = cut_line(&body), line, again;
    struct robots *r = robots_parse(body, agent);
    struct robots *second = robots_parse(robots_readable(body), agent);
    bool allowed = robots_allows(r, path, &line), noindex = false,
         nofollow = false;

    assert(robots_allows(r, bytes_of_str("/robots.txt"), NULL));
    assert(allowed || line.len > 0);
    assert(line.len == 0 || memmem(body.at, body.len, line.at, line.len));
    /* A byte order mark may follow another. */
    if (robots_readable(robots_readable(body)).len ==
        robots_readable(body).len) {
        assert(robots_allows(second, path, &again) == allowed);
        assert(bytes_equal(line, again));
    }
    assert(robots_crawl_delay(r) <= 1e9);
    for (size_t i = 0; i < robots_sitemap_count(r); i++)
        assert(robots_sitemap(r, i).len > 0);
    robots_free(r);
    robots_free(second);
    robots_tag_header(body, agent, &noindex, &nofollow);
    return 0;
}
