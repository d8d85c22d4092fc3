/* SPDX-License-Identifier: MIT */
/*
 * fuzz_feed.c - any octets inside a feed.
 *
 * The first octet chooses the kind of feed, the others take the place of its
 * items. One item of ours follows; it is found unless they swallow it, and
 * everything found is an http(s) URL.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "crawler/sitemap/sitemap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct {
    const char *head, *tail;
} feeds[] = {
    {"<rss version='2.0' xmlns:dc='http://purl.org/dc/elements/1.1/'><channel>",
     "<item><link>http://h/last</link></item></channel></rss>"},
    {"<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' "
     "xmlns='http://purl.org/rss/1.0/'>",
     "<item rdf:about='http://h/last'/></rdf:RDF>"},
    {"<feed xmlns='http://www.w3.org/2005/Atom' xml:base='http://b/'>",
     "<entry><link href='last'/></entry></feed>"},
    {"", ""},
};

static void visit(void *ctx, const struct sitemap_entry *entry)
{
    struct bytes url = url_text(entry->url);

    (void)ctx;
    assert(bytes_starts_with(url, "http://") ||
           bytes_starts_with(url, "https://"));
    assert(bytes_equal(entry->lastmod, bytes_trim(entry->lastmod)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t kind = size > 0 ? data[0] % 4 : 0;
    struct sitemap_options o = {0};
    struct sitemap_parser *p;
    struct url base;

    if (size == 0)
        return 0;
    url_init(&base);
    if (url_parse(&base, bytes_of_str("http://base/x/"), NULL, NULL) == URL_OK)
        o.base = &base;
    p = sitemap_parser_new(&o, visit, NULL);
    if (sitemap_parser_push(p, bytes_of_str(feeds[kind].head)) == STATUS_OK &&
        sitemap_parser_push(p, bytes_of(data + 1, size - 1)) == STATUS_OK &&
        sitemap_parser_push(p, bytes_of_str(feeds[kind].tail)) == STATUS_OK)
        assert(sitemap_parser_finish(p) != STATUS_NOMEM);
    sitemap_parser_free(p);
    url_fini(&base);
    return 0;
}
