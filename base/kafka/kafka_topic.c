/* SPDX-License-Identifier: MIT */
/* kafka_topic.c - a topic's settings. */
#include <string.h>

#include "base/clock.h"
#include "base/kafka/kafka_client.h"
#include "base/mem.h"

static const char *const no_settings[] = {NULL};

static int ms_left(int64_t until)
{
    int64_t left = (until - clock_mono()) / NS_PER_MS;

    return left > 0 ? (int)left : 0;
}

/* ---- settings ---- */

struct ask {
    struct kafka_client client;
    rd_kafka_queue_t *queue;
    int64_t until;
};

/* Waits for the result of a request; NULL: *st says why. A broker that is just
 * ending breaks a handshake off, which looks like a refusal for a moment. */
static rd_kafka_event_t *await(struct ask *a, enum status *st, struct buf *why)
{
    int64_t moment = clock_mono() + 2 * NS_PER_S;
    rd_kafka_event_t *ev;

    do {
        int left = ms_left(a->until);

        ev = rd_kafka_queue_poll(a->queue, left < 100 ? left : 100);
        if (ev == NULL)
            *st = kafka_client_judge(&a->client, RD_KAFKA_RESP_ERR__TIMED_OUT,
                                     "the brokers do not answer", why);
    } while (ev == NULL && ms_left(a->until) > 0 &&
             !(*st == STATUS_REFUSED && clock_mono() >= moment));
    if (ev != NULL)
        *st = kafka_client_judge(&a->client, rd_kafka_event_error(ev),
                                 rd_kafka_event_error_string(ev), why);
    if (ev != NULL && *st != STATUS_OK) {
        rd_kafka_event_destroy(ev);
        ev = NULL;
    }
    return ev;
}

static rd_kafka_AdminOptions_t *options(struct ask *a, rd_kafka_admin_op_t op)
{
    rd_kafka_AdminOptions_t *o = rd_kafka_AdminOptions_new(a->client.rk, op);
    char error[128];

    (void)rd_kafka_AdminOptions_set_request_timeout(o, ms_left(a->until) + 1,
                                                    error, sizeof error);
    return o;
}

static enum status judge_policy(const struct kafka_topic *t, const char *policy,
                                struct buf *why)
{
    if (t->compacted ? strcmp(policy, "compact") == 0
                     : strstr(policy, "compact") == NULL)
        return STATUS_OK;
    buf_clear(why);
    buf_addf(why, "topic %s has cleanup.policy=%.40s; %s", t->name, policy,
             t->compacted
                 ? "it must be compact, or what it keeps is lost in time"
                 : "compaction would keep one message of each key alone");
    return STATUS_REFUSED;
}

/* What a new topic would get for its retention, an old one has to have. */
static enum status judge_retention(const struct kafka_topic *t,
                                   const char *name, const char *value,
                                   struct buf *why)
{
    if (strncmp(name, "retention.", strlen("retention.")) != 0)
        return STATUS_OK;
    for (const char *const *c = t->config; c != NULL && *c != NULL; c += 2)
        if (strcmp(c[0], name) == 0 && strcmp(c[1], value) != 0) {
            buf_clear(why);
            buf_addf(why,
                     "topic %s has %s=%.40s; it must be %s, or messages "
                     "are lost before they are read",
                     t->name, name, value, c[1]);
            return STATUS_REFUSED;
        }
    return STATUS_OK;
}

static enum status judge_entry(const struct kafka_topic *t,
                               const rd_kafka_ConfigEntry_t *e, struct buf *why)
{
    const char *name = rd_kafka_ConfigEntry_name(e);
    const char *value = rd_kafka_ConfigEntry_value(e);

    if (value == NULL) /* not told */
        return STATUS_OK;
    return strcmp(name, "cleanup.policy") == 0
               ? judge_policy(t, value, why)
               : judge_retention(t, name, value, why);
}

/* STATUS_NOT_FOUND: there is no such topic. */
static enum status judge_settings(struct ask *a, const struct kafka_topic *t,
                                  const rd_kafka_ConfigResource_t *r,
                                  struct buf *why)
{
    rd_kafka_resp_err_t err = rd_kafka_ConfigResource_error(r);
    const char *text = rd_kafka_ConfigResource_error_string(r);
    const rd_kafka_ConfigEntry_t **entry;
    size_t n;

    if (err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
        return STATUS_NOT_FOUND;
    if (err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        enum status st =
            kafka_client_judge(&a->client, err,
                               text != NULL ? text : rd_kafka_err2str(err),
                               why);

        buf_addf(why, " (settings of topic %s)", t->name);
        return st;
    }
    entry = rd_kafka_ConfigResource_configs(r, &n);
    for (size_t i = 0; i < n; i++) {
        enum status st = judge_entry(t, entry[i], why);

        if (st != STATUS_OK)
            return st;
    }
    return STATUS_OK;
}

static enum status check_topic(struct ask *a, const struct kafka_topic *t,
                               struct buf *why)
{
    rd_kafka_ConfigResource_t *r =
        rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, t->name);
    rd_kafka_AdminOptions_t *o = options(a, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS);
    enum status st = STATUS_OK;
    rd_kafka_event_t *ev;

