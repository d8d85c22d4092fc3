/*
 * served_control.h - what a service on many machines knows of itself as a
 * whole: its topic NAME.control.
 *
 *   service     JSON: id, which tells services of one name apart, and shards,
 *               their number, which never changes
 *   owner/N     JSON: http and grpc, the addresses of the process that has
 *               shard N; nothing while none has it
 *
 * An owner writes its record by the transactional id of its shard, so one that
 * was replaced cannot write any more. What is read comes from outside, and is
 * bounded. One thread at a time.
 */
#ifndef URLWEIR_CLUSTER_SERVED_CONTROL_H
#define URLWEIR_CLUSTER_SERVED_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/kafka/kafka.h"

#define SERVED_ID_SIZE      33  /* of a service: 32 hexadecimal digits */
#define SERVED_ADDRESS_SIZE 300 /* "http://HOST:PORT" and a zero byte */

struct served_owner {
    char http[SERVED_ADDRESS_SIZE]; /* a URL; empty: none has the shard */
    char grpc[SERVED_ADDRESS_SIZE]; /* HOST:PORT */
    uint64_t version;               /* rises with each record */
};

struct served_control;

/* Finds the service, or makes one of that many shards, with its topics, and
 * reads what is known of it. STATUS_REFUSED: the name is a crawl's. */
MUST_CHECK enum status served_control_open(struct served_control **out,
                                           const struct kafka_access *a,
                                           const char *name, uint32_t shards,
                                           struct buf *why);
void served_control_close(struct served_control *c); /* NULL is fine */
/* Reads what has come since, without waiting. */
MUST_CHECK enum status served_control_poll(struct served_control *c,
                                           struct buf *why);

uint32_t served_control_shards(const struct served_control *c);
const char *served_control_id(const struct served_control *c);
const struct served_owner *served_control_owner(const struct served_control *c,
                                                uint32_t shard);

/* An owner's record; `http` NULL: nobody has the shard, and the value is empty.
 */
void served_owner_write(struct buf *key, struct buf *value, uint32_t shard,
                        const char *http, const char *grpc);

#endif
