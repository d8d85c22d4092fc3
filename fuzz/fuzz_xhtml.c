/* SPDX-License-Identifier: MIT */
/*
 * fuzz_xhtml.c - any octets as a page in XML.
 *
 * Asserts, besides memory safety: tags follow one another in the page, are
 * start tags to the reader of HTML, and nest within the bound; ends are ends of
 * what began; what is read lies behind all that was told of. Then the links of
 * the page, as fuzz_links.c does.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "crawler/html/html.h"
#include "crawler/html/links.h"
#include "crawler/html/xhtml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct told {
    struct bytes page;
    size_t depth, behind; /* where the last tag ends */
};

static void start(void *ctx, enum html_word word, enum html_space space,
                  struct bytes tag)
{
    struct told *t = ctx;
    struct html_reader r;

    assert(word < WORD_COUNT_ && space <= MATH_SPACE);
    t->depth++;
    assert(t->depth <= XHTML_DEPTH_MOST);
    html_begin(&r, tag);
    assert(html_next(&r) == HTML_START_TAG);
    if (tag.at < t->page.at || tag.at >= t->page.at + t->page.len)
        return; /* in place of a name that HTML has not */
    assert((size_t)(tag.at - t->page.at) >= t->behind);
    t->behind = (size_t)(tag.at - t->page.at) + tag.len;
    assert(t->behind <= t->page.len);
}

static void end(void *ctx)
{
    struct told *t = ctx;

    assert(t->depth > 0);
    t->depth--;
}

static void text(void *ctx, struct bytes piece)
{
    (void)ctx;
    assert(piece.len > 0);
}

static void visit(void *ctx, const struct found_link *link)
{
    uint64_t *sum = ctx;
    struct bytes url = url_text(link->url);

    for (size_t i = 0; i < url.len; i++)
        *sum = *sum * 31 + (unsigned char)url.at[i];
}

static uint64_t links_of(struct link_parser *p, struct bytes page,
                         const struct url *base)
{
    const struct link_options o = {.kinds = LINK_SET_ALL,
                                   .content_type =
                                       bytes_of_str("application/xhtml+xml"),
                                   .page_url = base,
                                   .texts = page.len % 2 == 0,
                                   .about = page.len % 3 == 0,
                                   .text_digest = true};
    struct page_info info;
    uint64_t sum = 0;

    assert(link_parser_html(p, page, &o, visit, &sum, &info) != STATUS_NOMEM);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct link_parser *p;
    static struct url base;
    struct told t = {.page = bytes_of(data, size)};
    const struct xhtml_handler h = {.start = start,
                                    .end = end,
                                    .text = text,
                                    .ctx = &t};
    size_t read;
    bool whole;

    if (p == NULL) {
        p = link_parser_new("bot");
        url_init(&base);
        if (url_parse(&base, bytes_of_str("http://h/d/p?q"), NULL, NULL) !=
            URL_OK)
            return 0;
    }
    whole = xhtml_read(t.page, &h, &read);
    assert(read <= size && read >= t.behind);
    assert(!whole || (read == size && t.depth == 0));
    assert(links_of(p, t.page, &base) == links_of(p, t.page, &base));
    return 0;
}
