/*
 * proto.h - protobuf-c messages out of bytes.
 *
 * A message is unpacked into an arena, whose ceiling bounds the cost of a small
 * message with many empty parts. Our generated code has bytes instead of
 * strings (tools/wire-proto.sh); code that reads one checks that it is UTF-8,
 * as parsers in other languages do.
 */
#ifndef URLWEIR_SERVICE_NET_PROTO_H
#define URLWEIR_SERVICE_NET_PROTO_H

#include <protobuf-c/protobuf-c.h>

#include "base/arena.h"
#include "base/bytes.h"

static inline void *proto_take(void *arena, size_t size)
{
    return arena_try(arena, size);
}

static inline void proto_leave(void *arena, void *p)
{
    (void)arena; /* freed with the arena */
    (void)p;
}

/* Unpacks a message, which lives as long as the arena's content. NULL: it does
 * not parse or does not fit. */
static inline const void *proto_unpack(const ProtobufCMessageDescriptor *d,
                                       struct arena *a, struct bytes m)
{
    ProtobufCAllocator allocator = {proto_take, proto_leave, a};

    return protobuf_c_message_unpack(d, &allocator, m.len,
                                     (const uint8_t *)m.at);
}

static inline struct bytes proto_bytes(ProtobufCBinaryData d)
{
    return bytes_of(d.data, d.len);
}

static inline ProtobufCBinaryData proto_data(struct bytes b)
{
    return (ProtobufCBinaryData){b.len, (uint8_t *)(uintptr_t)b.at};
}

#endif
