/*
 * grpc_proto.h - protobuf-c messages in and out of gRPC calls.
 *
 * A message is unpacked into an arena, whose ceiling bounds what a small
 * message of many empty parts can cost. Fields that are text for clients are
 * bytes in our generated code (tools/wire-proto.sh); whoever takes one checks
 * that it is UTF-8, as the parsers of other languages do.
 */
#ifndef URLWEIR_SERVICE_GRPC_GRPC_PROTO_H
#define URLWEIR_SERVICE_GRPC_GRPC_PROTO_H

#include <protobuf-c/protobuf-c.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "service/grpc/grpc_server.h"

/* The message lives as long as the arena's content. NULL: it does not parse
 * or does not fit, and the call has been finished. */
const void *grpc_unpack(struct grpc_call *c,
                        const ProtobufCMessageDescriptor *d, struct arena *a,
                        struct bytes m);
/* As above without a call; NULL: it does not parse or fit. */
const void *proto_unpack(const ProtobufCMessageDescriptor *d, struct arena *a,
                         struct bytes m);

/* Answer with `m`. */
void grpc_pack(struct grpc_call *c, const ProtobufCMessage *m);
/* The one answer of a call, then OK. */
void grpc_reply(struct grpc_call *c, const ProtobufCMessage *m);

/* Is it text? False: the call has been finished. */
bool grpc_is_text(struct grpc_call *c, ProtobufCBinaryData d);

static inline struct bytes proto_bytes(ProtobufCBinaryData d)
{
    return bytes_of(d.data, d.len);
}

static inline ProtobufCBinaryData proto_data(struct bytes b)
{
    return (ProtobufCBinaryData){b.len, (uint8_t *)(uintptr_t)b.at};
}

#endif
