/*
 * link_finder.h - prepares the links of a response for the frontier.
 *
 * Makes each link canonical, asks the scope, takes its digest, and keeps each
 * link once per page; unwanted links become drops with a reason. The results
 * live in the arena given to link_finder_begin. One thread owns a finder and
 * uses it for one page after another.
 */
#ifndef URLWEIR_CRAWLER_LINK_FINDER_H
#define URLWEIR_CRAWLER_LINK_FINDER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "crawler/html/links.h"
#include "frontier/frontier.h"
#include "frontier/url/url.h"

struct fetcher_options;
struct link_finder;

/* `o` outlives the finder. */
struct link_finder *link_finder_new(const struct fetcher_options *o);
void link_finder_free(struct link_finder *f); /* NULL is fine */

/* Begins the response to the URL of `lease`. Uses at most `most` bytes of
 * `arena`, whose limit must not be lower. False: the URL is not valid, which
 * only a damaged store can cause, and the finder may not be used for it. */
bool link_finder_begin(struct link_finder *f, const struct url_lease *lease,
                       struct arena *arena, size_t most);

/* Finds the links of an HTML body. */
void link_finder_html(struct link_finder *f, struct bytes body,
                      struct bytes content_type, struct page_info *info);
/* Finds the links of a style sheet. */
void link_finder_css(struct link_finder *f, struct bytes body,
                     struct bytes content_type, struct page_info *info);
/* Finds the entries of a sitemap or feed; nothing if the body is neither. */
void link_finder_sitemap(struct link_finder *f, struct bytes body,
                         struct bytes content_type);
/* Adds a link of a header field, relative to the URL of the request. */
void link_finder_add(struct link_finder *f, struct bytes reference,
                     enum link_kind kind, bool nofollow);
/* The response has links of this kind, which is not followed, and they are not
 * added. */
void link_finder_leave(struct link_finder *f, enum link_kind kind);
/* What the page names as its canonical URL, if options.record_meta; may be
 * empty. Lives until the next page. */
struct bytes link_finder_canonical(const struct link_finder *f);
/* Counts links that another module has found and sent (sitemap_stream.h). */
void link_finder_count(struct link_finder *f, uint64_t links);
/* Did the page have more links than the limit? */
bool link_finder_is_full(const struct link_finder *f);
/* The page forbids following its links. */
void link_finder_forbid(struct link_finder *f);

/* Takes a redirect. REASON_NONE: it is followed. Sets *target to the URL, if it
 * is one; the bytes live until the next link is found. *anew: as in
 * url_done. */
enum outcome_reason link_finder_redirect(struct link_finder *f,
                                         struct bytes location,
                                         struct bytes *target, bool *anew);

/* Fills in found, drops, kinds_left and row.links of *done. Returns the number
 * for report.elsewhere. */
size_t link_finder_end(struct link_finder *f, struct url_done *done);

/* ---- outlinks ---- */

/*
 * What one response revealed: links to admit, and links dropped.
 *
 * Texts live in the arena of the response's report, which is bounded; the first
 * link without room there and all after it become one drop that names the page.
 * The caller decides whether a link is wanted. One thread.
 */

struct outlinks {
    const struct url_lease *lease;
    struct arena *arena;
    size_t most;   /* octets of the arena that may be used */
    bool full;     /* the drop that names the page was made */
    uint64_t over; /* links dropped since then, without a drop */
    bool cut;      /* a link over the limit was dropped */
    struct url_item *items;
    size_t item_count, item_cap;
    struct url_drop *drops;
    size_t drop_count, drop_cap;
};

/* A struct of zeros is a valid start. */
void outlinks_fini(struct outlinks *f);
/* Begins the response to the URL of `lease`. */
void outlinks_begin(struct outlinks *f, const struct url_lease *lease,
                    struct arena *arena, size_t most);

/* Adds a copy of `like`, with its texts and hint; like->key is part of
 * like->url.
 */
void outlinks_add(struct outlinks *f, const struct url_item *like);

/* Sorts the items by `compare`; the sort is stable. */
void outlinks_sort(struct outlinks *f,
                   int (*compare)(const struct url_item *a,
                                  const struct url_item *b));
/* Drops `u`; `like` says how it was found. `place` is 0, except for a link over
 * the limit. */
void outlinks_drop(struct outlinks *f, enum outcome_reason reason,
                   const struct url *u, const struct url_item *like,
                   size_t place);
/* Drops all further links of this page, as one drop that names the page. */
void outlinks_overflow(struct outlinks *f);
/* Appends what `from` has, which has the same arena. */
void outlinks_append(struct outlinks *to, const struct outlinks *from);

/* Fills in outlinks, drops and over of *done; copies the arrays into the
 * arena. */
void outlinks_hand_over(struct outlinks *f, struct url_done *done);

#endif
