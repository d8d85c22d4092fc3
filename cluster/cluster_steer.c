/* SPDX-License-Identifier: MIT */
/* cluster_steer.c - commands to a crawl whose shards are in Kafka. */
#include "cluster/cluster_steer.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/kafka/kafka.h"
#include "base/logger.h"
#include "base/mem.h"
#include "cluster/cluster_control.h"
#include "cluster/cluster_stats.h"
#include "cluster/cluster_topics.h"
#include "config/config.h"
#include "job/settings/seeds.h"
#include "job/settings/settings.h"

#define LOOK_MS   200
#define ALONE_MS  8000 /* without a word, until no worker is taken to run */
#define COMMAND   "command/"
#define ANSWER    "answer/"
#define BODY_MOST ((size_t)1 << 20)
#define VERB_MOST 64
#define KEY_MOST  128

/* ---- a sender ---- */

struct asking {
    const struct kafka_access *a;
    const struct cluster_command *c;
    struct cluster_sender *to;
    struct cluster_control *all;
    struct buf control; /* the topic */
    char id[17];
    uint32_t shards, answered;
    bool *has; /* which shards have answered */
    json_t *merged;
    json_t *stands; /* what holds without any worker; NULL: nothing does */
    enum status st; /* of the shard that failed first */
    struct buf *why, first_why;
};

static enum status send_record(struct asking *k, const char *key,
                               struct bytes value)
{
    return cluster_sender_record(k->to, key, value, k->why);
}

static enum status send_json(struct asking *k, const char *key, json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT);
    enum status st =
        text != NULL ? send_record(k, key, bytes_of_str(text)) : STATUS_ARG;

    free(text);
    return st;
}

static bool path_ends(const struct asking *k, const char *end)
{
    return bytes_ends_with(bytes_of_str(k->c->path), end);
}

/* ---- what stays ---- */

static enum status take_value(struct crawl_settings *s, size_t i,
                              const json_t *value, struct buf *why)
{
    const char *text = json_string_value(value);

    if (text == NULL) {
        buf_add_str(why, "a setting is a text or a list of texts");
        return STATUS_ARG;
    }
    return option_set(&crawl_options, i, s, bytes_of_str(text),
                      OPTION_FROM_LINE, why) == STATUS_OK
               ? STATUS_OK
               : STATUS_ARG;
}

static enum status take_change(struct crawl_settings *s, const char *name,
                               json_t *value, struct buf *why)
{
    size_t i = option_find(&crawl_options, bytes_of_str(name)), n;
    enum status st = STATUS_OK;
    json_t *one;

    if (i == crawl_options.count) {
        buf_addf(why, "there is no setting %s", name);
        return STATUS_ARG;
    }
    if (cluster_settings_are_own(&crawl_options.spec[i])) {
        buf_addf(why, "%s is a setting of each worker", name);
        return STATUS_ARG;
    }
    if (!json_is_array(value))
        return take_value(s, i, value, why);
    option_clear(&crawl_options, i, s, OPTION_FROM_LINE);
    json_array_foreach(value, n, one)
    {
        if (st == STATUS_OK)
            st = take_value(s, i, one, why);
    }
    return st;
}

/* The settings that workers which come later read. */
static enum status send_settings(struct asking *k)
{
    struct crawl_settings s, before;
    struct buf text;
    const char *name;
    json_t *value;
    enum status st;

    settings_init(&s);
    settings_init(&before);
    buf_init(&text, CONFIG_CEILING);
    st = cluster_settings_take(cluster_control_settings(k->all), &before,
                               k->why);
    if (st == STATUS_OK)
        st =
            cluster_settings_take(cluster_control_settings(k->all), &s, k->why);
    json_object_foreach(k->c->body, name, value)
    {
        if (st == STATUS_OK)
            st = take_change(&s, name, value, k->why);
    }
    if (st == STATUS_OK)
        st = settings_check(&s, k->why);
    if (st == STATUS_OK) {
        config_write(&crawl_options, &s, false, &text);
        st = send_record(k, "settings", buf_bytes(&text));
        k->stands =
            json_pack("{s:o}", "changed", settings_changed_json(&before, &s));
    }
    buf_fini(&text);
    settings_fini(&before);
    settings_fini(&s);
    return st;
}

