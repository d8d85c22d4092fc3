/* SPDX-License-Identifier: MIT */
/*
 * call_metadata.c - the metadata of URLs that are leased and put back.
 *
 * Out: depth, kind, via. In: depth, and the status that StormCrawler keeps
 * under fetch.statusCode (stormcrawler.net, "Metadata"). The crawl does not
 * keep any other entry: it has rows, not metadata.
 */
#include "service/calls/call_metadata.h"

#include <stdio.h>

#include "crawler/html/link_kinds.h"
#include "service/net/proto.h"
#include "service/urlfrontier.pb-c.h"

#define ENTRIES 3

struct entry {
    Urlfrontier__URLInfo__MetadataEntry entry;
    Urlfrontier__StringList list;
    ProtobufCBinaryData value;
};

static void set(Urlfrontier__URLInfo *info, struct entry *e, const char *name,
                struct bytes value)
{
    if (value.len == 0)
        return;
    urlfrontier__urlinfo__metadata_entry__init(&e->entry);
    urlfrontier__string_list__init(&e->list);
    e->value = proto_data(value);
    e->list.values = &e->value;
    e->list.n_values = 1;
    e->entry.key = proto_data(bytes_of_str(name));
    e->entry.value = &e->list;
    info->metadata[info->n_metadata++] = &e->entry;
}

void call_metadata_make(struct buf *out, uint32_t depth, uint8_t kind,
                        struct bytes via)
{
    Urlfrontier__URLInfo info = URLFRONTIER__URLINFO__INIT;
    Urlfrontier__URLInfo__MetadataEntry *list[ENTRIES];
    struct entry entries[ENTRIES];
    char number[16];
    char *at;
    size_t len;

    info.metadata = list;
    snprintf(number, sizeof number, "%u", (unsigned)depth);
    set(&info, &entries[0], "depth", bytes_of_str(number));
    set(&info, &entries[1], "kind",
        bytes_of_str(link_kind_name((enum link_kind)kind)));
    set(&info, &entries[2], "via", via);
    len = urlfrontier__urlinfo__get_packed_size(&info);
    buf_clear(out);
    at = buf_room(out, len);
    if (at == NULL)
        return; /* `via` is too long: leave it out */
    urlfrontier__urlinfo__pack(&info, (uint8_t *)at);
    buf_grew(out, len);
}

static bool read_number(struct bytes text, uint32_t *out)
{
    uint32_t n = 0;

    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] < '0' || text.at[i] > '9' || n > 99999999)
            return false;
        n = n * 10 + (uint32_t)(text.at[i] - '0');
    }
    *out = n;
    return text.len > 0;
}

bool call_metadata_number(struct bytes metadata, const char *name,
                          struct arena *a, uint32_t *out)
{
    const Urlfrontier__URLInfo *info;

    if (metadata.len == 0)
        return false;
    info = (const Urlfrontier__URLInfo *)
        proto_unpack(&urlfrontier__urlinfo__descriptor, a, metadata);
    for (size_t i = 0; info != NULL && i < info->n_metadata; i++) {
        const Urlfrontier__URLInfo__MetadataEntry *e = info->metadata[i];

        if (bytes_is(proto_bytes(e->key), name))
            return e->value != NULL && e->value->n_values > 0 &&
                   read_number(proto_bytes(e->value->values[0]), out);
    }
    return false;
}

uint16_t call_metadata_http_status(struct bytes metadata, struct arena *a)
{
    uint32_t n;

    return call_metadata_number(metadata, "fetch.statusCode", a, &n) &&
                   n >= 100 && n < 600
               ? (uint16_t)n
               : 0;
}
