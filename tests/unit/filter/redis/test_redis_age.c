/* SPDX-License-Identifier: MIT */
/*
 * test_redis_age.c - a shared filter that forgets its keys, or ends and is
 * begun anew. The clock is the server's, so tests move what the record says of
 * it, and the times at which the server removes what is over.
 */
#include <sys/mman.h>

#include "tests/unit/filter/redis/redis_bloom_rig.h"

#define TTL 1000000 /* ms */

static const char pass_script[] =
    "for _, f in ipairs({'born', 'last', 'last1', 'last2', 'last3', 'last4'}) "
    "do if redis.call('HEXISTS', 'test:meta', f) == 1 then "
    "redis.call('HINCRBY', 'test:meta', f, '-' .. ARGV[1]) end end "
    "for _, k in ipairs({'test', 'test:old1', 'test:old2', 'test:old3', "
    "'test:old4'}) do local left = redis.call('PTTL', k) "
    "if left > 0 then redis.call('PEXPIRE', k, left - ARGV[1]) end end";

/* Lets so many ms pass. */
static void pass(int64_t ms)
{
    redisContext *c = redisConnectUnix(server.socket);
    redisReply *r;

    ck_assert(c != NULL && c->err == 0);
    r = redisCommand(c, "EVAL %s 0 %lld", pass_script, (long long)ms);
    ck_assert(r != NULL && r->type != REDIS_REPLY_ERROR);
    freeReplyObject(r);
    redisFree(c);
}

static struct redis_bloom *make_aged(unsigned n, uint64_t expect)
{
    const struct redis_place p = redis_server_place(&server, "");
    struct redis_bloom_options o = {.place = &p,
                                    .mode = REDIS_BLOOM_NEW,
                                    .expect = expect,
                                    .fpr = 0.001,
                                    .ttl_ms = TTL,
                                    .generations = n,
                                    .patience_ms = 120000};
    struct redis_bloom *b;

    ck_ok(redis_bloom_open(&b, &o, NULL));
    return b;
}

FIXTURE(start, end);

/* For each number of generations, keys added at each tenth of the time to live:
 * all are there until it is over, and none after the last moment. */
TEST(a_key_is_kept_for_its_time_and_not_much_longer)
{
    NEEDS_SERVER;
    for (unsigned n = 1; n <= FILTER_GENERATIONS_MOST; n++) {
        struct redis_bloom *b = make_aged(n, 1500);
        struct redis_bloom_info i;

        for (uint64_t t = 0; t < 25; t++) {
            ck_assert_uint_ge(add(b, t * 100, 100), 98);
            for (uint64_t old = 0; old <= t; old++) {
                uint64_t age = (t - old) * TTL / 10;
                size_t there = maybes(b, old * 100, 100);

                if (age < TTL)
                    ck_assert_uint_eq(there, 100);
                else if (age > TTL + TTL / n)
                    ck_assert_uint_le(there, 4);
            }
            pass(TTL / 10);
        }
        ck_ok(redis_bloom_inspect(b, &i));
        ck_assert_uint_ge(i.count, 990);
        ck_assert_uint_le(i.count, 1000 + 1000 / n + 100);
        ck_assert_double_le(i.fpr_predicted, 0.0011);
        ck_assert(!i.overfull && i.generations == n && i.ttl_ms == TTL);
        /* Nothing is asked for, and nothing is there. */
        pass(3 * TTL);
        ck_assert_uint_eq(maybes(b, 0, 2500), 0);
        ck_ok(redis_bloom_inspect(b, &i));
        ck_assert_uint_eq(i.count, 0);
        ck_assert_uint_eq(add(b, 2400, 10), 10);
        ck_assert_uint_eq(maybes(b, 2400, 10), 10);
        ck_ok(redis_bloom_drop(b));
        ck_assert_int_eq(redis_server_do(&server,
                                         "EXISTS test test:meta test:old1 "
                                         "test:old2 test:old3 test:old4"),
                         0);
        redis_bloom_free(b);
    }
}

/* Several processes add while generations begin: each key has one winner, and
 * none is lost. */
enum { RACERS = 4, RACE_KEYS = 20000 };

