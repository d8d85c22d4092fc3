/* SPDX-License-Identifier: MIT */
/*
 * urlfrontier_url.c - reads URLs from messages and writes them.
 *
 * Octets on the wire: a field is its number times eight plus its type (0: a
 * varint, 2: length and octets); numbers are those of urlfrontier.proto.
 * Source: protobuf.dev, "Encoding".
 */
#include "service/urlfrontier/urlfrontier_url.h"

#include <string.h>

#include "service/net/proto.h"
#include "service/urlfrontier.pb-c.h"

#define VARINT 0
#define OCTETS 2

/* ---- in ---- */

static bool metadata_is_text(const Urlfrontier__URLInfo *info)
{
    for (size_t i = 0; i < info->n_metadata; i++) {
        const Urlfrontier__URLInfo__MetadataEntry *e = info->metadata[i];

        if (!bytes_is_utf8(proto_bytes(e->key)))
            return false;
        for (size_t j = 0; e->value != NULL && j < e->value->n_values; j++)
            if (!bytes_is_utf8(proto_bytes(e->value->values[j])))
                return false;
    }
    return true;
}

/* Encodes only the entries of the metadata again and stores them. */
static enum status take_metadata(struct frontier_item *item,
                                 const Urlfrontier__URLInfo *info,
                                 struct arena *a)
{
    Urlfrontier__URLInfo only = URLFRONTIER__URLINFO__INIT;
    uint8_t *at;
    size_t len;

    only.n_metadata = info->n_metadata;
    only.metadata = info->metadata;
    len = urlfrontier__urlinfo__get_packed_size(&only);
    at = arena_try(a, len);
    if (at == NULL)
        return STATUS_LIMIT;
    urlfrontier__urlinfo__pack(&only, at);
    item->metadata = bytes_of(at, len);
    return STATUS_OK;
}

enum status urlfrontier_url_take(struct frontier_item *item,
                                 const Urlfrontier__URLInfo *info,
                                 struct arena *a)
{
    item->url = proto_bytes(info->url);
    item->key = proto_bytes(info->key);
    item->crawl = proto_bytes(info->crawlid);
    if (!bytes_is_utf8(item->url) || !bytes_is_utf8(item->key) ||
        !bytes_is_utf8(item->crawl) || !metadata_is_text(info))
        return STATUS_FORMAT;
    return info->n_metadata > 0 ? take_metadata(item, info, a) : STATUS_OK;
}

/* ---- out ---- */

static size_t varint_size(uint64_t n)
{
    size_t size = 1;

    while (n >= 0x80) {
        n >>= 7;
        size++;
    }
    return size;
}

static void add_varint(struct buf *out, uint64_t n)
{
    while (n >= 0x80) {
        buf_add_char(out, (char)(unsigned char)(n | 0x80));
        n >>= 7;
    }
    buf_add_char(out, (char)(unsigned char)n);
}

static void add_tag(struct buf *out, unsigned field, unsigned type)
{
    buf_add_char(out, (char)(field << 3 | type)); /* fields up to 15 */
}

/* Empty strings and zeros are not written. */
static size_t octets_size(size_t len)
{
    return len == 0 ? 0 : 1 + varint_size(len) + len;
}

static void add_octets(struct buf *out, unsigned field, struct bytes b)
{
    if (b.len == 0)
        return;
    add_tag(out, field, OCTETS);
    add_varint(out, b.len);
    buf_add_bytes(out, b);
}

static void info_add_number(struct buf *out, unsigned field, uint64_t n)
{
    if (n == 0)
        return;
    add_tag(out, field, VARINT);
    add_varint(out, n);
}

static size_t info_size(const struct frontier_url *u)
{
    return octets_size(u->url.len) + octets_size(u->key.len) +
           octets_size(u->crawl.len) + u->metadata.len;
}

void urlfrontier_url_as_info(struct buf *out, const struct frontier_url *u)
{
    add_octets(out, 1, u->url);
    add_octets(out, 2, u->key);
    buf_add_bytes(out, u->metadata);
    add_octets(out, 4, u->crawl);
}

/* URLItem { 2 known { 1 info, 2 refetchable_from_date }, 4 creation_date } */
void urlfrontier_url_as_item(struct buf *out, const struct frontier_url *u)
{
    size_t info = info_size(u);
    size_t known = 1 + varint_size(info) + info;

    if (u->refetch_s > 0)
        known += 1 + varint_size(u->refetch_s);
    add_tag(out, 2, OCTETS);
    add_varint(out, known);
    add_tag(out, 1, OCTETS);
    add_varint(out, info);
    urlfrontier_url_as_info(out, u);
    info_add_number(out, 2, u->refetch_s);
    info_add_number(out, 4, u->created_s);
}

void urlfrontier_url_answer(struct grpc_call *c, struct buf *out)
{
    char *at;

    if (buf_failed(out) != STATUS_OK)
        grpc_call_finish(c, GRPC_RESOURCE_EXHAUSTED, "the answer is too large");
    at = grpc_call_answer(c, out->len);
    if (at != NULL && out->len > 0)
        memcpy(at, out->at, out->len);
    buf_clear(out);
}
