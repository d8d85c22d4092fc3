/*
 * rows.h - the entries that a sitemap parser reports, as text to compare.
 */
#ifndef URLWEIR_TESTS_CRAWLER_SITEMAP_ROWS_H
#define URLWEIR_TESTS_CRAWLER_SITEMAP_ROWS_H

#include "base/buf.h"
#include "crawler/sitemap/sitemap.h"
#include "tests/unit/unit.h"

/* "kind loc lastmod priority changefreq" and LF; `-` for an empty value. */
static inline void rows_add_value(struct buf *out, struct bytes value)
{
    buf_add_char(out, ' ');
    if (value.len > 0)
        buf_add_bytes(out, value);
    else
        buf_add_char(out, '-');
}

static inline void rows_visit(void *ctx, const struct sitemap_entry *entry)
{
    static const char *const kinds[] = {"page", "sitemap", "item", "alternate"};
    struct buf *out = ctx;

    buf_add_str(out, kinds[entry->kind]);
    rows_add_value(out, url_text(entry->url));
    rows_add_value(out, entry->lastmod);
    rows_add_value(out, entry->priority);
    rows_add_value(out, entry->changefreq);
    buf_add_char(out, '\n');
}

struct rows {
    struct buf text;
    enum status status;
    enum sitemap_format format;
    uint64_t passed_over;
};

/* Parses `in`, fetched from http://base.example/dir/feed, in pieces. */
static inline void rows_of(struct rows *r, struct bytes in, size_t piece,
                           const struct sitemap_options *options)
{
    struct sitemap_options o = {0};
    struct sitemap_parser *p;
    struct url base;

    if (options != NULL)
        o = *options;
    url_init(&base);
    ck_assert_int_eq(url_parse(&base,
                               bytes_of_str("http://base.example/dir/feed"),
                               NULL, NULL),
                     URL_OK);
    o.base = &base;
    buf_init(&r->text, (size_t)64 << 20);
    p = sitemap_parser_new(&o, rows_visit, &r->text);
    r->status = STATUS_OK;
    for (size_t i = 0; i < in.len && r->status == STATUS_OK; i += piece)
        r->status = sitemap_parser_push(
            p, bytes_of(in.at + i, in.len - i < piece ? in.len - i : piece));
    r->status = sitemap_parser_finish(p);
    r->format = sitemap_parser_format(p);
    r->passed_over = sitemap_parser_passed_over(p);
    sitemap_parser_free(p);
    url_fini(&base);
}

/* Checks that `in` gives `want`, whatever the size of the pieces. */
static inline void rows_are(struct bytes in, enum sitemap_format format,
                            const char *want)
{
    static const size_t pieces[] = {1, 2, 3, 7, 64, 1000, 100000};

    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        struct rows r;

        rows_of(&r, in, pieces[i], NULL);
        ck_assert_msg(r.format == format, "format %d, not %d", (int)r.format,
                      (int)format);
        ck_assert_msg(bytes_is(buf_bytes(&r.text), want),
                      "in pieces of %zu:\n%s\nnot\n%s", pieces[i],
                      buf_str(&r.text), want);
        buf_fini(&r.text);
    }
}

#endif
