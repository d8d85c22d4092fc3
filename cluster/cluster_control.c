/* SPDX-License-Identifier: MIT */
/* cluster_control.c - what a crawl on many machines knows of itself. */
#include "cluster/cluster_control.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/logger.h"
#include "base/mem.h"
#include "cluster/cluster_topics.h"
#include "config/config.h"
#include "frontier/url/host.h"
#include "job/settings/seeds.h"
#include "job/settings/settings.h"

#define SETTINGS_MOST ((size_t)4 << 20)
#define KEPT_MOST     ((size_t)4096)

struct cluster_control {
    struct kafka_reader *log;
    struct buf settings, kept, suffixes;
    uint64_t seeds; /* sent when the crawl was made, and since */
    bool seeds_sent, paused, is_service;
    uint64_t version;
    uint32_t count;
    struct shard_report *shards; /* `count` of them */
    struct permits *permits;     /* NULL while count is 0 */
};

static enum status ensure_topics(const struct kafka_access *a, const char *name,
                                 uint32_t shards, bool are_there,
                                 struct buf *why)
{
    enum status st =
        cluster_topic_ensure(a, name, "state", shards, are_there, why);

    if (st == STATUS_OK)
        st = cluster_topic_ensure(a, name, "urls", shards, are_there, why);
    return st == STATUS_OK
               ? cluster_topic_ensure(a, name, "control", 1, are_there, why)
               : st;
}

enum status cluster_make_topics(const struct kafka_access *a, const char *name,
                                uint32_t shards, struct buf *why)
{
    return ensure_topics(a, name, shards, false, why);
}

enum status cluster_check_topics(const struct cluster_control *c,
                                 const struct kafka_access *a, const char *name,
                                 struct buf *why)
{
    return ensure_topics(a, name, c->count, true, why);
}

/* ---- a shard's record ---- */

void shard_report_write(struct buf *key, struct buf *value, uint32_t shard,
                        const struct shard_report *r)
{
    json_t *worker = json_string(r->worker);
    char *text = json_dumps(worker, JSON_ENCODE_ANY); /* NULL: no UTF-8 */

    buf_clear(key);
    buf_clear(value);
    buf_addf(key, "shard/%" PRIu32, shard);
    buf_addf(value,
             "{\"idle\":%s,\"given_up\":%s,\"sent\":%" PRIu64
             ",\"received\":%" PRIu64 ",\"urls\":%" PRIu64
             ",\"queued\":%" PRIu64 ",\"pages\":%" PRIu64 ",\"failed\":%" PRIu64
             ",\"bytes\":%" PRIu64 ",\"seeds_failed\":%" PRIu64
             ",\"worker\":%s}",
             r->idle ? "true" : "false", r->given_up ? "true" : "false",
             r->sent, r->received, r->urls, r->queued, r->pages, r->failed,
             r->bytes, r->seeds_failed, text != NULL ? text : "\"\"");
    free(text);
    json_decref(worker);
}

static uint64_t number_of(json_t *o, const char *name)
{
    json_int_t n = json_integer_value(json_object_get(o, name));

    return n > 0 ? (uint64_t)n : 0;
}

static void take_report(struct cluster_control *c, uint32_t shard,
                        struct bytes value)
{
    struct shard_report *r = &c->shards[shard];
    json_t *o = json_loadb(value.at, value.len, 0, NULL);
    const json_t *worker = json_object_get(o, "worker");

    if (!json_is_object(o)) {
        log_warn("a shard's record is not valid", "shard=%" PRIu32, shard);
    } else {
        *r = (struct shard_report){
            .known = true,
            .idle = json_is_true(json_object_get(o, "idle")),
            .given_up = json_is_true(json_object_get(o, "given_up")),
            .sent = number_of(o, "sent"),
            .received = number_of(o, "received"),
            .urls = number_of(o, "urls"),
            .queued = number_of(o, "queued"),
            .pages = number_of(o, "pages"),
            .failed = number_of(o, "failed"),
            .bytes = number_of(o, "bytes"),
            .seeds_failed = number_of(o, "seeds_failed")};
        if (json_string_length(worker) < sizeof r->worker)
            snprintf(r->worker, sizeof r->worker, "%s",
                     json_is_string(worker) ? json_string_value(worker) : "");
    }
    json_decref(o);
    permits_take_used(c->permits, shard,
                      (uint64_t[PERMIT_KINDS]){r->pages, r->bytes});
}

