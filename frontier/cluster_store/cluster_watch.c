/* SPDX-License-Identifier: MIT */
/* cluster_watch.c - workers, and what there is of each kind. */
#include "frontier/cluster_store/cluster_watch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "frontier/cluster_store/cluster_impl.h"

#define WEIGHED_SHARDS 16
#define WEIGHED_KEYS   8 /* of a kind in a shard */

static const struct bytes nothing = {"", 0};

/* ---- workers ---- */

struct telling {
    struct cluster_store *s;
    cluster_tell_end *end;
    void *ctx;
};

static bool is_place(const redisReply *place, const redisReply *of)
{
    return place->type == REDIS_REPLY_INTEGER &&
           of->type == REDIS_REPLY_INTEGER && place->integer >= 0 &&
           place->integer < of->integer && of->integer <= INT32_MAX;
}

static enum status read_wanted(const struct cluster_store *s,
                               const redisReply *r, struct cluster_wanted *w)
{
    redisReply *const *e = r->element;

    if (r->type != REDIS_REPLY_ARRAY)
        return STATUS_FORMAT;
    if (r->elements == 0)
        return STATUS_NOT_FOUND;
    if (r->elements != 5 || e[0]->type != REDIS_REPLY_INTEGER ||
        e[0]->integer < 1 || e[1]->type != REDIS_REPLY_INTEGER ||
        e[2]->type != REDIS_REPLY_STRING || !is_place(e[3], e[4]))
        return STATUS_FORMAT;
    w->place = (unsigned)e[3]->integer;
    w->workers = (unsigned)e[4]->integer;
    w->version = (uint64_t)e[0]->integer;
    w->paused = e[1]->integer != 0;
    w->stopped = strcmp(e[2]->str, s->stop) != 0;
    return STATUS_OK;
}

static void told(void *ctx, enum status st, const redisReply *r)
{
    struct telling *t = ctx;
    struct cluster_wanted w = {0};

    if (st == STATUS_OK)
        st = read_wanted(t->s, r, &w);
    t->end(t->ctx, st, &w);
    free(t);
}

void cluster_store_tell(struct cluster_store *s, const char *name,
                        struct bytes words, cluster_tell_end *end, void *ctx)
{
    const struct bytes args[2] = {bytes_of_str(name), words};
    struct telling *t = xcalloc(1, sizeof *t);

    t->s = s;
    t->end = end;
    t->ctx = ctx;
    cluster_record_run(s, &cluster_script_tell, "-aw", args, 2, false, told, t);
}

static void left(void *ctx, enum status st, const redisReply *r)
{
    (void)ctx;
    (void)st;
    (void)r;
}

void cluster_store_leave(struct cluster_store *s, const char *name,
                         int64_t patience)
{
    const struct bytes arg = bytes_of_str(name);
    int64_t end = clock_mono() + patience;

    cluster_record_run(s, &cluster_script_leave, "aw", &arg, 1, false, left,
                       NULL);
    while (cluster_store_pending(s) > 0 && clock_mono() < end)
        cluster_store_turn(s, end - clock_mono());
}

/* ---- replies that are waited for ---- */

/* Its reader sees each good reply; the first failure stays. */
struct asked {
    size_t left;
    enum status st;
    enum status (*read)(struct asked *a, const redisReply *r);
};

static void came(struct asked *a, enum status st, const redisReply *r)
{
    a->left--;
    if (st == STATUS_OK)
        st = a->read(a, r);
    if (a->st == STATUS_OK)
        a->st = st;
}

static void asked_came(void *ctx, enum status st, const redisReply *r)
{
    came(ctx, st, r);
}

static enum status wait_for(struct cluster_store *s, const struct asked *a)
{
    while (a->left > 0)
        cluster_store_turn(s, NS_PER_S);
    return a->st;
}

struct workers_asked {
    struct asked a; /* first */
    cluster_worker_visit *visit;
    void *ctx;
};

static enum status read_workers(struct asked *a, const redisReply *r)
{
    struct workers_asked *w = (struct workers_asked *)a;

    if (r->type != REDIS_REPLY_ARRAY || r->elements % 3 != 0)
        return STATUS_FORMAT;
    for (size_t i = 0; i < r->elements; i += 3) {
        redisReply *const *e = &r->element[i];

        if (e[0]->type != REDIS_REPLY_STRING ||
            e[1]->type != REDIS_REPLY_INTEGER ||
            e[2]->type != REDIS_REPLY_STRING)
            return STATUS_FORMAT;
        w->visit(w->ctx, bytes_of(e[0]->str, (size_t)e[0]->len), e[1]->integer,
                 bytes_of(e[2]->str, (size_t)e[2]->len));
    }
    return STATUS_OK;
}

