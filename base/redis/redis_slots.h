/*
 * redis_slots.h - which server of a Redis Cluster has which slot: what servers
 * say of it, without sockets.
 *
 * A cluster spreads keys over 16,384 slots by the CRC16 of the key, or of the
 * part of it in {braces} (the cluster specification, "Keys distribution
 * model"). Pure, any thread.
 */
#ifndef URLWEIR_BASE_REDIS_REDIS_SLOTS_H
#define URLWEIR_BASE_REDIS_REDIS_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/redis/redis_reply.h"
#include "base/status.h"

#define REDIS_SLOTS      16384
#define REDIS_NODES_MOST 1024 /* masters of a cluster; the specification's */

/* The slot of a key that is nothing but the text in braces. */
uint16_t redis_slot_of(struct bytes tag);

/* Where a server says that another one is. */
struct redis_spot {
    struct bytes host; /* empty: where the server is that says so */
    uint16_t port;
};

/* Slots first .. last belong to the master at `spot`. */
struct redis_slot_range {
    uint16_t first, last;
    struct redis_spot spot;
};

/* Read element `i` of the reply to CLUSTER SLOTS; its host points into `r`.
 * STATUS_FORMAT: it is not a range. */
MUST_CHECK enum status redis_slots_read(const redisReply *r, size_t i,
                                        struct redis_slot_range *out);
/* Read "MOVED 3999 127.0.0.1:6381" or "ASK ..."; the host points into `text`.
 * STATUS_FORMAT. */
MUST_CHECK enum status redis_redirect_read(struct bytes text, bool *ask,
                                           uint16_t *slot,
                                           struct redis_spot *out);

#endif
