/*
 * robots_text.h - rule files as strings in a test, and the paths they allow.
 */
#ifndef URLWEIR_TESTS_CRAWLER_ROBOTS_ROBOTS_TEXT_H
#define URLWEIR_TESTS_CRAWLER_ROBOTS_ROBOTS_TEXT_H

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "crawler/robots/robots.h"
#include "tests/unit/guarded.h"
#include "tests/unit/unit.h"

static inline bool allows_bytes(struct bytes file, const char *agent,
                                const char *path)
{
    struct bytes f = guarded(file), p = guarded(bytes_of_str(path));
    struct robots *r = robots_parse(f, bytes_of_str(agent));
    bool yes = robots_allows(r, p, NULL);

    robots_free(r);
    guarded_free(f);
    guarded_free(p);
    return yes;
}

static inline bool allows(const char *file, const char *agent, const char *path)
{
    return allows_bytes(bytes_of_str(file), agent, path);
}

/* Does a file with these rules for all agents allow this path? */
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
