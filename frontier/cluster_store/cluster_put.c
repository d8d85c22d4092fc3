/* SPDX-License-Identifier: MIT */
/*
 * cluster_put.c - URLs in, buckets of the seen set.
 *
 * A put is cut into parts, each of one shard and one call. A part names the
 * buckets of its fingerprints, which depend on how many there are; if there are
 * others by now, the script says so, and the part is sent again. URLs that are
 * moved in, or only looked for, go the same way (enum put_kind).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "frontier/cluster_store/cluster_impl.h"
#include "frontier/cluster_store/cluster_move.h"

#define PART_MOST    128
#define ARGS_MOST    5 /* of one URL */
#define NUMBERS_MOST 3 /* of those */
#define TEXT_MOST    ((size_t)PART_MOST * (CLUSTER_ITEM_MOST + 512))
#define BUCKET_FILL  200 /* of a bucket, on average: the fullest stay < 512 */
#define BUCKETS_MOST (UINT32_C(1) << 24) /* 3e9 URLs in a shard */
#define ANEW_MOST    64 /* a part is sent that often for other buckets */

enum put_kind {
    PUT_NEW,   /* URLs that wait */
    PUT_MOVED, /* URLs that wait or are done, as cluster_moved says */
    PUT_SOUGHT /* nothing is put: are they there? */
};

struct put {
    enum put_kind kind;
    cluster_put_end *end;
    void *ctx;
    size_t n, left; /* URLs; parts that have not ended */
    enum status st;
    bool fresh[];
};

struct part_url {
    size_t index; /* in the put */
    uint64_t fp;
    struct cluster_moved moved;                  /* of PUT_MOVED */
    size_t host_at, host_len, item_at, item_len; /* in the part's text */
};

struct part {
    struct cluster_store *s;
    struct put *put;
    unsigned shard, anew;
    struct buf text;
    size_t count;
    struct part_url url[];
};

uint64_t cluster_bucket_of(uint64_t fp, uint32_t n)
{
    uint64_t mod = 2;

    while (mod <= n)
        mod *= 2;
    return fp % mod < n ? fp % mod : fp % (mod / 2);
}

static void end_part(struct part *p, enum status st)
{
    struct put *put = p->put;

    if (st != STATUS_OK)
        put->st = st;
    if (--put->left == 0) {
        put->end(put->ctx, put->st, put->fresh, put->n);
        free(put);
    }
    buf_fini(&p->text);
    free(p);
}

/* ---- splitting ---- */

struct split {
    struct cluster_store *s;
    unsigned shard;
};

static void split_came(void *ctx, enum status st, const redisReply *r)
{
    struct split *x = ctx;
    struct cluster_shard *shard = &x->s->shards[x->shard];

    shard->splitting = false;
    if (st == STATUS_OK && r->type == REDIS_REPLY_INTEGER && r->integer > 0 &&
        r->integer <= BUCKETS_MOST)
        shard->buckets = (uint32_t)r->integer;
    free(x);
}

static void split(struct cluster_store *s, unsigned shard)
{
    struct split *x = xcalloc(1, sizeof *x);
    uint32_t n = s->shards[shard].buckets, half = 1;
    struct key_list k;
    struct bytes arg;
    char from[16], to[16];

    while (half * 2 <= n)
        half *= 2;
    x->s = s;
    x->shard = shard;
    s->shards[shard].splitting = true;
    snprintf(from, sizeof from, "%x", n - half);
    snprintf(to, sizeof to, "%x", n);
    key_list_init(&k);
    key_list_add(&k, s, shard, "m", bytes_of("", 0));
    key_list_add(&k, s, shard, "s:", bytes_of_str(from));
    key_list_add(&k, s, shard, "s:", bytes_of_str(to));
    snprintf(from, sizeof from, "%" PRIu32, n);
    arg = bytes_of_str(from);
    cluster_run(s, shard, &cluster_script_split, &k, &arg, 1, false, split_came,
                x);
    key_list_fini(&k);
}

/* ---- parts ---- */

static redis_call_end put_came;

/* The call of a part while it is written. */
struct part_call {
    struct key_list keys;
    struct bytes *args;
    size_t arg_count;
    char (*text)[24]; /* of numbers */
    size_t text_count;
};

