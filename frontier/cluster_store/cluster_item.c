/* SPDX-License-Identifier: MIT */
/* cluster_item.c - a URL on its way through the cluster. */
#include "frontier/cluster_store/cluster_item.h"

#include <string.h>

#include "frontier/url/queue_key.h"
#include "frontier/url/url.h"
#include "storage/db/packed.h"

#define WHOLE 1 /* versions */
#define SHORT 2
#define SEED  1 /* flags */
#define HTTPS 2
#define HEAD  3 /* octets before the varints */

static const char *const schemes[] = {"http://", "https://"};

/* The number of the scheme; -1: the URL does not begin with one, and `host`. */
static int scheme_of(struct bytes url, struct bytes host)
{
    for (int i = 0; i < 2; i++) {
        size_t len = strlen(schemes[i]);

        if (bytes_starts_with(url, schemes[i]) && url.len >= len + host.len &&
            bytes_equal(bytes_of(url.at + len, host.len), host))
            return i;
    }
    return -1;
}

struct bytes cluster_item_rest(struct bytes url, struct bytes host)
{
    int scheme = scheme_of(url, host);

    return scheme < 0 ? url
                      : bytes_skip(url, strlen(schemes[scheme]) + host.len);
}

void cluster_item_write(const struct cluster_item *item, struct bytes host,
                        struct buf *out)
{
    unsigned char head[HEAD + 3 * VARINT_MOST];
    int scheme = scheme_of(item->url, host);
    size_t n = HEAD;

    head[0] = scheme < 0 ? WHOLE : SHORT;
    head[1] =
        (unsigned char)((item->seed ? SEED : 0) | (scheme == 1 ? HTTPS : 0));
    head[2] = item->kind;
    n += varint_put(head + n, item->depth);
    n += varint_put(head + n, item->hops);
    n += varint_put(head + n, item->places);
    buf_add(out, (const char *)head, n);
    buf_add_bytes(out, cluster_item_rest(item->url, host));
}

enum status cluster_item_read(struct cluster_item *out, struct bytes text,
                              struct bytes host, struct buf *url)
{
    const unsigned char *at = (const unsigned char *)text.at,
                        *end = at + text.len;
    uint64_t depth = 0, hops = 0, places = 0;
    const unsigned char *head = at;

    if (text.len < HEAD)
        return STATUS_FORMAT;
    if (head[0] != WHOLE && head[0] != SHORT)
        return STATUS_VERSION;
    *out =
        (struct cluster_item){.kind = head[2], .seed = (head[1] & SEED) != 0};
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
    if (head[0] == WHOLE)
        return STATUS_OK;
    buf_clear(url);
    buf_add_str(url, schemes[(head[1] & HTTPS) != 0]);
    buf_add_bytes(url, host);
    buf_add_bytes(url, out->url);
    out->url = buf_bytes(url);
    return buf_failed(url);
}

bool cluster_item_is_valid(struct cluster_item *out, struct bytes text,
                           struct bytes host, unsigned kinds, struct buf *url)
{
    struct url u;
    bool valid = cluster_item_read(out, text, host, url) == STATUS_OK &&
                 out->kind < kinds;

    url_init(&u);
    valid = valid && url_parse(&u, out->url, NULL, NULL) == URL_OK &&
            bytes_equal(url_text(&u), out->url) &&
            bytes_equal(queue_key_of(&u), host);
    url_fini(&u);
    return valid;
}
