/*
 * grpc_health.h - the gRPC health checking service, grpc.health.v1.
 *
 * The whole server ("") and each named service have the same status. Needs no
 * token, as probes have none. Threads: the loop's only.
 */
#ifndef URLWEIR_SERVICE_GRPC_GRPC_HEALTH_H
#define URLWEIR_SERVICE_GRPC_GRPC_HEALTH_H

#include "service/grpc/grpc_server.h"

struct grpc_health;

/* `services`: names, ended by NULL, borrowed. The status begins as serving. */
struct grpc_health *grpc_health_new(const char *const *services);
void grpc_health_free(struct grpc_health *h); /* call it when no call is open */

/* The table's ctx is the struct grpc_health. */
extern const struct grpc_method grpc_health_methods[];

/* Tells all watchers when it changes. */
void grpc_health_set(struct grpc_health *h, bool serving);

#endif
