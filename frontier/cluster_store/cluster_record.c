/* SPDX-License-Identifier: MIT */
/*
 * cluster_record.c - the crawl's record, places.
 *
 * The record of a crawl is the hash {NAME}: format, shards, seed, state ("new"
 * until all seeds are in, then "begun"; "moved" when it is elsewhere),
 * settings, and what cluster_steer_scripts.c adds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/redis/redis_slots.h"
#include "frontier/cluster_store/cluster_impl.h"
#include "frontier/cluster_store/cluster_move.h"

/* ---- reading ---- */

/* The record of the crawl, as `begin` gives it. */
struct record {
    bool ended;
    enum status st;
    unsigned shards;
    bool has_seed;
    unsigned char seed[DIGEST_SEED_SIZE];
    bool begun, moved;
    bool served; /* no crawl: of `urlweir serve --cluster` */
    uint64_t version;
    bool paused;
    char stop[CLUSTER_WORD_SIZE];
    struct buf *settings;
};

static enum status read_field(struct record *rec, struct bytes name,
                              struct bytes value)
{
    if (bytes_is(name, "format") && !bytes_is(value, CLUSTER_FORMAT)) {
        rec->served = value.len > 7 && memcmp(value.at, "served ", 7) == 0;
        return rec->served ? STATUS_REFUSED : STATUS_VERSION;
    }
    if (bytes_is(name, "shards"))
        rec->shards = (unsigned)strtoul(value.at, NULL, 10);
    if (bytes_is(name, "seed"))
        rec->has_seed = bytes_from_hex(value, rec->seed, DIGEST_SEED_SIZE);
    if (bytes_is(name, "state")) {
        rec->begun = bytes_is(value, "begun");
        rec->moved = bytes_is(value, "moved");
    }
    if (bytes_is(name, "paused"))
        rec->paused = bytes_is(value, "1");
    if (bytes_is(name, "stop"))
        snprintf(rec->stop, sizeof rec->stop, "%.*s", (int)value.len, value.at);
    if (bytes_is(name, "version") &&
        !redis_url_number(value, UINT32_MAX, &rec->version))
        return STATUS_DAMAGED;
    if (bytes_is(name, "settings")) {
        buf_clear(rec->settings);
        buf_add_bytes(rec->settings, value);
        return buf_failed(rec->settings);
    }
    return STATUS_OK;
}

static enum status read_record(struct record *rec, const redisReply *r)
{
    enum status st = STATUS_OK;

    if (r->type == REDIS_REPLY_INTEGER)
        return STATUS_EXISTS;
    if (r->type != REDIS_REPLY_ARRAY || r->elements % 2 != 0)
        return STATUS_DAMAGED;
    if (r->elements == 0)
        return STATUS_NOT_FOUND;
    for (size_t i = 0; i < r->elements && st == STATUS_OK; i += 2) {
        const redisReply *name = r->element[i], *value = r->element[i + 1];

        if (name->type != REDIS_REPLY_STRING ||
            value->type != REDIS_REPLY_STRING)
            return STATUS_DAMAGED;
        st = read_field(rec, bytes_of(name->str, (size_t)name->len),
                        bytes_of(value->str, (size_t)value->len));
    }
    if (st == STATUS_OK && (!rec->has_seed || rec->shards < 1 ||
                            rec->shards > CLUSTER_SHARDS_MOST))
        st = STATUS_DAMAGED;
    return st;
}

static void record_came(void *ctx, enum status st, const redisReply *r)
{
    struct record *rec = ctx;

    rec->ended = true;
    rec->st = st == STATUS_OK ? read_record(rec, r) : st;
}

/* ---- calls ---- */

void cluster_record_run(struct cluster_store *s,
                        const struct redis_script *script, const char *kinds,
                        const struct bytes *args, size_t n, bool durable,
                        redis_call_end *end, void *ctx)
{
    char name[CLUSTER_RECORD_KEYS][CLUSTER_NAME_MOST + 4];
    struct bytes keys[CLUSTER_RECORD_KEYS];
    struct redis_call_spec spec = {.script = script,
                                   .slot = redis_slot_of(bytes_of_str(s->name)),
                                   .keys = keys,
                                   .args = args,
                                   .arg_count = n,
                                   .durable = durable,
                                   .end = end,
                                   .ctx = ctx};

    for (; *kinds != '\0' && spec.key_count < CLUSTER_RECORD_KEYS; kinds++) {
        char *key = name[spec.key_count];

        snprintf(key, sizeof name[0], *kinds == '-' ? "{%s}" : "{%s}%c",
                 s->name, *kinds);
        keys[spec.key_count++] = bytes_of_str(key);
    }
    redis_cluster_call(s->net, &spec);
}

enum status cluster_record_begin(struct cluster_store *s,
                                 const struct bytes *args, size_t n,
                                 struct buf *error)
{
    struct record rec = {.st = STATUS_CLOSED,
                         .version = 1,
                         .settings = &s->settings};

