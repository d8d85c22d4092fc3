/* SPDX-License-Identifier: MIT */
/*
 * bench_cluster.c - what the state of a crawl in a Redis server costs.
 *
 *   make bench-cluster [ARGS=URLS]      default: 1,000,000 offered
 *
 * One redis-server on a Unix socket, without log. URLs of 64 octets, as items
 * that a crawl would make of them (cluster_item.h), are put in
 * batches to 16 shards, four batches under way; 70 % of them were put before.
 * CPU is the server's and our own, a URL that was offered. Then hosts are
 * leased and acknowledged until some URLs are done. Memory: the server's sets
 * of fingerprints, a URL seen; and all the rest of what it grew by, a URL
 * waiting.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "bench/support/own_redis.h"
#include "frontier/cluster_store/cluster_item.h"
#include "frontier/cluster_store/cluster_store.h"

#define SHARDS    16
#define URL_SIZE  64
#define IN_FLIGHT 4
#define BATCH_MAX (SHARDS * 128)

static void must(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "bench_cluster: %s\n", what);
    exit(1);
}

struct bench {
    struct own_redis server;
    struct cluster_store *store;
    uint64_t hosts, random, known; /* known: URLs made so far */
    unsigned under_way;
    /* leases */
    uint64_t done;
};

static uint64_t next_random(struct bench *b)
{
    b->random ^= b->random << 13;
    b->random ^= b->random >> 7;
    b->random ^= b->random << 17;
    return b->random;
}

static struct cluster_store *make_store(struct bench *b, const char *name)
{
    static const unsigned char seed[DIGEST_SEED_SIZE] = "bench";
    struct redis_address a = {.is_unix = true};
    const struct cluster_store_options o = {.servers = &a,
                                            .server_count = 1,
                                            .name = name,
                                            .lease_ms = 60000,
                                            .hold_ms = 60000};
    const struct cluster_new what = {SHARDS, seed, {"", 0}};
    struct cluster_store *s = NULL;
    struct buf error;

    buf_init(&error, 4096);
    snprintf(a.path, sizeof a.path, "%s", b->server.socket);
    must(cluster_store_create(&s, &o, &what, &error) == STATUS_OK,
         buf_str(&error));
    buf_fini(&error);
    return s;
}

/* ---- puts ---- */

static void put_ended(void *ctx, enum status st, const bool *fresh, size_t n)
{
    struct bench *b = ctx;

    (void)fresh;
    (void)n;
    must(st == STATUS_OK, "a put failed");
    b->under_way--;
}

static void put_batch(struct bench *b, size_t size)
{
    static char text[BATCH_MAX][128], host[BATCH_MAX][40];
    static struct buf item[BATCH_MAX];
    static struct cluster_url url[BATCH_MAX];

    for (size_t i = 0; i < size; i++) {
        struct cluster_item one = {.depth = 3, .kind = 1, .places = 1};
        bool again = next_random(b) % 10 < 7 && b->known > 0;
        uint64_t id = again ? next_random(b) % b->known : b->known++;

        snprintf(host[i], sizeof host[i], "host%06llu.example",
                 (unsigned long long)(id % b->hosts));
        must(snprintf(text[i], sizeof text[i], "http://%s/%0*llu", host[i],
                      URL_SIZE - 8 - (int)strlen(host[i]),
                      (unsigned long long)id) == URL_SIZE,
             "a URL of another size");
        url[i].host = bytes_of_str(host[i]);
        one.url = bytes_of(text[i], URL_SIZE);
        buf_init(&item[i], 256);
        cluster_item_write(&one, url[i].host, &item[i]);
        url[i].item = buf_bytes(&item[i]);
        url[i].digest =
            digest_bytes(cluster_store_digest_key(b->store), one.url);
    }
    b->under_way++;
    must(cluster_store_put(b->store, url, size, put_ended, b) == STATUS_OK,
         "a put was refused");
    for (size_t i = 0; i < size; i++)
        buf_fini(&item[i]);
}

