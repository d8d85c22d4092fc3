/*
 * redis_stream.h - octets to and from a Redis server, over TCP, TLS or a Unix
 * socket, without waiting.
 *
 * Looking up a host's name waits for the resolver; nothing else waits. With TLS
 * the certificate must be valid for the host and lead to a root of the system
 * (SSL_CERT_FILE and SSL_CERT_DIR name others). Threads: one.
 */
#ifndef URLWEIR_BASE_REDIS_REDIS_STREAM_H
#define URLWEIR_BASE_REDIS_REDIS_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/redis/redis_address.h"
#include "base/status.h"

struct redis_stream;

/* Never NULL; begins to connect with the first turn. */
struct redis_stream *redis_stream_new(const struct redis_address *a);
void redis_stream_free(struct redis_stream *s); /* NULL is fine */

/* What is to be sent; the caller appends to it at any time. */
struct buf *redis_stream_out(struct redis_stream *s);
/* Connect, send and receive as far as it goes now, and pass what came to
 * `take`. STATUS_CLOSED: lost, for good; redis_stream_error() says why. */
MUST_CHECK enum status redis_stream_turn(struct redis_stream *s,
                                         void (*take)(void *ctx,
                                                      struct bytes octets),
                                         void *ctx);
/* For poll(2); fd -1: before the first turn, or lost. */
int redis_stream_fd(const struct redis_stream *s);
short redis_stream_events(const struct redis_stream *s);
const char *redis_stream_error(const struct redis_stream *s);

#endif
