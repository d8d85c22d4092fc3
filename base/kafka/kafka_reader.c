/* SPDX-License-Identifier: MIT */
/*
 * kafka_reader.c - the committed messages of one partition.
 *
 * Brokers tell a reader of committed messages that it is at the end when it is
 * at the last stable offset: another producer may have a transaction open
 * there, with messages behind that are committed. The high watermark is the end
 * of all.
 */
#include "base/kafka/kafka_reader.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/kafka/kafka_client.h"
#include "base/logger.h"
#include "base/mem.h"

#define ASK_AFTER (2 * NS_PER_S) /* of silence */
#define SAY_AFTER (4 * NS_PER_S)
#define ASK_MS    1000

struct kafka_reader {
    struct kafka_client client;
    rd_kafka_topic_t *topic;
    char *name;
    int partition;
    int64_t next;
    int64_t high; /* -1: not known */
    bool at_end;
    bool asked, said; /* of a silence: why it is; that it is */
    rd_kafka_message_t *last;
};

enum status kafka_reader_open(struct kafka_reader **out,
                              const struct kafka_access *a, const char *topic,
                              int partition, int64_t offset, struct buf *why)
{
    static const char *const set[] = {"enable.partition.eof",
                                      "true",
                                      "isolation.level",
                                      "read_committed",
                                      "check.crcs",
                                      "true",
                                      "fetch.wait.max.ms",
                                      "100",
                                      "auto.offset.reset",
                                      "error",
                                      "queued.max.messages.kbytes",
                                      "16384",
                                      NULL};
    struct kafka_reader *r = xcalloc(1, sizeof *r);
    enum status st =
        kafka_client_open(&r->client, a, RD_KAFKA_CONSUMER, set, why);

    r->name = xstrdup(topic);
    r->partition = partition;
    r->next = offset;
    r->high = -1;
    if (st == STATUS_OK) {
        r->topic = rd_kafka_topic_new(r->client.rk, topic, NULL);
        if (rd_kafka_consume_start(r->topic, partition, offset) != 0) {
            buf_add_str(why, rd_kafka_err2str(rd_kafka_last_error()));
            st = STATUS_REFUSED;
        }
    }
    if (st == STATUS_OK)
        *out = r;
    else
        kafka_reader_close(r);
    return st;
}

void kafka_reader_close(struct kafka_reader *r)
{
    if (r == NULL)
        return;
    if (r->last != NULL)
        rd_kafka_message_destroy(r->last);
    if (r->topic != NULL) {
        (void)rd_kafka_consume_stop(r->topic, r->partition);
        rd_kafka_topic_destroy(r->topic);
    }
    kafka_client_close(&r->client);
    free(r->name);
    free(r);
}

/* Known when the broker has answered once. */
static void note_high(struct kafka_reader *r)
{
    int64_t low;

    if (r->high < 0 &&
        rd_kafka_get_watermark_offsets(r->client.rk, r->name, r->partition,
                                       &low,
                                       &r->high) != RD_KAFKA_RESP_ERR_NO_ERROR)
        r->high = -1;
}

/* STATUS_NOT_FOUND: nothing to hand out. */
static enum status take(struct kafka_reader *r, struct kafka_message *m,
                        struct buf *why)
{
    const rd_kafka_message_t *got = r->last;

    if (got->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
        r->next = got->offset;
        r->at_end = true;
        return STATUS_NOT_FOUND;
    }
    if (got->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        enum status st = kafka_client_judge(&r->client, got->err,
                                            rd_kafka_message_errstr(got), why);

        buf_addf(why, " (reading topic %s)", r->name);
        return st == STATUS_AGAIN ? STATUS_NOT_FOUND : st;
    }
    r->at_end = false;
    r->next = got->offset + 1;
    *m = (struct kafka_message){bytes_of(got->key, got->key_len),
                                bytes_of(got->payload, got->len), got->offset};
    return got->key_len + got->len <= KAFKA_MESSAGE_MOST ? STATUS_OK
                                                         : STATUS_NOT_FOUND;
}

