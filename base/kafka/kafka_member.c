/* SPDX-License-Identifier: MIT */
/*
 * kafka_member.c - a member of a consumer group, for the sake of ownership.
 *
 * Partitions are assigned one by one (cooperative-sticky), so that when a
 * member joins it takes a few and the others go on with theirs. All of them are
 * paused: whoever owns one reads it by an offset of its own.
 */
#include "base/kafka/kafka_member.h"

#include <stdlib.h>

#include "base/kafka/kafka_client.h"
#include "base/mem.h"

#define NUMBER(n)  NUMBER_(n)
#define NUMBER_(n) #n

struct kafka_member {
    struct kafka_client client; /* first: librdkafka knows its address */
    struct kafka_owner owner;
};

static void tell_all(struct kafka_member *m, bool gained, bool lost,
                     const rd_kafka_topic_partition_list_t *list)
{
    for (int i = 0; i < list->cnt; i++)
        if (gained)
            m->owner.gained(m->owner.ctx, list->elems[i].partition);
        else
            m->owner.gives_up(m->owner.ctx, list->elems[i].partition, lost);
}

static void rebalance(rd_kafka_t *rk, rd_kafka_resp_err_t err,
                      rd_kafka_topic_partition_list_t *list, void *ctx)
{
    struct kafka_member *m = ctx;
    bool lost = rd_kafka_assignment_lost(rk) != 0;
    rd_kafka_error_t *e;

    if (err == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
        e = rd_kafka_incremental_assign(rk, list);
        (void)rd_kafka_pause_partitions(rk, list);
        tell_all(m, true, false, list);
    } else {
        tell_all(m, false, lost, list);
        e = rd_kafka_incremental_unassign(rk, list);
    }
    if (e != NULL)
        rd_kafka_error_destroy(e);
}

static enum status subscribe(struct kafka_member *m, const char *topic,
                             struct buf *why)
{
    rd_kafka_topic_partition_list_t *list =
        rd_kafka_topic_partition_list_new(1);
    rd_kafka_resp_err_t err;

    (void)rd_kafka_poll_set_consumer(m->client.rk);
    rd_kafka_topic_partition_list_add(list, topic, RD_KAFKA_PARTITION_UA);
    err = rd_kafka_subscribe(m->client.rk, list);
    rd_kafka_topic_partition_list_destroy(list);
    return kafka_client_judge(&m->client, err, rd_kafka_err2str(err), why);
}

enum status kafka_member_open(struct kafka_member **out,
                              const struct kafka_access *a, const char *group,
                              const char *topic,
                              const struct kafka_owner *owner, struct buf *why)
{
    const char *const set[] = {"group.id",
                               group,
                               "session.timeout.ms",
                               NUMBER(KAFKA_SESSION_MS),
                               "heartbeat.interval.ms",
                               "1000",
                               "partition.assignment.strategy",
                               "cooperative-sticky",
                               "enable.auto.commit",
                               "false",
                               NULL};
    struct kafka_member *m = xcalloc(1, sizeof *m);
    enum status st;

    m->owner = *owner;
    m->client.rebalance = rebalance;
    st = kafka_client_open(&m->client, a, RD_KAFKA_CONSUMER, set, why);
    if (st == STATUS_OK)
        st = subscribe(m, topic, why);
    if (st == STATUS_OK)
        *out = m;
    else
        kafka_member_close(m);
    return st;
}

void kafka_member_close(struct kafka_member *m)
{
    if (m == NULL)
        return;
    if (m->client.rk != NULL)
        (void)rd_kafka_consumer_close(m->client.rk);
    kafka_client_close(&m->client);
    free(m);
}

enum status kafka_member_poll(struct kafka_member *m, int timeout_ms,
                              struct buf *why)
{
    rd_kafka_message_t *got = rd_kafka_consumer_poll(m->client.rk, timeout_ms);
    enum status st = STATUS_OK;

    if (got == NULL)
        return STATUS_OK;
    if (got->err != RD_KAFKA_RESP_ERR_NO_ERROR)
        st = kafka_client_judge(&m->client, got->err,
                                rd_kafka_message_errstr(got), why);
    rd_kafka_message_destroy(got);
    return st;
}
