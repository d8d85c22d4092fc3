/* SPDX-License-Identifier: MIT */
/*
 * cluster_store.c - opening, keys, counts.
 *
 * The record of a crawl is in cluster_record.c.
 */
#include "frontier/cluster_store/cluster_store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/redis/redis_slots.h"
#include "frontier/cluster_store/cluster_impl.h"

#define KEYS_MOST ((size_t)16 << 20) /* octets of the keys of one call */
#define START     (20 * NS_PER_S)    /* longest wait for the servers */
#define WINDOW    64
#define ANSWER    (5 * NS_PER_S)

/* Sets of integers are small up to this many, Redis's default; buckets of the
 * seen set are made for it. */
#define INTSET_LEAST 512

/* ---- keys ---- */

void key_list_init(struct key_list *k)
{
    *k = (struct key_list){.cap = 0};
    buf_init(&k->text, KEYS_MOST);
}

void key_list_fini(struct key_list *k)
{
    buf_fini(&k->text);
    free(k->key);
}

void key_list_add(struct key_list *k, const struct cluster_store *s,
                  unsigned shard, const char *kind, struct bytes rest)
{
    size_t before = k->text.len;

    if (k->tag_len == 0 || k->shard != shard) {
        k->tag_len =
            (size_t)snprintf(k->tag, sizeof k->tag, "{%s:%x}", s->name, shard);
        k->shard = shard;
    }
    buf_add(&k->text, k->tag, k->tag_len);
    buf_add_str(&k->text, kind);
    buf_add_bytes(&k->text, rest);
    if (k->count == k->cap) {
        k->cap = k->cap == 0 ? 16 : 2 * k->cap;
        k->key = xrealloc(k->key, k->cap * sizeof *k->key);
    }
    k->key[k->count++].len = k->text.len - before;
}

/* The text may have moved while it grew, so keys get their place last. */
const struct bytes *key_list_get(struct key_list *k)
{
    const char *at = k->text.at;

    for (size_t i = 0; i < k->count; i++) {
        k->key[i].at = at;
        at += k->key[i].len;
    }
    return k->key;
}

unsigned cluster_shard_of(const struct cluster_store *s, struct bytes host)
{
    return (unsigned)(digest_bytes(&s->key, host).hi % s->shard_count);
}

void cluster_run(struct cluster_store *s, unsigned shard,
                 const struct redis_script *script, struct key_list *keys,
                 const struct bytes *args, size_t arg_count, bool durable,
                 redis_call_end *end, void *ctx)
{
    const struct redis_call_spec spec = {.script = script,
                                         .slot = s->shards[shard].slot,
                                         .keys = key_list_get(keys),
                                         .key_count = keys->count,
                                         .args = args,
                                         .arg_count = arg_count,
                                         .durable = durable,
                                         .end = end,
                                         .ctx = ctx};

    redis_cluster_call(s->net, &spec);
}

/* ---- opening ---- */

static bool name_is_valid(const char *name)
{
    size_t len = strlen(name);

    for (size_t i = 0; i < len; i++)
        if (!ascii_is_alnum(name[i]) && strchr("._-", name[i]) == NULL)
            return false;
    return len > 0 && len <= CLUSTER_NAME_MOST && name[0] != '-';
}

void cluster_set_shards(struct cluster_store *s, unsigned count)
{
    char tag[CLUSTER_NAME_MOST + 16];

    s->shard_count = count;
    s->shards = xcalloc(count, sizeof *s->shards);
    for (unsigned i = 0; i < count; i++) {
        int len = snprintf(tag, sizeof tag, "%s:%x", s->name, i);

        s->shards[i].slot = redis_slot_of(bytes_of(tag, (size_t)len));
        s->shards[i].buckets = 1;
        s->shards[i].hint_due = INT64_MAX;
    }
}

void cluster_random_word(char out[CLUSTER_WORD_SIZE])
{
    uint64_t n;

    if (getrandom(&n, sizeof n, 0) != sizeof n)
        n = (uint64_t)clock_wall_ms();
    snprintf(out, CLUSTER_WORD_SIZE, "%016" PRIx64, n);
}

static struct cluster_store *new_store(const struct cluster_store_options *o)
{
    struct cluster_store *s = xcalloc(1, sizeof *s);
    const struct redis_cluster_options net = {
        .seeds = o->servers,
        .seed_count = o->server_count,
        .scripts = cluster_scripts,
        .script_count = CLUSTER_SCRIPTS,
        .answer_ns = ANSWER,
        .call_ns = o->call_ns > 0 ? o->call_ns : 60 * NS_PER_S,
        .window = WINDOW,
        .replicas = o->replicas,
        .alone_is_fine = o->alone_is_fine,
        .replica_ms = 1000,
        .setting = "set-max-intset-entries",
        .setting_least = INTSET_LEAST,
    };

    s->o = *o;
    s->o.servers = NULL;
    buf_init(&s->settings, CLUSTER_TEXT_MOST);
    snprintf(s->name, sizeof s->name, "%s", o->name);
    s->o.name = s->name;
    s->net = redis_cluster_new(&net);
    return s;
}

static enum status open_with(struct cluster_store **out,
                             const struct cluster_store_options *o,
                             const struct bytes *args, size_t n,
                             struct buf *error)
{
    struct cluster_store *s;
    enum status st;