static enum status send_pause(struct asking *k, bool paused)
{
    const struct shard_report all = cluster_stats_sum(k->all);

    k->stands =
        json_pack("{s:s, s:s, s:I, s:I}", "kind", "own", "state",
                  paused ? "paused" : "stopped", "pages", (json_int_t)all.pages,
                  "queued", (json_int_t)all.queued);
    return send_record(k, "paused", bytes_of_str(paused ? "1" : "0"));
}

static enum status send_what_stays(struct asking *k)
{
    if (strcmp(k->c->method, "PATCH") == 0)
        return send_settings(k);
    if (path_ends(k, "/pause") || path_ends(k, "/unpause"))
        return send_pause(k, path_ends(k, "/pause"));
    return STATUS_OK;
}

/* ---- seeds: they need no worker that listens ---- */

struct seeding {
    struct asking *k;
    json_t *results;
    uint64_t sent;
};

static enum status send_seed(void *ctx, struct url *u)
{
    struct seeding *s = ctx;

    s->sent++;
    json_array_append_new(s->results,
                          json_pack("{s:s, s:s%}", "status", "ok", "url",
                                    url_text(u).at, url_text(u).len));
    return cluster_sender_seed(s->k->to, u, s->k->shards, s->k->why);
}

static enum status refuse_seed(void *ctx, struct bytes text, const char *why)
{
    struct seeding *s = ctx;

    json_array_append_new(s->results,
                          json_pack("{s:s, s:s%, s:s}", "status", "failed",
                                    "url", text.at, text.len, "reason", why));
    return STATUS_OK;
}

/* The producer's id is not that of other senders of seeds: their sum is kept by
 * one record each. */
static enum status send_seeds(struct asking *k, json_t **out)
{
    struct seeding s = {.k = k, .results = json_array()};
    struct seeds take = {.visit = send_seed, .refuse = refuse_seed, .ctx = &s};
    char key[KEY_MOST];
    enum status st = cluster_sender_begin(k->to, k->why);
    json_t *one;
    size_t i;

    json_array_foreach(json_object_get(k->c->body, "urls"), i, one)
    {
        if (st == STATUS_OK)
            st = seeds_take(&take,
                            bytes_of(json_string_value(one),
                                     json_string_length(one)),
                            NULL);
    }
    snprintf(key, sizeof key, "seeds/%s", k->id);
    if (st == STATUS_OK)
        st = cluster_sender_number(k->to, key, s.sent, k->why);
    if (st == STATUS_OK)
        st = cluster_sender_commit(k->to, k->why);
    *out = json_pack("{s:o}", "results", s.results);
    return st;
}

/* ---- answers ---- */

static void merge(json_t *into, json_t *from)
{
    const char *name;
    json_t *value;

    json_object_foreach(from, name, value)
    {
        json_t *had = json_object_get(into, name);

        if (had == NULL)
            json_object_set(into, name, value);
        else if (json_is_integer(had) && json_is_integer(value))
            json_integer_set(had, json_integer_value(had) +
                                      json_integer_value(value));
        else if (strcmp(name, "results") == 0 && json_is_array(had))
            json_array_extend(had, value);
    }
}

static void take_answer(struct asking *k, uint32_t shard, json_t *answer)
{
    enum status st =
        (enum status)json_integer_value(json_object_get(answer, "status"));
    const char *why = json_string_value(json_object_get(answer, "why"));

    if (shard >= k->shards || k->has[shard])
        return;
    k->has[shard] = true;
    k->answered++;
    if (st == STATUS_OK) {
        json_t *body = json_object_get(answer, "body");

        if (k->merged == NULL)
            k->merged = json_object();
        merge(k->merged, body);
    } else if (k->st == STATUS_OK || k->st == STATUS_NOT_FOUND) {
        k->st = st;
        buf_clear(&k->first_why);
        buf_addf(&k->first_why, "shard %" PRIu32 ": %s", shard,
                 why != NULL ? why : status_text(st));
    }
}

