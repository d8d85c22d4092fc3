/* SPDX-License-Identifier: MIT */
/* served_queue.c - what a service on many machines knows of itself. */
#include "cluster/served_control.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/clock.h"
#include "base/logger.h"
#include "base/mem.h"
#include "cluster/cluster_topics.h"
#include "frontier/url/host.h"

#define ANSWER_MS 30000 /* of brokers */
#define LOOK      (100 * NS_PER_MS)

struct served_control {
    struct kafka_reader *log;
    char id[SERVED_ID_SIZE]; /* empty: not known yet */
    uint32_t count;
    struct served_owner *owners; /* `count` of them */
    bool is_crawl;
};

/* ---- records ---- */

void served_owner_write(struct buf *key, struct buf *value, uint32_t shard,
                        const char *http, const char *grpc)
{
    json_t *o;
    char *text;

    buf_clear(key);
    buf_clear(value);
    buf_addf(key, "owner/%" PRIu32, shard);
    if (http == NULL)
        return;
    o = json_pack("{s:s, s:s}", "http", http, "grpc", grpc);
    text = json_dumps(o, JSON_COMPACT);
    buf_add_str(value, text != NULL ? text : "");
    free(text);
    json_decref(o);
}

static bool copy_text(char *to, size_t size, const json_t *v)
{
    size_t len = json_string_length(v);

    if (!json_is_string(v) || len >= size)
        return false;
    memcpy(to, json_string_value(v), len + 1);
    return true;
}

/* A record that is not valid leaves the shard without an owner. */
static void take_owner(struct served_owner *w, uint32_t shard,
                       struct bytes value)
{
    json_t *o = json_loadb(value.at, value.len, 0, NULL);
    uint64_t version = w->version + 1;

    *w = (struct served_owner){.version = version};
    if (!copy_text(w->http, sizeof w->http, json_object_get(o, "http")) ||
        !copy_text(w->grpc, sizeof w->grpc, json_object_get(o, "grpc"))) {
        *w = (struct served_owner){.version = version};
        if (value.len > 0)
            log_warn("the record of a shard's owner is not valid",
                     "shard=%" PRIu32, shard);
    }
    json_decref(o);
}

/* The first one counts. */
static void take_service(struct served_control *c, struct bytes value)
{
    json_t *o = json_loadb(value.at, value.len, 0, NULL);
    json_int_t n = json_integer_value(json_object_get(o, "shards"));

    if (c->count == 0 && n > 0 && n <= SHARDS_MOST &&
        copy_text(c->id, sizeof c->id, json_object_get(o, "id"))) {
        c->count = (uint32_t)n;
        c->owners = xcalloc(c->count, sizeof *c->owners);
    }
    json_decref(o);
}

static void take(void *ctx, const struct kafka_message *m)
{
    struct served_control *c = ctx;
    uint32_t shard = cluster_key_shard(m->key, "owner/");

    if (bytes_is(m->key, "settings")) {
        c->is_crawl = true;
    } else if (bytes_is(m->key, "service")) {
        take_service(c, m->value);
    } else if (shard < c->count) {
        take_owner(&c->owners[shard], shard, m->value);
    }
}

/* ---- reading ---- */

enum status served_control_poll(struct served_control *c, struct buf *why)
{
    return cluster_log_poll(c->log, &(struct control_taker){c, take}, why);
}

static enum status judge(const struct served_control *c, const char *name,
                         struct buf *why)
{
    if (!c->is_crawl)
        return c->count > 0 ? STATUS_OK : STATUS_NOT_FOUND;
    buf_addf(why, "%s is the name of a crawl", name);
    return STATUS_REFUSED;
}

/* STATUS_NOT_FOUND: there is neither a service nor a crawl. */
static enum status find(struct served_control **out,
                        const struct kafka_access *a, const char *name,
                        struct buf *why)
{
    struct served_control *c = xcalloc(1, sizeof *c);
    enum status st = cluster_log_open(&c->log, a, name,
                                      &(struct control_taker){c, take}, why);

    if (st == STATUS_OK)
        st = judge(c, name, why);
    if (st == STATUS_OK)
        *out = c;
    else
        served_control_close(c);
    return st;
}

void served_control_close(struct served_control *c)
{
    if (c == NULL)
        return;
    kafka_reader_close(c->log);
    free(c->owners);
    free(c);
}

uint32_t served_control_shards(const struct served_control *c)
{
    return c->count;
}

const char *served_control_id(const struct served_control *c)
{
    return c->id;
}

const struct served_owner *served_control_owner(const struct served_control *c,
                                                uint32_t shard)
{
    return &c->owners[shard];
}

/* ---- making ---- */

static enum status send_service(struct cluster_sender *to, uint32_t shards,
                                struct buf *why)
{
    unsigned char random[16];
    struct buf value;
    enum status st = STATUS_IO;

    buf_init(&value, 256);
    buf_add_str(&value, "{\"id\":\"");
    if (getrandom(random, sizeof random, 0) == sizeof random)
        st = cluster_sender_begin(to, why);
    for (size_t i = 0; st == STATUS_OK && i < sizeof random; i++)
        buf_addf(&value, "%02x", random[i]);
    buf_addf(&value, "\",\"shards\":%" PRIu32 "}", shards);
    if (st == STATUS_OK)
        st = cluster_sender_record(to, "service", buf_bytes(&value), why);
    if (st == STATUS_OK)
        st = cluster_sender_commit(to, why);
    buf_fini(&value);
    return st;
}

/* The sender's id keeps two from making it at the same moment. STATUS_BUSY:
 * another process makes it. */
static enum status make(const struct kafka_access *a, const char *name,
                        uint32_t shards, struct buf *why)
{
    struct cluster_sender *to = NULL;
    struct served_control *c = NULL;
    enum status st = cluster_sender_open(&to, a, name, "make", why);

    if (st == STATUS_OK)
        st = find(&c, a, name, why);
    if (st == STATUS_NOT_FOUND)
        st = send_service(to, shards, why);
    served_control_close(c);
    cluster_sender_close(to);
    return st;
}

/* A transaction is answered for before others can read it. */
static enum status wait_until_there(struct served_control **out,
                                    const struct kafka_access *a,
                                    const char *name, struct buf *why)
{
    const struct timespec moment = {.tv_nsec = LOOK};
    int64_t until = clock_mono() + ANSWER_MS * NS_PER_MS;
    enum status st;

    while ((st = find(out, a, name, why)) == STATUS_NOT_FOUND &&
           clock_mono() < until)
        nanosleep(&moment, NULL);
    return st;
}

/* The rows' topic comes last, as the record says how many partitions it has. */
enum status served_control_open(struct served_control **out,
                                const struct kafka_access *a, const char *name,
                                uint32_t shards, struct buf *why)
{
    struct served_control *c = NULL;
    enum status st = cluster_topic_ensure(a, name, "control", 1, false, why);

    if (st == STATUS_OK)
        st = find(&c, a, name, why);
    if (st == STATUS_NOT_FOUND) {
        st = make(a, name, shards, why);
        if (st == STATUS_OK || st == STATUS_BUSY)
            st = wait_until_there(&c, a, name, why);
    }
    if (st == STATUS_OK)
        st = cluster_topic_ensure(a, name, "state", c->count, false, why);
    if (st == STATUS_OK)
        *out = c;
    else
        served_control_close(c);
    return st;
}
