/*
 * grpc_proto.h - protobuf-c messages in and out of gRPC calls (proto.h).
 */
#ifndef URLWEIR_SERVICE_GRPC_GRPC_PROTO_H
#define URLWEIR_SERVICE_GRPC_GRPC_PROTO_H

#include "service/grpc/grpc_server.h"
#include "service/net/proto.h"

/* proto_unpack; NULL: it failed, and the call has been finished. */
const void *grpc_unpack(struct grpc_call *c,
                        const ProtobufCMessageDescriptor *d, struct arena *a,
                        struct bytes m);

/* Answer with `m`. */
void grpc_pack(struct grpc_call *c, const ProtobufCMessage *m);
/* Sends the only answer of a call, then OK. */
void grpc_reply(struct grpc_call *c, const ProtobufCMessage *m);

/* Is it UTF-8? If not, the call has been finished. */
bool grpc_is_text(struct grpc_call *c, ProtobufCBinaryData d);

#endif