static void take_record(struct asking *k, const struct kafka_message *m)
{
    char mine[KEY_MOST];
    json_t *answer;

    snprintf(mine, sizeof mine, ANSWER "%s/", k->id);

    if (!bytes_starts_with(m->key, mine))
        return;
    answer = json_loadb(m->value.at, m->value.len, 0, NULL);
    if (json_is_object(answer))
        take_answer(k, cluster_key_shard(m->key, mine), answer);
    json_decref(answer);
}

static enum status read_answers(struct asking *k, struct kafka_reader *r)
{
    int64_t since = clock_mono(), until = since + k->c->timeout_ms * NS_PER_MS;
    int64_t alone = since + ALONE_MS * NS_PER_MS;
    struct kafka_message m;
    enum status st = STATUS_OK;

    while (k->answered < k->shards && clock_mono() < until &&
           (k->stands == NULL || k->answered > 0 || clock_mono() < alone) &&
           (st == STATUS_OK || st == STATUS_NOT_FOUND)) {
        st = kafka_reader_next(r, LOOK_MS, &m, k->why);
        if (st == STATUS_OK)
            take_record(k, &m);
    }
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

static enum status judge(struct asking *k, json_t **out)
{
    if (k->answered == 0 && k->stands != NULL) {
        *out = json_incref(k->stands); /* workers that come begin with it */
        return STATUS_OK;
    }
    if (k->merged != NULL &&
        (k->st == STATUS_OK || k->st == STATUS_NOT_FOUND) &&
        k->answered == k->shards) {
        *out = json_incref(k->merged);
        return STATUS_OK;
    }
    if (k->st != STATUS_OK) {
        buf_add_bytes(k->why, buf_bytes(&k->first_why));
        return k->st;
    }
    buf_add_str(k->why, "no worker answers for the shards");
    for (uint32_t i = 0; i < k->shards; i++)
        if (!k->has[i])
            buf_addf(k->why, " %" PRIu32, i);
    return STATUS_AGAIN;
}

/* Commands and answers are not kept. What is left after a failure does no
 * harm: nobody performs an old command. */
static void remove_records(struct asking *k)
{
    char key[KEY_MOST];
    enum status st = cluster_sender_begin(k->to, k->why);

    snprintf(key, sizeof key, COMMAND "%s", k->id);
    if (st == STATUS_OK)
        st = send_record(k, key, bytes_of(NULL, 0));
    for (uint32_t i = 0; st == STATUS_OK && i < k->shards; i++) {
        snprintf(key, sizeof key, ANSWER "%s/%" PRIu32, k->id, i);
        if (k->has[i])
            st = send_record(k, key, bytes_of(NULL, 0));
    }
    if (st == STATUS_OK)
        st = cluster_sender_commit(k->to, k->why);
    if (st != STATUS_OK)
        log_info("a command stays in the topic", "why=\"%s\"", buf_str(k->why));
    buf_clear(k->why);
}

static enum status send_command(struct asking *k)
{
    json_t *command =
        json_pack("{s:s, s:s}", "method", k->c->method, "path", k->c->path);
    char key[KEY_MOST];
    enum status st = cluster_sender_begin(k->to, k->why);

    if (k->c->body != NULL)
        json_object_set(command, "body", k->c->body);
    snprintf(key, sizeof key, COMMAND "%s", k->id);
    if (st == STATUS_OK)
        st = send_what_stays(k);
    if (st == STATUS_OK)
        st = send_json(k, key, command);
    if (st == STATUS_OK)
        st = cluster_sender_commit(k->to, k->why);
    json_decref(command);
    return st;
}

static enum status ask_shards(struct asking *k, json_t **out)
{
    struct kafka_reader *r = NULL;
    enum status st = kafka_reader_open(&r, k->a, buf_str(&k->control), 0,
                                       cluster_control_offset(k->all), k->why);