/* librdkafka says in between where the end was just then: a reader that is not
 * asked for a while has a queue of message, end, message, end. The last end is
 * the one that counts. */
enum status kafka_reader_next(struct kafka_reader *r, int timeout_ms,
                              struct kafka_message *m, struct buf *why)
{
    enum status st;
    bool passed;

    do {
        if (r->last != NULL)
            rd_kafka_message_destroy(r->last);
        r->last = rd_kafka_consume(r->topic, r->partition, timeout_ms);
        st = r->last != NULL ? take(r, m, why) : STATUS_NOT_FOUND;
        passed = st == STATUS_NOT_FOUND && r->last != NULL &&
                 (r->last->err == RD_KAFKA_RESP_ERR__PARTITION_EOF ||
                  r->last->err == RD_KAFKA_RESP_ERR_NO_ERROR);
        if (r->last != NULL)
            note_high(r);
        timeout_ms = 0;
    } while (passed);
    (void)rd_kafka_poll(r->client.rk, 0);
    return st;
}

static bool has_read_all(struct kafka_reader *r, enum kafka_end end)
{
    if (end == KAFKA_END_COMMITTED || !r->at_end)
        return r->at_end;
    return r->high >= 0 && r->next >= r->high;
}

/* librdkafka does not tell a reader that it may not even know of its topic, and
 * waits for one that is not there. */
static enum status ask_for_topic(struct kafka_reader *r, struct buf *why)
{
    int partitions;
    rd_kafka_resp_err_t err =
        kafka_client_ask_topic(&r->client, r->topic, ASK_MS, &partitions);

    if (kafka_error_sort(err) == STATUS_REFUSED)
        return kafka_client_judge(&r->client, err, rd_kafka_err2str(err), why);
    if (err != RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
        return STATUS_OK;
    buf_clear(why);
    buf_add_str(why, "there is no such topic");
    return STATUS_NOT_FOUND;
}

/* What is to be done about a silence of so many ns: STATUS_AGAIN, wait. */
static enum status judge_silence(struct kafka_reader *r, int64_t ns,
                                 struct buf *why)
{
    enum status st = STATUS_OK;

    if (ns >= ASK_AFTER && !r->asked) {
        r->asked = true;
        st = ask_for_topic(r, why);
    }
    if (st == STATUS_OK)
        st = kafka_client_judge(&r->client, RD_KAFKA_RESP_ERR__TIMED_OUT,
                                "its end is not reached; a transaction may be "
                                "open",
                                why);
    buf_addf(why, " (reading topic %s)", r->name);
    if (st == STATUS_AGAIN && ns >= SAY_AFTER && !r->said) {
        r->said = true;
        log_warn("waiting for Kafka", "why=\"%s\"", buf_str(why));
    }
    return st;
}

enum status kafka_reader_read_all(
    struct kafka_reader *r, enum kafka_end end, int timeout_ms,
    enum status (*visit)(void *ctx, const struct kafka_message *m), void *ctx,
    struct buf *why)
{
    int64_t heard = clock_mono();
    struct kafka_message m;
    enum status st = STATUS_OK;

    while (st == STATUS_OK && !has_read_all(r, end)) {
        bool late = clock_mono() - heard >= timeout_ms * NS_PER_MS;

        st = kafka_reader_next(r, timeout_ms < 100 ? timeout_ms : 100, &m, why);
        if (st == STATUS_OK) {
            heard = clock_mono();
            st = visit(ctx, &m);
        } else if (st == STATUS_NOT_FOUND && !has_read_all(r, end)) {
            st = judge_silence(r, clock_mono() - heard, why);
            if (st == STATUS_NOT_FOUND)
                return st;
            st = st == STATUS_AGAIN && !late ? STATUS_OK : st;
        }
        st = st == STATUS_NOT_FOUND ? STATUS_OK : st;
    }
    if (st == STATUS_OK)
        buf_clear(why); /* what a silence was like that is over */
    return st;
}

bool kafka_reader_is_at_end(const struct kafka_reader *r)
{
    return r->at_end;
}

int64_t kafka_reader_offset(const struct kafka_reader *r)
{
    return r->next;
}