    cluster_record_run(s, &cluster_script_begin, "-", args, n, true,
                       record_came, &rec);
    while (!rec.ended)
        redis_cluster_turn(s->net, NS_PER_S);
    if (rec.st == STATUS_OK) {
        digest_key_init(&s->key, rec.seed);
        memcpy(s->seed, rec.seed, sizeof s->seed);
        s->begun = rec.begun;
        s->version = rec.version;
        s->paused = rec.paused;
        memcpy(s->stop, rec.stop, sizeof s->stop);
        s->moved = rec.moved;
        cluster_set_shards(s, rec.shards);
    } else if (rec.st == STATUS_EXISTS) {
        buf_addf(error, "there is a crawl named %s already", s->name);
    } else if (rec.st == STATUS_NOT_FOUND) {
        buf_addf(error, "there is no crawl named %s", s->name);
    } else if (rec.served) {
        buf_addf(error,
                 "%s is no crawl: it has the URLs of `urlweir serve "
                 "--cluster`, which `urlweir status` and `urlweir export` "
                 "read; for all else ask the service",
                 s->name);
    } else {
        struct redis_cluster_stats stats;

        redis_cluster_get_stats(s->net, &stats);
        buf_addf(error, "the record of crawl %s: %s", s->name,
                 rec.st == STATUS_ARG ? stats.trouble : status_text(rec.st));
    }
    return rec.st;
}

const unsigned char *cluster_store_seed(const struct cluster_store *s)
{
    return s->seed;
}

struct bytes cluster_store_settings(const struct cluster_store *s)
{
    return buf_bytes(&s->settings);
}

uint64_t cluster_store_version(const struct cluster_store *s)
{
    return s->version;
}

bool cluster_store_is_begun(const struct cluster_store *s)
{
    return s->begun;
}

/* A call whose reply, a number, is waited for. */
struct waiting {
    bool ended;
    enum status st;
    uint64_t number;
};

static void number_came(void *ctx, enum status st, const redisReply *r)
{
    struct waiting *w = ctx;

    w->ended = true;
    w->st = st;
    if (st == STATUS_OK && (r->type != REDIS_REPLY_INTEGER || r->integer < 0))
        w->st = STATUS_FORMAT;
    if (w->st == STATUS_OK)
        w->number = (uint64_t)r->integer;
}

enum status cluster_record_ask(struct cluster_store *s,
                               const struct redis_script *script,
                               const char *kinds, const struct bytes *args,
                               size_t n, uint64_t *number)
{
    struct waiting w = {.ended = false};

    cluster_record_run(s, script, kinds, args, n, true, number_came, &w);
    while (!w.ended)
        redis_cluster_turn(s->net, NS_PER_S);
    if (w.st == STATUS_OK)
        *number = w.number;
    return w.st;
}

enum status cluster_store_begin(struct cluster_store *s)
{
    uint64_t one;
    enum status st =
        cluster_record_ask(s, &cluster_script_begun, "-", NULL, 0, &one);

    if (st == STATUS_OK)
        s->begun = true;
    return st;
}

enum status cluster_store_end_move(struct cluster_store *s, struct bytes mark)
{
    uint64_t done = 0;
    enum status st =
        cluster_record_ask(s, &cluster_script_moved, "-", &mark, 1, &done);

    if (st != STATUS_OK)
        return st;
    s->moved = true;
    return done == 1 ? STATUS_OK : STATUS_EXISTS;
}

bool cluster_store_is_moved(const struct cluster_store *s)
{
    return s->moved;
}

/* ---- places ---- */

enum status cluster_store_add_places(struct cluster_store *s,
                                     const struct bytes *places, size_t n,
                                     uint64_t *count)
{
    return cluster_record_ask(s, &cluster_script_place, "-p", places, n, count);
}

struct places_call {
    cluster_places_end *end;
    void *ctx;
};

static void places_came(void *ctx, enum status st, const redisReply *r)
{
    struct places_call *c = ctx;
    struct bytes place[CLUSTER_PLACES_AT_ONCE];
    size_t n = 0;

    if (st == STATUS_OK && r->type != REDIS_REPLY_ARRAY)
        st = STATUS_FORMAT;
    for (size_t i = 0; st == STATUS_OK && i < r->elements; i++) {
        if (r->element[i]->type != REDIS_REPLY_STRING ||
            n == CLUSTER_PLACES_AT_ONCE)
            st = STATUS_FORMAT;
        else
            place[n++] =
                bytes_of(r->element[i]->str, (size_t)r->element[i]->len);
    }
    c->end(c->ctx, st, place, st == STATUS_OK ? n : 0);
    free(c);
}

void cluster_store_places(struct cluster_store *s, uint64_t known,
                          cluster_places_end *end, void *ctx)
{
    struct places_call *c = xcalloc(1, sizeof *c);
    char from[24], most[24];
    const struct bytes args[2] = {
        bytes_of(from, (size_t)snprintf(from, sizeof from, "%llu",
                                        (unsigned long long)known)),
        bytes_of(most, (size_t)snprintf(most, sizeof most, "%d",
                                        CLUSTER_PLACES_AT_ONCE))};

    c->end = end;
    c->ctx = ctx;
    cluster_record_run(s, &cluster_script_news, "p", args, 2, false,
                       places_came, c);
}