static void race(unsigned who, uint8_t *wins)
{
    struct redis_bloom *b = open_with("", REDIS_BLOOM_OPEN, 120000);
    uint64_t keys[100];
    bool fresh[100];

    for (uint64_t batch = 0; batch < RACE_KEYS / 100; batch++) {
        uint64_t first = (batch + who * 37) % (RACE_KEYS / 100) * 100;

        nth_keys(keys, first, 100);
        ck_ok(redis_bloom_add(b, digests(keys), 100, fresh));
        for (size_t i = 0; i < 100; i++)
            if (fresh[i])
                __atomic_add_fetch(&wins[first + i], 1, __ATOMIC_RELAXED);
        __atomic_add_fetch(&wins[RACE_KEYS], batch % 64 == 0, __ATOMIC_RELAXED);
    }
    redis_bloom_free(b);
}

TEST(clients_that_meet_a_new_generation_lose_no_key)
{
    uint8_t *wins = mmap(NULL, RACE_KEYS + 1, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct redis_bloom *b;
    pid_t racers[RACERS];
    unsigned none = 0;
    uint64_t least = 0;

    ck_assert_ptr_ne(wins, MAP_FAILED);
    NEEDS_SERVER;
    b = make_aged(4, 4 * RACE_KEYS);
    for (unsigned i = 0; i < RACERS; i++) {
        racers[i] = fork();
        if (racers[i] == 0) {
            race(i, wins);
            _exit(0);
        }
    }
    /* 16 marks in all; a generation is due at a third, a fifth ... of them. */
    for (int i = 1; i <= 3; i++) {
        while (__atomic_load_n(&wins[RACE_KEYS], __ATOMIC_RELAXED) < 4 * i)
            rest_ms(1);
        pass(TTL / 4 + 1);
    }
    for (int i = 0; i < RACERS; i++) {
        int how;

        ck_assert_int_eq(waitpid(racers[i], &how, 0), racers[i]);
        ck_assert(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    }
    for (size_t i = 0; i < RACE_KEYS; i++) {
        ck_assert_msg(wins[i] <= 1, "key %zu has %u winners", i, wins[i]);
        none += wins[i] == 0;
    }
    ck_assert_uint_le(none, 30); /* false positives */
    ck_assert_uint_eq(maybes(b, 0, RACE_KEYS), RACE_KEYS);
    (void)add(b, 0, 1); /* reads the record */
    least = b->record.olds;
    ck_assert_uint_ge(least, 2);
    redis_bloom_free(b);
    munmap(wins, RACE_KEYS + 1);
}

TEST(the_time_to_live_can_be_changed)
{
    struct redis_bloom *b, *other;

    NEEDS_SERVER;
    b = make_aged(2, 1500);
    other = open_with("", REDIS_BLOOM_OPEN, 5000);
    for (int t = 0; t < 5; t++) { /* the oldest of them is over then */
        ck_assert_uint_eq(add(b, (uint64_t)t * 100, 100), 100);
        pass(t < 4 ? TTL / 2 : TTL / 4);
    }
    ck_assert_uint_eq(maybes(b, 400, 100), 100);
    ck_ok(redis_bloom_set_ttl(b, 10 * TTL));
    ck_assert_uint_le(maybes(b, 0, 300), 2); /* what is forgotten stays so */
    pass(9 * TTL);
    ck_assert_uint_eq(maybes(other, 400, 100), 100);
    ck_assert_uint_eq(maybes(other, 300, 100), 100);
    (void)add(other, 500, 100);
    ck_assert_uint_eq(maybes(b, 400, 200), 200);
    ck_ok(redis_bloom_set_ttl(b, TTL));
    ck_assert_uint_le(maybes(other, 300, 200), 2);
    ck_assert_uint_eq(maybes(other, 500, 100), 100);
    ck_assert_int_eq(redis_bloom_set_ttl(b, 0), STATUS_ARG);
    redis_bloom_free(other);
    ck_assert_int_eq(redis_bloom_rebuild(b, 1000, 0.01), STATUS_ARG);
    ck_ok(redis_bloom_drop(b));
    redis_bloom_free(b);
    b = make();
    ck_assert_int_eq(redis_bloom_set_ttl(b, TTL), STATUS_ARG);
    redis_bloom_free(b);
}

/* How often the server ran a command since CONFIG RESETSTAT. */
static int calls_of(const char *command)
{
    redisContext *c = redisConnectUnix(server.socket);
    redisReply *r;
    char name[64];
    const char *at;
    int n = 0;

    ck_assert(c != NULL && c->err == 0);
    r = redisCommand(c, "INFO commandstats");
    snprintf(name, sizeof name, "cmdstat_%s:calls=", command);
    ck_assert(r != NULL && r->type == REDIS_REPLY_STRING);
    at = strstr(r->str, name);
    if (at != NULL)
        n = atoi(at + strlen(name));
    freeReplyObject(r);
    redisFree(c);
    return n;
}

/* No command makes or clears more than 1 MiB: a generation of several MiB is
 * grown under another name, piece by piece. */
TEST(a_large_generation_begins_in_pieces)
{
    struct redis_bloom *b;
    int grown;

    NEEDS_SERVER;
    b = make_aged(2, 4000000);
    ck_assert_int_gt(redis_server_do(&server, "STRLEN test"), 4000000);
    ck_assert_uint_eq(add(b, 0, 100), 100);
    (void)redis_server_do(&server, "CONFIG RESETSTAT");
    pass(TTL / 2);
    ck_assert_uint_eq(add(b, 100, 100), 100);
    grown = calls_of("setrange");
    ck_assert_int_ge(grown, 4);
    ck_assert_int_eq(redis_server_do(&server, "DBSIZE"), 4); /* an answer */
    ck_assert_int_gt(redis_server_do(&server, "STRLEN test"), 4000000);
    ck_assert_int_gt(redis_server_do(&server, "STRLEN test:old1"), 4000000);
    ck_assert_int_eq(redis_server_do(&server, "PTTL test"), -1);
    ck_assert_int_gt(redis_server_do(&server, "PTTL test:old1"), 0);
    ck_assert_uint_eq(maybes(b, 0, 200), 200);
    redis_bloom_free(b);
}

TEST(a_filter_that_ended_is_begun_anew_and_one_that_is_gone_is_not)
{
    struct redis_bloom *b, *other;
    struct redis_bloom_info i;
    uint64_t key = nth_key(0);
    bool maybe;

    NEEDS_SERVER;
    b = open_with("ttl=1h", REDIS_BLOOM_NEW, 5000);
    other = open_with("", REDIS_BLOOM_OPEN, 5000);
    (void)add(b, 0, 100);
    (void)redis_server_do(&server, "DEL test");
    ck_assert_int_eq(redis_bloom_renew(b), STATUS_NOT_FOUND);
    (void)redis_server_do(&server, "DEL test:meta");
    redis_bloom_free(b);
    b = open_with("ttl=1h", REDIS_BLOOM_NEW, 5000);
    redis_bloom_free(other);
    other = open_with("", REDIS_BLOOM_OPEN, 5000);
    (void)add(b, 0, 100);
    ck_ok(redis_bloom_renew(b)); /* it is there */
    ck_assert_uint_eq(maybes(b, 0, 100), 100);
    pass(3600000);
    ck_assert_int_eq(redis_bloom_check(b, digests(&key), 1, &maybe),
                     STATUS_NOT_FOUND);
    ck_ok(redis_bloom_renew(b));
    ck_assert_uint_eq(add(b, 0, 50), 50);
    ck_ok(redis_bloom_renew(other));
    ck_assert_uint_eq(maybes(other, 0, 50), 50); /* not begun a second time */
    ck_ok(redis_bloom_inspect(other, &i));
    ck_assert_uint_eq(i.count, 50);
    ck_assert_uint_eq(i.expect, 20000);
    ck_assert(i.ends_ms > 3500000 && i.ends_ms <= 3600000);
    ck_ok(redis_bloom_set_ttl(other, 7200000));
    ck_ok(redis_bloom_inspect(b, &i));
    ck_assert(i.ends_ms > 7000000 && i.ends_ms <= 7200000);
    redis_bloom_free(other);
    redis_bloom_free(b);
}

/* A crawl's exact set is asked after "maybe" alone. */
TEST(a_crawl_refuses_a_filter_that_forgets)
{
    struct filter_options o = {.kind = "redis", .expect = 100, .fpr = 0.01};
    struct filter *f;
    char url[256];

    NEEDS_SERVER;
    redis_bloom_free(make_aged(2, 1500));
    snprintf(url, sizeof url, "%s?key=test", server.url);
    o.redis = url;
    redis_server_quiet();
    ck_assert_int_eq(filter_new(&f, &o), STATUS_ARG);
}
