/* SPDX-License-Identifier: MIT */
/*
 * warc_metadata.c - the metadata record of a response.
 *
 * URLs are canonical, so none holds a line end or a space. A seed has neither
 * via nor steps: its hopsFromSeed is present but empty.
 */
#include "crawler/archive/warc_metadata.h"

#include <string.h>

#include "crawler/html/link_kinds.h"

static void add_field(struct buf *out, const char *name, struct bytes value)
{
    buf_add_str(out, name);
    buf_add_str(out, ": ");
    buf_add_bytes(out, value);
    buf_add_str(out, "\r\n");
}

static char *put(char *to, struct bytes b)
{
    memcpy(to, b.at, b.len);
    return to + b.len;
}

/* A page has dozens of them, so each is one addition to `out`. */
static void add_outlink(struct buf *out, const struct engine_item *item)
{
    enum link_kind kind = (enum link_kind)item->kind;
    const char letter[] = {' ', link_kind_letter(kind), ' '};
    struct bytes place = bytes_of_str(link_kind_context(kind));
    size_t len = 9 + item->url.len + sizeof letter + place.len + 2;
    char *to = buf_room(out, len);

    if (to == NULL)
        return;
    to = put(to, bytes_of("outlink: ", 9));
    to = put(to, item->url);
    to = put(to, bytes_of(letter, sizeof letter));
    to = put(to, place);
    (void)put(to, bytes_of("\r\n", 2));
    buf_grew(out, len);
}

/* Room for all at once, so that they are not copied as the text grows. */
static void reserve(const struct warc_facts *facts, struct buf *out)
{
    size_t len = 512 + facts->by.via.len + facts->by.path.len;

    for (size_t i = 0; i < facts->outlink_count; i++)
        len += 32 + facts->outlinks[i].url.len;
    if (len <= out->ceiling - out->len)
        (void)buf_room(out, len);
}

bool warc_metadata(const struct warc_facts *facts, int64_t fetch_ms,
                   struct buf *out)
{
    bool whole = true;

    reserve(facts, out);
    if (facts->by.via.len > 0)
        add_field(out, "via", facts->by.via);
    add_field(out, "hopsFromSeed", facts->by.path);
    buf_add_str(out, "fetchTimeMs: ");
    buf_add_uint(out, fetch_ms > 0 ? (uint64_t)fetch_ms : 0);
    buf_add_str(out, "\r\n");
    if (facts->charset.len > 0)
        add_field(out, "charsetForLinkExtraction", facts->charset);
    if (facts->note.len > 0)
        add_field(out, "fetchNote", facts->note);
    for (size_t i = 0; i < facts->outlink_count && whole; i++) {
        size_t before = out->len;

        add_outlink(out, &facts->outlinks[i]);
        whole = buf_failed(out) == STATUS_OK;
        if (!whole)
            buf_truncate(out, before);
    }
    return whole;
}
