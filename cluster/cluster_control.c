/* SPDX-License-Identifier: MIT */
/* cluster_control.c - what a crawl on many machines knows of itself. */
#include "cluster/cluster_control.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>

#include "base/kafka/kafka_reader.h"
#include "base/logger.h"
#include "base/mem.h"
#include "frontier/url/shard.h"
#include "job/settings/cluster_settings.h"
#include "job/settings/settings.h"

#define SETTINGS_MOST ((size_t)4 << 20)
#define KEPT_MOST     ((size_t)4096)
#define ANSWER_MS     30000 /* of brokers */

struct cluster_control {
    struct kafka_reader *reader;
    struct buf settings, kept;
    uint64_t seeds; /* sent when the crawl was made, and since */
    bool seeds_sent, paused, is_service;
    uint64_t version;
    uint32_t count;
    struct shard_report *shards; /* `count` of them */
    struct permits *permits;     /* NULL while count is 0 */
};

void cluster_topic(struct buf *out, const char *name, const char *purpose)
{
    buf_clear(out);
    buf_addf(out, "%s.%s", name, purpose);
}

/* Topics of a crawl that is there, with `parts` 0, are only checked. */
static enum status make(const struct kafka_access *a, const char *name,
                        const char *purpose, bool compacted, uint32_t parts,
                        const char *const *config, struct buf *why)
{
    struct kafka_topic t = {.compacted = compacted,
                            .is_there = parts == 0,
                            .partitions = (int)parts,
                            .config = config};
    struct buf topic;
    enum status st;

    buf_init(&topic, 1024);
    cluster_topic(&topic, name, purpose);
    t.name = buf_str(&topic);
    st = kafka_topic_ensure(a, &t, ANSWER_MS, why);
    buf_fini(&topic);
    return st;
}

static enum status make_topics(const struct kafka_access *a, const char *name,
                               uint32_t shards, struct buf *why)
{
    /* What was not read yet must not go. */
    static const char *const kept[] = {"retention.ms",
                                       "-1",
                                       "retention.bytes",
                                       "-1",
                                       "cleanup.policy",
                                       "delete",
                                       "max.message.bytes",
                                       CLUSTER_MESSAGE_BYTES,
                                       NULL};
    /* What was replaced stays for longer than a reader can be behind, as
     * permits.h needs: no transaction that it waits for is as old. */
    static const char *const lagging[] = {"min.compaction.lag.ms", "600000",
                                          NULL};
    static const char *const deletions[] = {"delete.retention.ms",
                                            CLUSTER_DELETIONS_MS,
                                            "max.message.bytes",
                                            CLUSTER_MESSAGE_BYTES, NULL};
    enum status st = make(a, name, "state", true, shards, deletions, why);

    if (st == STATUS_OK)
        st = make(a, name, "urls", false, shards, kept, why);
    return st == STATUS_OK
               ? make(a, name, "control", true, shards > 0, lagging, why)
               : st;
}

enum status cluster_make_topics(const struct kafka_access *a, const char *name,
                                uint32_t shards, struct buf *why)
{
    return make_topics(a, name, shards, why);
}

enum status cluster_check_topics(const struct kafka_access *a, const char *name,
                                 struct buf *why)
{
    return make_topics(a, name, 0, why);
}

/* ---- a shard's record ---- */

void shard_report_write(struct buf *key, struct buf *value, uint32_t shard,
                        const struct shard_report *r)
{
    buf_clear(key);
    buf_clear(value);
    buf_addf(key, "shard/%" PRIu32, shard);
    buf_addf(value,
             "{\"idle\":%s,\"sent\":%" PRIu64 ",\"received\":%" PRIu64
             ",\"urls\":%" PRIu64 ",\"queued\":%" PRIu64 ",\"pages\":%" PRIu64
             ",\"failed\":%" PRIu64 ",\"bytes\":%" PRIu64
             ",\"seeds_failed\":%" PRIu64 "}",
             r->idle ? "true" : "false", r->sent, r->received, r->urls,
             r->queued, r->pages, r->failed, r->bytes, r->seeds_failed);
}

