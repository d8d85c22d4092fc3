/*
 * hop_path.h - how a URL was found: from which page, and over what kinds of
 * links from a seed.
 *
 * The path is written as archives write it (WARC/1.1 section 6.6,
 * hopsFromSeed): a letter for each step, L link, E embedded, R redirect, M
 * entry of a sitemap, S form, P needed first (robots.txt), empty for a seed.
 * Of a longer path than HOP_LETTERS_MOST the last letters are kept, behind the
 * number of those before them: "12+LLE...".
 *
 * Paths of pages are remembered, so that most URLs cost one row of the store.
 * Frontier thread.
 */
#ifndef URLWEIR_CRAWLER_HOP_PATH_H
#define URLWEIR_CRAWLER_HOP_PATH_H

#include "crawler/fetcher.h"
#include "crawler/html/link_kinds.h"
#include "frontier/engine.h"

struct hop_path;

/* The engine outlives the hop_path. */
struct hop_path *hop_path_new(struct engine *e);
void hop_path_free(struct hop_path *t); /* NULL is fine */

/* Of a leased URL. The bytes live until the next call. Errors are the
 * store's. */
MUST_CHECK enum status hop_path_of(struct hop_path *t,
                                   const struct engine_lease *l,
                                   struct found_by *out);

#endif
