/* SPDX-License-Identifier: MIT */
/*
 * kafka_producer.c - messages in transactions.
 *
 *     open ── init ──► ready ◄──────────────┐
 *                        │ begin            │ committed, or aborted
 *                        ▼                  │
 *                      open transaction ────┘
 *                        │ an error that librdkafka cannot repeat away
 *                        ▼
 *                      closed, or fenced: the next producer's init ends it
 *
 * Brokers abort a transaction after KAFKA_TRANSACTION_MS, by fencing its
 * producer. Brokers of that age and librdkafka tell this by the same error as
 * that of a second process. So who was fenced after that time is told to open
 * another producer, and sees by what it reads back which of the two it was.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/kafka/kafka_client.h"
#include "base/logger.h"
#include "base/mem.h"

#define FULL_MOST  (60 * NS_PER_S)
#define NUMBER(n)  NUMBER_(n)
#define NUMBER_(n) #n

struct kafka_producer {
    struct kafka_client client;
    rd_kafka_queue_t *results; /* of deletions, or NULL */
    bool said;                 /* that one failed */
    int64_t begun; /* by the clock that counts while the machine sleeps */
};

enum status kafka_producer_open(struct kafka_producer **out,
                                const struct kafka_access *a,
                                const char *transactional_id, struct buf *why)
{
    char most[24];
    const char *const set[] = {"transactional.id",
                               transactional_id,
                               "transaction.timeout.ms",
                               NUMBER(KAFKA_TRANSACTION_MS),
                               "message.max.bytes",
                               most,
                               "partitioner",
                               "murmur2_random",
                               NULL};
    struct kafka_producer *p = xcalloc(1, sizeof *p);
    enum status st;

    snprintf(most, sizeof most, "%zu", KAFKA_MESSAGE_MOST + 4096);
    st = kafka_client_open(&p->client, a, RD_KAFKA_PRODUCER, set, why);
    if (st == STATUS_OK)
        *out = p;
    else
        free(p);
    return st;
}

void kafka_producer_close(struct kafka_producer *p)
{
    if (p == NULL)
        return;
    if (p->results != NULL)
        rd_kafka_queue_destroy(p->results);
    kafka_client_close(&p->client);
    free(p);
}

static enum status fenced(const struct kafka_producer *p, struct buf *why)
{
    if (clock_boot() - p->begun < KAFKA_TRANSACTION_MS * NS_PER_MS)
        return STATUS_BUSY;
    buf_clear(why);
    buf_add_str(why, "the brokers have aborted the transaction, as it took "
                     "too long");
    return STATUS_CLOSED;
}

/* Ends `e`. What could be repeated has been, unless librdkafka says that the
 * call may be made again. */
static enum status judge(struct kafka_producer *p, rd_kafka_error_t *e,
                         struct buf *why)
{
    bool again = e != NULL && rd_kafka_error_is_retriable(e);
    enum status st =
        kafka_client_judge(&p->client,
                           e != NULL ? rd_kafka_error_code(e)
                                     : RD_KAFKA_RESP_ERR_NO_ERROR,
                           e != NULL ? rd_kafka_error_string(e) : "", why);

    if (e != NULL)
        rd_kafka_error_destroy(e);
    if (st == STATUS_AGAIN && !again)
        return STATUS_CLOSED;
    return st == STATUS_BUSY ? fenced(p, why) : st;
}

enum status kafka_producer_init(struct kafka_producer *p, int timeout_ms,
                                struct buf *why)
{
    enum status st;

    p->begun = clock_boot();
    st = judge(p, rd_kafka_init_transactions(p->client.rk, timeout_ms), why);
    p->client.admitted |= st == STATUS_OK;
    return st;
}

enum status kafka_producer_begin(struct kafka_producer *p, struct buf *why)
{
    p->begun = clock_boot();
    return judge(p, rd_kafka_begin_transaction(p->client.rk), why);
}