static uint64_t number_of(json_t *o, const char *name)
{
    json_int_t n = json_integer_value(json_object_get(o, name));

    return n > 0 ? (uint64_t)n : 0;
}

static void take_report(struct cluster_control *c, uint32_t shard,
                        struct bytes value)
{
    json_t *o = json_loadb(value.at, value.len, 0, NULL);

    if (!json_is_object(o))
        log_warn("a shard's record is not valid", "shard=%" PRIu32, shard);
    else
        c->shards[shard] =
            (struct shard_report){.known = true,
                                  .idle =
                                      json_is_true(json_object_get(o, "idle")),
                                  .sent = number_of(o, "sent"),
                                  .received = number_of(o, "received"),
                                  .urls = number_of(o, "urls"),
                                  .queued = number_of(o, "queued"),
                                  .pages = number_of(o, "pages"),
                                  .failed = number_of(o, "failed"),
                                  .bytes = number_of(o, "bytes"),
                                  .seeds_failed = number_of(o, "seeds_failed")};
    json_decref(o);
    permits_take_used(c->permits, shard,
                      (uint64_t[PERMIT_KINDS]){c->shards[shard].pages,
                                               c->shards[shard].bytes});
}

/* ---- reading ---- */

static uint64_t decimal(struct bytes text, uint64_t most)
{
    uint64_t n = 0;

    for (size_t i = 0; i < text.len && n <= most; i++) {
        if (text.at[i] < '0' || text.at[i] > '9')
            return most + 1;
        n = n * 10 + (uint64_t)(text.at[i] - '0');
    }
    return text.len > 0 ? n : most + 1;
}

/* From the settings, as soon as both they and the number of shards are known. */
static void take_limits(struct cluster_control *c)
{
    struct crawl_settings s;
    struct buf why;

    if (c->permits == NULL || c->settings.len == 0)
        return;
    settings_init(&s);
    buf_init(&why, 4096);
    if (cluster_settings_take(buf_bytes(&c->settings), &s, &why) == STATUS_OK)
        permits_take_limits(c->permits,
                            (uint64_t[PERMIT_KINDS]){(uint64_t)s.limit_pages,
                                                     s.quota_bytes});
    else
        log_warn("settings in the cluster are not valid", "why=\"%s\"",
                 buf_str(&why));
    buf_fini(&why);
    settings_fini(&s);
}

static void take_count(struct cluster_control *c, struct bytes value)
{
    uint64_t n = decimal(value, SHARDS_MOST);

    if (n == 0 || n > SHARDS_MOST || c->count > 0)
        return;
    c->count = (uint32_t)n;
    c->shards = xcalloc(n, sizeof *c->shards);
    c->permits = permits_new(c->count);
    take_limits(c);
}

static void take_seeds(struct cluster_control *c, bool first,
                       struct bytes value)
{
    uint64_t n = decimal(value, UINT32_MAX);

    if (n > UINT32_MAX)
        return;
    c->seeds += n;
    c->seeds_sent |= first;
}

static void take_settings(struct cluster_control *c, struct bytes value)
{
    buf_clear(&c->settings);
    buf_add_bytes(&c->settings, value);
    c->version++;
    take_limits(c);
}

