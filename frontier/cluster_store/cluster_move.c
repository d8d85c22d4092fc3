/* SPDX-License-Identifier: MIT */
/* cluster_move.c - a whole crawl into a cluster, and out of it. */
#include "frontier/cluster_store/cluster_move.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "frontier/cluster_store/cluster_impl.h"

#define UNDER_WAY  64  /* calls at once */
#define CLEAR_KEYS 500 /* of one call */
#define ITEMS_MOST 48  /* of one call: a reply has at most 4 MiB */

/* Calls that are waited for together. */
struct calls {
    struct cluster_store *s;
    size_t under_way;
    enum status st;
    int64_t most; /* the largest reply */
};

static void call_came(void *ctx, enum status st, const redisReply *r)
{
    struct calls *c = ctx;

    c->under_way--;
    if (st == STATUS_OK && r->type != REDIS_REPLY_INTEGER)
        st = STATUS_FORMAT;
    if (st == STATUS_OK && r->integer > c->most)
        c->most = r->integer;
    if (st != STATUS_OK)
        c->st = st;
}

static void wait_for(struct calls *c, size_t under_way)
{
    while (c->under_way > under_way)
        cluster_store_turn(c->s, NS_PER_S);
}

/* Frees the keys. */
static void send_call(struct calls *c, unsigned shard,
                      const struct redis_script *script, struct key_list *k,
                      const struct bytes *args, size_t n)
{
    wait_for(c, UNDER_WAY - 1);
    c->under_way++;
    cluster_run(c->s, shard, script, k, args, n, true, call_came, c);
    key_list_fini(k);
}

/* ---- clearing ---- */

enum status cluster_move_clear_hosts(struct cluster_store *s,
                                     const struct bytes *hosts, size_t n)
{
    struct calls c = {.s = s};

    for (size_t i = 0; i < n && c.st == STATUS_OK; i++) {
        unsigned shard = cluster_shard_of(s, hosts[i]);
        struct key_list k;

        key_list_init(&k);
        key_list_add(&k, s, shard, "q:", hosts[i]);
        key_list_add(&k, s, shard, "d:", hosts[i]);
        send_call(&c, shard, &cluster_script_clear, &k, NULL, 0);
    }
    wait_for(&c, 0);
    return c.st;
}

static void clear_buckets(struct calls *c, unsigned shard, uint64_t count)
{
    struct key_list k;
    char bucket[24];

    for (uint64_t i = 0; i < count && c->st == STATUS_OK;) {
        key_list_init(&k);
        for (size_t j = 0; j < CLEAR_KEYS && i < count; j++) {
            snprintf(bucket, sizeof bucket, "%" PRIx64, i++);
            key_list_add(&k, c->s, shard, "s:", bytes_of_str(bucket));
        }
        send_call(c, shard, &cluster_script_clear, &k, NULL, 0);
    }
}

/* How many buckets a shard has. */
static void buckets_came(void *ctx, enum status st, const redisReply *r)
{
    struct calls *c = ctx;

    c->under_way--;
    if (st == STATUS_OK && (r->type != REDIS_REPLY_ARRAY || r->elements != 5 ||
                            r->element[4]->type != REDIS_REPLY_INTEGER))
        st = STATUS_FORMAT;
    if (st == STATUS_OK)
        c->most = r->element[4]->integer;
    else
        c->st = st;
}

static void count_buckets(struct calls *c, unsigned shard)
{
    struct key_list k;

    c->most = 0;
    key_list_init(&k);
    key_list_add(&k, c->s, shard, "m", bytes_of("", 0));
    key_list_add(&k, c->s, shard, "l", bytes_of("", 0));
    c->under_way++;
    cluster_run(c->s, shard, &cluster_script_count, &k, NULL, 0, false,
                buckets_came, c);
    key_list_fini(&k);
    wait_for(c, 0);
}

/* The counts go last: they say which buckets there are. */
enum status cluster_move_clear_shards(struct cluster_store *s)
{
    struct calls c = {.s = s};

    for (unsigned i = 0; i < s->shard_count && c.st == STATUS_OK; i++) {
        struct key_list k;

        count_buckets(&c, i);
        if (c.st == STATUS_OK)
            clear_buckets(&c, i, (uint64_t)c.most);
        wait_for(&c, 0);
        if (c.st != STATUS_OK)
            break;
        key_list_init(&k);
        for (const char *kind = "rlthm"; *kind != '\0'; kind++)
            key_list_add(&k, s, i, (const char[]){*kind, '\0'},
                         bytes_of("", 0));
        send_call(&c, i, &cluster_script_clear, &k, NULL, 0);
        s->shards[i].buckets = 1;
    }
    wait_for(&c, 0);
    return c.st;
}

