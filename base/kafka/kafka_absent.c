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

enum status kafka_producer_find_end(struct kafka_producer *p, const char *topic,
                                    int partition, int timeout_ms, int64_t *end,
                                    struct buf *why)
{
    (void)p;
    (void)topic;
    (void)partition;
    (void)timeout_ms;
    (void)end;
    return refuse(why);
}

void kafka_producer_trim(struct kafka_producer *p, const char *topic,
                         int partition, int64_t offset)
{
    (void)p;
    (void)topic;
    (void)partition;
    (void)offset;
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

/* ---- reading on, and groups ---- */

enum status kafka_reader_open(struct kafka_reader **out,
                              const struct kafka_access *a, const char *topic,
                              int partition, int64_t offset, struct buf *why)
{
    (void)out;
    (void)a;
    (void)topic;
    (void)partition;
    (void)offset;
    return refuse(why);
}

void kafka_reader_close(struct kafka_reader *r)
{
    (void)r;
}

enum status kafka_reader_next(struct kafka_reader *r, int timeout_ms,
                              struct kafka_message *m, struct buf *why)
{
    (void)r;
    (void)timeout_ms;
    (void)m;
    return refuse(why);
}

enum status kafka_reader_read_all(
    struct kafka_reader *r, enum kafka_end end, int timeout_ms,
    enum status (*visit)(void *ctx, const struct kafka_message *m), void *ctx,
    struct buf *why)
{
    (void)r;
    (void)end;
    (void)timeout_ms;
    (void)visit;
    (void)ctx;
    return refuse(why);
}

bool kafka_reader_is_at_end(const struct kafka_reader *r)
{
    (void)r;
    return true;
}

int64_t kafka_reader_offset(const struct kafka_reader *r)
{
    (void)r;
    return 0;
}

enum status kafka_member_open(struct kafka_member **out,
                              const struct kafka_access *a, const char *group,
                              const char *topic,
                              const struct kafka_owner *owner, struct buf *why)
{
    (void)out;
    (void)a;
    (void)group;
    (void)topic;
    (void)owner;
    return refuse(why);
}

void kafka_member_close(struct kafka_member *m)
{
    (void)m;
}

enum status kafka_member_poll(struct kafka_member *m, int timeout_ms,
                              struct buf *why)
{
    (void)m;
    (void)timeout_ms;
    return refuse(why);
}
