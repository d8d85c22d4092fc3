/*
 * robots_text.h - rule files written out in a test, and what they allow.
 */
#ifndef URLWEIR_TESTS_CRAWLER_ROBOTS_ROBOTS_TEXT_H
#define URLWEIR_TESTS_CRAWLER_ROBOTS_ROBOTS_TEXT_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "crawler/robots/robots.h"

static inline bool allows_bytes(struct bytes file, const char *agent,
                                const char *path)
{
    struct robots *r = robots_parse(file, bytes_of_str(agent));
    bool yes = robots_allows(r, bytes_of_str(path), NULL);

    robots_free(r);
    return yes;
}

static inline bool allows(const char *file, const char *agent, const char *path)
{
    return allows_bytes(bytes_of_str(file), agent, path);
}

/* One rule file for all agents, and a path: allowed? */
static inline bool under(const char *rules, const char *path)
{
    char *file = xmalloc(strlen(rules) + 32);
    bool yes;

    strcpy(file, "User-agent: *\n");
    strcat(file, rules);
    yes = allows(file, "foobot", path);
    free(file);
    return yes;
}

static inline double delay_of(const char *file, const char *agent)
{
    struct robots *r = robots_parse(bytes_of_str(file), bytes_of_str(agent));
    double delay = robots_crawl_delay(r);

    robots_free(r);
    return delay;
}

#endif
