/*
 * descriptor_set.h - the .proto files of this service, as protoc describes
 * them: a google.protobuf.FileDescriptorSet, made while building.
 */
#ifndef URLWEIR_SERVICE_GRPC_DESCRIPTOR_SET_H
#define URLWEIR_SERVICE_GRPC_DESCRIPTOR_SET_H

#include "base/bytes.h"

/* Static memory. */
struct bytes descriptor_set(void);

#endif
