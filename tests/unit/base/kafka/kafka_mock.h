/* SPDX-License-Identifier: MIT */
/* kafka_mock.h - the brokers that librdkafka brings for tests, one of them. */
#ifndef TESTS_UNIT_BASE_KAFKA_KAFKA_MOCK_H
#define TESTS_UNIT_BASE_KAFKA_KAFKA_MOCK_H

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include "base/kafka/kafka.h"
#include "tests/unit/unit.h"

#define WAIT_MS 20000

struct kafka_mock {
    rd_kafka_t *keeper;
    rd_kafka_mock_cluster_t *cluster;
    struct kafka_access at;
};

static inline void kafka_mock_begin(struct kafka_mock *m, const char *topic,
                                    int partitions)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    char error[200];

    rd_kafka_conf_set_log_cb(conf, NULL);
    m->keeper = rd_kafka_new(RD_KAFKA_PRODUCER, conf, error, sizeof error);
    m->cluster = rd_kafka_mock_cluster_new(m->keeper, 1);
    ck_assert_int_eq(rd_kafka_mock_topic_create(m->cluster, topic, partitions,
                                                1),
                     0);
    m->at = (struct kafka_access){
        .brokers = rd_kafka_mock_cluster_bootstraps(m->cluster)};
}

static inline void kafka_mock_end(struct kafka_mock *m)
{
    rd_kafka_mock_cluster_destroy(m->cluster);
    rd_kafka_destroy(m->keeper);
}

/* A producer whose transaction is open. */
static inline struct kafka_producer *kafka_mock_producer(struct kafka_mock *m)
{
    struct kafka_producer *p = NULL;
    struct buf why;

    buf_init(&why, 2000);
    ck_ok(kafka_producer_open(&p, &m->at, "id", &why));
    ck_ok(kafka_producer_init(p, WAIT_MS, &why));
    ck_ok(kafka_producer_begin(p, &why));
    buf_fini(&why);
    return p;
}

static inline void kafka_mock_send(struct kafka_producer *p, const char *topic,
                                   const char *key, const char *value)
{
    struct buf why;

    buf_init(&why, 2000);
    ck_ok(kafka_producer_send(p, topic, 0, bytes_of_str(key),
                              bytes_of_str(value), &why));
    buf_fini(&why);
}

static inline void kafka_mock_commit(struct kafka_producer *p)
{
    struct buf why;

    buf_init(&why, 2000);
    ck_ok(kafka_producer_commit(p, WAIT_MS, &why));
    ck_ok(kafka_producer_begin(p, &why));
    buf_fini(&why);
}

#endif
