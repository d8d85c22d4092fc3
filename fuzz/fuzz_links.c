/* SPDX-License-Identifier: MIT */
/*
 * fuzz_links.c - the links of any octets as a page.
 *
 * Asserts, besides memory safety: links are http or https and printable, are of
 * a kind asked for, the same page gives the same links again, and libxml2 reads
 * all of the markup made for it.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "crawler/html/links.h"
#include "crawler/html/text_digest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct sum {
    uint32_t kinds;
    bool texts;
    uint64_t links, hash;
};

static void visit(void *ctx, const struct found_link *link)
{
    struct sum *s = ctx;
    struct bytes text = url_text(link->url);

    assert(LINK_BIT(link->kind) & s->kinds);
    assert(bytes_starts_with(text, "http://") ||
           bytes_starts_with(text, "https://"));
    for (size_t i = 0; i < text.len; i++) {
        assert(text.at[i] > ' ' && text.at[i] < 0x7f);
        s->hash = s->hash * 31 + (unsigned char)text.at[i];
    }
    assert(link->rel.len <= ANCHOR_TEXT_MOST &&
           link->text.len <= ANCHOR_TEXT_MOST);
    assert(s->texts || link->rel.len + link->text.len == 0);
    for (size_t i = 0; i < link->text.len; i++)
        s->hash = s->hash * 31 + (unsigned char)link->text.at[i];
    s->links++;
    url_canonicalise(link->url);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct link_parser *p;
    static struct url base;
    struct link_options o = {.page_url = &base};
    struct page_info info;
    struct sum once = {0}, again = {0};
    struct bytes page = bytes_of(data, size);
    enum status st;

    if (p == NULL) {
        p = link_parser_new("bot");
        url_init(&base);
        if (url_parse(&base, bytes_of_str("http://h/d/p?q"), NULL, NULL) !=
            URL_OK)
            return 0;
    }
    if (size % 5 == 0)
        o.content_type = bytes_of_str("application/xhtml+xml");
    o.kinds = size % 3 == 0 ? LINK_SET_FOLLOW : LINK_SET_ALL;
    o.texts = size % 2 == 0;
    once.kinds = again.kinds = o.kinds;
    once.texts = again.texts = o.texts;
    st = link_parser_html(p, page, &o, visit, &once, &info);
    assert(st != STATUS_NOMEM);
    if (st == STATUS_OK)
        assert(info.found == once.links);
    assert(info.title.len <= 512 && info.lang.len <= 64);
    (void)!link_parser_html(p, page, &o, visit, &again, &info);
    assert(once.links == again.links && once.hash == again.hash);
    return 0;
}
