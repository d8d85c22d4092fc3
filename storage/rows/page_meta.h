/*
 * page_meta.h - what a page says of itself, packed.
 *
 * Column meta of table fetch, with --record meta: description, first heading,
 * directives for robots and canonical URL, each as its length, a varint, and
 * its octets; then, if the page is HTML, two more varints: the links to
 * versions in other languages and the words of its text. One column, so that
 * crawls without it pay an octet a row.
 */
#ifndef URLWEIR_STORAGE_ROWS_PAGE_META_H
#define URLWEIR_STORAGE_ROWS_PAGE_META_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"

/* Most octets of each text. */
#define PAGE_DESCRIPTION_MOST 512
#define PAGE_H1_MOST          512
#define PAGE_ROBOTS_MOST      256
#define PAGE_CANONICAL_MOST   4096
#define PAGE_META_MOST                                                         \
    (PAGE_DESCRIPTION_MOST + PAGE_H1_MOST + PAGE_ROBOTS_MOST +                 \
     PAGE_CANONICAL_MOST + 64)

struct page_meta {
    struct bytes description, h1; /* white space folded */
    struct bytes robots;          /* X-Robots-Tag, then meta robots */
    struct bytes canonical;       /* of <link rel=canonical>, else of the HTTP
                                     Link header; a canonical URL */
    bool is_html;                 /* then there are ... */
    uint64_t hreflang, words;
};

/* Longer texts than the bounds above are cut; but a URL is left out. */
void page_meta_put(struct buf *out, const struct page_meta *meta);
/* Texts stay where they are; absent ones are empty. False: `packed` is nothing
 * that page_meta_put has written. */
bool page_meta_get(struct bytes packed, struct page_meta *out);

#endif