    rd_kafka_DescribeConfigs(a->client.rk, &r, 1, o, a->queue);
    ev = await(a, &st, why);
    if (ev != NULL) {
        size_t n = 0;
        const rd_kafka_ConfigResource_t **got =
            rd_kafka_DescribeConfigs_result_resources(
                rd_kafka_event_DescribeConfigs_result(ev), &n);

        if (n == 1)
            st = judge_settings(a, t, got[0], why);
        rd_kafka_event_destroy(ev);
    }
    rd_kafka_AdminOptions_destroy(o);
    rd_kafka_ConfigResource_destroy(r);
    return st;
}

static enum status check_partitions(struct ask *a, const struct kafka_topic *t,
                                    struct buf *why)
{
    rd_kafka_topic_t *topic = rd_kafka_topic_new(a->client.rk, t->name, NULL);
    int n;
    rd_kafka_resp_err_t err =
        kafka_client_ask_topic(&a->client, topic, ms_left(a->until) + 1, &n);
    enum status st =
        kafka_client_judge(&a->client, err, rd_kafka_err2str(err), why);

    if (st != STATUS_OK) {
        buf_addf(why, " (partitions of topic %s)", t->name);
    } else if (n != t->partitions) {
        buf_addf(why, "topic %s has %d partitions; it must have %d", t->name, n,
                 t->partitions);
        st = STATUS_REFUSED;
    }
    rd_kafka_topic_destroy(topic);
    return st;
}

/* Another process may have made it meanwhile. */
static enum status judge_new(struct ask *a, const rd_kafka_topic_result_t *r,
                             struct buf *why)
{
    rd_kafka_resp_err_t err = rd_kafka_topic_result_error(r);
    const char *text = rd_kafka_topic_result_error_string(r);
    enum status st;

    if (err == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS)
        return STATUS_OK;
    st = kafka_client_judge(&a->client, err,
                            text != NULL ? text : rd_kafka_err2str(err), why);
    if (st != STATUS_OK)
        buf_addf(why, " (making topic %s)", rd_kafka_topic_result_name(r));
    return st;
}

static enum status make_topic(struct ask *a, const struct kafka_topic *t,
                              struct buf *why)
{
    char error[256];
    rd_kafka_NewTopic_t *n =
        rd_kafka_NewTopic_new(t->name, t->partitions > 0 ? t->partitions : -1,
                              -1, error, sizeof error);
    rd_kafka_AdminOptions_t *o = options(a, RD_KAFKA_ADMIN_OP_CREATETOPICS);
    enum status st = STATUS_OK;
    rd_kafka_event_t *ev;

    for (const char *const *c = t->config; c != NULL && *c != NULL; c += 2)
        rd_kafka_NewTopic_set_config(n, c[0], c[1]);
    if (t->compacted)
        rd_kafka_NewTopic_set_config(n, "cleanup.policy", "compact");
    rd_kafka_CreateTopics(a->client.rk, &n, 1, o, a->queue);
    ev = await(a, &st, why);
    if (ev != NULL) {
        size_t count = 0;
        const rd_kafka_topic_result_t **got =
            rd_kafka_CreateTopics_result_topics(
                rd_kafka_event_CreateTopics_result(ev), &count);

        if (count == 1)
            st = judge_new(a, got[0], why);
        rd_kafka_event_destroy(ev);
    }
    rd_kafka_AdminOptions_destroy(o);
    rd_kafka_NewTopic_destroy(n);
    return st;
}

enum status kafka_topic_ensure(const struct kafka_access *access,
                               const struct kafka_topic *t, int timeout_ms,
                               struct buf *why)
{
    struct ask a = {.until = clock_mono() + timeout_ms * NS_PER_MS};
    enum status st = kafka_client_open(&a.client, access, RD_KAFKA_PRODUCER,
                                       no_settings, why);

    if (st != STATUS_OK)
        return st;
    a.queue = rd_kafka_queue_new(a.client.rk);
    st = check_topic(&a, t, why);
    if (st == STATUS_NOT_FOUND && !t->is_there)
        st = make_topic(&a, t, why);
    else if (st == STATUS_NOT_FOUND)
        buf_addf(why, "topic %s is gone", t->name);
    else if (st == STATUS_OK && t->partitions > 0)
        st = check_partitions(&a, t, why);
    rd_kafka_queue_destroy(a.queue);
    kafka_client_close(&a.client);
    return st;
}
