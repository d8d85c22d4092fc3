/*
 * cluster_rig.h - a crawl in a real redis-server without cluster mode.
 *
 * Header only. tests/support/cluster_faults.py has whole clusters.
 */
#ifndef URLWEIR_TESTS_FRONTIER_CLUSTER_STORE_CLUSTER_RIG_H
#define URLWEIR_TESTS_FRONTIER_CLUSTER_STORE_CLUSTER_RIG_H

#include "base/clock.h"
#include "frontier/cluster_store/cluster_impl.h"
#include "tests/unit/filter/redis/redis_rig.h"
#include "tests/unit/unit.h"

static const unsigned char cluster_seed[DIGEST_SEED_SIZE] = "a secret";

static inline struct cluster_store_options rig_options(
    struct redis_address *address)
{
    *address = redis_server_place(&server, "").at;
    return (struct cluster_store_options){.servers = address,
                                          .server_count = 1,
                                          .name = "crawl",
                                          .lease_ms = 60000,
                                          .pause_ms = 0,
                                          .hold_ms = 60000};
}

static inline struct cluster_store *rig_create(unsigned shards)
{
    struct redis_address a;
    const struct cluster_store_options o = rig_options(&a);
    const struct cluster_new what = {shards, cluster_seed, {"delay: 1s", 9}};
    struct cluster_store *s = NULL;
    struct buf error;

    buf_init(&error, 4096);
    ck_assert_msg(cluster_store_create(&s, &o, &what, &error) == STATUS_OK,
                  "%s", buf_str(&error));
    buf_fini(&error);
    return s;
}

/* ---- calls, and waiting for their end ---- */

struct rig_end {
    bool ended, over;
    enum status st;
    size_t fresh;
    struct cluster_counts counts;
};

static inline void rig_wait(struct cluster_store *s, const struct rig_end *e)
{
    while (!e->ended)
        cluster_store_turn(s, NS_PER_S);
}

static inline void rig_put_end(void *ctx, enum status st, const bool *fresh,
                               size_t n)
{
    struct rig_end *e = ctx;

    e->ended = true;
    e->st = st;
    for (size_t i = 0; i < n; i++)
        e->fresh += fresh[i];
}

/* URL i of `hosts` hosts: host, item and digest. */
struct rig_url {
    char host[24], item[24];
    struct cluster_url url;
};

static inline void rig_url_make(struct rig_url *u,
                                const struct cluster_store *s, unsigned i,
                                unsigned hosts)
{
    snprintf(u->host, sizeof u->host, "h%u", i % hosts);
    snprintf(u->item, sizeof u->item, "item %u", i);
    u->url.host = bytes_of_str(u->host);
    u->url.item = bytes_of_str(u->item);
    u->url.digest = digest_bytes(cluster_store_digest_key(s), u->url.item);
}

/* Puts URLs first .. first + n - 1; how many were new. */
static inline size_t rig_put(struct cluster_store *s, unsigned first, size_t n,
                             unsigned hosts)
{
    struct rig_url *u = calloc(n, sizeof *u);
    struct cluster_url *urls = calloc(n, sizeof *urls);
    struct rig_end e = {0};

    for (size_t i = 0; i < n; i++) {
        rig_url_make(&u[i], s, first + (unsigned)i, hosts);
        urls[i] = u[i].url;
    }
    ck_ok(cluster_store_put(s, urls, n, rig_put_end, &e));
    free(urls); /* copied */
    free(u);
    rig_wait(s, &e);
    ck_ok(e.st);
    return e.fresh;
}

#define RIG_LEASES 64
struct rig_leases {
    size_t n;
    struct {
        char host[24], item[24], state[24];
        unsigned shard, lost;
        uint64_t token;
        int64_t until, delay_ms;
    } lease[RIG_LEASES];
};

static inline void rig_take(void *ctx, const struct cluster_lease *l)
{
    struct rig_leases *to = ctx;
    size_t i = to->n++;

    ck_assert_uint_lt(i, RIG_LEASES);
    snprintf(to->lease[i].host, 24, "%.*s", (int)l->host.len, l->host.at);
    snprintf(to->lease[i].item, 24, "%.*s", (int)l->item.len, l->item.at);
    snprintf(to->lease[i].state, 24, "%.*s", (int)l->state.len, l->state.at);
    to->lease[i].shard = l->shard;
    to->lease[i].lost = l->lost;
    to->lease[i].token = l->token;
    to->lease[i].until = l->until;
    to->lease[i].delay_ms = l->delay_ms;
}

/* Leases up to `most`, all that are due now. */
static inline size_t rig_lease(struct cluster_store *s, struct rig_leases *to,
                               size_t most)
{
    size_t before;

    to->n = 0;
    do {
        before = to->n;
        for (unsigned i = 0; i < s->shard_count; i++)
            cluster_look_at(s, i, 0);
        for (int i = 0; i < 4; i++) { /* all shards are looked at */
            cluster_store_lease(s, most - to->n, rig_take, to);
            while (cluster_store_pending(s) > 0)
                cluster_store_turn(s, NS_PER_S);
        }
    } while (to->n > before && to->n < most);
    return to->n;
}

static inline void rig_ack_end(void *ctx, enum status st, bool over)
{
    struct rig_end *e = ctx;

    e->ended = true;
    e->st = st;
    e->over = over;
}

/* Acknowledges lease i; returns whether it was over. */
static inline bool rig_ack(struct cluster_store *s, const struct rig_leases *l,
                           size_t i, int64_t pause_ms, const char *item,
                           int64_t delay_ms)
{
    const struct cluster_ack a = {.shard = l->lease[i].shard,
                                  .token = l->lease[i].token,
                                  .host = bytes_of_str(l->lease[i].host),
                                  .pause_ms = pause_ms,
                                  .state = bytes_of_str("st:ate"),
                                  .item = bytes_of_str(item),
                                  .delay_ms = delay_ms};
    struct rig_end e = {0};

    ck_ok(cluster_store_ack(s, &a, rig_ack_end, &e));
    rig_wait(s, &e);
    ck_ok(e.st);
    return e.over;
}

static inline void rig_count_end(void *ctx, enum status st,
                                 const struct cluster_counts *c)
{
    struct rig_end *e = ctx;

    e->ended = true;
    e->st = st;
    e->counts = *c;
}

static inline struct cluster_counts rig_count(struct cluster_store *s)
{
    struct rig_end e = {0};

    cluster_store_count(s, rig_count_end, &e);
    rig_wait(s, &e);
    ck_ok(e.st);
    return e.counts;
}

#endif