/* ---- reading ---- */

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
    uint64_t n;

    if (!bytes_number(value, SHARDS_MOST, &n) || n == 0 || c->count > 0)
        return;
    c->count = (uint32_t)n;
    c->shards = xcalloc(n, sizeof *c->shards);
    c->permits = permits_new(c->count);
    take_limits(c);
}

static void take_seeds(struct cluster_control *c, bool first,
                       struct bytes value)
{
    uint64_t n;

    if (!bytes_number(value, UINT32_MAX, &n))
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

static void take(void *ctx, const struct kafka_message *m)
{
    struct cluster_control *c = ctx;
    uint32_t shard;

    if (bytes_is(m->key, "settings")) {
        take_settings(c, m->value);
    } else if (bytes_is(m->key, "kept")) {
        buf_clear(&c->kept);
        buf_add_bytes(&c->kept, m->value);
    } else if (bytes_is(m->key, "suffixes")) {
        buf_clear(&c->suffixes);
        buf_add_bytes(&c->suffixes, m->value);
    } else if (bytes_is(m->key, "shards")) {
        take_count(c, m->value);
    } else if (bytes_is(m->key, "seeds") ||
               bytes_starts_with(m->key, "seeds/")) {
        take_seeds(c, m->key.len == 5, m->value);
    } else if (bytes_is(m->key, "service")) {
        c->is_service = true;
    } else if (bytes_is(m->key, "paused")) {
        c->paused = bytes_is(m->value, "1");
    } else if ((shard = cluster_key_shard(m->key, "shard/")) < c->count) {
        take_report(c, shard, m->value);
    } else if ((shard = cluster_key_shard(m->key, "permit/")) < c->count) {
        permits_take_claim(c->permits, shard, m->value);
    }
}

enum status cluster_control_poll(struct cluster_control *c, struct buf *why)
{
    return cluster_log_poll(c->log, &(struct control_taker){c, take}, why);
}

static enum status judge(const struct cluster_control *c, struct buf *why)
{
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
    enum status st;

    buf_init(&c->settings, SETTINGS_MOST);
    buf_init(&c->kept, KEPT_MOST);
    buf_init(&c->suffixes, KEPT_MOST);
    st = cluster_log_open(&c->log, a, name, &(struct control_taker){c, take},
                          why);
    if (st == STATUS_OK)
        st = judge(c, why);
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
    kafka_reader_close(c->log);
    buf_fini(&c->settings);
    buf_fini(&c->kept);
    buf_fini(&c->suffixes);
    permits_free(c->permits);
    free(c->shards);
    free(c);
}

enum status cluster_check_suffixes(const struct cluster_control *c,
                                   struct buf *why)
{
    if (bytes_is(buf_bytes(&c->suffixes), host_suffixes()))
        return STATUS_OK;
    buf_clear(why);
    buf_addf(why,
             "the crawl was made with another Public Suffix List (%.40s) than "
             "this machine's libpsl has (%s), and hosts would go to other "
             "shards; give all machines the same libpsl, or make a new crawl "
             "of this one with `urlweir import`",
             c->suffixes.len > 0 ? buf_str(&c->suffixes) : "unknown",
             host_suffixes());
    return STATUS_REFUSED;
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
    return kafka_reader_offset(c->log);
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
    bool idle = !c->paused;

    for (uint32_t i = 0; i < c->count; i++) {
        idle &= c->shards[i].known && c->shards[i].idle;
        sent += c->shards[i].sent;
        received += c->shards[i].received;
    }
    return idle && sent == received && kafka_reader_is_at_end(c->log);
}

/* ---- makes a crawl on many machines ---- */

#define THERE_MS 60000
#define LOOK     (50 * NS_PER_MS)

struct making {
    struct crawl_settings *s;
    struct cluster_sender *to;
    uint32_t shards;
    uint64_t seeds;
    struct buf *why;
};

static enum status send_seed(void *ctx, struct url *u)
{
    struct making *m = ctx;

    m->seeds++;
    return cluster_sender_seed(m->to, u, m->shards, m->why);
}

static enum status send_settings(struct making *m,
                                 const struct crawl_settings *s)
{
    struct buf text;
    enum status st;

    buf_init(&text, CONFIG_CEILING);
    config_write(&crawl_options, s, false, &text);
    st = buf_failed(&text);
    if (st == STATUS_OK)
        st = cluster_sender_record(m->to, "settings", buf_bytes(&text), m->why);
    buf_fini(&text);
    return st;
}

static enum status send_kept(struct making *m, const struct crawl_settings *s)
{
    struct buf names;
    enum status st;

