/*
 * hop_path.h - how a URL was found: on which page, and over what kinds of links
 * from a seed.
 *
 * The path is in the form that archives use (WARC/1.1 section 6.6,
 * hopsFromSeed): a letter for each step, L link, E embedded, R redirect, M
 * entry of a sitemap, S form, P prerequisite (robots.txt), and empty for a
 * seed. A path longer than HOP_LETTERS_MOST keeps its last letters, after the
 * number of those cut: "12+LLE...".
 *
 * Paths of pages are cached, so that most URLs need one read of the store.
 * Frontier thread.
 */
#ifndef URLWEIR_CRAWLER_HOP_PATH_H
#define URLWEIR_CRAWLER_HOP_PATH_H

#include "crawler/fetcher.h"
#include "crawler/html/link_values.h"
#include "frontier/frontier.h"

struct hop_path;

/* The frontier outlives the hop_path. */
struct hop_path *hop_path_new(struct frontier *f);
void hop_path_free(struct hop_path *t); /* NULL is fine */

/* Says how a leased URL was found. The bytes live until the next call. Errors
 * are the store's. */
MUST_CHECK enum status hop_path_of(struct hop_path *t,
                                   const struct url_lease *l,
                                   struct found_by *out);

#endif
