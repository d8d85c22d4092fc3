/*
 * robots.h - robots.txt parse and match (RFC 9309).
 *
 * Parsing never fails: any bytes are some rules. Matching is linear in the
 * length of the path for each rule, whatever the wildcards. A parsed file is
 * read-only, so threads may share it. Fetching, caching and what failures
 * mean is robots_cache.h's business; how paths are compared, robots_pattern.h.
 *
 * What RFC 9309 leaves open and we decided:
 * - The longest rule is the one with the most octets as compared, wildcards
 *   included: /%61bc is 4, /\xc3\xa9 and /%c3%a9 are 7, so that the spelling of
 *   a rule does not change its weight. Rules of one length: allow wins.
 * - A pattern that begins with neither `/` nor `*` matches nothing.
 * - Allow and Disallow without a value match nothing, but end a run of
 *   user-agent lines as any rule does.
 * - A line without its colon counts where name and value are one word each.
 *   Frequent misspellings of names are understood (robots.c lists them).
 * - Crawl-delay does not end a run of user-agent lines. In one run, an agent
 *   has the first delay behind its own line, else the last before it; of
 *   several groups for one agent the longest delay counts.
 */
#ifndef URLWEIR_CRAWLER_ROBOTS_ROBOTS_H
#define URLWEIR_CRAWLER_ROBOTS_ROBOTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"

#define ROBOTS_READ_MOST ((size_t)512000) /* 500 KiB, RFC 9309 section 2.5 */

struct robots;

/* Rules of `body` for `agent` (only its product token counts: `Foo/1.0` is
 * `Foo`). Bytes past ROBOTS_READ_MOST are dropped, never cutting a rule in
 * two. The caller owns the result; `body` is not kept. */
struct robots *robots_parse(struct bytes body, struct bytes agent);
/* The part of `body` that robots_parse reads: whole lines among its first
 * ROBOTS_READ_MOST octets, without a byte order mark. */
struct bytes robots_readable(struct bytes body);
/* Rules that allow everything. */
struct robots *robots_allow_all(void);
void robots_free(struct robots *r); /* NULL is fine */

/* May the URL with this path and query (from the slash on, parsed by url.h,
 * no fragment) be fetched? *line, when not NULL, is the deciding line as it
 * stands in the file, trimmed, or empty where no rule matched; it lives as
 * long as r. */
bool robots_allows(const struct robots *r, struct bytes path_query,
                   struct bytes *line);

/* Crawl-delay of the agent's group in seconds; negative where none is given
 * or it is no number. */
double robots_crawl_delay(const struct robots *r);
/* Bytes of memory it takes, for a cache's account. */
size_t robots_size(const struct robots *r);

/* Sitemap lines of the whole file, as written, in file order. */
size_t robots_sitemap_count(const struct robots *r);
struct bytes robots_sitemap(const struct robots *r, size_t i);

#endif
