/*
 * candidate.h - a URL before it is admitted.
 *
 *     text ─► canonical ─► url_form ─► digest, scope ─► item
 *
 * All code that finds URLs for a crawl (in pages, sitemaps, robots.txt files,
 * seeds, calls of other programs) brings them to the same form here, and so to
 * the same digest. Any thread.
 */
#ifndef URLWEIR_FRONTIER_CANDIDATE_H
#define URLWEIR_FRONTIER_CANDIDATE_H

#include <stdbool.h>

#include "frontier/frontier.h"
#include "frontier/scope.h"
#include "frontier/url/url.h"
#include "frontier/url/url_form.h"

/* The rules for a crawl's URLs. */
struct candidate_rules {
    struct scope *scope;         /* thread-safe */
    const struct url_form *form; /* NULL: the canonical form */
    const struct digest_key *digest_key;
    struct bytes crawl; /* ID */
};

/* Brings a parsed URL to the crawl's form. */
void candidate_form(const struct candidate_rules *r, struct url *u);
/* Reads `text`, relative to `base` unless that is NULL, into that form. */
enum url_reason candidate_read(const struct candidate_rules *r, struct url *out,
                               struct bytes text, const struct url *base);

/* Sets key, url and digest of *item; they point into `u`, which has that
 * form. */
void candidate_identify(const struct candidate_rules *r, const struct url *u,
                        struct url_item *item);
/* The same, if the URL at item->depth, found in a link of item->kind, is in
 * scope. Otherwise returns why not, and *item is untouched. */
enum outcome_reason candidate_take(const struct candidate_rules *r,
                                   const struct url *u, struct url_item *item);

/* Was the leased `page` let in as a part of another page alone? */
bool candidate_is_part(const struct candidate_rules *r,
                       const struct url_lease *l, const struct url *page);

/* Tells the item that the octets of item->url, of which item->key is a part,
 * have moved to `to`. */
static inline void candidate_moved(struct url_item *item, const char *to)
{
    item->key.at = to + (item->key.at - item->url.at);
    item->url.at = to;
}

#endif