enum status cluster_store_each_worker(struct cluster_store *s,
                                      cluster_worker_visit *visit, void *ctx)
{
    struct workers_asked w = {{.left = 1, .read = read_workers}, visit, ctx};
    char text[16];
    struct bytes most;

    snprintf(text, sizeof text, "%d", CLUSTER_WORKERS_MOST);
    most = bytes_of_str(text);
    cluster_record_run(s, &cluster_script_workers, "aw", &most, 1, false,
                       asked_came, &w);
    return wait_for(s, &w.a);
}

static void count_alive(void *ctx, struct bytes name, int64_t heard_ms,
                        struct bytes words)
{
    size_t *alive = ctx;

    (void)name;
    (void)words;
    *alive += heard_ms <= CLUSTER_ALIVE_MS;
}

enum status cluster_store_count_alive(struct cluster_store *s, size_t *n)
{
    *n = 0;
    return cluster_store_each_worker(s, count_alive, n);
}

/* ---- shards ---- */

unsigned cluster_store_shards(const struct cluster_store *s)
{
    return s->shard_count;
}

unsigned cluster_store_shard(const struct cluster_store *s, struct bytes host)
{
    return cluster_shard_of(s, host);
}

/* The answer of one of many shards. */
struct shard_asked {
    struct asked *all;
    struct cluster_shard_row *row;
};

static enum status read_row(struct cluster_shard_row *row, const redisReply *r)
{
    uint64_t n[6];

    if (r->type != REDIS_REPLY_ARRAY || r->elements != 6)
        return STATUS_FORMAT;
    for (size_t i = 0; i < 6; i++) {
        if (r->element[i]->type != REDIS_REPLY_INTEGER ||
            r->element[i]->integer < 0)
            return STATUS_FORMAT;
        n[i] = (uint64_t)r->element[i]->integer;
    }
    row->seen = n[0];
    row->done = n[1];
    row->leased = n[2];
    row->expired = n[3];
    row->hosts = n[4];
    row->buckets = n[5] > 0 ? n[5] : 1;
    row->waiting = n[0] > n[1] + n[2] ? n[0] - n[1] - n[2] : 0;
    return STATUS_OK;
}

static void row_came(void *ctx, enum status st, const redisReply *r)
{
    struct shard_asked *one = ctx;

    one->all->left--;
    if (st == STATUS_OK)
        st = read_row(one->row, r);
    if (one->all->st == STATUS_OK)
        one->all->st = st;
}

enum status cluster_store_survey(struct cluster_store *s,
                                 struct cluster_shard_row *rows)
{
    struct shard_asked *each = xcalloc(s->shard_count, sizeof *each);
    struct asked all = {.left = s->shard_count};
    enum status st;

    for (unsigned i = 0; i < s->shard_count; i++) {
        struct key_list k;

        rows[i] = (struct cluster_shard_row){.shard = i};
        each[i] = (struct shard_asked){&all, &rows[i]};
        key_list_init(&k);
        key_list_add(&k, s, i, "m", nothing);
        key_list_add(&k, s, i, "r", nothing);
        key_list_add(&k, s, i, "l", nothing);
        cluster_run(s, i, &cluster_script_survey, &k, NULL, 0, false, row_came,
                    &each[i]);
        key_list_fini(&k);
    }
    st = wait_for(s, &all);
    free(each);
    return st;
}

/* ---- memory ---- */

/* Octets of the keys of one shard, or of some of them; hosts with URLs. */
struct weighed {
    struct asked a; /* first */
    uint64_t octets[8 + 2 * WEIGHED_KEYS];
    size_t keys;
    char hosts[WEIGHED_KEYS][CLUSTER_HOST_MOST];
    size_t host_len[WEIGHED_KEYS], host_count;
};

static enum status read_weights(struct asked *a, const redisReply *r)
{
    struct weighed *w = (struct weighed *)a;

    if (r->type != REDIS_REPLY_ARRAY || r->elements < w->keys)
        return STATUS_FORMAT;
    for (size_t i = 0; i < w->keys; i++) {
        if (r->element[i]->type != REDIS_REPLY_INTEGER ||
            r->element[i]->integer < 0)
            return STATUS_FORMAT;
        w->octets[i] = (uint64_t)r->element[i]->integer;
    }
    w->host_count = 0;
    for (size_t i = w->keys; i < r->elements && w->host_count < WEIGHED_KEYS;
         i++) {
        const redisReply *host = r->element[i];

        if (host->type != REDIS_REPLY_STRING || host->len > CLUSTER_HOST_MOST)
            return STATUS_FORMAT;
        memcpy(w->hosts[w->host_count], host->str, (size_t)host->len);
        w->host_len[w->host_count++] = (size_t)host->len;
    }
    return STATUS_OK;
}

