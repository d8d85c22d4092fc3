/* SPDX-License-Identifier: MIT */
/*
 * redis_peers.c - a Bloom filter in a redis-server, as users make them.
 *
 * The server is our own, without persistence, on a Unix socket in a temporary
 * directory. The marks of a key are h1 + i h2 modulo m, h1 and h2 the halves of
 * the digest. The CPU of the server comes from its INFO and is added to ours:
 * the sum is the cost of a check.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/support/filter_peers.h"
#include "bench/support/own_redis.h"
#include "cli/filter/filter_measure.h"
#include "filter/sizing.h"

#define SCRIPT_KEYS   64
#define PIPELINE_KEYS 256
#define MOST_MARKS    32

/* The marks of all keys of a call, one after the other; k for each key. Returns
 * how many keys have all their marks set. */
static const char add_script[] =
    "for i = 2, #ARGV do redis.call('SETBIT', KEYS[1], ARGV[i], 1) end "
    "return 0";
static const char check_script[] =
    "local k, all = tonumber(ARGV[1]), 0 "
    "for i = 2, #ARGV, k do local hit = 1 "
    "for j = i, i + k - 1 do "
    "if redis.call('GETBIT', KEYS[1], ARGV[j]) == 0 then hit = 0 break end "
    "end all = all + hit end return all";

struct redis_filter {
    struct own_redis server;
    uint64_t bits;
    unsigned k;
    bool script;
};

/* ---- marks ---- */

static uint64_t mark(const struct redis_filter *f, uint64_t key, unsigned i)
{
    uint64_t h1 = key & 0xffffffff, h2 = key >> 32 | 1;

    return (h1 * UINT64_C(0x9e3779b97f4a7c15) + i * h2) % f->bits;
}

static long long answer(struct redis_filter *f)
{
    redisReply *r = NULL;
    long long value;

    if (redisGetReply(f->server.c, (void **)&r) != REDIS_OK ||
        r->type != REDIS_REPLY_INTEGER)
        abort();
    value = r->integer;
    freeReplyObject(r);
    return value;
}

static uint64_t call_bits(struct redis_filter *f, const uint64_t *keys,
                          size_t n, bool add)
{
    uint64_t all = 0;

    for (size_t j = 0; j < n; j++)
        for (unsigned i = 0; i < f->k; i++)
            redisAppendCommand(f->server.c,
                               add ? "SETBIT seen %llu 1" : "GETBIT seen %llu",
                               (unsigned long long)mark(f, keys[j], i));
    for (size_t j = 0; j < n; j++) {
        unsigned set = 0;

        for (unsigned i = 0; i < f->k; i++)
            set += answer(f) != 0;
        all += set == f->k;
    }
    return all;
}

static uint64_t call_script(struct redis_filter *f, const uint64_t *keys,
                            size_t n, bool add)
{
    static char text[SCRIPT_KEYS * MOST_MARKS + 1][24];
    const char *arg[SCRIPT_KEYS * MOST_MARKS + 5] = {"EVAL",
                                                     add ? add_script
                                                         : check_script,
                                                     "1", "seen"};
    int count = 4;

    snprintf(text[0], sizeof text[0], "%u", f->k);
    arg[count++] = text[0];
    for (size_t j = 0; j < n; j++)
        for (unsigned i = 0; i < f->k; i++, count++) {
            char *to = text[count - 4];

            snprintf(to, sizeof text[0], "%llu",
                     (unsigned long long)mark(f, keys[j], i));
            arg[count] = to;
        }
    redisAppendCommandArgv(f->server.c, count, arg, NULL);
    return (uint64_t)answer(f);
}

/* ---- measuring ---- */

/* Returns ns a key of both processes. Adds keys 0 .. n - 1, or checks keys;
 * `held`: ones that were added. *maybes: how many were found. */
static double run_batches(struct redis_filter *f, uint64_t n, uint64_t held,
                          bool add, uint64_t *maybes)
{
    size_t most = f->script ? SCRIPT_KEYS : PIPELINE_KEYS;
    double server = own_redis_cpu(&f->server);
    int64_t t = filter_measure_now();
    uint64_t keys[PIPELINE_KEYS], all = 0;

    for (uint64_t i = 0; i < n; i += most) {
        size_t m = n - i < most ? (size_t)(n - i) : most;

        for (size_t j = 0; j < m; j++)
            keys[j] =
                filter_measure_key(add        ? i + j
                                   : held > 0 ? filter_measure_key(i + j) % held
                                              : (UINT64_C(1) << 62) + i + j);
        all += (f->script ? call_script : call_bits)(f, keys, m, add);
    }
    *maybes = all;
    t = filter_measure_now() - t;
    return ((double)t + own_redis_cpu(&f->server) - server) / (double)n;
}

bool peer_redis(struct peer_result *r, uint64_t keys, double fpr, bool script,
                const char **why)
{
    struct redis_filter f = {.script = script};
    uint64_t ignored, right;

    f.bits = sizing_plain_bits(keys, fpr);
    f.k = sizing_plain_hashes(f.bits, keys);
    *why = "not installed (redis-server)";
    if (f.k > MOST_MARKS || !own_redis_start(&f.server))
        return false;
    r->asked = keys;
    r->insert = run_batches(&f, keys, 0, true, &ignored);
    r->miss = run_batches(&f, r->asked, 0, false, &r->wrong);
    r->hit = run_batches(&f, r->asked, keys, false, &right);
    r->bits = (double)f.bits / (double)keys;
    own_redis_stop(&f.server);
    if (right == r->asked)
        return true;
    *why = "it lost a key";
    return false;
}
