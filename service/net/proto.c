/* SPDX-License-Identifier: MIT */
/* proto.c - protobuf-c in an arena. */
#include "service/net/proto.h"

static void *arena_take(void *arena, size_t size)
{
    return arena_try(arena, size);
}

static void leave(void *arena, void *p)
{
    (void)arena; /* freed with the arena */
    (void)p;
}

const void *proto_unpack(const ProtobufCMessageDescriptor *d, struct arena *a,
                         struct bytes m)
{
    ProtobufCAllocator allocator = {arena_take, leave, a};

    return protobuf_c_message_unpack(d, &allocator, m.len,
                                     (const uint8_t *)m.at);
}
