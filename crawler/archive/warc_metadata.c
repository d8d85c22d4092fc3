/* SPDX-License-Identifier: MIT */
/*
 * warc_metadata.c - the metadata record of a response.
 *
 * URLs are canonical, so none holds a line end or a space. A seed has neither
 * via nor steps: its hopsFromSeed is present but empty.
 */
#include "crawler/archive/warc_metadata.h"

#include <inttypes.h>

#include "crawler/html/link_kinds.h"

static void add_field(struct buf *out, const char *name, struct bytes value)
{
    buf_add_str(out, name);
    buf_add_str(out, ": ");
    buf_add_bytes(out, value);
    buf_add_str(out, "\r\n");
}

static void add_outlink(struct buf *out, const struct engine_item *item)
{
    enum link_kind kind = (enum link_kind)item->kind;

    buf_add_str(out, "outlink: ");
    buf_add_bytes(out, item->url);
    buf_add_char(out, ' ');
    buf_add_char(out, link_kind_letter(kind));
    buf_add_char(out, ' ');
    buf_add_str(out, link_kind_context(kind));
    buf_add_str(out, "\r\n");
}

bool warc_metadata(const struct warc_facts *facts, int64_t fetch_ms,
                   struct buf *out)
{
    bool whole = true;

    if (facts->by.via.len > 0)
        add_field(out, "via", facts->by.via);
    add_field(out, "hopsFromSeed", facts->by.path);
    buf_addf(out, "fetchTimeMs: %" PRId64 "\r\n", fetch_ms);
    if (facts->charset.len > 0)
        add_field(out, "charsetForLinkExtraction", facts->charset);
    for (size_t i = 0; i < facts->outlink_count && whole; i++) {
        size_t before = out->len;

        add_outlink(out, &facts->outlinks[i]);
        whole = buf_failed(out) == STATUS_OK;
        if (!whole)
            buf_truncate(out, before);
    }
    return whole;
}
