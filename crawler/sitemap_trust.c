/* SPDX-License-Identifier: MIT */
/*
 * sitemap_trust.c - whether a sitemap may list another host's URLs.
 *
 * A sitemap that lists thousands of hosts would make us parse as many
 * robots.txt files, so we look at ORIGINS_MOST for each report and take the
 * rest as refusals.
 */
#include "crawler/sitemap_trust.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "crawler/html/links.h"
#include "crawler/robots/robots.h"
#include "crawler/sitemap_lines.h"
#include "frontier/url/url.h"

#define CHAIN_MOST   16  /* sitemaps that led to this one */
#define ORIGINS_MOST 256 /* looked up for one report */

struct sifter {
    const struct candidate_rules *of;
    struct engine *engine;
    struct url chain[CHAIN_MOST]; /* the sitemap first */
    size_t length;
    struct map *verdicts; /* origin to `yes` or `no` */
    struct buf text;
};

static char yes, no;

enum link_kind link_kind_of_entry(enum sitemap_kind kind)
{
    switch (kind) {
    case SITEMAP_SITEMAP:
        return LINK_SITEMAP_PART;
    case SITEMAP_ALTERNATE:
        return LINK_ALTERNATE;
    default:
        return LINK_LISTED;
    }
}

bool sitemap_needs_trust(const struct url *page, const struct sitemap_entry *e)
{
    return (e->kind == SITEMAP_PAGE || e->kind == SITEMAP_SITEMAP) &&
           !url_same_site(page, e->url);
}

/* ---- the sitemaps that led here ------------------------------------------ */

static void find_chain(struct sifter *s, uint64_t id)
{
    struct url_row row;

    while (id != 0 && s->length < CHAIN_MOST &&
           s->engine->ops->url(s->engine, id, &row, &s->text) == STATUS_OK) {
        struct url *u = &s->chain[s->length];

        if (s->length > 0 && !link_is_sitemap(row.kind))
            return;
        url_init(u);
        s->length++;
        if (url_parse(u, row.url, NULL, NULL) != URL_OK)
            return;
        id = row.via;
    }
}

/* ---- asking -------------------------------------------------------------- */

static bool is_on_the_way(const struct sifter *s, const struct url *u)
{
    for (size_t i = 0; i < s->length; i++)
        if (url_same_site(&s->chain[i], u))
            return true;
    return false;
}

static bool is_named(struct sifter *s, struct bytes origin)
{
    struct robots_row row;
    struct robots *rules;
    bool named = false;

    buf_clear(&s->text);
    if (s->engine->ops->robots(s->engine, origin, &row, &s->text) !=
            STATUS_OK ||
        row.http_status < 200 || row.http_status > 299)
        return false;
    rules = robots_parse(row.body, bytes_of_str("*"));
    for (size_t i = 0; !named && i < s->length; i++)
        named =
            sitemap_lines_name(s->of, rules, origin, url_text(&s->chain[i]));
    robots_free(rules);
    return named;
}

/* http and https on their default ports are one site, as in scope.h, and a
 * crawl may have fetched the robots.txt of either. */
static bool is_named_somewhere(struct sifter *s, const struct url *u,
                               struct bytes origin)
{
    char other[300];
    struct bytes host = url_host(u);
    int n;

    if (is_named(s, origin))
        return true;
    if (u->port != (u->https ? 443 : 80) || host.len > 256)
        return false;
    n = snprintf(other, sizeof other, "%s://%.*s", u->https ? "http" : "https",
                 (int)host.len, host.at);
    return is_named(s, bytes_of(other, (size_t)n));
}

static bool may_list(struct sifter *s, struct bytes text)
{
    struct bytes origin = bytes_of(text.at, url_origin_length(text));
    struct url u;
    bool may = false;
    char *known = map_get(s->verdicts, origin);

    if (known != NULL || map_count(s->verdicts) >= ORIGINS_MOST)
        return known == &yes;
    url_init(&u);
    if (url_parse(&u, text, NULL, NULL) == URL_OK)
        may = is_on_the_way(s, &u) || is_named_somewhere(s, &u, origin);
    url_fini(&u);
    map_put(s->verdicts, origin, may ? &yes : &no);
    return may;
}

/* ---- sifting ------------------------------------------------------------- */

/* Moves the items that stay to the front of `items` and returns their number.
 * Appends the others to `drops`. */
static size_t sift(struct sifter *s, struct engine_item *items, size_t n,
                   struct engine_drop *drops)
{
    size_t kept = 0, dropped = 0;

    for (size_t i = 0; i < n; i++) {
        if (may_list(s, items[i].url))
            items[kept++] = items[i];
        else
            drops[dropped++] = (struct engine_drop){.reason = REASON_CROSS_HOST,
                                                    .host = items[i].key,
                                                    .url = items[i].url};
    }
    return kept;
}

static void sift_report(struct sifter *s, struct report *r)
{
    size_t n = r->elsewhere, own = r->done.outlink_count - n, kept;
    struct engine_item *items =
        arena_try(r->arena, r->done.outlink_count * sizeof *items);
    struct engine_drop *drops =
        arena_try(r->arena, (r->done.drop_count + n) * sizeof *drops);

    if (items == NULL || drops == NULL) {
        r->done.outlink_count =
            own; /* impossible: the arena has twice the room */
        return;
    }
    memcpy(items, r->done.outlinks, r->done.outlink_count * sizeof *items);
    if (r->done.drop_count > 0)
        memcpy(drops, r->done.drops, r->done.drop_count * sizeof *drops);
    kept = sift(s, items + own, n, drops + r->done.drop_count);
    r->done.outlinks = items;
    r->done.outlink_count = own + kept;
    r->done.drops = drops;
    r->done.drop_count += n - kept;
}

void sitemap_trust_sift(struct report *r, const struct candidate_rules *of,
                        struct engine *e)
{
    struct sifter s = {.of = of, .engine = e};

    if (r->elsewhere == 0)
        return;
    buf_init(&s.text, (size_t)1 << 20);
    s.verdicts = map_new();
    find_chain(&s, r->id);
    sift_report(&s, r);
    map_free(s.verdicts, NULL);
    for (size_t i = 0; i < s.length; i++)
        url_fini(&s.chain[i]);
    buf_fini(&s.text);
}