static void take(struct cluster_control *c, const struct kafka_message *m)
{
    if (bytes_is(m->key, "settings")) {
        take_settings(c, m->value);
    } else if (bytes_is(m->key, "kept")) {
        buf_clear(&c->kept);
        buf_add_bytes(&c->kept, m->value);
    } else if (bytes_is(m->key, "shards")) {
        take_count(c, m->value);
    } else if (bytes_is(m->key, "seeds") ||
               bytes_starts_with(m->key, "seeds/")) {
        take_seeds(c, m->key.len == 5, m->value);
    } else if (bytes_is(m->key, "service")) {
        c->is_service = true;
    } else if (bytes_is(m->key, "paused")) {
        c->paused = bytes_is(m->value, "1");
    } else if (bytes_starts_with(m->key, "shard/")) {
        uint64_t n = decimal(bytes_skip(m->key, 6), SHARDS_MOST);

        if (n < c->count)
            take_report(c, (uint32_t)n, m->value);
    } else if (bytes_starts_with(m->key, "permit/")) {
        uint64_t n = decimal(bytes_skip(m->key, 7), SHARDS_MOST);

        if (n < c->count)
            permits_take_claim(c->permits, (uint32_t)n, m->value);
    }
}

enum status cluster_control_poll(struct cluster_control *c, struct buf *why)
{
    struct kafka_message m;
    enum status st;

    while ((st = kafka_reader_next(c->reader, 0, &m, why)) == STATUS_OK)
        take(c, &m);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

static enum status visit(void *ctx, const struct kafka_message *m)
{
    take(ctx, m);
    return STATUS_OK;
}

static enum status read_all(struct cluster_control *c, struct buf *why)
{
    enum status st = kafka_reader_read_all(c->reader, KAFKA_END_COMMITTED,
                                           ANSWER_MS, visit, c, why);

    if (st != STATUS_OK)
        return st;
    if (c->is_service) {
        buf_add_str(why, "that is the name of a service, of `urlweir serve`");
        return STATUS_REFUSED;
    }
    return c->count > 0 && c->settings.len > 0 && c->seeds_sent
               ? STATUS_OK
               : STATUS_NOT_FOUND;
}

enum status cluster_control_open(struct cluster_control **out,
                                 const struct kafka_access *a, const char *name,
                                 struct buf *why)
{
    struct cluster_control *c = xcalloc(1, sizeof *c);
    struct buf topic;
    enum status st;

    buf_init(&topic, 1024);
    buf_init(&c->settings, SETTINGS_MOST);
    buf_init(&c->kept, KEPT_MOST);
    cluster_topic(&topic, name, "control");
    st = kafka_reader_open(&c->reader, a, buf_str(&topic), 0, KAFKA_BEGINNING,
                           why);
    if (st == STATUS_OK)
        st = read_all(c, why);
    buf_fini(&topic);
    if (st == STATUS_OK)
        *out = c;
    else
        cluster_control_close(c);
    return st;
}

void cluster_control_close(struct cluster_control *c)
{
    if (c == NULL)
        return;
    kafka_reader_close(c->reader);
    buf_fini(&c->settings);
    buf_fini(&c->kept);
    permits_free(c->permits);
    free(c->shards);
    free(c);
}

struct bytes cluster_control_settings(const struct cluster_control *c)
{
    return buf_bytes(&c->settings);
}

struct bytes cluster_control_kept(const struct cluster_control *c)
{
    return buf_bytes(&c->kept);
}

uint32_t cluster_control_shards(const struct cluster_control *c)
{
    return c->count;
}

const struct shard_report *cluster_control_report(
    const struct cluster_control *c, uint32_t shard)
{
    return &c->shards[shard];
}

int64_t cluster_control_offset(const struct cluster_control *c)
{
    return kafka_reader_offset(c->reader);
}

bool cluster_control_is_paused(const struct cluster_control *c)
{
    return c->paused;
}

uint64_t cluster_control_version(const struct cluster_control *c)
{
    return c->version;
}

struct permits *cluster_control_permits(struct cluster_control *c)
{
    return c->permits;
}

bool cluster_control_is_over(const struct cluster_control *c)
{
    uint64_t sent = c->seeds, received = 0;
    bool idle = true;

    for (uint32_t i = 0; i < c->count; i++) {
        idle &= c->shards[i].known && c->shards[i].idle;
        sent += c->shards[i].sent;
        received += c->shards[i].received;
    }
    return idle && sent == received && kafka_reader_is_at_end(c->reader);
}
