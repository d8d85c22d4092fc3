/*
 * proto.h - protobuf-c messages out of bytes.
 *
 * A message is unpacked into an arena, whose ceiling bounds what a small
 * message of many empty parts can cost. Text is bytes in our generated code
 * (tools/wire-proto.sh); whoever takes one checks that it is UTF-8, as the
 * parsers of other languages do.
 */
#ifndef URLWEIR_SERVICE_NET_PROTO_H
#define URLWEIR_SERVICE_NET_PROTO_H

#include <protobuf-c/protobuf-c.h>

#include "base/arena.h"
#include "base/bytes.h"

/* The message lives as long as the arena's content. NULL: it does not parse or
 * does not fit. */
const void *proto_unpack(const ProtobufCMessageDescriptor *d, struct arena *a,
                         struct bytes m);

static inline struct bytes proto_bytes(ProtobufCBinaryData d)
{
    return bytes_of(d.data, d.len);
}

static inline ProtobufCBinaryData proto_data(struct bytes b)
{
    return (ProtobufCBinaryData){b.len, (uint8_t *)(uintptr_t)b.at};
}

#endif
