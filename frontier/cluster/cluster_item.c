/* SPDX-License-Identifier: MIT */
/* cluster_item.c - a URL on its way through the cluster. */
#include "frontier/cluster/cluster_item.h"

#include "frontier/url/queue_key.h"
#include "frontier/url/url.h"
#include "storage/db/packed.h"

#define VERSION 1
#define SEED    1
#define HEAD    3 /* octets before the varints */

void cluster_item_write(const struct cluster_item *item, struct buf *out)
{
    unsigned char head[HEAD + 3 * VARINT_MOST];
    size_t n = HEAD;

    head[0] = VERSION;
    head[1] = item->seed ? SEED : 0;
    head[2] = item->kind;
    n += varint_put(head + n, item->depth);
    n += varint_put(head + n, item->hops);
    n += varint_put(head + n, item->places);
    buf_add(out, (const char *)head, n);
    buf_add_bytes(out, item->url);
}

enum status cluster_item_read(struct cluster_item *out, struct bytes text)
{
    const unsigned char *at = (const unsigned char *)text.at,
                        *end = at + text.len;
    uint64_t depth = 0, hops = 0, places = 0;

    if (text.len < HEAD)
        return STATUS_FORMAT;
    if (at[0] != VERSION)
        return STATUS_VERSION;
    *out = (struct cluster_item){.kind = at[2], .seed = (at[1] & SEED) != 0};
    at = varint_get(at + HEAD, end, &depth);
    if (at != NULL)
        at = varint_get(at, end, &hops);
    if (at != NULL)
        at = varint_get(at, end, &places);
    if (at == NULL || at == end || depth > UINT32_MAX || hops > UINT16_MAX)
        return STATUS_FORMAT;
    out->depth = (uint32_t)depth;
    out->hops = (uint16_t)hops;
    out->places = places;
    out->url = bytes_of((const char *)at, (size_t)(end - at));
    return STATUS_OK;
}

bool cluster_item_is_valid(struct cluster_item *out, struct bytes text,
                           struct bytes host, unsigned kinds)
{
    struct url u;
    bool valid = cluster_item_read(out, text) == STATUS_OK && out->kind < kinds;

    url_init(&u);
    valid = valid && url_parse(&u, out->url, NULL, NULL) == URL_OK &&
            bytes_equal(url_text(&u), out->url) &&
            bytes_equal(queue_key_of(&u), host);
    url_fini(&u);
    return valid;
}
