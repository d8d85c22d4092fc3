/* SPDX-License-Identifier: MIT */
/* api_robots.c - robots.txt in the C library. */
#include <stdlib.h>

#include "base/mem.h"
#include "bindings/c/api.h"
#include "crawler/robots/robots.h"

struct urlweir_robots {
    struct robots *rules;
};

struct urlweir_robots *urlweir_robots_new(struct urlweir_bytes body,
                                          struct urlweir_bytes agent)
{
    struct urlweir_robots *r = xcalloc(1, sizeof *r);

    r->rules = robots_parse(api_in(body), api_in(agent));
    return r;
}

void urlweir_robots_free(struct urlweir_robots *r)
{
    if (r == NULL)
        return;
    robots_free(r->rules);
    free(r);
}

int urlweir_robots_allows(const struct urlweir_robots *r,
                          const struct urlweir_url *u,
                          struct urlweir_bytes *line)
{
    struct bytes decides = bytes_of("", 0);
    bool allowed = u->reason == URL_OK &&
                   robots_allows(r->rules, url_path_query(&u->url), &decides);

    if (line != NULL)
        *line = api_out(decides);
    return allowed;
}

double urlweir_robots_crawl_delay(const struct urlweir_robots *r)
{
    return robots_crawl_delay(r->rules);
}

size_t urlweir_robots_sitemap_count(const struct urlweir_robots *r)
{
    return robots_sitemap_count(r->rules);
}

struct urlweir_bytes urlweir_robots_sitemap(const struct urlweir_robots *r,
                                            size_t i)
{
    return api_out(i < robots_sitemap_count(r->rules)
                       ? robots_sitemap(r->rules, i)
                       : bytes_of("", 0));
}
