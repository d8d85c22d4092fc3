/* SPDX-License-Identifier: MIT */
/* cluster_steer.c - settings, pauses, stops. */
#include "frontier/cluster_store/cluster_steer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "frontier/cluster_store/cluster_impl.h"

enum status cluster_store_set(struct cluster_store *s, uint64_t version,
                              struct bytes text, uint64_t *now)
{
    char number[24];
    struct bytes args[2] = {{NULL, 0}, text};
    enum status st;

    if (text.len > CLUSTER_TEXT_MOST)
        return STATUS_LIMIT;
    snprintf(number, sizeof number, "%" PRIu64, version);
    args[0] = bytes_of_str(number);
    st = cluster_record_ask(s, &cluster_script_set, "-", args, 2, now);
    return st == STATUS_OK && *now == 0 ? STATUS_AGAIN : st;
}

static enum status order(struct cluster_store *s, const char *field,
                         const char *value)
{
    const struct bytes args[2] = {bytes_of_str(field), bytes_of_str(value)};
    uint64_t there = 0;
    enum status st =
        cluster_record_ask(s, &cluster_script_order, "-", args, 2, &there);

    return st == STATUS_OK && there == 0 ? STATUS_NOT_FOUND : st;
}

enum status cluster_store_pause(struct cluster_store *s, bool pause)
{
    return order(s, "paused", pause ? "1" : "0");
}

enum status cluster_store_stop(struct cluster_store *s)
{
    char word[CLUSTER_WORD_SIZE];

    cluster_random_word(word);
    return order(s, "stop", word);
}

struct host_call {
    bool ended;
    enum status st;
};

static void host_is_set(void *ctx, enum status st, const redisReply *r)
{
    (void)r;
    *(struct host_call *)ctx = (struct host_call){true, st};
}

/* Runs a script on m, r and h of its shard, and waits for it. */
static enum status change_host(struct cluster_store *s, struct bytes host,
                               const struct redis_script *script,
                               const struct bytes *args, size_t n)
{
    struct host_call c = {false, STATUS_OK};
    struct key_list k;
    unsigned shard;

    if (host.len < 1 || host.len > CLUSTER_HOST_MOST)
        return STATUS_ARG;
    shard = cluster_shard_of(s, host);
    key_list_init(&k);
    for (const char *kind = "mrh"; *kind != '\0'; kind++) {
        const char one[2] = {*kind, '\0'};

        key_list_add(&k, s, shard, one, bytes_of("", 0));
    }
    cluster_run(s, shard, script, &k, args, n, true, host_is_set, &c);
    key_list_fini(&k);
    while (!c.ended)
        cluster_store_turn(s, NS_PER_S);
    return c.st;
}

static enum status block(struct cluster_store *s, struct bytes host, int64_t ms)
{
    char text[24];
    struct bytes args[2] = {host};

    if (ms < 0)
        return STATUS_ARG;
    snprintf(text, sizeof text, "%" PRId64, ms);
    args[1] = bytes_of_str(text);
    return change_host(s, host, &cluster_script_block, args, 2);
}

enum status cluster_store_set_host(struct cluster_store *s, struct bytes host,
                                   enum cluster_host_setting what,
                                   int64_t value, int64_t delay_ms)
{
    char text[24] = "", general[24];
    struct bytes args[4] = {host,
                            bytes_of_str(what == CLUSTER_HOST_DELAY ? "delay"
                                                                    : "limit")};

    if (what == CLUSTER_HOST_BLOCK)
        return block(s, host, value);
    if (value >= 0)
        snprintf(text, sizeof text, "%" PRId64, value);
    snprintf(general, sizeof general, "%" PRId64, delay_ms);
    args[2] = bytes_of_str(text);
    args[3] = bytes_of_str(general);
    return change_host(s, host, &cluster_script_host, args, 4);
}

bool cluster_store_is_paused(const struct cluster_store *s)
{
    return s->paused;
}

/* ---- for workers ---- */

struct settings_call {
    cluster_settings_end *end;
    void *ctx;
};

static void settings_came(void *ctx, enum status st, const redisReply *r)
{
    struct settings_call *c = ctx;
    struct bytes text = {"", 0};
    uint64_t version = 0;

    if (st == STATUS_OK && (r->type != REDIS_REPLY_ARRAY || r->elements != 2 ||
                            r->element[0]->type != REDIS_REPLY_INTEGER ||
                            r->element[0]->integer < 1 ||
                            r->element[1]->type != REDIS_REPLY_STRING))
        st = STATUS_FORMAT;
    if (st == STATUS_OK) {
        version = (uint64_t)r->element[0]->integer;
        text = bytes_of(r->element[1]->str, (size_t)r->element[1]->len);
    }
    c->end(c->ctx, st, version, text);
    free(c);
}

void cluster_store_ask_settings(struct cluster_store *s,
                                cluster_settings_end *end, void *ctx)
{
    struct settings_call *c = xcalloc(1, sizeof *c);

    c->end = end;
    c->ctx = ctx;
    cluster_record_run(s, &cluster_script_settings, "-", NULL, 0, false,
                       settings_came, c);
}