/* ---- holding ---- */

enum status cluster_move_hold(struct cluster_store *s, int64_t ms,
                              int64_t *left)
{
    struct calls c = {.s = s};
    char text[24];
    struct bytes arg;

    snprintf(text, sizeof text, "%" PRId64, ms);
    arg = bytes_of_str(text);
    for (unsigned i = 0; i < s->shard_count && c.st == STATUS_OK; i++) {
        struct key_list k;

        key_list_init(&k);
        key_list_add(&k, s, i, "m", bytes_of("", 0));
        key_list_add(&k, s, i, "l", bytes_of("", 0));
        send_call(&c, i, &cluster_script_hold, &k, &arg, 1);
    }
    wait_for(&c, 0);
    *left = c.most;
    return c.st;
}

/* ---- reading ---- */

struct reading {
    struct cluster_store *s;
    unsigned shard;
    cluster_waiting_visit *visit;
    void *ctx;
    enum status st;
    bool ended;
    /* of a scan */
    struct buf hosts; /* each with a zero byte after it */
    char cursor[24];
    /* of a queue */
    struct bytes host;
    size_t count; /* items of the last reply */
};

static void wait_reply(struct reading *x)
{
    while (!x->ended)
        cluster_store_turn(x->s, NS_PER_S);
}

static bool is_text(const redisReply *r, size_t most)
{
    return r->type == REDIS_REPLY_STRING && r->len >= 1 &&
           (size_t)r->len <= most;
}

static void hosts_came(void *ctx, enum status st, const redisReply *r)
{
    struct reading *x = ctx;

    x->ended = true;
    if (st == STATUS_OK && (r->type != REDIS_REPLY_ARRAY || r->elements < 1 ||
                            !is_text(r->element[0], sizeof x->cursor - 1)))
        st = STATUS_FORMAT;
    for (size_t i = 1; st == STATUS_OK && i < r->elements; i++)
        if (!is_text(r->element[i], CLUSTER_HOST_MOST)) {
            st = STATUS_FORMAT;
        } else {
            buf_add(&x->hosts, r->element[i]->str, (size_t)r->element[i]->len);
            buf_add_char(&x->hosts, '\0');
        }
    if (st == STATUS_OK) {
        snprintf(x->cursor, sizeof x->cursor, "%s", r->element[0]->str);
        st = buf_failed(&x->hosts);
    }
    x->st = st;
}

static void scan(struct reading *x, const char *kind)
{
    const struct bytes arg = bytes_of_str(x->cursor);
    struct key_list k;

    buf_clear(&x->hosts);
    x->ended = false;
    key_list_init(&k);
    key_list_add(&k, x->s, x->shard, kind, bytes_of("", 0));
    cluster_run(x->s, x->shard, &cluster_script_queues, &k, &arg, 1, false,
                hosts_came, x);
    key_list_fini(&k);
    wait_reply(x);
}

static enum status take_items(struct reading *x, const redisReply *r)
{
    struct cluster_waiting w = {.host = x->host};
    enum status st = STATUS_OK;

    if (r->type != REDIS_REPLY_ARRAY || r->elements % 2 != 1 ||
        r->element[0]->type != REDIS_REPLY_INTEGER)
        return STATUS_FORMAT;
    w.wait_ms = r->element[0]->integer;
    for (size_t i = 1; st == STATUS_OK && i < r->elements; i += 2) {
        const redisReply *item = r->element[i + 1];

        if (r->element[i]->type != REDIS_REPLY_INTEGER ||
            !is_text(item, CLUSTER_ITEM_MOST))
            return STATUS_FORMAT;
        w.delay_ms = r->element[i]->integer;
        w.item = bytes_of(item->str + 1, (size_t)item->len - 1);
        x->count++;
        st = x->visit(x->ctx, &w);
    }
    return st;
}

static void items_came(void *ctx, enum status st, const redisReply *r)
{
    struct reading *x = ctx;

    x->ended = true;
    x->st = st == STATUS_OK ? take_items(x, r) : st;
}