static void add_number(struct part_call *c, int64_t n)
{
    char *text = c->text[c->text_count++];

    c->args[c->arg_count++] =
        bytes_of(text,
                 (size_t)snprintf(text, sizeof c->text[0], "%" PRId64, n));
}

static struct bytes host_of(const struct part *p, const struct part_url *u)
{
    return bytes_of(p->text.at + u->host_at, u->host_len);
}

/* What cluster_scripts.c, cluster_move_scripts.c say of one item. */
static void add_url(struct part_call *c, const struct part *p,
                    const struct part_url *u, uint32_t buckets)
{
    const enum put_kind kind = p->put->kind;
    const struct bytes host = host_of(p, u);
    char bucket[24];

    if (kind != PUT_SOUGHT) {
        c->args[c->arg_count++] = host;
        key_list_add(&c->keys, p->s, p->shard, "q:", host);
    }
    if (kind == PUT_MOVED)
        key_list_add(&c->keys, p->s, p->shard, "d:", host);
    snprintf(bucket, sizeof bucket, "%" PRIx64,
             cluster_bucket_of(u->fp, buckets));
    key_list_add(&c->keys, p->s, p->shard, "s:", bytes_of_str(bucket));
    add_number(c, (int64_t)u->fp);
    if (kind != PUT_SOUGHT)
        c->args[c->arg_count++] =
            bytes_of(p->text.at + u->item_at, u->item_len);
    if (kind == PUT_MOVED) {
        add_number(c, u->moved.delay_ms);
        add_number(c, u->moved.wait_ms);
    }
}

static void send_part(struct part *p)
{
    static const struct {
        const char *keys;
        const struct redis_script *script;
        bool durable;
    } kinds[] = {
        [PUT_NEW] = {"mrlh", &cluster_script_put, true},
        [PUT_MOVED] = {"mrh", &cluster_script_move, true},
        [PUT_SOUGHT] = {"m", &cluster_script_seek, false},
    };
    const uint32_t n = p->s->shards[p->shard].buckets;
    struct part_call call = {.args = xcalloc(2 + ARGS_MOST * p->count,
                                             sizeof *call.args),
                             .text = xcalloc(2 + NUMBERS_MOST * p->count,
                                             sizeof *call.text)},
                     *c = &call;

    key_list_init(&c->keys);
    for (const char *k = kinds[p->put->kind].keys; *k != '\0'; k++) {
        const char kind[2] = {*k, '\0'};

        key_list_add(&c->keys, p->s, p->shard, kind, bytes_of("", 0));
    }
    add_number(c, n);
    if (p->put->kind == PUT_MOVED)
        add_number(c, p->s->o.pause_ms);
    for (size_t i = 0; i < p->count; i++)
        add_url(c, p, &p->url[i], n);
    cluster_run(p->s, p->shard, kinds[p->put->kind].script, &c->keys, c->args,
                c->arg_count, kinds[p->put->kind].durable, put_came, p);
    key_list_fini(&c->keys);
    free(c->args);
    free(c->text);
}

/* When its host is asked next. */
static void note_host(const struct part *p, const struct part_url *u,
                      char answer)
{
    if (answer == '2')
        cluster_hint_add(p->s, p->shard, host_of(p, u), clock_mono());
    else if (answer == '3')
        cluster_look_at(p->s, p->shard, 0);
}

/* STATUS_AGAIN: there are other buckets. */
static enum status read_put(struct part *p, const redisReply *r)
{
    struct cluster_shard *shard = &p->s->shards[p->shard];
    uint32_t buckets;

    if (r->type != REDIS_REPLY_ARRAY || r->elements < 1 ||
        r->element[0]->type != REDIS_REPLY_INTEGER ||
        r->element[0]->integer < 1 || r->element[0]->integer > BUCKETS_MOST)
        return STATUS_FORMAT;
    buckets = (uint32_t)r->element[0]->integer;
    if (r->elements == 1) {
        shard->buckets = buckets;
        return STATUS_AGAIN;
    }
    if (r->elements != 3 || r->element[1]->type != REDIS_REPLY_INTEGER ||
        r->element[2]->type != REDIS_REPLY_STRING ||
        (size_t)r->element[2]->len != p->count)
        return STATUS_FORMAT;
    for (size_t i = 0; i < p->count; i++) {
        p->put->fresh[p->url[i].index] = r->element[2]->str[i] != '0';
        note_host(p, &p->url[i], r->element[2]->str[i]);
    }
    if (r->element[1]->integer > (long long)buckets * BUCKET_FILL &&
        shard->buckets == buckets && !shard->splitting)
        split(p->s, p->shard);
    return STATUS_OK;
}

