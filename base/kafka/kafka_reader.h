/*
 * kafka_reader.h - the committed messages of one partition, from an offset on.
 *
 * Reads with librdkafka's simple consumer, which needs no group: the caller
 * keeps the offset. One thread at a time.
 */
#ifndef URLWEIR_BASE_KAFKA_KAFKA_READER_H
#define URLWEIR_BASE_KAFKA_KAFKA_READER_H

#include "base/kafka/kafka.h"

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
