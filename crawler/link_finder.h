/*
 * link_finder.h - the links of one response, made ready for the frontier.
 *
 * Brings each link to canonical form, asks the scope, takes its digest, and
 * keeps one of each per page; the others become drops with a reason. What it
 * finds lives in the arena it was begun with. One thread owns a finder, which
 * is used for page after page.
 */
#ifndef URLWEIR_CRAWLER_LINK_FINDER_H
#define URLWEIR_CRAWLER_LINK_FINDER_H

#include <stdbool.h>

#include "base/arena.h"
#include "crawler/fetcher.h"
#include "crawler/html/links.h"
#include "frontier/engine.h"

struct link_finder;

/* `o` outlives the finder. */
struct link_finder *link_finder_new(const struct fetcher_options *o);
void link_finder_free(struct link_finder *f); /* NULL is fine */

/* A new answer, to the URL of `lease`. At most `most` bytes of `arena` are
 * used; its ceiling is no lower. False: that URL is none, which only a damaged
 * store can bring about, and nothing may be asked of the finder. */
bool link_finder_begin(struct link_finder *f, const struct engine_lease *lease,
                       struct arena *arena, size_t most);

/* The links of an HTML body. */
void link_finder_html(struct link_finder *f, struct bytes body,
                      struct bytes content_type, struct page_info *info);
/* The links of a style sheet. */
void link_finder_css(struct link_finder *f, struct bytes body,
                     struct bytes content_type, struct page_info *info);
/* The entries of a sitemap or feed; nothing where it is neither. */
void link_finder_sitemap(struct link_finder *f, struct bytes body,
                         struct bytes content_type);
/* One link of a header field, relative to the URL asked. */
void link_finder_add(struct link_finder *f, struct bytes reference,
                     enum link_kind kind, bool nofollow);
/* Links that were found and sent on by others (sitemap_stream.h). */
void link_finder_count(struct link_finder *f, uint64_t links);
/* Were there more than are looked at? */
bool link_finder_is_full(const struct link_finder *f);
/* The page forbids to follow what it links to. */
void link_finder_forbid(struct link_finder *f);

/* What becomes of a redirect; REASON_NONE: it is followed. *target is where it
 * leads, unless that is no URL; it lives until the next link is found. */
enum outcome_reason link_finder_redirect(struct link_finder *f,
                                         struct bytes location,
                                         struct bytes *target);

/* Fills in found, drops and row.links of *done. The last so many of found are
 * as report.elsewhere has them. */
size_t link_finder_end(struct link_finder *f, struct engine_done *done);

#endif
