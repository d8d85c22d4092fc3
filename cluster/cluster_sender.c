/* SPDX-License-Identifier: MIT */
/* cluster_sender.c - sends seeds and records of NAME.control for people. */
#include "cluster/cluster_sender.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/mem.h"
#include "cluster/cluster_topics.h"
#include "cluster/shard_message.h"
#include "frontier/url/queue_key.h"

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
                                     (int)shard_of_host(queue_key_of(u),
                                                        shards),
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
