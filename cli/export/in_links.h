/*
 * in_links.h - how many pages link to each URL of a crawl.
 *
 * Counted from the recorded links when asked: a count that is kept would be a
 * random write for each link. Eight octets a URL.
 */
#ifndef URLWEIR_CLI_EXPORT_IN_LINKS_H
#define URLWEIR_CLI_EXPORT_IN_LINKS_H

#include <stdint.h>

#include "frontier/reader.h"

struct in_links;

/* STATUS_OK with *out NULL: no links were recorded. The caller frees *out. */
MUST_CHECK enum status in_links_load(struct in_links **out, struct reader *r);
void in_links_free(struct in_links *l); /* NULL is fine */

/* The pages that link to URL `id`, but itself, and not by redirects; -1: not
 * known. `l` may be NULL. */
int64_t in_links_of(const struct in_links *l, uint64_t id);

#endif