    if (st == STATUS_OK)
        st = send_command(k);
    if (st == STATUS_OK)
        st = read_answers(k, r);
    kafka_reader_close(r);
    if (st != STATUS_OK)
        return st;
    remove_records(k);
    return judge(k, out);
}

enum status cluster_steer_ask(const struct kafka_access *a, const char *name,
                              const struct cluster_command *c, json_t **out,
                              struct buf *why)
{
    struct asking k = {.a = a, .c = c, .why = why};
    uint64_t random = 0;
    enum status st = cluster_control_open(&k.all, a, name, why);

    buf_init(&k.control, 512);
    buf_init(&k.first_why, BODY_MOST);
    cluster_topic(&k.control, name, "control");
    if (st == STATUS_NOT_FOUND)
        buf_addf(why, "there is no crawl %s", name);
    if (st == STATUS_OK)
        st = cluster_sender_open(&k.to, a, name, NULL, why);
    if (st == STATUS_OK && getrandom(&random, sizeof random, 0) < 0)
        st = STATUS_IO;
    snprintf(k.id, sizeof k.id, "%016" PRIx64, random);
    if (st == STATUS_OK) {
        k.shards = cluster_control_shards(k.all);
        k.has = xcalloc(k.shards, sizeof *k.has);
        st =
            path_ends(&k, "/seeds") ? send_seeds(&k, out) : ask_shards(&k, out);
    }
    cluster_sender_close(k.to);
    cluster_control_close(k.all);
    json_decref(k.merged);
    json_decref(k.stands);
    buf_fini(&k.control);
    buf_fini(&k.first_why);
    free(k.has);
    return st;
}

/* ---- a worker ---- */

struct cluster_steering {
    struct kafka_access access;
    char *name;
    struct cluster_sender *to; /* of answers; NULL: the last one failed */
    struct kafka_reader *reader;
    struct cluster_performer p;
    uint32_t shards;
    pthread_t thread;
    _Atomic bool ends;
};

static enum status send_answer(struct cluster_steering *s, const char *id,
                               uint32_t shard, enum status st, json_t *body,
                               struct buf *why)
{
    json_t *answer = json_pack("{s:i}", "status", (int)st);
    char key[KEY_MOST], *text;

    if (body != NULL)
        json_object_set(answer, "body", body);
    if (why->len > 0)
        json_object_set_new(answer, "why",
                            json_stringn(buf_str(why), why->len));
    text = json_dumps(answer, JSON_COMPACT);
    json_decref(answer);
    buf_clear(why);
    if (text == NULL)
        return STATUS_OK;
    snprintf(key, sizeof key, ANSWER "%s/%" PRIu32, id, shard);
    st = cluster_sender_record(s->to, key, bytes_of_str(text), why);
    free(text);
    return st;
}

static enum status perform_in(struct cluster_steering *s, const char *id,
                              uint32_t shard, json_t *command)
{
    const char *method = json_string_value(json_object_get(command, "method"));
    const char *path = json_string_value(json_object_get(command, "path"));
    json_t *out = NULL;
    struct buf why;
    enum status st;

    buf_init(&why, BODY_MOST);
    if (bytes_ends_with(bytes_of_str(path), "/stop")) {
        st = STATUS_OK; /* this worker ends with all its shards */
        out = json_pack("{s:s, s:s}", "kind", "own", "state", "stopped");
    } else
        st = s->p.perform(s->p.ctx, shard, method, path,
                          json_object_get(command, "body"), &out, &why);
    st = send_answer(s, id, shard, st, out, &why);
    if (st != STATUS_OK)
        log_warn("an answer cannot be sent", "why=\"%s\"", buf_str(&why));
    json_decref(out);
    buf_fini(&why);
    return st;
}

static enum status begin_answer(struct cluster_steering *s, struct buf *why)
{
    enum status st = s->to != NULL ? STATUS_OK
                                   : cluster_sender_open(&s->to, &s->access,
                                                         s->name, NULL, why);

