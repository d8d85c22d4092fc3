/*
 * redis_bloom_rig.h - a Bloom filter on a Redis server of its own, and keys to
 * add and ask for. Header only.
 */
#ifndef URLWEIR_TESTS_FILTER_REDIS_REDIS_BLOOM_RIG_H
#define URLWEIR_TESTS_FILTER_REDIS_REDIS_BLOOM_RIG_H

#include <string.h>
#include <time.h>

#include "filter/redis/redis_impl.h"
#include "tests/unit/filter/keys.h"
#include "tests/unit/filter/redis/redis_server.h"
#include "tests/unit/unit.h"

static struct redis_server server;

static inline void start(void)
{
    if (!redis_server_missing())
        redis_server_start(&server, true);
}

static inline void end(void)
{
    if (server.pid != 0)
        redis_server_end(&server);
}

#define NEEDS_SERVER                                                           \
    if (server.pid == 0)                                                       \
    return

static inline struct redis_bloom *open_with(const char *settings,
                                            enum redis_bloom_mode mode,
                                            int64_t patience_ms)
{
    const struct redis_place p = redis_server_place(&server, settings);
    struct redis_bloom_options o = {.place = &p,
                                    .mode = mode,
                                    .expect = 20000,
                                    .fpr = 0.001,
                                    .patience_ms = patience_ms};
    struct redis_bloom *b = NULL;
    struct buf why;
    enum status st;

    buf_init(&why, 4096);
    st = redis_bloom_open(&b, &o, &why);
    ck_assert_msg(st == STATUS_OK, "%s", buf_str(&why));
    buf_fini(&why);
    return b;
}

static inline struct redis_bloom *make(void)
{
    return open_with("", REDIS_BLOOM_MAKE, 120000);
}

static inline void nth_keys(uint64_t *keys, uint64_t first, size_t n)
{
    for (size_t i = 0; i < n; i++)
        keys[i] = nth_key(first + i);
}

static inline struct redis_keys digests(const uint64_t *keys)
{
    return (struct redis_keys){.digest = keys};
}

/* Adds the keys first .. first + n - 1; returns how many were new. */
static inline size_t add(struct redis_bloom *b, uint64_t first, size_t n)
{
    uint64_t *keys = xmalloc(n * sizeof *keys);
    bool *fresh = xmalloc(n * sizeof *fresh);
    size_t got = 0;

    nth_keys(keys, first, n);
    ck_ok(redis_bloom_add(b, digests(keys), n, fresh));
    for (size_t i = 0; i < n; i++)
        got += fresh[i];
    free(keys);
    free(fresh);
    return got;
}

static inline size_t maybes(struct redis_bloom *b, uint64_t first, size_t n)
{
    uint64_t *keys = xmalloc(n * sizeof *keys);
    bool *maybe = xmalloc(n * sizeof *maybe);
    size_t got = 0;

    nth_keys(keys, first, n);
    ck_ok(redis_bloom_check(b, digests(keys), n, maybe));
    for (size_t i = 0; i < n; i++)
        got += maybe[i];
    free(keys);
    free(maybe);
    return got;
}

static inline void rest_ms(long ms)
{
    struct timespec t = {0, ms * 1000000};

    nanosleep(&t, NULL);
}

#endif
