/* SPDX-License-Identifier: MIT */
/*
 * bench_shared.c - the cost of a served frontier in a Redis server: puts, gets,
 * completions, memory there.
 *
 *   bench_shared [URLS [HOSTS [GETS]]]      default 200000 10000 500
 *
 * One redis-server of its own, without a log. URLs are put twice as discovered,
 * in batches of 1,000; then some are leased, ten of each of ten queues, and
 * completed. Service: CPU of this process, which makes the calls, too.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/logger.h"
#include "base/mem.h"
#include "bench/support/own_redis.h"
#include "frontier/shared/shared.h"

#define BATCH 1000
#define TEXT  96

struct bench {
    struct own_redis redis;
    struct shared *s;
    struct shared_hand *h;
    uint64_t urls, hosts;
    struct url_put puts[BATCH];
    char url[BATCH][TEXT], key[BATCH][48];
    size_t leased; /* by the last get; their names are in `url` and `key` */
};

static void check(const char *what, enum status st)
{
    if (st == STATUS_OK)
        return;
    fprintf(stderr, "bench_shared: %s: %s\n", what, status_text(st));
    exit(1);
}

/* ---- what a part costs ---- */

struct part {
    int64_t cpu, wall;
    double server;
};

static struct part part_begin(struct bench *b)
{
    return (struct part){clock_cpu(), clock_mono(), own_redis_cpu(&b->redis)};
}

static void part_end(struct bench *b, struct part p, const char *what,
                     uint64_t n)
{
    printf("%-36s service %6.2f us  server %6.2f us  (%" PRIu64
           " URLs, %.1f s)\n",
           what, (double)(clock_cpu() - p.cpu) / 1e3 / (double)n,
           (own_redis_cpu(&b->redis) - p.server) / 1e3 / (double)n, n,
           (double)(clock_mono() - p.wall) / 1e9);
}

/* ---- puts ---- */

static void put_all(struct bench *b, const char *what)
{
    const struct part p = part_begin(b);

    for (uint64_t at = 0; at < b->urls; at += BATCH) {
        for (size_t i = 0; i < BATCH; i++) {
            uint64_t url = at + i, host = url * 7919 % b->hosts;

            snprintf(b->key[i], sizeof b->key[i],
                     "host-%" PRIu64 ".example.org", host);
            snprintf(b->url[i], TEXT,
                     "https://%s/articles/%" PRIu64 "/page.html", b->key[i],
                     url);
            b->puts[i] = (struct url_put){.crawl = bytes_of_str("DEFAULT"),
                                          .key = bytes_of_str(b->key[i]),
                                          .url = bytes_of_str(b->url[i])};
        }
        shared_put(b->h, b->puts, BATCH);
        for (size_t i = 0; i < BATCH; i++)
            check("put", b->puts[i].status);
    }
    part_end(b, p, what, b->urls);
}

/* ---- leases ---- */

static bool take(void *ctx, const struct url_view *v)
{
    struct bench *b = ctx;

    snprintf(b->url[b->leased], TEXT, "%.*s", (int)v->url.len, v->url.at);
    snprintf(b->key[b->leased++], sizeof b->key[0], "%.*s", (int)v->key.len,
             v->key.at);
    return true;
}

static void complete(struct bench *b)
{
    for (size_t i = 0; i < b->leased; i++)
        b->puts[i] = (struct url_put){.known = true,
                                      .crawl = bytes_of_str("DEFAULT"),
                                      .key = bytes_of_str(b->key[i]),
                                      .url = bytes_of_str(b->url[i])};
    shared_put(b->h, b->puts, b->leased);
    for (size_t i = 0; i < b->leased; i++)
        check("complete", b->puts[i].status);
}

static void get(struct bench *b, unsigned queues)
{
    struct url_ask a = {.any_crawl = true,
                        .most_urls = 10,
                        .most_queues = queues,
                        .lease_ms = 600000};
    bool more;

    b->leased = 0;
    check("get", shared_get(b->h, &a, BATCH, (size_t)1 << 20, take, b, &more));
}

static void drain(struct bench *b, unsigned gets)
{
    struct part p = part_begin(b);
    struct part done = {0};
    uint64_t urls = 0;

    for (unsigned i = 0; i < gets; i++) {
        struct part c;

        get(b, 10);
        urls += b->leased;
        c = part_begin(b);
        complete(b);
        done.cpu += clock_cpu() - c.cpu;
        done.wall += clock_mono() - c.wall;
        done.server += own_redis_cpu(&b->redis) - c.server;
    }
    if (urls == 0)
        return;
    p.cpu += done.cpu;
    p.wall += done.wall;
    p.server += done.server;
    part_end(b, p, "get 10 x 10", urls);
    p = part_begin(b);
    p.cpu -= done.cpu;
    p.wall -= done.wall;
    p.server -= done.server;
    part_end(b, p, "completed, in batches of 100", urls);
}

/* Nothing is due: every queue was asked within its delay, or has none. */
static void get_nothing(struct bench *b, unsigned gets)
{
    struct part p;

    check("delay", shared_set_default_delay(b->h, 3600000));
    do {
        get(b, 100);
    } while (b->leased > 0);
    p = part_begin(b);
    for (unsigned i = 0; i < gets; i++)
        get(b, 10);
    part_end(b, p, "get, nothing due (a call)", gets);
}

int main(int argc, char **argv)
{
    struct bench *b = xcalloc(1, sizeof *b);
    unsigned gets = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 500;
    struct redis_address at = {.is_unix = true};
    const struct shared_options o = {.servers = &at,
                                     .server_count = 1,
                                     .name = "bench",
                                     .alone_is_fine = true};
    struct buf error;
    double empty;

    logger_set_level(LOG_LEVEL_ERROR);
    b->urls = argc > 1 ? strtoull(argv[1], NULL, 10) / BATCH * BATCH : 200000;
    b->hosts = argc > 2 ? strtoull(argv[2], NULL, 10) : 10000;
    if (!own_redis_start(&b->redis)) {
        fprintf(stderr, "bench_shared: no redis-server\n");
        return 1;
    }
    snprintf(at.path, sizeof at.path, "%s", b->redis.socket);
    buf_init(&error, 4096);
    check("open", shared_open(&b->s, &o, &error));
    buf_fini(&error);
    b->h = shared_hand_new(b->s);
    empty = own_redis_info(&b->redis, "memory", "used_memory:");
    printf("%" PRIu64 " URLs of %" PRIu64 " hosts\n", b->urls, b->hosts);
    put_all(b, "put discovered, new");
    printf("%-36s %.0f octets a URL\n", "memory of the server",
           (own_redis_info(&b->redis, "memory", "used_memory:") - empty) /
               (double)b->urls);
    put_all(b, "put discovered, seen");
    drain(b, gets);
    get_nothing(b, gets);
    shared_hand_free(b->h);
    shared_close(b->s);
    own_redis_stop(&b->redis);
    free(b);
    return 0;
}
