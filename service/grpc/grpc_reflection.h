/*
 * grpc_reflection.h - gRPC server reflection, v1 and v1alpha: what services
 * there are, and the .proto file that a name is from.
 *
 * Answers from descriptor_set.h. Names that are not in there are NOT_FOUND
 * inside the answer, as the protocol has it; there are no extensions.
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