    if (!name_is_valid(o->name)) {
        buf_addf(error,
                 "the name of a crawl has letters, digits, and . _ -, %d at "
                 "most",
                 CLUSTER_NAME_MOST);
        return STATUS_ARG;
    }
    s = new_store(o);
    st = redis_cluster_start(s->net, START, error);
    if (st == STATUS_OK)
        st = cluster_record_begin(s, args, n, error);
    if (st != STATUS_OK) {
        cluster_store_close(s);
        return st;
    }
    *out = s;
    return STATUS_OK;
}

enum status cluster_store_create(struct cluster_store **out,
                                 const struct cluster_store_options *o,
                                 const struct cluster_new *what,
                                 struct buf *error)
{
    char count[16], hex[2 * DIGEST_SEED_SIZE + 1];
    const struct bytes args[] = {bytes_of_str("new"),
                                 bytes_of_str("format"),
                                 bytes_of_str(CLUSTER_FORMAT),
                                 bytes_of_str("shards"),
                                 bytes_of(count,
                                          (size_t)snprintf(count, sizeof count,
                                                           "%u", what->shards)),
                                 bytes_of_str("seed"),
                                 bytes_of(hex, sizeof hex - 1),
                                 bytes_of_str("state"),
                                 bytes_of_str("new"),
                                 bytes_of_str("settings"),
                                 what->settings};

    if (what->shards < 1 || what->shards > CLUSTER_SHARDS_MOST) {
        buf_addf(error, "a crawl has from 1 to %d shards", CLUSTER_SHARDS_MOST);
        return STATUS_ARG;
    }
    if (what->settings.len > CLUSTER_TEXT_MOST) {
        buf_addf(error, "the settings are longer than %zu octets",
                 CLUSTER_TEXT_MOST);
        return STATUS_ARG;
    }
    for (size_t i = 0; i < DIGEST_SEED_SIZE; i++)
        snprintf(hex + 2 * i, 3, "%02x", what->seed[i]);
    return open_with(out, o, args, sizeof args / sizeof *args, error);
}

enum status cluster_store_open(struct cluster_store **out,
                               const struct cluster_store_options *o,
                               struct buf *error)
{
    const struct bytes none = bytes_of("", 0);

    return open_with(out, o, &none, 1, error);
}

void cluster_store_close(struct cluster_store *s)
{
    if (s == NULL)
        return;
    redis_cluster_free(s->net);
    buf_fini(&s->settings);
    cluster_hints_free(s);
    free(s->shards);
    free(s);
}

const struct digest_key *cluster_store_digest_key(const struct cluster_store *s)
{
    return &s->key;
}

void cluster_store_set_worker(struct cluster_store *s, const char *name)
{
    snprintf(s->worker, sizeof s->worker, "%s", name);
}

void cluster_store_set_times(struct cluster_store *s, int64_t lease_ms,
                             int64_t pause_ms, int64_t hold_ms)
{
    s->o.lease_ms = lease_ms;
    s->o.pause_ms = pause_ms;
    s->o.hold_ms = hold_ms;
}

/* ---- turns, counts ---- */

void cluster_store_turn(struct cluster_store *s, int64_t wait)
{
    redis_cluster_turn(s->net, wait);
}

size_t cluster_store_pending(const struct cluster_store *s)
{
    return redis_cluster_pending(s->net);
}

void cluster_store_get_stats(const struct cluster_store *s,
                             struct redis_cluster_stats *out)
{
    redis_cluster_get_stats(s->net, out);
}

uint64_t cluster_store_holds(const struct cluster_store *s)
{
    return s->holds;
}

void cluster_store_each_master(const struct cluster_store *s,
                               redis_master_visit *visit, void *ctx)
{
    redis_cluster_each_master(s->net, visit, ctx);
}

struct count {
    struct cluster_counts sum;
    unsigned left;
    enum status st;
    cluster_count_end *end;
    void *ctx;
};

static void count_came(void *ctx, enum status st, const redisReply *r)
{
    struct count *c = ctx;
    uint64_t *to[] = {&c->sum.seen, &c->sum.done, &c->sum.leased,
                      &c->sum.expired, &c->sum.buckets};

    if (st == STATUS_OK && (r->type != REDIS_REPLY_ARRAY || r->elements != 5))
        st = STATUS_FORMAT;
    for (size_t i = 0; st == STATUS_OK && i < 5; i++)
        *to[i] += (uint64_t)r->element[i]->integer;
    if (st != STATUS_OK)
        c->st = st;
    if (--c->left > 0)
        return;
    c->end(c->ctx, c->st, &c->sum);
    free(c);
}

void cluster_store_count(struct cluster_store *s, cluster_count_end *end,
                         void *ctx)
{
    struct count *c = xcalloc(1, sizeof *c);

    c->left = s->shard_count;
    c->end = end;
    c->ctx = ctx;
    for (unsigned i = 0; i < s->shard_count; i++) {
        struct key_list k;

        key_list_init(&k);
        key_list_add(&k, s, i, "m", bytes_of("", 0));
        key_list_add(&k, s, i, "l", bytes_of("", 0));
        cluster_run(s, i, &cluster_script_count, &k, NULL, 0, false, count_came,
                    c);
        key_list_fini(&k);
    }
}