    return st == STATUS_OK ? cluster_sender_begin(s->to, why) : st;
}

/* Whose transaction failed, since this process stood still for too long, say,
 * sends nothing any more; another sender does. */
static void drop_sender(struct cluster_steering *s)
{
    cluster_sender_close(s->to);
    s->to = NULL;
}

static enum status perform_all(struct cluster_steering *s, const char *id,
                               json_t *command)
{
    struct buf why;
    enum status st = STATUS_OK;

    buf_init(&why, BODY_MOST);
    for (uint32_t n = 0; st == STATUS_OK && n < s->shards; n++) {
        if (!s->p.has(s->p.ctx, n))
            continue;
        st = begin_answer(s, &why);
        if (st != STATUS_OK) {
            drop_sender(s);
            st = begin_answer(s, &why);
        }
        if (st == STATUS_OK)
            st = perform_in(s, id, n, command);
        if (st == STATUS_OK)
            st = cluster_sender_commit(s->to, &why);
    }
    if (st != STATUS_OK) {
        log_warn("a command cannot be answered", "why=\"%s\"", buf_str(&why));
        drop_sender(s);
    }
    buf_fini(&why);
    return st;
}

static void take_command(struct cluster_steering *s,
                         const struct kafka_message *m)
{
    const size_t before = sizeof COMMAND - 1;
    json_t *command;
    char id[17];

    if (!bytes_starts_with(m->key, COMMAND) || m->value.len == 0 ||
        m->key.len != before + 16)
        return;
    snprintf(id, sizeof id, "%.16s", m->key.at + before);
    command = json_loadb(m->value.at, m->value.len, 0, NULL);
    if (json_is_string(json_object_get(command, "method")) &&
        json_is_string(json_object_get(command, "path"))) {
        (void)perform_all(s, id, command); /* it was said */
        if (bytes_ends_with(bytes_of_str(json_string_value(
                                json_object_get(command, "path"))),
                            "/stop"))
            s->p.stop(s->p.ctx);
    }
    json_decref(command);
}

static void *listen_to(void *ctx)
{
    struct cluster_steering *s = ctx;
    struct kafka_message m;
    struct buf why;

    buf_init(&why, 4096);
    while (!atomic_load(&s->ends)) {
        enum status st = kafka_reader_next(s->reader, LOOK_MS, &m, &why);

        if (st == STATUS_OK)
            take_command(s, &m);
        else if (st != STATUS_NOT_FOUND) {
            log_warn("commands cannot be read", "why=\"%s\"", buf_str(&why));
            break;
        }
    }
    buf_fini(&why);
    return NULL;
}

enum status cluster_steering_start(struct cluster_steering **out,
                                   const struct kafka_access *a,
                                   const char *name, uint32_t shards,
                                   const struct cluster_performer *p,
                                   struct buf *why)
{
    struct cluster_steering *s = xcalloc(1, sizeof *s);
    struct cluster_control *now = NULL;
    struct buf control;
    enum status st = cluster_control_open(&now, a, name, why);

    s->p = *p;
    s->shards = shards;
    s->access = *a;
    s->name = xstrdup(name);
    buf_init(&control, 512);
    cluster_topic(&control, name, "control");
    if (st == STATUS_OK)
        st = kafka_reader_open(&s->reader, a, buf_str(&control), 0,
                               cluster_control_offset(now), why);
    cluster_control_close(now);
    if (st == STATUS_OK)
        st = cluster_sender_open(&s->to, a, name, NULL, why);
    if (st == STATUS_OK && pthread_create(&s->thread, NULL, listen_to, s) != 0)
        st = STATUS_NOMEM;
    buf_fini(&control);
    if (st == STATUS_OK) {
        *out = s;
        return STATUS_OK;
    }
    cluster_sender_close(s->to);
    kafka_reader_close(s->reader);
    free(s->name);
    free(s);
    return st;
}

void cluster_steering_end(struct cluster_steering *s)
{
    if (s == NULL)
        return;
    atomic_store(&s->ends, true);
    pthread_join(s->thread, NULL);
    cluster_sender_close(s->to);
    kafka_reader_close(s->reader);
    free(s->name);
    free(s);
}
