/* SPDX-License-Identifier: MIT */
/*
 * fuzz_sitemap.c - any octets as a sitemap.
 *
 * Asserts, besides memory safety: every entry is an http(s) URL with trimmed
 * values, and the result does not depend on the pieces in which the octets
 * arrive.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "crawler/sitemap/sitemap.h"
#include "crawler/sitemap_stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct sum {
    uint64_t entries, hash;
};

static void add(struct sum *s, struct bytes b)
{
    assert(bytes_equal(b, bytes_trim(b)));
    for (size_t i = 0; i < b.len; i++)
        s->hash = (s->hash ^ (unsigned char)b.at[i]) * 1099511628211u;
    s->hash = (s->hash ^ b.len) * 1099511628211u;
}

static void visit(void *ctx, const struct sitemap_entry *entry)
{
    struct url_hint hint;
    struct sum *s = ctx;
    struct bytes url = url_text(entry->url);

    assert(bytes_starts_with(url, "http://") ||
           bytes_starts_with(url, "https://"));
    s->entries++;
    add(s, url);
    add(s, entry->lastmod);
    add(s, entry->priority);
    add(s, entry->changefreq);
    (void)sitemap_hint(entry, &hint);
    assert(hint.priority >= HINT_NO_PRIORITY && hint.priority <= 1000);
    assert(hint.changefreq < CHANGEFREQ_COUNT_);
}

static enum status parse(struct bytes in, size_t piece, struct sum *sum)
{
    const struct sitemap_options o = {.alternates = true,
                                      .bytes_most = 1 << 20,
                                      .entries_most = 1000};
    struct sitemap_parser *p = sitemap_parser_new(&o, visit, sum);
    enum status st = STATUS_OK;

    while (in.len > 0 && st == STATUS_OK) {
        size_t n = in.len < piece ? in.len : piece;

        st = sitemap_parser_push(p, bytes_of(in.at, n));
        in = bytes_of(in.at + n, in.len - n);
    }
    st = sitemap_parser_finish(p);
    sitemap_parser_free(p);
    return st;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sum whole = {0}, pieces = {0};
    enum status st = parse(bytes_of(data, size), size + 1, &whole);

    assert(parse(bytes_of(data, size), 1 + size % 61, &pieces) == st);
    assert(whole.entries == pieces.entries && whole.hash == pieces.hash);
    return 0;
}