static enum status try_send(struct kafka_producer *p, const char *topic,
                            int partition, struct bytes key, struct bytes value,
                            struct buf *why)
{
    const rd_kafka_vu_t parts[] = {
        {.vtype = RD_KAFKA_VTYPE_TOPIC, .u.cstr = topic},
        {.vtype = RD_KAFKA_VTYPE_PARTITION, .u.i32 = partition},
        {.vtype = RD_KAFKA_VTYPE_KEY,
         .u.mem = {(void *)(uintptr_t)key.at, key.len}},
        {.vtype = RD_KAFKA_VTYPE_VALUE,
         .u.mem = {(void *)(uintptr_t)value.at, value.len}},
        {.vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = RD_KAFKA_MSG_F_COPY},
    };
    rd_kafka_error_t *e =
        rd_kafka_produceva(p->client.rk, parts, sizeof parts / sizeof *parts);

    if (e != NULL && rd_kafka_error_code(e) == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
        buf_clear(why);
        buf_add_str(why, rd_kafka_error_string(e));
        rd_kafka_error_destroy(e);
        return STATUS_AGAIN;
    }
    if (e != NULL && rd_kafka_error_code(e) == RD_KAFKA_RESP_ERR__FATAL) {
        char text[512];
        rd_kafka_resp_err_t err =
            rd_kafka_fatal_error(p->client.rk, text, sizeof text);

        rd_kafka_error_destroy(e);
        e = rd_kafka_error_new(err, "%s", text);
    }
    return judge(p, e, why);
}

/* librdkafka's queue may be full: its thread empties it. */
enum status kafka_producer_send(struct kafka_producer *p, const char *topic,
                                int partition, struct bytes key,
                                struct bytes value, struct buf *why)
{
    const struct timespec moment = {.tv_nsec = 5 * NS_PER_MS};
    int64_t until = clock_mono() + FULL_MOST;
    enum status st;

    while ((st = try_send(p, topic, partition, key, value, why)) ==
               STATUS_AGAIN &&
           clock_mono() < until)
        nanosleep(&moment, NULL);
    return st;
}

enum status kafka_producer_commit(struct kafka_producer *p, int timeout_ms,
                                  struct buf *why)
{
    return judge(p, rd_kafka_commit_transaction(p->client.rk, timeout_ms), why);
}

enum status kafka_producer_abort(struct kafka_producer *p, int timeout_ms,
                                 struct buf *why)
{
    return judge(p, rd_kafka_abort_transaction(p->client.rk, timeout_ms), why);
}

enum status kafka_producer_find_end(struct kafka_producer *p, const char *topic,
                                    int partition, int timeout_ms, int64_t *end,
                                    struct buf *why)
{
    int64_t low;
    rd_kafka_resp_err_t err =
        rd_kafka_query_watermark_offsets(p->client.rk, topic, partition, &low,
                                         end, timeout_ms);

    return kafka_client_judge(&p->client, err, rd_kafka_err2str(err), why);
}

/* ---- deleting ---- */

/* What became of the requests before. */
static void drop_results(struct kafka_producer *p)
{
    rd_kafka_event_t *ev;

    while ((ev = rd_kafka_queue_poll(p->results, 0)) != NULL) {
        if (rd_kafka_event_error(ev) != RD_KAFKA_RESP_ERR_NO_ERROR && !p->said)
            log_info("messages that were read cannot be deleted", "why=\"%s\"",
                     rd_kafka_event_error_string(ev));
        p->said |= rd_kafka_event_error(ev) != RD_KAFKA_RESP_ERR_NO_ERROR;
        rd_kafka_event_destroy(ev);
    }
}

void kafka_producer_trim(struct kafka_producer *p, const char *topic,
                         int partition, int64_t offset)
{
    rd_kafka_topic_partition_list_t *list =
        rd_kafka_topic_partition_list_new(1);
    rd_kafka_DeleteRecords_t *before;

    if (p->results == NULL)
        p->results = rd_kafka_queue_new(p->client.rk);
    drop_results(p);
    rd_kafka_topic_partition_list_add(list, topic, partition)->offset = offset;
    before = rd_kafka_DeleteRecords_new(list);
    rd_kafka_DeleteRecords(p->client.rk, &before, 1, NULL, p->results);
    rd_kafka_DeleteRecords_destroy(before);
    rd_kafka_topic_partition_list_destroy(list);
}