    buf_init(&names, 4096);
    cluster_settings_kept(s, &names);
    st = names.len > 0
             ? cluster_sender_record(m->to, "kept", buf_bytes(&names), m->why)
             : STATUS_OK;
    buf_fini(&names);
    return st;
}

static void keep_login(void *ctx, struct bytes login)
{
    struct making *m = ctx;

    seed_login_add(m->s, login);
}

static enum status send_all(struct making *m)
{
    struct crawl_settings *s = m->s;
    struct seeds seeds = {.report = stderr,
                          .visit = send_seed,
                          .login = keep_login,
                          .ctx = m};
    bool given = s->seeds.count > 0 || s->input != NULL;
    enum status st = cluster_sender_begin(m->to, m->why);

    if (st == STATUS_OK && given)
        st = seeds_all(&seeds, &s->seeds, s->input);
    if (st == STATUS_OK && given && m->seeds == 0)
        st = STATUS_NOT_FOUND;
    if (st == STATUS_OK)
        st = cluster_sender_number(m->to, "shards", m->shards, m->why);
    if (st == STATUS_OK)
        st = cluster_sender_number(m->to, "seeds", m->seeds, m->why);
    if (st == STATUS_OK)
        st = cluster_sender_record(m->to, "suffixes",
                                   bytes_of_str(host_suffixes()), m->why);
    if (st == STATUS_OK)
        st = send_settings(m, s);
    if (st == STATUS_OK)
        st = send_kept(m, s);
    return st == STATUS_OK ? cluster_sender_commit(m->to, m->why) : st;
}

/* A transaction is answered for before its end is written to all topics, and
 * nobody else reads it until then. */
static enum status wait_until_there(const struct kafka_access *a,
                                    const char *name, struct buf *why)
{
    const struct timespec moment = {.tv_nsec = LOOK};
    int64_t until = clock_mono() + THERE_MS * NS_PER_MS;
    struct cluster_control *c = NULL;
    enum status st;

    while ((st = cluster_control_open(&c, a, name, why)) == STATUS_NOT_FOUND &&
           clock_mono() < until)
        nanosleep(&moment, NULL);
    cluster_control_close(c);
    return st;
}

/* The producer's id keeps a second one from being made at the same moment. */
enum status cluster_make_may(const struct kafka_access *a, const char *name,
                             struct buf *why)
{
    struct cluster_control *c = NULL;
    enum status st = cluster_control_open(&c, a, name, why);

    cluster_control_close(c);
    return st == STATUS_OK          ? STATUS_EXISTS
           : st == STATUS_NOT_FOUND ? STATUS_OK
                                    : st;
}

/* A shard knows the earlier crawl's shard of its number, so there have to be as
 * many. */
static enum status may_know_earlier(const struct kafka_access *a,
                                    const struct crawl_settings *s,
                                    uint32_t shards, struct buf *why)
{
    struct cluster_control *c = NULL;
    struct kafka_access access = *a;
    struct kafka_address at;
    struct buf text;
    enum status st;

    if (s->since == NULL)
        return STATUS_OK;
    st = kafka_address_read(&at, s->since, why);
    access.brokers = at.brokers;
    if (st == STATUS_OK)
        st = cluster_control_open(&c, &access, at.topic, why);
    buf_init(&text, 4096);
    if (st == STATUS_OK && cluster_control_shards(c) != shards) {
        buf_addf(&text, "it has %u shards, and this crawl needs as many",
                 cluster_control_shards(c));
        st = STATUS_ARG;
    } else if (st == STATUS_NOT_FOUND) {
        buf_add_str(&text, "there is no such crawl");
    } else {
        buf_add_bytes(&text, buf_bytes(why));
    }
    buf_clear(why);
    if (st != STATUS_OK)
        buf_addf(why, "--since %s: %s", s->since, buf_str(&text));
    buf_fini(&text);
    cluster_control_close(c);
    return st;
}

enum status cluster_make(const struct kafka_access *a, const char *name,
                         struct crawl_settings *s, uint32_t shards,
                         struct buf *why)
{
    struct making m = {.s = s, .shards = shards, .why = why};
    enum status st = may_know_earlier(a, s, shards, why);

    if (st == STATUS_OK)
        st = cluster_make_topics(a, name, shards, why);
    if (st == STATUS_OK)
        st = cluster_sender_open(&m.to, a, name, "make", why);
    if (st == STATUS_OK)
        st = cluster_make_may(a, name, why);
    if (st == STATUS_OK)
        st = send_all(&m);
    if (st == STATUS_OK)
        st = wait_until_there(a, name, why);
    cluster_sender_close(m.to);
    return st;
}
