/*
 * kafka.h - what urlweir needs of Kafka: a transactional producer and a topic's
 * settings. kafka_reader.h reads, kafka_member.h is a group.
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

#endif
