/* SPDX-License-Identifier: MIT */
/* api_links.c - links of a page in the C library. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bindings/c/api.h"
#include "crawler/html/link_values.h"
#include "crawler/html/links.h"

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

const struct urlweir_page *urlweir_links_page(const struct urlweir_links *l)
{
    return &l->page;
}
