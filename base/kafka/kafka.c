/* SPDX-License-Identifier: MIT */
/*
 * kafka.c - what is said to Kafka, through librdkafka.
 *
 * librdkafka repeats by itself what can be repeated; a call that returns in
 * time says "timed out" whether brokers are away or refuse the password. The
 * second it tells by an event only, which is kept here until a call asks why.
 */
#include "base/kafka/kafka.h"

#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/logger.h"
#include "base/mem.h"

#define NUMBER(n)  NUMBER_(n)
#define NUMBER_(n) #n

/* Stays where it is while it is open; zeroed before. */
struct kafka_client {
    rd_kafka_t *rk;
    /* Set before it is opened, or NULL: a consumer's, called with the client. */
    void (*rebalance)(rd_kafka_t *rk, rd_kafka_resp_err_t err,
                      rd_kafka_topic_partition_list_t *list, void *client);
    bool admitted; /* brokers have let us in, so that trouble will pass */
    /* why the last connection failed, which calls that time out do not tell */
    rd_kafka_resp_err_t trouble;
    char trouble_text[256];
};

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

/* What an error means for who gets it. An error that no line of the table
 * names will pass: STATUS_AGAIN. */
static enum status kafka_error_sort(rd_kafka_resp_err_t err)
{
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (meanings[i].err == err)
            return meanings[i].st;
    return STATUS_AGAIN;
}

/* Puts the error's text into `why`. For a call that timed out it is why no
 * broker could be reached; if none has been yet, that may be a matter of a
 * password. */
static enum status kafka_client_judge(struct kafka_client *c,
                                      rd_kafka_resp_err_t err, const char *text,
                                      struct buf *why)
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

/* What the brokers say of a topic now; without an error, how many partitions it
 * has. */
static rd_kafka_resp_err_t kafka_client_ask_topic(struct kafka_client *c,
                                                  rd_kafka_topic_t *topic,
                                                  int timeout_ms,
                                                  int *partitions)
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

/* `set`: name, value, ..., NULL; these win over the caller's properties. */
static enum status kafka_client_open(struct kafka_client *c,
                                     const struct kafka_access *a,
                                     rd_kafka_type_t type,
                                     const char *const *set, struct buf *why)
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

/* zeroed is fine */
static void kafka_client_close(struct kafka_client *c)
{
    if (c->rk != NULL)
        rd_kafka_destroy(c->rk);
    c->rk = NULL;
}

/* ---- a topic's settings ---- */

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

/* ---- messages in transactions ----
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

#define FULL_MOST (60 * NS_PER_S)

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

/* ---- the committed messages of one partition ----
 *
 * Brokers tell a reader of committed messages that it is at the end when it is
 * at the last stable offset: another producer may have a transaction open
 * there, with messages behind that are committed. The high watermark is the end
 * of all.
 */

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

/* ---- a member of a consumer group, for the sake of ownership ----
 *
 * Partitions are assigned one by one (cooperative-sticky), so that when a
 * member joins it takes a few and the others go on with theirs. All of them are
 * paused: whoever owns one reads it by an offset of its own.
 */

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
