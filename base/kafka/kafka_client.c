/* SPDX-License-Identifier: MIT */
/*
 * kafka_client.c - a handle of librdkafka, and what its errors mean.
 *
 * librdkafka repeats by itself what can be repeated; a call that returns in
 * time says "timed out" whether brokers are away or refuse the password. The
 * second it tells by an event only, which is kept here until a call asks why.
 */
#include "base/kafka/kafka_client.h"

#include <stdio.h>
#include <string.h>

const char *kafka_version(void)
{
    return rd_kafka_version_str();
}

/* ---- errors ---- */

static const struct {
    rd_kafka_resp_err_t err;
    enum status st;
} meanings[] = {
    {RD_KAFKA_RESP_ERR_NO_ERROR, STATUS_OK},
    {RD_KAFKA_RESP_ERR__FENCED, STATUS_BUSY},
    {RD_KAFKA_RESP_ERR_PRODUCER_FENCED, STATUS_BUSY},
    {RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH, STATUS_BUSY},
    {RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID, STATUS_BUSY},
    {RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET, STATUS_REFUSED},
    {RD_KAFKA_RESP_ERR__AUTHENTICATION, STATUS_REFUSED},
    {RD_KAFKA_RESP_ERR__SSL, STATUS_REFUSED},
    {RD_KAFKA_RESP_ERR__INVALID_ARG, STATUS_REFUSED},
    {RD_KAFKA_RESP_ERR__NOT_IMPLEMENTED, STATUS_REFUSED},
    {RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE, STATUS_REFUSED},
    {RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED, STATUS_REFUSED},
    {RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM, STATUS_REFUSED},
    {RD_KAFKA_RESP_ERR_ILLEGAL_SASL_STATE, STATUS_REFUSED},
    {RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, STATUS_REFUSED},
    {RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED, STATUS_REFUSED},
    {RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED, STATUS_REFUSED},
    {RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED, STATUS_REFUSED},
    {RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION, STATUS_REFUSED},
    {RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION, STATUS_REFUSED},
    {RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, STATUS_REFUSED},
    {RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE, STATUS_REFUSED},
    {RD_KAFKA_RESP_ERR_INVALID_RECORD, STATUS_REFUSED},
    {RD_KAFKA_RESP_ERR_INVALID_PARTITIONS, STATUS_REFUSED},
    {RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR, STATUS_REFUSED},
    {RD_KAFKA_RESP_ERR_INVALID_CONFIG, STATUS_REFUSED},
    {RD_KAFKA_RESP_ERR_INVALID_TRANSACTION_TIMEOUT, STATUS_REFUSED},
    {RD_KAFKA_RESP_ERR_POLICY_VIOLATION, STATUS_REFUSED},
    {RD_KAFKA_RESP_ERR_SECURITY_DISABLED, STATUS_REFUSED},
};

enum status kafka_error_sort(rd_kafka_resp_err_t err)
{
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (meanings[i].err == err)
            return meanings[i].st;
    return STATUS_AGAIN;
}

enum status kafka_client_judge(struct kafka_client *c, rd_kafka_resp_err_t err,
                               const char *text, struct buf *why)
{
    buf_clear(why);
    if (err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        c->trouble = err; /* it is over */
        return STATUS_OK;
    }
    (void)rd_kafka_poll(c->rk, 0); /* take_trouble() is called in here */
    if (kafka_error_sort(err) == STATUS_AGAIN &&
        c->trouble != RD_KAFKA_RESP_ERR_NO_ERROR) {
        err = c->admitted ? err : c->trouble;
        text = c->trouble_text;
    }
    buf_add_str(why, text);
    return kafka_error_sort(err);
}

/* "All brokers are down" says less than why the last of them is. */
static void take_trouble(rd_kafka_t *rk, int err, const char *text, void *ctx)
{
    struct kafka_client *c = ctx;

    (void)rk;
    if (err == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN ||
        err == RD_KAFKA_RESP_ERR__FATAL)
        return;
    c->trouble = err;
    snprintf(c->trouble_text, sizeof c->trouble_text, "%s", text);
}

rd_kafka_resp_err_t kafka_client_ask_topic(struct kafka_client *c,
                                           rd_kafka_topic_t *topic,
                                           int timeout_ms, int *partitions)
{
    const struct rd_kafka_metadata *all = NULL;
    rd_kafka_resp_err_t err =
        rd_kafka_metadata(c->rk, 0, topic, &all, timeout_ms);

    *partitions = 0;
    if (err == RD_KAFKA_RESP_ERR_NO_ERROR && all->topic_cnt == 1) {
        err = all->topics[0].err;
        *partitions = all->topics[0].partition_cnt;
    }
    if (all != NULL)
        rd_kafka_metadata_destroy(all);
    return err;
}

/* ---- opening ---- */

/* What librdkafka says of a value may hold it, so it is not shown. */
static bool set_property(rd_kafka_conf_t *conf, const char *property,
                         struct buf *why)
{
    char name[64], error[8];
    size_t n = strcspn(property, "=");

    snprintf(name, sizeof name, "%.*s", (int)n, property);
    if (rd_kafka_conf_set(conf, name, property + n + 1, error, sizeof error) ==
        RD_KAFKA_CONF_OK)
        return true;
    buf_addf(why, "'%s': librdkafka does not take this value", name);
    return false;
}

static bool set_pairs(rd_kafka_conf_t *conf, const char *const *set,
                      struct buf *why)
{
    char error[256];

    for (; *set != NULL; set += 2)
        if (rd_kafka_conf_set(conf, set[0], set[1], error, sizeof error) !=
            RD_KAFKA_CONF_OK) {
            buf_add_str(why, error);
            return false;
        }
    return true;
}

static bool configure(rd_kafka_conf_t *conf, const struct kafka_access *a,
                      const char *const *set, struct buf *why)
{
    const char *const ours[] = {"bootstrap.servers",
                                a->brokers,
                                "client.id",
                                "urlweir",
                                "reconnect.backoff.max.ms",
                                "2000",
                                "receive.message.max.bytes",
                                "16777216",
                                "fetch.max.bytes",
                                "8388608",
                                NULL};

    if (!set_pairs(conf, ours, why) ||
        kafka_properties_check(&a->properties, why) != STATUS_OK)
        return false;
    for (size_t i = 0; i < a->properties.count; i++)
        if (!set_property(conf, a->properties.item[i], why))
            return false;
    return set_pairs(conf, set, why);
}

enum status kafka_client_open(struct kafka_client *c,
                              const struct kafka_access *a,
                              rd_kafka_type_t type, const char *const *set,
                              struct buf *why)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    char error[512];

    buf_clear(why);
    *c = (struct kafka_client){.rebalance = c->rebalance};
    if (c->rebalance != NULL)
        rd_kafka_conf_set_rebalance_cb(conf, c->rebalance);
    rd_kafka_conf_set_log_cb(conf, NULL);
    rd_kafka_conf_set_error_cb(conf, take_trouble);
    rd_kafka_conf_set_opaque(conf, c);
    if (configure(conf, a, set, why)) {
        c->rk = rd_kafka_new(type, conf, error, sizeof error);
        if (c->rk != NULL)
            return STATUS_OK;
        buf_add_str(why, error); /* a file that cannot be read, for example */
    }
    rd_kafka_conf_destroy(conf);
    return STATUS_REFUSED;
}

void kafka_client_close(struct kafka_client *c)
{
    if (c->rk != NULL)
        rd_kafka_destroy(c->rk);
    c->rk = NULL;
}
