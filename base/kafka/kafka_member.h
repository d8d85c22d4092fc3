/*
 * kafka_member.h - a member of a consumer group, for the sake of ownership: the
 * group gives each partition of a topic to one member at a time.
 *
 * No messages are read through it. A member that is silent for KAFKA_SESSION_MS
 * loses what it owns. One thread at a time.
 */
#ifndef URLWEIR_BASE_KAFKA_KAFKA_MEMBER_H
#define URLWEIR_BASE_KAFKA_KAFKA_MEMBER_H

#include "base/kafka/kafka.h"

#define KAFKA_SESSION_MS 10000

struct kafka_member;

/* Called from kafka_member_poll and kafka_member_close. */
struct kafka_owner {
    void *ctx;
    void (*gained)(void *ctx, int partition);
    /* Another member may get it as soon as this returns; if it was `lost`,
     * another one may have it already. */
    void (*gives_up)(void *ctx, int partition, bool lost);
};

MUST_CHECK enum status kafka_member_open(struct kafka_member **out,
                                         const struct kafka_access *a,
                                         const char *group, const char *topic,
                                         const struct kafka_owner *owner,
                                         struct buf *why);
/* Gives up all partitions, and leaves. NULL is fine. */
void kafka_member_close(struct kafka_member *m);

/* Waits at most `timeout_ms`; to be called at least once a second.
 * STATUS_AGAIN: the brokers do not answer. */
MUST_CHECK enum status kafka_member_poll(struct kafka_member *m, int timeout_ms,
                                         struct buf *why);

#endif