static void read_queue(struct reading *x)
{
    char from[24], most[24];
    size_t at = 0;

    do {
        const struct bytes args[3] = {
            x->host,
            bytes_of(from, (size_t)snprintf(from, sizeof from, "%zu", at)),
            bytes_of(most,
                     (size_t)snprintf(most, sizeof most, "%d", ITEMS_MOST))};
        struct key_list k;

        x->ended = false;
        x->count = 0;
        key_list_init(&k);
        key_list_add(&k, x->s, x->shard, "t", bytes_of("", 0));
        key_list_add(&k, x->s, x->shard, "h", bytes_of("", 0));
        key_list_add(&k, x->s, x->shard, "q:", x->host);
        key_list_add(&k, x->s, x->shard, "d:", x->host);
        cluster_run(x->s, x->shard, &cluster_script_queue, &k, args, 3, false,
                    items_came, x);
        key_list_fini(&k);
        wait_reply(x);
        at += x->count;
    } while (x->st == STATUS_OK && x->count == ITEMS_MOST);
}

/* Hosts with URLs that wait are in r, or in l if their lease was lost. */
enum status cluster_move_read(struct cluster_store *s, unsigned shard,
                              cluster_waiting_visit *visit, void *ctx)
{
    static const char *const kinds[] = {"r", "l"};
    struct reading x = {.s = s, .shard = shard, .visit = visit, .ctx = ctx};

    buf_init(&x.hosts, REDIS_REPLY_MOST);
    for (size_t i = 0; i < 2 && x.st == STATUS_OK; i++) {
        snprintf(x.cursor, sizeof x.cursor, "0");
        do {
            scan(&x, kinds[i]);
            for (size_t at = 0; x.st == STATUS_OK && at < x.hosts.len;
                 at += x.host.len + 1) {
                x.host = bytes_of_str(x.hosts.at + at);
                read_queue(&x);
            }
        } while (x.st == STATUS_OK && strcmp(x.cursor, "0") != 0);
    }
    buf_fini(&x.hosts);
    return x.st;
}

/* ---- what people have set for hosts ---- */

struct reading_sets {
    struct cluster_store *s;
    cluster_host_visit *visit;
    void *ctx;
    bool ended;
    enum status st;
    char cursor[24];
};

static enum status take_set(struct reading_sets *x, redisReply *const *e)
{
    static const char *const names[] = {[CLUSTER_HOST_BLOCK] = "until",
                                        [CLUSTER_HOST_DELAY] = "delay",
                                        [CLUSTER_HOST_LIMIT] = "limit"};
    struct cluster_host_set h = {.value = e[2]->integer,
                                 .done = (uint64_t)e[3]->integer};

    if (e[0]->type != REDIS_REPLY_STRING || !is_text(e[1], CLUSTER_HOST_MOST) ||
        e[2]->type != REDIS_REPLY_INTEGER ||
        e[3]->type != REDIS_REPLY_INTEGER || h.value < 0 || e[3]->integer < 0)
        return STATUS_FORMAT;
    h.host = bytes_of(e[1]->str, (size_t)e[1]->len);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(e[0]->str, names[i]) == 0) {
            h.what = (enum cluster_host_setting)i;
            return x->visit(x->ctx, &h);
        }
    return STATUS_FORMAT;
}

static void sets_came(void *ctx, enum status st, const redisReply *r)
{
    struct reading_sets *x = ctx;

    x->ended = true;
    if (st == STATUS_OK &&
        (r->type != REDIS_REPLY_ARRAY || r->elements % 4 != 1 ||
         !is_text(r->element[0], sizeof x->cursor - 1)))
        st = STATUS_FORMAT;
    if (st == STATUS_OK)
        snprintf(x->cursor, sizeof x->cursor, "%s", r->element[0]->str);
    for (size_t i = 1; st == STATUS_OK && i < r->elements; i += 4)
        st = take_set(x, r->element + i);
    x->st = st;
}

enum status cluster_move_read_hosts(struct cluster_store *s, unsigned shard,
                                    cluster_host_visit *visit, void *ctx)
{
    struct reading_sets x = {.s = s, .visit = visit, .ctx = ctx, .cursor = "0"};

    do {
        const struct bytes arg = bytes_of_str(x.cursor);
        struct key_list k;

        x.ended = false;
        key_list_init(&k);
        key_list_add(&k, s, shard, "m", bytes_of("", 0));
        key_list_add(&k, s, shard, "h", bytes_of("", 0));
        cluster_run(s, shard, &cluster_script_sets, &k, &arg, 1, false,
                    sets_came, &x);
        key_list_fini(&k);
        while (!x.ended)
            cluster_store_turn(s, NS_PER_S);
    } while (x.st == STATUS_OK && strcmp(x.cursor, "0") != 0);
    return x.st;
}
