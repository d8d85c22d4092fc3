/*
 * served_shards.h - served URLs that live in shards, some of them here.
 *
 *   call ─► call_split ─┬─► a shard that this process has: frontier_service
 *                       └─► forwarder ─► the process that has it
 *
 * A shard is an ordinary served frontier, in DIR/shards/N, whose rows are also
 * in Kafka (cluster/shard_rows.h): what is acknowledged is committed there. The
 * consumer group of NAME.state says which shards a process has; each is opened
 * and closed by a thread of its own, and whose it is stands in NAME.control.
 *
 * No call is refused for want of an owner at once: for some seconds it waits
 * for the next one. docs/decisions/shards.md.
 *
 * Threads: open, join and close by one, the place from any.
 */
#ifndef URLWEIR_SERVICE_SHARDS_SERVED_SHARDS_H
#define URLWEIR_SERVICE_SHARDS_SERVED_SHARDS_H

#include <stdint.h>

#include "base/kafka/kafka.h"
#include "service/calls/frontier_service.h"
#include "service/net/tls.h"

struct served_shards;

struct served_shards_options {
    const char *dir;            /* exists, and the caller has locked it */
    struct kafka_access access; /* of the brokers */
    const char *name;           /* of the service */
    uint32_t shards;            /* of a new service */
    bool shards_given;          /* another number is an error */
    const char *token_file;     /* as forwarder_options has them */
    struct tls_files tls;
    uint64_t memory;       /* of all shards; 0: 256 MiB */
    int64_t checkpoint_ms; /* 0: as frontier_service has it */
    size_t most_waiting;   /* items in calls of clients; 0: 65,536 */
};

/* Finds the service, or makes it. The strings of `o` outlive it. On failure
 * `why` has a sentence for people. */
MUST_CHECK enum status served_shards_open(struct served_shards **out,
                                          const struct served_shards_options *o,
                                          struct buf *why);
/* For frontier_service_options; its close is served_shards_close. */
const struct frontier_place *served_shards_place(struct served_shards *s);
/* As frontier_service_options has them; before served_shards_join. */
void served_shards_on_room(struct served_shards *s, void (*room)(void *ctx),
                           void *ctx);
/* Takes shards from now on. `http`: the URL by which others ask this process;
 * `grpc`: HOST:PORT, for ListNodes. `failed` is called, once, when the process
 * can take no shards any more. */
MUST_CHECK enum status served_shards_join(struct served_shards *s,
                                          const char *http, const char *grpc,
                                          void (*failed)(void *ctx), void *ctx,
                                          struct buf *why);
/* Hands all shards over and ends. Calls of clients that are under way end with
 * STATUS_CLOSED. NULL is fine. */
enum status served_shards_close(struct served_shards *s);

#endif