static enum status weigh(struct cluster_store *s, unsigned shard,
                         struct key_list *k, size_t hosts, struct weighed *w)
{
    char most[16];
    struct bytes arg;

    snprintf(most, sizeof most, "%zu", hosts);
    arg = bytes_of_str(most);
    w->a = (struct asked){.left = 1, .read = read_weights};
    w->keys = k->count - 1;
    cluster_run(s, shard, &cluster_script_weigh, k, &arg, 1, false, asked_came,
                &w->a);
    return wait_for(s, &w->a);
}

/* What is one key for a shard, the buckets of the seen set, and which hosts to
 * look at next. */
static enum status weigh_whole(struct cluster_store *s,
                               const struct cluster_shard_row *row,
                               struct weighed *w, struct cluster_weights *sum)
{
    uint64_t n = row->buckets, step = n / WEIGHED_KEYS + 1;
    char bucket[24];
    struct key_list k;
    uint64_t seen = 0;
    size_t looked = 0;
    enum status st;

    key_list_init(&k);
    for (const char *kind = "rrhltm"; *kind != '\0'; kind++) {
        const char one[2] = {*kind, '\0'};

        key_list_add(&k, s, row->shard, one, nothing);
    }
    for (uint64_t i = 0; i < n; i += step, looked++) {
        snprintf(bucket, sizeof bucket, "%" PRIx64, i);
        key_list_add(&k, s, row->shard, "s:", bytes_of_str(bucket));
    }
    st = weigh(s, row->shard, &k, WEIGHED_KEYS, w);
    key_list_fini(&k);
    if (st != STATUS_OK)
        return st;
    sum->hosts += w->octets[0] + w->octets[1];
    sum->leases += w->octets[2] + w->octets[3];
    sum->counts += w->octets[4];
    for (size_t i = 0; i < looked; i++)
        seen += w->octets[5 + i];
    sum->seen += seen / looked * n;
    return STATUS_OK;
}

static enum status weigh_queues(struct cluster_store *s,
                                const struct cluster_shard_row *row,
                                struct weighed *w, struct cluster_weights *sum)
{
    size_t looked = w->host_count;
    struct key_list k;
    uint64_t queues = 0, robots = 0, hosts = row->hosts + row->leased;
    enum status st;

    if (looked == 0)
        return STATUS_OK;
    key_list_init(&k);
    key_list_add(&k, s, row->shard, "r", nothing);
    for (size_t i = 0; i < looked; i++)
        key_list_add(&k, s, row->shard,
                     "q:", bytes_of(w->hosts[i], w->host_len[i]));
    for (size_t i = 0; i < looked; i++)
        key_list_add(&k, s, row->shard,
                     "b:", bytes_of(w->hosts[i], w->host_len[i]));
    st = weigh(s, row->shard, &k, 0, w);
    key_list_fini(&k);
    for (size_t i = 0; st == STATUS_OK && i < looked; i++) {
        queues += w->octets[i];
        robots += w->octets[looked + i];
    }
    sum->queues += queues / looked * hosts;
    sum->robots += robots / looked * hosts;
    return st;
}

/* From a part to the whole. */
static uint64_t scale(uint64_t octets, unsigned part, unsigned whole)
{
    return part == 0 ? 0 : octets / part * whole + octets % part * whole / part;
}

enum status cluster_store_weigh(struct cluster_store *s,
                                const struct cluster_shard_row *rows,
                                struct cluster_weights *out)
{
    unsigned n = 0, step, looked = 0;
    struct cluster_weights sum = {0};
    struct weighed *w = xcalloc(1, sizeof *w);
    enum status st = STATUS_OK;

    for (unsigned i = 0; i < s->shard_count; i++)
        n += rows[i].seen > 0;
    step = n / WEIGHED_SHARDS + 1;
    /* Few hosts are in few shards, which a step over all of them can miss. */
    for (unsigned i = 0, at = 0; st == STATUS_OK && i < s->shard_count; i++) {
        if (rows[i].seen == 0 || at++ % step != 0)
            continue;
        looked++;
        st = weigh_whole(s, &rows[i], w, &sum);
        if (st == STATUS_OK)
            st = weigh_queues(s, &rows[i], w, &sum);
    }
    free(w);
    *out = (struct cluster_weights){
        .seen = scale(sum.seen, looked, n),
        .queues = scale(sum.queues, looked, n),
        .hosts = scale(sum.hosts, looked, n),
        .leases = scale(sum.leases, looked, n),
        .counts = scale(sum.counts, looked, n),
        .robots = scale(sum.robots, looked, n),
    };
    return st;
}
