/* SPDX-License-Identifier: MIT */
/* api_pages.c - links of a page, robots.txt and sitemaps in the C library. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bindings/c/api.h"
#include "crawler/html/link_values.h"
#include "crawler/html/links.h"
#include "crawler/robots/robots.h"
#include "crawler/sitemap/sitemap.h"

#define BODY_MOST ((size_t)1 << 30)

struct urlweir_links {
    struct link_parser *parser;
    struct urlweir_page page;
    enum urlweir_form form;
    int (*visit)(void *ctx, const struct urlweir_link *link);
    void *ctx;
    bool stopped;
};

struct urlweir_links *urlweir_links_new(struct urlweir_bytes agent)
{
    struct urlweir_links *l = xcalloc(1, sizeof *l);
    struct bytes token = api_in(agent);
    char *name = token.len > 0 ? xstrndup(token.at, token.len) : NULL;

    api_begin();
    l->parser = link_parser_new(name);
    l->page.charset = "";
    l->page.title = l->page.lang = api_out(bytes_of("", 0));
    free(name);
    return l;
}

void urlweir_links_free(struct urlweir_links *l)
{
    if (l == NULL)
        return;
    link_parser_free(l->parser);
    free(l);
}

/* False: there is no kind of that name. */
static bool take_kinds(const char *words, uint32_t *out)
{
    struct bytes rest = bytes_of_str(words);
    uint32_t kinds = 0;

    if (words == NULL || bytes_is(rest, "all")) {
        *out = words == NULL ? LINK_SET_BASIC : LINK_SET_ALL;
        return true;
    }
    for (;;) {
        const char *comma =
            rest.len > 0 ? memchr(rest.at, ',', rest.len) : NULL;
        size_t len = comma != NULL ? (size_t)(comma - rest.at) : rest.len;
        enum link_kind kind;

        if (!link_kind_of_name(bytes_trim(bytes_of(rest.at, len)), &kind))
            return false;
        kinds |= LINK_BIT(kind);
        if (comma == NULL)
            break;
        rest = bytes_skip(rest, len + 1);
    }
    *out = kinds;
    return true;
}

static void visit_link(void *ctx, const struct found_link *found)
{
    struct urlweir_links *l = ctx;
    struct urlweir_link link = {.kind = link_kind_name(found->kind),
                                .nofollow = found->nofollow};

    if (l->stopped)
        return;
    if (l->form == URLWEIR_CANONICAL)
        url_canonicalise(found->url);
    link.url = api_out(url_text(found->url));
    l->page.links++;
    l->stopped = l->visit(l->ctx, &link) != 0;
}

static enum urlweir_status read_body(struct urlweir_links *l, struct bytes body,
                                     const struct link_options *o)
{
    struct bytes essence = media_essence(o->content_type);
    struct page_info info;
    enum status st;

    if (bytes_equal_nocase(essence, bytes_of_str("text/css")))
        st = link_parser_css(l->parser, body, o, visit_link, l, &info);
    else
        st = link_parser_html(l->parser, body, o, visit_link, l, &info);
    l->page.noindex = info.noindex;
    l->page.nofollow = info.nofollow;
    l->page.title = api_out(info.title);
    l->page.lang = api_out(info.lang);
    l->page.charset = info.charset;
    return l->stopped ? URLWEIR_STOPPED : api_status(st);
}

enum urlweir_status urlweir_links_read(
    struct urlweir_links *l, struct urlweir_bytes body,
    const struct urlweir_url *page, const struct urlweir_links_options *o,
    int (*visit)(void *ctx, const struct urlweir_link *link), void *ctx)
{
    struct urlweir_links_options given = {.size = sizeof given};
    struct link_options wanted = {.page_url = &page->url};

    if ((o != NULL && !api_take_options(&given, sizeof given, o)) ||
        page->reason != URL_OK || !api_form_is_known(given.form) ||
        !take_kinds(given.kinds, &wanted.kinds))
        return URLWEIR_ARG;
    if (body.len > BODY_MOST)
        return URLWEIR_LIMIT;
    wanted.content_type = api_in(given.content_type);
    wanted.most = given.most;
    l->form = given.form;
    l->visit = visit;
    l->ctx = ctx;
    l->stopped = false;
    l->page.links = 0;
    return read_body(l, api_in(body), &wanted);
}

/* ---- robots.txt ---- */

struct urlweir_robots {
    struct robots *rules;
};

struct urlweir_robots *urlweir_robots_new(struct urlweir_bytes body,
                                          struct urlweir_bytes agent)
{
    struct urlweir_robots *r = xcalloc(1, sizeof *r);

    r->rules = robots_parse(api_in(body), api_in(agent));
    return r;
}

void urlweir_robots_free(struct urlweir_robots *r)
{
    if (r == NULL)
        return;
    robots_free(r->rules);
    free(r);
}

int urlweir_robots_allows(const struct urlweir_robots *r,
                          const struct urlweir_url *u,
                          struct urlweir_bytes *line)
{
    struct bytes decides = bytes_of("", 0);
    bool allowed = u->reason == URL_OK &&
                   robots_allows(r->rules, url_path_query(&u->url), &decides);

    if (line != NULL)
        *line = api_out(decides);
    return allowed;
}

double urlweir_robots_crawl_delay(const struct urlweir_robots *r)
{
    return robots_crawl_delay(r->rules);
}

size_t urlweir_robots_sitemap_count(const struct urlweir_robots *r)
{
    return robots_sitemap_count(r->rules);
}

struct urlweir_bytes urlweir_robots_sitemap(const struct urlweir_robots *r,
                                            size_t i)
{
    return api_out(i < robots_sitemap_count(r->rules)
                       ? robots_sitemap(r->rules, i)
                       : bytes_of("", 0));
}

/* ---- sitemaps and feeds ---- */

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

const struct urlweir_page *urlweir_links_page(const struct urlweir_links *l)
{
    return &l->page;
}
