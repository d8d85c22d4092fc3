/* SPDX-License-Identifier: MIT */
/* api_sitemap.c - sitemaps and feeds in the C library. */
#include <stdlib.h>

#include "base/mem.h"
#include "bindings/c/api.h"
#include "crawler/sitemap/sitemap.h"

struct urlweir_sitemap {
    struct sitemap_parser *parser;
    struct url base;
    char *content_type;
    enum urlweir_form form;
    int (*visit)(void *ctx, const struct urlweir_entry *entry);
    void *ctx;
    bool stopped, finished;
};

static void visit_entry(void *ctx, const struct sitemap_entry *found)
{
    static const enum urlweir_entry_kind kinds[] = {
        [SITEMAP_PAGE] = URLWEIR_PAGE,
        [SITEMAP_SITEMAP] = URLWEIR_SITEMAP,
        [SITEMAP_ITEM] = URLWEIR_ITEM,
    };
    struct urlweir_sitemap *s = ctx;
    struct urlweir_entry entry = {.kind = kinds[found->kind],
                                  .lastmod = api_out(found->lastmod),
                                  .priority = api_out(found->priority),
                                  .changefreq = api_out(found->changefreq)};

    if (s->stopped)
        return;
    if (s->form == URLWEIR_CANONICAL)
        url_canonicalise(found->url);
    entry.url = api_out(url_text(found->url));
    s->stopped = s->visit(s->ctx, &entry) != 0;
}

enum urlweir_status urlweir_sitemap_new(
    struct urlweir_sitemap **out, const struct urlweir_url *url,
    const struct urlweir_sitemap_options *o,
    int (*visit)(void *ctx, const struct urlweir_entry *entry), void *ctx)
{
    struct urlweir_sitemap_options given = {.size = sizeof given};
    struct sitemap_options wanted = {0};
    struct urlweir_sitemap *s;
    struct bytes type;

    if ((o != NULL && !api_take_options(&given, sizeof given, o)) ||
        url->reason != URL_OK || !api_form_is_known(given.form) ||
        given.bytes_most > SIZE_MAX)
        return URLWEIR_ARG;
    api_begin();
    s = xcalloc(1, sizeof *s);
    s->form = given.form;
    s->visit = visit;
    s->ctx = ctx;
    type = api_in(given.content_type);
    s->content_type = xstrndup(type.at, type.len);
    url_init(&s->base);
    /* A serialised URL parses to itself (URL Standard, section 4.5). */
    if (url_parse(&s->base, url_text(&url->url), NULL, NULL) != URL_OK) {
        urlweir_sitemap_free(s);
        return URLWEIR_ARG;
    }
    wanted.base = &s->base;
    wanted.content_type = bytes_of(s->content_type, type.len);
    wanted.bytes_most = (size_t)given.bytes_most;
    wanted.entries_most = given.entries_most;
    s->parser = sitemap_parser_new(&wanted, visit_entry, s);
    *out = s;
    return URLWEIR_OK;
}

void urlweir_sitemap_free(struct urlweir_sitemap *s)
{
    if (s == NULL)
        return;
    sitemap_parser_free(s->parser);
    url_fini(&s->base);
    free(s->content_type);
    free(s);
}

static enum urlweir_status result(const struct urlweir_sitemap *s,
                                  enum status st)
{
    return s->stopped ? URLWEIR_STOPPED : api_status(st);
}

enum urlweir_status urlweir_sitemap_push(struct urlweir_sitemap *s,
                                         struct urlweir_bytes octets)
{
    if (s->finished)
        return URLWEIR_ARG;
    if (s->stopped)
        return URLWEIR_STOPPED;
    return result(s, sitemap_parser_push(s->parser, api_in(octets)));
}

enum urlweir_status urlweir_sitemap_finish(struct urlweir_sitemap *s)
{
    if (s->finished)
        return URLWEIR_ARG;
    s->finished = true;
    return result(s, sitemap_parser_finish(s->parser));
}

const char *urlweir_sitemap_format(const struct urlweir_sitemap *s)
{
    static const char *const names[] = {
        [SITEMAP_UNKNOWN] = "unknown", [SITEMAP_TEXT] = "text",
        [SITEMAP_URLSET] = "urlset",   [SITEMAP_INDEX] = "index",
        [SITEMAP_RSS] = "rss",         [SITEMAP_RDF] = "rdf",
        [SITEMAP_ATOM] = "atom",
    };

    return names[sitemap_parser_format(s->parser)];
}

uint64_t urlweir_sitemap_passed_over(const struct urlweir_sitemap *s)
{
    return sitemap_parser_passed_over(s->parser);
}
