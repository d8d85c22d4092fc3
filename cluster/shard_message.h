/*
 * shard_message.h - a URL on its way from one shard to another, as octets.
 *
 * docs/formats/shard-url.md describes them. What is read comes from outside: it
 * is bounded, and refused if it is not valid.
 */
#ifndef URLWEIR_CLUSTER_SHARD_MESSAGE_H
#define URLWEIR_CLUSTER_SHARD_MESSAGE_H

#include "base/buf.h"
#include "frontier/frontier.h"

struct shard_message {
    bool seed; /* given by a person */
    struct bytes url;
    uint32_t depth;
    uint16_t hops;
    uint8_t kind;
    bool has_hint, has_label;
    struct url_hint hint;
    struct link_label label;
};

#define SHARD_MESSAGE_MOST ((size_t)1 << 20) /* octets */

void shard_message_write(struct buf *out, const struct shard_message *m);
/* The bytes of *out point into `octets`. STATUS_FORMAT. */
MUST_CHECK enum status shard_message_read(struct shard_message *out,
                                          struct bytes octets);

#endif