static void put_came(void *ctx, enum status st, const redisReply *r)
{
    struct part *p = ctx;

    if (st == STATUS_OK)
        st = read_put(p, r);
    if (st == STATUS_AGAIN && p->anew++ < ANEW_MOST)
        send_part(p);
    else
        end_part(p, st);
}

/* ---- puts ---- */

struct place {
    unsigned shard;
    size_t index;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->shard != y->shard)
        return x->shard < y->shard ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static void add_to_part(struct part *p, const struct cluster_url *url,
                        const struct cluster_moved *moved, size_t index)
{
    struct part_url *u = &p->url[p->count++];

    u->index = index;
    u->fp = url->digest.hi >> 1; /* Redis's integers have a sign */
    u->host_at = p->text.len;
    u->host_len = url->host.len;
    buf_add_bytes(&p->text, url->host);
    u->item_at = p->text.len;
    if (moved != NULL)
        u->moved = *moved;
    if (moved == NULL || !moved->done) {
        buf_add_char(&p->text, '\0'); /* leases lost */
        buf_add_bytes(&p->text, url->item);
    }
    u->item_len = p->text.len - u->item_at;
}

static struct part *new_part(struct cluster_store *s, struct put *put,
                             unsigned shard, size_t most)
{
    struct part *p = xcalloc(1, sizeof *p + most * sizeof *p->url);

    p->s = s;
    p->put = put;
    p->shard = shard;
    buf_init(&p->text, TEXT_MOST);
    put->left++;
    return p;
}

static enum status put_as(enum put_kind kind, struct cluster_store *s,
                          const struct cluster_url *urls,
                          const struct cluster_moved *moved, size_t n,
                          cluster_put_end *end, void *ctx)
{
    struct place *places;
    struct part *p;
    struct put *put;

    for (size_t i = 0; i < n; i++)
        if (urls[i].host.len < 1 || urls[i].host.len > CLUSTER_HOST_MOST ||
            urls[i].item.len >= CLUSTER_ITEM_MOST)
            return STATUS_ARG;
    places = xcalloc(n + 1, sizeof *places);
    put = xcalloc(1, sizeof *put + n * sizeof *put->fresh);
    put->kind = kind;
    put->end = end;
    put->ctx = ctx;
    put->n = n;
    for (size_t i = 0; i < n; i++)
        places[i] = (struct place){cluster_shard_of(s, urls[i].host), i};
    qsort(places, n, sizeof *places, compare_places);
    for (size_t i = 0, next; i < n; i = next) {
        for (next = i + 1; next < n && next - i < PART_MOST &&
                           places[next].shard == places[i].shard;)
            next++;
        p = new_part(s, put, places[i].shard, next - i);
        for (size_t k = i; k < next; k++)
            add_to_part(p, &urls[places[k].index],
                        moved != NULL ? &moved[places[k].index] : NULL,
                        places[k].index);
        send_part(p);
    }
    if (n == 0) {
        end(ctx, STATUS_OK, put->fresh, 0);
        free(put);
    }
    free(places);
    return STATUS_OK;
}

enum status cluster_store_put(struct cluster_store *s,
                              const struct cluster_url *urls, size_t n,
                              cluster_put_end *end, void *ctx)
{
    return put_as(PUT_NEW, s, urls, NULL, n, end, ctx);
}

enum status cluster_store_move(struct cluster_store *s,
                               const struct cluster_url *urls,
                               const struct cluster_moved *moved, size_t n,
                               cluster_put_end *end, void *ctx)
{
    return put_as(PUT_MOVED, s, urls, moved, n, end, ctx);
}

enum status cluster_store_seek(struct cluster_store *s,
                               const struct cluster_url *urls, size_t n,
                               cluster_put_end *end, void *ctx)
{
    return put_as(PUT_SOUGHT, s, urls, NULL, n, end, ctx);
}
