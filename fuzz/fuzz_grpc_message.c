/* SPDX-License-Identifier: MIT */
/*
 * fuzz_grpc_message.c - any octets as a message of each type, and as the gzip
 * body of one.
 *
 * Asserts, besides memory safety: a message packs into as many octets as it
 * says; a URL that was read is written as it came. (With protobuf-c 1.4.1 a
 * message that unpacks and is packed again need not unpack, since it keeps
 * unknown fields that it would not accept by themselves. Our code never packs
 * what another program sent.)
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "service/grpc/grpc_frame.h"
#include "service/health.pb-c.h"
#include "service/net/proto.h"
#include "service/reflection.pb-c.h"
#include "service/urlfrontier.pb-c.h"
#include "service/urlfrontier/urlfrontier_call.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MEMORY ((size_t)64 << 20)

static void pack_again(const ProtobufCMessageDescriptor *d, struct arena *a,
                       struct bytes m)
{
    const ProtobufCMessage *p = proto_unpack(d, a, m);
    size_t len;
    uint8_t *packed;

    if (p == NULL)
        return;
    len = protobuf_c_message_get_packed_size(p);
    packed = xmalloc(len);
    assert(protobuf_c_message_pack(p, packed) == len);
    free(packed);
}

static void take_url(struct arena *a, struct bytes m)
{
    const Urlfrontier__URLInfo *info =
        proto_unpack(&urlfrontier__urlinfo__descriptor, a, m);
    struct frontier_item item = {0};
    struct frontier_url url = {0};
    struct buf out;

    if (info == NULL || urlfrontier_url_take(&item, info, a) != STATUS_OK)
        return;
    url = (struct frontier_url){.crawl = item.crawl,
                                .key = item.key,
                                .url = item.url,
                                .metadata = item.metadata,
                                .refetch_s = m.len,
                                .created_s = UINT64_MAX};
    buf_init(&out, MEMORY);
    urlfrontier_url_as_item(&out, &url);
    const Urlfrontier__URLItem *again =
        proto_unpack(&urlfrontier__urlitem__descriptor, a, buf_bytes(&out));
    if (again != NULL) {
        const Urlfrontier__URLInfo *i = again->known->info;

        assert(bytes_equal(proto_bytes(i->url), item.url));
        assert(bytes_equal(proto_bytes(i->key), item.key));
        assert(bytes_equal(proto_bytes(i->crawlid), item.crawl));
        assert(i->n_metadata == info->n_metadata);
        assert(again->known->refetchable_from_date == m.len);
        assert(again->creation_date == UINT64_MAX);
    }
    buf_fini(&out);
}

static void gunzip(struct bytes m)
{
    struct grpc_reader r;
    char prefix[GRPC_PREFIX];
    struct bytes out;

    grpc_prefix(prefix, m.len);
    prefix[0] = 1;
    grpc_reader_init(&r, true, 0);
    if (grpc_reader_feed(&r, bytes_of(prefix, sizeof prefix)) == STATUS_OK &&
        grpc_reader_feed(&r, m) == STATUS_OK &&
        grpc_reader_next(&r, &out) == STATUS_OK)
        assert(out.len <= GRPC_MESSAGE_MOST);
    grpc_reader_fini(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const ProtobufCMessageDescriptor *const kinds[] = {
        &urlfrontier__urlitem__descriptor,
        &urlfrontier__discovered_batch__descriptor,
        &urlfrontier__get_params__descriptor,
        &urlfrontier__list_url_params__descriptor,
        &urlfrontier__count_url_params__descriptor,
        &urlfrontier__pagination__descriptor,
        &grpc__health__v1__health_check_request__descriptor,
        &grpc__reflection__v1__server_reflection_request__descriptor,
    };
    struct bytes m = bytes_of(data, size);
    struct arena *a = arena_new(MEMORY);

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        pack_again(kinds[i], a, m);
        arena_reset(a);
    }
    take_url(a, m);
    arena_free(a);
    gunzip(m);
    return 0;
}
