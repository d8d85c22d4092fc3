/*
 * grpc_services.h - the services of every gRPC server: reflection and health.
 */
#ifndef URLWEIR_SERVICE_GRPC_GRPC_SERVICES_H
#define URLWEIR_SERVICE_GRPC_GRPC_SERVICES_H

#include "service/grpc/grpc_server.h"

/* ---- server reflection, v1 and v1alpha: which services exist, and which
 * .proto file defines a name ----
 *
 * Answers from descriptor_set.h. Unknown names are NOT_FOUND inside the answer,
 * as the protocol demands; there are no extensions.
 */

struct grpc_reflection;

struct grpc_reflection *grpc_reflection_new(void);
void grpc_reflection_free(struct grpc_reflection *r); /* NULL is fine */

/* The table's ctx is the struct grpc_reflection. */
extern const struct grpc_method grpc_reflection_methods[];

/* ---- the gRPC health checking service, grpc.health.v1 ----
 *
 * The whole server ("") and each named service have the same status. Needs no
 * token, as probes have none. Threads: the loop's only.
 */

struct grpc_health;

/* `services`: names, ended by NULL, borrowed. The status begins as serving. */
struct grpc_health *grpc_health_new(const char *const *services);
void grpc_health_free(struct grpc_health *h); /* call it when no call is open */

/* The table's ctx is the struct grpc_health. */
extern const struct grpc_method grpc_health_methods[];

/* Tells all watchers when it changes. */
void grpc_health_set(struct grpc_health *h, bool serving);

#endif
