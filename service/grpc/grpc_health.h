/*
 * grpc_health.h - the gRPC health checking service, grpc.health.v1.
 *
 * Answers for the whole server ("") and for each named service alike: they
 * stand and fall together. Needs no token, as probes have none. The loop's
 * thread alone.
 */
#ifndef URLWEIR_SERVICE_GRPC_GRPC_HEALTH_H
#define URLWEIR_SERVICE_GRPC_GRPC_HEALTH_H

#include "service/grpc/grpc_server.h"

struct grpc_health;

/* `services`: names, ended by NULL, borrowed. It serves. */
struct grpc_health *grpc_health_new(const char *const *services);
void grpc_health_free(struct grpc_health *h); /* no call is open any more */

/* The table's ctx is the struct grpc_health. */
extern const struct grpc_method grpc_health_methods[];

/* Tells all who watch when it changes. */
void grpc_health_set(struct grpc_health *h, bool serving);

#endif