static double seen_memory(struct bench *b)
{
    redisReply *r = redisCommand(
        b->server.c, "EVAL %s 0",
        "local n, c = 0, '0' repeat local x = redis.call('SCAN', c, 'MATCH', "
        "'*}s:*', 'COUNT', 1000) c = x[1] for _, k in ipairs(x[2]) do n = n + "
        "redis.call('MEMORY', 'USAGE', k, 'SAMPLES', 0) end until c == '0' "
        "return n");
    double n =
        r != NULL && r->type == REDIS_REPLY_INTEGER ? (double)r->integer : 0;

    freeReplyObject(r);
    return n;
}

static void run_puts(struct bench *b, uint64_t offered, size_t size)
{
    double memory = own_redis_info(&b->server, "memory", "used_memory:");
    double cpu = own_redis_cpu(&b->server), seen;
    int64_t wall = clock_mono(), own = clock_cpu();
    uint64_t before = b->known;

    for (uint64_t n = 0; n < offered; n += size) {
        while (b->under_way == IN_FLIGHT)
            cluster_store_turn(b->store, NS_PER_S);
        put_batch(b, size);
    }
    while (cluster_store_pending(b->store) > 0)
        cluster_store_turn(b->store, NS_PER_S);
    wall = clock_mono() - wall;
    own = clock_cpu() - own;
    cpu = own_redis_cpu(&b->server) - cpu;
    memory = own_redis_info(&b->server, "memory", "used_memory:") - memory;
    seen = seen_memory(b);
    printf("%7llu %7zu %10.0f %9.2f %9.2f %9.1f %10.1f\n",
           (unsigned long long)b->hosts, size / SHARDS,
           (double)offered / ((double)wall / 1e9), cpu / 1e3 / (double)offered,
           (double)own / 1e3 / (double)offered, seen / (double)b->known,
           (memory - seen) / (double)(b->known - before));
}

/* ---- leases ---- */

static void acked(void *ctx, enum status st, bool over)
{
    struct bench *b = ctx;

    must(!over, "a lease was over");
    b->done += st == STATUS_OK; /* the last ones end with the store */
}

static void take(void *ctx, const struct cluster_lease *l)
{
    struct bench *b = ctx;
    const struct cluster_ack a = {.shard = l->shard,
                                  .token = l->token,
                                  .host = l->host,
                                  .pause_ms = 0,
                                  .state = l->state};

    must(cluster_store_ack(b->store, &a, acked, b) == STATUS_OK, "ack");
}

static void run_leases(struct bench *b, uint64_t most)
{
    double cpu = own_redis_cpu(&b->server);
    int64_t own = clock_cpu(), wall = clock_mono();

    while (b->done < most) {
        cluster_store_lease(b->store, 256, take, b);
        cluster_store_turn(b->store, NS_PER_MS);
    }
    wall = clock_mono() - wall;
    own = clock_cpu() - own;
    cpu = own_redis_cpu(&b->server) - cpu;
    printf("\nlease and acknowledge, %llu times: %.0f/s, server %.1f us, "
           "worker %.1f us each\n",
           (unsigned long long)b->done, (double)b->done / ((double)wall / 1e9),
           cpu / 1e3 / (double)b->done, (double)own / 1e3 / (double)b->done);
}

int main(int argc, char **argv)
{
    static struct bench b;
    static const struct {
        uint64_t hosts;
        size_t part;
    } t[] = {{100000, 1}, {100000, 16}, {100000, 128}, {1000, 128}};
    uint64_t offered = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;

    printf("  hosts   batch  offered/s server us worker us  seen B/URL "
           "waiting B/URL\n");
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        fflush(stdout); /* the server is a child */
        must(own_redis_start(&b.server), "no redis-server");
        b.hosts = t[i].hosts;
        b.random = 88172645463325252ULL;
        b.known = b.done = 0;
        b.store = make_store(&b, "bench");
        run_puts(&b, t[i].part < 16 ? offered / 10 : offered,
                 t[i].part * SHARDS);
        if (i == 2)
            run_leases(&b, offered / 20);
        cluster_store_close(b.store);
        own_redis_stop(&b.server);
    }
    return 0;
}
