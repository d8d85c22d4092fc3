/* SPDX-License-Identifier: MIT */
/* kafka_absent.c - the module in a build with WITH_KAFKA=no: it refuses. */
#include <stddef.h>

#include "base/kafka/kafka.h"

const char *kafka_version(void)
{
    return NULL;
}

static enum status refuse(struct buf *why)
{
    buf_clear(why);
    buf_add_str(why, "this urlweir was built without Kafka");
    return STATUS_REFUSED;
}

enum status kafka_producer_open(struct kafka_producer **out,
                                const struct kafka_access *a,
                                const char *transactional_id, struct buf *why)
{
    (void)out;
    (void)a;
    (void)transactional_id;
    return refuse(why);
}

void kafka_producer_close(struct kafka_producer *p)
{
    (void)p;
}

enum status kafka_producer_init(struct kafka_producer *p, int timeout_ms,
                                struct buf *why)
{
    (void)p;
    (void)timeout_ms;
    return refuse(why);
}

enum status kafka_producer_begin(struct kafka_producer *p, struct buf *why)
{
    (void)p;
    return refuse(why);
}

enum status kafka_producer_send(struct kafka_producer *p, const char *topic,
                                int partition, struct bytes key,
                                struct bytes value, struct buf *why)
{
    (void)p;
    (void)topic;
    (void)partition;
    (void)key;
    (void)value;
    return refuse(why);
}

enum status kafka_producer_commit(struct kafka_producer *p, int timeout_ms,
                                  struct buf *why)
{
    (void)p;
    (void)timeout_ms;
    return refuse(why);
}

enum status kafka_producer_abort(struct kafka_producer *p, int timeout_ms,
                                 struct buf *why)
{
    (void)p;
    (void)timeout_ms;
    return refuse(why);
}

enum status kafka_topic_ensure(const struct kafka_access *a,
                               const struct kafka_topic *t, int timeout_ms,
                               struct buf *why)
{
    (void)a;
    (void)t;
    (void)timeout_ms;
    return refuse(why);
}

enum status kafka_topic_read(const struct kafka_access *a, const char *topic,
                             int partition, int timeout_ms,
                             void (*visit)(void *ctx, struct bytes key,
                                           struct bytes value),
                             void *ctx, struct buf *why)
{
    (void)a;
    (void)topic;
    (void)partition;
    (void)timeout_ms;
    (void)visit;
    (void)ctx;
    return refuse(why);
}
