/* SPDX-License-Identifier: MIT */
/* cluster_topics.c - the topics of a crawl or a service on many machines. */
#include "cluster/cluster_topics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/mem.h"
#include "cluster/shard_message.h"
#include "frontier/url/host.h"

#define ANSWER_MS 30000 /* of brokers */

/* Most octets of a message: KAFKA_MESSAGE_MOST, and what the protocol adds. */
#define MESSAGE_BYTES "5308416"

/* ---- topics ---- */

static const char *const of_state[] = {"delete.retention.ms",
                                       CLUSTER_DELETIONS_MS,
                                       "max.message.bytes", MESSAGE_BYTES,
                                       NULL};
/* What was not read yet must not go. */
static const char *const of_urls[] = {"retention.ms",
                                      "-1",
                                      "retention.bytes",
                                      "-1",
                                      "cleanup.policy",
                                      "delete",
                                      "max.message.bytes",
                                      MESSAGE_BYTES,
                                      NULL};
/* What was replaced stays for longer than a reader can be behind, as permits.h
 * needs: no transaction that it waits for is as old. */
static const char *const of_control[] = {"min.compaction.lag.ms", "600000",
                                         NULL};

static const struct {
    const char *purpose;
    bool compacted;
    const char *const *config;
} kinds[] = {
    {"state", true, of_state},
    {"urls", false, of_urls},
    {"control", true, of_control},
};

void cluster_topic(struct buf *out, const char *name, const char *purpose)
{
    buf_clear(out);
    buf_addf(out, "%s.%s", name, purpose);
}

enum status cluster_topic_ensure(const struct kafka_access *a, const char *name,
                                 const char *purpose, uint32_t partitions,
                                 bool is_there, struct buf *why)
{
    struct kafka_topic t = {.is_there = is_there,
                            .partitions = (int)partitions};
    struct buf topic;
    enum status st;

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].purpose, purpose) == 0) {
            t.compacted = kinds[i].compacted;
            t.config = kinds[i].config;
        }
    buf_init(&topic, 1024);
    cluster_topic(&topic, name, purpose);
    t.name = buf_str(&topic);
    st = kafka_topic_ensure(a, &t, ANSWER_MS, why);
    buf_fini(&topic);
    return st;
}

uint32_t cluster_key_shard(struct bytes key, const char *prefix)
{
    uint64_t n;

    return bytes_starts_with(key, prefix) &&
                   bytes_number(bytes_skip(key, strlen(prefix)),
                                SHARDS_MOST - 1, &n)
               ? (uint32_t)n
               : SHARDS_MOST;
}

/* ---- NAME.control ---- */

static enum status visit(void *ctx, const struct kafka_message *m)
{
    const struct control_taker *to = ctx;

    to->take(to->ctx, m);
    return STATUS_OK;
}

enum status cluster_log_open(struct kafka_reader **out,
                             const struct kafka_access *a, const char *name,
                             const struct control_taker *to, struct buf *why)
{
    struct control_taker taker = *to;
    struct kafka_reader *log = NULL;
    struct buf topic;
    enum status st;

    buf_init(&topic, 1024);
    cluster_topic(&topic, name, "control");
    st = kafka_reader_open(&log, a, buf_str(&topic), 0, KAFKA_BEGINNING, why);
    if (st == STATUS_OK)
        st = kafka_reader_read_all(log, KAFKA_END_COMMITTED, ANSWER_MS, visit,
                                   &taker, why);
    buf_fini(&topic);
    if (st == STATUS_NOT_FOUND)
        buf_clear(why);
    if (st == STATUS_OK)
        *out = log;
    else
        kafka_reader_close(log);
    return st;
}

enum status cluster_log_poll(struct kafka_reader *log,
                             const struct control_taker *to, struct buf *why)
{
    struct kafka_message m;
    enum status st;

    while ((st = kafka_reader_next(log, 0, &m, why)) == STATUS_OK)
        to->take(to->ctx, &m);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

/* ---- sends seeds and records of NAME.control for people ---- */

#define INIT_MS   90000
#define COMMIT_MS 60000

struct cluster_sender {
    struct kafka_producer *producer;
    struct buf urls, control, message;
};

static enum status name_producer(struct buf *out, const char *name,
                                 const char *id)
{
    uint64_t random = 0;

    if (id != NULL)
        buf_addf(out, "%s.%s", name, id);
    else if (getrandom(&random, sizeof random, 0) != sizeof random)
        return STATUS_IO;
    else
        buf_addf(out, "%s.steer.%016" PRIx64, name, random);
    return STATUS_OK;
}

enum status cluster_sender_open(struct cluster_sender **out,
                                const struct kafka_access *a, const char *name,
                                const char *id, struct buf *why)
{
    struct cluster_sender *s = xcalloc(1, sizeof *s);
    struct buf own;
    enum status st;

    buf_init(&own, 512);
    buf_init(&s->urls, 512);
    buf_init(&s->control, 512);
    buf_init(&s->message, SHARD_MESSAGE_MOST);
    cluster_topic(&s->urls, name, "urls");
    cluster_topic(&s->control, name, "control");
    st = name_producer(&own, name, id);
    if (st == STATUS_OK)
        st = kafka_producer_open(&s->producer, a, buf_str(&own), why);
    if (st == STATUS_OK)
        st = kafka_producer_init(s->producer, INIT_MS, why);
    buf_fini(&own);
    if (st == STATUS_OK)
        *out = s;
    else
        cluster_sender_close(s);
    return st;
}

void cluster_sender_close(struct cluster_sender *s)
{
    if (s == NULL)
        return;
    kafka_producer_close(s->producer);
    buf_fini(&s->urls);
    buf_fini(&s->control);
    buf_fini(&s->message);
    free(s);
}

enum status cluster_sender_begin(struct cluster_sender *s, struct buf *why)
{
    return kafka_producer_begin(s->producer, why);
}

enum status cluster_sender_seed(struct cluster_sender *s, struct url *u,
                                uint32_t shards, struct buf *why)
{
    const struct shard_message seed = {.seed = true, .url = url_text(u)};
    enum status st;

    buf_clear(&s->message);
    shard_message_write(&s->message, &seed);
    st = buf_failed(&s->message);
    return st == STATUS_OK
               ? kafka_producer_send(s->producer, buf_str(&s->urls),
                                     (int)shard_of_host(url_host(u), shards),
                                     bytes_of("", 0), buf_bytes(&s->message),
                                     why)
               : st;
}

enum status cluster_sender_record(struct cluster_sender *s, const char *key,
                                  struct bytes value, struct buf *why)
{
    return kafka_producer_send(s->producer, buf_str(&s->control), 0,
                               bytes_of_str(key), value, why);
}

enum status cluster_sender_number(struct cluster_sender *s, const char *key,
                                  uint64_t n, struct buf *why)
{
    char text[24];

    snprintf(text, sizeof text, "%" PRIu64, n);
    return cluster_sender_record(s, key, bytes_of_str(text), why);
}

enum status cluster_sender_commit(struct cluster_sender *s, struct buf *why)
{
    return kafka_producer_commit(s->producer, COMMIT_MS, why);
}
