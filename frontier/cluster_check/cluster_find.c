/* SPDX-License-Identifier: MIT */
/* cluster_find.c - where a URL is in a crawl in a cluster. */
#include "frontier/cluster_check/cluster_find.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "frontier/cluster_store/cluster_impl.h"
#include "frontier/cluster_store/cluster_item.h"

#define TRIES 10 /* buckets may split meanwhile */
#define HEAD  7  /* elements before those of the items */

struct finding {
    struct cluster_found *out;
    struct bytes host, url;
    uint64_t buckets; /* what we know of, and what the shard says */
    bool ended;
    enum status st;
};

/* An item of the cluster has an octet before ours. */
static bool is_it(const struct finding *f, const redisReply *item)
{
    struct cluster_item it;
    struct buf url;
    bool is;

    buf_init(&url, CLUSTER_ITEM_MOST);
    is = item->type == REDIS_REPLY_STRING && item->len > 1 &&
         cluster_item_read(&it, bytes_of(item->str + 1, (size_t)item->len - 1),
                           f->host, &url) == STATUS_OK &&
         bytes_equal(it.url, f->url);
    buf_fini(&url);
    return is;
}

/* Place or date, and item, in turn. */
static void look_for(const struct finding *f, const redisReply *r)
{
    struct cluster_found *out = f->out;

    for (size_t i = HEAD; i + 1 < r->elements; i += 2) {
        int64_t n = r->element[i]->integer;

        if (r->element[i]->type != REDIS_REPLY_INTEGER ||
            !is_it(f, r->element[i + 1]))
            continue;
        out->where = n >= 0 ? CLUSTER_WAITING : CLUSTER_DELAYED;
        out->place = n >= 0 ? (uint64_t)n : 0;
        out->due_ms = n >= 0 ? 0 : -1 - n;
        return;
    }
}

static enum status read_found(struct finding *f, const redisReply *r)
{
    struct cluster_found *out = f->out;
    redisReply *const *e = r->element;

    if (r->type != REDIS_REPLY_ARRAY || r->elements < 1 ||
        e[0]->type != REDIS_REPLY_INTEGER || e[0]->integer < 1)
        return STATUS_FORMAT;
    if (r->elements == 1) {
        f->buckets = (uint64_t)e[0]->integer;
        return STATUS_AGAIN;
    }
    if (r->elements < HEAD || e[1]->type != REDIS_REPLY_INTEGER ||
        e[2]->type != REDIS_REPLY_INTEGER || e[3]->type != REDIS_REPLY_STRING ||
        e[4]->type != REDIS_REPLY_STRING || e[5]->type != REDIS_REPLY_INTEGER ||
        e[6]->type != REDIS_REPLY_INTEGER)
        return STATUS_FORMAT;
    out->lease_ms = e[2]->integer;
    snprintf(out->worker, sizeof out->worker, "%s", e[4]->str);
    out->host_ms = e[5]->integer;
    out->queue = (uint64_t)e[6]->integer;
    if (e[1]->integer == 0) {
        out->where = CLUSTER_UNSEEN;
        return STATUS_OK;
    }
    out->where = out->queue > CLUSTER_FIND_MOST ? CLUSTER_BEHIND : CLUSTER_DONE;
    look_for(f, r);
    if (out->lease_ms >= 0 && is_it(f, e[3]))
        out->where = CLUSTER_LEASED;
    return STATUS_OK;
}

static void found(void *ctx, enum status st, const redisReply *r)
{
    struct finding *f = ctx;

    f->ended = true;
    f->st = st == STATUS_OK ? read_found(f, r) : st;
}

static enum status find(struct cluster_store *s, struct bytes host, uint64_t fp,
                        struct finding *f)
{
    char print[24], most[24], known[24], bucket[24];
    struct bytes args[6] = {host, {NULL, 0}, f->url};
    struct key_list k;

    snprintf(print, sizeof print, "%" PRIu64, fp);
    snprintf(most, sizeof most, "%d", CLUSTER_FIND_MOST);
    snprintf(known, sizeof known, "%" PRIu64, f->buckets);
    snprintf(bucket, sizeof bucket, "%" PRIx64,
             cluster_bucket_of(fp, (uint32_t)f->buckets));
    args[1] = bytes_of_str(print);
    args[3] = bytes_of_str(most);
    args[4] = bytes_of_str(known);
    args[5] = cluster_item_rest(f->url, host);
    key_list_init(&k);
    for (const char *kind = "mrlt"; *kind != '\0'; kind++) {
        const char one[2] = {*kind, '\0'};

        key_list_add(&k, s, f->out->shard, one, bytes_of("", 0));
    }
    key_list_add(&k, s, f->out->shard, "q:", host);
    key_list_add(&k, s, f->out->shard, "d:", host);
    key_list_add(&k, s, f->out->shard, "s:", bytes_of_str(bucket));
    f->ended = false;
    cluster_run(s, f->out->shard, &cluster_script_find, &k, args, 6, false,
                found, f);
    key_list_fini(&k);
    while (!f->ended)
        cluster_store_turn(s, NS_PER_S);
    return f->st;
}

enum status cluster_store_find(struct cluster_store *s, struct bytes host,
                               const struct digest *digest, struct bytes url,
                               struct cluster_found *out)
{
    struct finding f = {.out = out, .host = host, .url = url, .buckets = 1};
    enum status st = STATUS_AGAIN;

    if (host.len < 1 || host.len > CLUSTER_HOST_MOST || url.len < 1)
        return STATUS_ARG;
    *out = (struct cluster_found){.shard = cluster_shard_of(s, host)};
    for (int i = 0; st == STATUS_AGAIN && i < TRIES; i++)
        st = find(s, host, digest->hi >> 1, &f);
    return st;
}
