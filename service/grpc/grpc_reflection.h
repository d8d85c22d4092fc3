/*
 * grpc_reflection.h - gRPC server reflection, v1 and v1alpha: which services
 * exist, and which .proto file defines a name.
 *
 * Answers from descriptor_set.h. Unknown names are NOT_FOUND inside the answer,
 * as the protocol demands; there are no extensions.
 */
#ifndef URLWEIR_SERVICE_GRPC_GRPC_REFLECTION_H
#define URLWEIR_SERVICE_GRPC_GRPC_REFLECTION_H

#include "service/grpc/grpc_server.h"

struct grpc_reflection;

struct grpc_reflection *grpc_reflection_new(void);
void grpc_reflection_free(struct grpc_reflection *r); /* NULL is fine */

/* The table's ctx is the struct grpc_reflection. */
extern const struct grpc_method grpc_reflection_methods[];

#endif
