/*
 * robots.h - robots.txt parse and match (RFC 9309).
 *
 * Parsing never fails: any bytes are some rules. Matching is linear in the
 * length of the path for each rule, whatever the wildcards. A parsed file is
 * read-only, so threads may share it. robots_cache.h handles fetching, caching
 * and failures; robots.h compares paths.
 *
 * Where RFC 9309 leaves a choice, we decided:
 * - The longest rule is the one with the most octets after normalisation,
 *   wildcards included: /%61bc is 4, /\xc3\xa9 and /%c3%a9 are 7, so that the
 *   spelling of a rule does not change its weight. If lengths are equal, Allow
 *   wins.
 * - A pattern that begins with neither `/` nor `*` matches nothing.
 * - Allow and Disallow without a value match nothing, but end a run of
 *   user-agent lines as any rule does.
 * - A line without a colon counts if name and value are one word each.
 *   Frequent misspellings of names are understood (robots.c lists them).
 * - Crawl-delay is the number that its value begins with, whatever follows. It
 *   does not end a run of user-agent lines. In a run, an agent
 *   gets the first delay after its own line, else the last before it; if it has
 *   several groups, the longest delay counts.
 */
#ifndef URLWEIR_CRAWLER_ROBOTS_ROBOTS_H
#define URLWEIR_CRAWLER_ROBOTS_ROBOTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"

#define ROBOTS_READ_MOST ((size_t)512000) /* 500 KiB, RFC 9309 section 2.5 */

struct robots;

/* Parses the rules of `body` for `agent` (only its product token counts:
 * `Foo/1.0` is `Foo`). Bytes past ROBOTS_READ_MOST are dropped, and so is a
 * line that is cut there. The caller owns the result, which does not refer to
 * `body`. */
struct robots *robots_parse(struct bytes body, struct bytes agent);
/* The part of `body` that robots_parse reads: whole lines among its first
 * ROBOTS_READ_MOST octets, without a byte order mark. */
struct bytes robots_readable(struct bytes body);
/* Rules that allow everything. */
struct robots *robots_allow_all(void);
void robots_free(struct robots *r); /* NULL is fine */

/* May the URL with this path and query (from the slash on, parsed by url.h, no
 * fragment) be fetched? *line, if not NULL, gets the deciding line as written
 * in the file, trimmed, or empty if no rule matched; it lives as long as r. */
bool robots_allows(const struct robots *r, struct bytes path_query,
                   struct bytes *line);

/* Crawl-delay of the agent's group in seconds; negative if there is none. */
double robots_crawl_delay(const struct robots *r);
/* Does the file have a group that applies to the agent? If it is `cut`, another
 * group must follow that one, or the cut may be in it. */
bool robots_has_group(const struct robots *r, bool cut);
/* Bytes of memory it takes, for the cache's accounting. */
size_t robots_size(const struct robots *r);

/* The URLs of the Sitemap lines of the whole file, in file order, as written
 * but for `<URL>` and quotes; a line may name several. */
size_t robots_sitemap_count(const struct robots *r);
struct bytes robots_sitemap(const struct robots *r, size_t i);

/* ---- parses one line of a robots.txt, in any spelling ---- */

/* Any thread; nothing is allocated, everything is borrowed from the file. */

bool robots_is_line_end(char c); /* LF or CR; CR LF gives an extra empty line */

/* ---- paths and path patterns of robots.txt, and their match ---- */

/*
 * Both sides are brought to one spelling first (RFC 9309 section 2.2.2), then
 * compared octet by octet. Any thread.
 */

/* Does the normalised pattern match the normalised path from its first octet?
 * At most linear in the length of both, whatever the wildcards. */
bool robots_pattern_matches(struct bytes pattern, struct bytes path);

/* A list of directives, as in a meta's content: "noindex, nofollow". Commas,
 * semicolons and white space separate them. */
void robots_tag_directives(struct bytes content, bool *noindex, bool *nofollow);

/* One X-Robots-Tag value: directives, perhaps after an `agent:`, which applies
 * until the next one in the same value. Directives for an agent other than our
 * product token `agent` (case ignored) are skipped. */
void robots_tag_header(struct bytes value, struct bytes agent, bool *noindex,
                       bool *nofollow);

#endif
