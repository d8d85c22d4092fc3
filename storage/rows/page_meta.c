/* SPDX-License-Identifier: MIT */
/* page_meta.c - what a page says of itself, packed. */
#include "storage/rows/page_meta.h"

#include "storage/db/db_row.h"
#include "storage/db/packed.h"

static void put_text(struct buf *out, struct bytes text, size_t most)
{
    text.len = text.len < most ? text.len : most;
    packed_put_count(out, text.len);
    buf_add_bytes(out, text);
}

void page_meta_put(struct buf *out, const struct page_meta *meta)
{
    struct bytes canonical = meta->canonical;

    if (canonical.len > PAGE_CANONICAL_MOST)
        canonical = bytes_of("", 0);
    put_text(out, meta->description, PAGE_DESCRIPTION_MOST);
    put_text(out, meta->h1, PAGE_H1_MOST);
    put_text(out, meta->robots, PAGE_ROBOTS_MOST);
    put_text(out, canonical, PAGE_CANONICAL_MOST);
    if (!meta->is_html)
        return;
    packed_put_count(out, meta->hreflang);
    packed_put_count(out, meta->words);
}

static bool get_text(struct bytes *rest, size_t most, struct bytes *out)
{
    uint64_t len = 0;

    if (!packed_take_count(rest, most, &len) || len > rest->len)
        return false;
    *out = packed_take(rest, (size_t)len);
    return true;
}

bool page_meta_get(struct bytes packed, struct page_meta *out)
{
    *out = (struct page_meta){.is_html = false};
    if (!get_text(&packed, PAGE_DESCRIPTION_MOST, &out->description) ||
        !get_text(&packed, PAGE_H1_MOST, &out->h1) ||
        !get_text(&packed, PAGE_ROBOTS_MOST, &out->robots) ||
        !get_text(&packed, PAGE_CANONICAL_MOST, &out->canonical))
        return false;
    out->is_html = packed.len > 0;
    return !out->is_html ||
           (packed_take_count(&packed, DB_TOTAL_MOST, &out->hreflang) &&
            packed_take_count(&packed, DB_TOTAL_MOST, &out->words) &&
            packed.len == 0);
}
