/* SPDX-License-Identifier: MIT */
/* grpc_proto.c - unpacks and sends messages, or ends the call. */
#include "service/grpc/grpc_proto.h"

const void *grpc_unpack(struct grpc_call *c,
                        const ProtobufCMessageDescriptor *d, struct arena *a,
                        struct bytes m)
{
    const void *p = proto_unpack(d, a, m);

    if (p == NULL)
        grpc_call_finish(c, GRPC_INTERNAL, "not a message of type %s", d->name);
    return p;
}

void grpc_pack(struct grpc_call *c, const ProtobufCMessage *m)
{
    size_t len = protobuf_c_message_get_packed_size(m);
    char *at = grpc_call_answer(c, len);

    if (at != NULL)
        protobuf_c_message_pack(m, (uint8_t *)at);
}

void grpc_reply(struct grpc_call *c, const ProtobufCMessage *m)
{
    grpc_pack(c, m);
    grpc_call_finish(c, GRPC_OK, NULL);
}

bool grpc_is_text(struct grpc_call *c, ProtobufCBinaryData d)
{
    if (bytes_is_utf8(proto_bytes(d)))
        return true;
    grpc_call_finish(c, GRPC_INTERNAL, "a string is not UTF-8");
    return false;
}
