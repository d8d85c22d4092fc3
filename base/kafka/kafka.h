/*
 * kafka.h - what urlweir needs of Kafka: a transactional producer and a topic's
 * settings. Below: what reads a partition, and a member of a group.
 *
 * A thin layer over librdkafka, which does all that is hard: it finds brokers,
 * repeats requests, keeps messages in order and once. What is added: errors
 * sorted by what their receiver has to do, and limits for what comes from a
 * topic, as those are bytes from outside.
 *
 *   STATUS_OK       done: go on
 *   STATUS_AGAIN    wait: brokers are away, or busy; the same call goes on
 *   STATUS_BUSY     fenced: another process has taken this transactional id
 *   STATUS_REFUSED  refused: wrong password, missing right, wrong topic; asking
 *                   again gives the same answer
 *   STATUS_CLOSED   the producer is done for, and whether its last transaction
 *                   was committed is not known; open another and read it back
 *
 * With each but the first `why`, emptied first, has a phrase for people.
 * One thread at a time for each object. A build with WITH_KAFKA=no has the same
 * calls, which refuse.
 */
#ifndef URLWEIR_BASE_KAFKA_KAFKA_H
#define URLWEIR_BASE_KAFKA_KAFKA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/kafka/kafka_address.h"
#include "base/status.h"

#define KAFKA_MESSAGE_MOST ((size_t)5 << 20) /* octets, sent or read */
/* Until the brokers abort a transaction whose producer is silent. Readers of
 * committed messages wait as long for what a killed process left open. */
#define KAFKA_TRANSACTION_MS 60000

/* The version of librdkafka, or NULL: built without it. */
const char *kafka_version(void);

struct kafka_access {
    const char *brokers; /* as in kafka_address */
    struct kafka_properties properties;
};

/* ---- transactions ---- */

struct kafka_producer;

/* `transactional_id`: who begins with it last fences all others. */
MUST_CHECK enum status kafka_producer_open(struct kafka_producer **out,
                                           const struct kafka_access *a,
                                           const char *transactional_id,
                                           struct buf *why);
/* Gives up what is not committed, and does not wait for brokers. NULL is fine.
 */
void kafka_producer_close(struct kafka_producer *p);

/* Takes the transactional id, and ends what an earlier producer left open: once
 * this is done, it was either committed or never will be. */
MUST_CHECK enum status kafka_producer_init(struct kafka_producer *p,
                                           int timeout_ms, struct buf *why);
MUST_CHECK enum status kafka_producer_begin(struct kafka_producer *p,
                                            struct buf *why);
/* Copies the message; waits while too many are on their way. `partition` -1: by the key, as Java's clients choose. */
MUST_CHECK enum status kafka_producer_send(struct kafka_producer *p,
                                           const char *topic, int partition,
                                           struct bytes key, struct bytes value,
                                           struct buf *why);
/* STATUS_AGAIN: call it again, it is not known yet. */
MUST_CHECK enum status kafka_producer_commit(struct kafka_producer *p,
                                             int timeout_ms, struct buf *why);
/* Nothing of this transaction counts; a new one may begin. */
MUST_CHECK enum status kafka_producer_abort(struct kafka_producer *p,
                                            int timeout_ms, struct buf *why);

/* Where the next message of a partition will stand, whoever sends it. */
MUST_CHECK enum status kafka_producer_find_end(struct kafka_producer *p,
                                               const char *topic, int partition,
                                               int timeout_ms, int64_t *end,
                                               struct buf *why);
/* Asks for the messages of a partition before `offset` to be deleted, and does
 * not wait for it. Brokers may refuse; what is deleted nobody can read. */
void kafka_producer_trim(struct kafka_producer *p, const char *topic,
                         int partition, int64_t offset);

/* ---- topics ---- */

struct kafka_topic {
    const char *name;
    bool compacted; /* must keep the last message of each key, for ever; if
                           not, must not be compacted */
    bool is_there;  /* it is not made: STATUS_NOT_FOUND */
    int partitions; /* 0: as the brokers do, and any number */
    /* Of a new topic: name, value, ..., NULL. Retention has to be so in an old
     * one as well. */
    const char *const *config;
};

/* Makes the topic if it is missing; checks how one that is there keeps messages,
 * and its partitions. */
MUST_CHECK enum status kafka_topic_ensure(const struct kafka_access *a,
                                          const struct kafka_topic *t,
                                          int timeout_ms, struct buf *why);

/* A member of a consumer group, for the sake of ownership: the group gives
 * each partition of a topic to one member at a time.
 *
 * No messages are read through it. A member that is silent for KAFKA_SESSION_MS
 * loses what it owns. One thread at a time.
 */

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

/* ---- the committed messages of one partition, from an offset on ----
 *
 * Reads with librdkafka's simple consumer, which needs no group: the caller
 * keeps the offset. One thread at a time.
 */

struct kafka_reader;

struct kafka_message {
    struct bytes key, value; /* until the next call */
    int64_t offset;
};

#define KAFKA_BEGINNING (-2) /* the offset of the first message there is */

/* Begins with the first message at or after `offset`. If messages from there on
 * are gone, reading ends with STATUS_REFUSED. */
MUST_CHECK enum status kafka_reader_open(struct kafka_reader **out,
                                         const struct kafka_access *a,
                                         const char *topic, int partition,
                                         int64_t offset, struct buf *why);
void kafka_reader_close(struct kafka_reader *r); /* NULL is fine */

/* The next message. STATUS_NOT_FOUND: none came for `timeout_ms`. A message
 * longer than KAFKA_MESSAGE_MOST is skipped. */
MUST_CHECK enum status kafka_reader_next(struct kafka_reader *r, int timeout_ms,
                                         struct kafka_message *m,
                                         struct buf *why);
enum kafka_end {
    KAFKA_END_COMMITTED, /* of what is committed before any open transaction */
    KAFKA_END_HIGH       /* also behind open ones, whose ends are waited for */
};
/* Visits all messages up to what is the end when brokers first answer. What
 * `visit` returns other than STATUS_OK ends it. STATUS_AGAIN: nothing came for
 * `timeout_ms`; some seconds before, it is logged that and why it waits.
 * STATUS_NOT_FOUND: there is no such topic. */
MUST_CHECK enum status kafka_reader_read_all(
    struct kafka_reader *r, enum kafka_end end, int timeout_ms,
    enum status (*visit)(void *ctx, const struct kafka_message *m), void *ctx,
    struct buf *why);

/* Was everything read that was committed when the brokers were last asked?
 * Messages of an open transaction do not count. */
bool kafka_reader_is_at_end(const struct kafka_reader *r);
/* The offset after the last message that was read or skipped. */
int64_t kafka_reader_offset(const struct kafka_reader *r);

#endif
