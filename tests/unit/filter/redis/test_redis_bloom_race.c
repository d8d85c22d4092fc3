/* SPDX-License-Identifier: MIT */
/*
 * test_redis_bloom_race.c - a Bloom filter that processes share: who wins a
 * key, also when responses are lost or processes killed, and resizing while
 * everyone goes on.
 */
#include <sys/mman.h>

#include "tests/unit/filter/redis/redis_bloom_rig.h"

enum { RACERS = 4, RACE_KEYS = 20000 };

/* Makes shared memory for each racer's count of wins for each key. */
static uint8_t *shared_counts(size_t n)
{
    uint8_t *p = mmap(NULL, n, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    ck_assert_ptr_ne(p, MAP_FAILED);
    return p;
}

/* Adds all keys in batches of 500; each racer has its own order. */
static void race(unsigned who, uint8_t *wins)
{
    struct redis_bloom *b = open_with("", REDIS_BLOOM_OPEN, 120000);
    uint64_t keys[500];
    bool fresh[500];

    for (uint64_t batch = 0; batch < RACE_KEYS / 500; batch++) {
        uint64_t first = (batch + who * 7) % (RACE_KEYS / 500) * 500;

        nth_keys(keys, first, 500);
        ck_ok(redis_bloom_add(b, digests(keys), 500, fresh));
        for (size_t i = 0; i < 500; i++)
            if (fresh[i])
                __atomic_add_fetch(&wins[first + i], 1, __ATOMIC_RELAXED);
    }
    redis_bloom_free(b);
}

static pid_t fork_racer(unsigned who, uint8_t *wins)
{
    pid_t p = fork();

    if (p == 0) {
        race(who, wins);
        _exit(0);
    }
    return p;
}

static void join(const pid_t *racers, int n)
{
    for (int i = 0; i < n; i++) {
        int how;

        ck_assert_int_eq(waitpid(racers[i], &how, 0), racers[i]);
        ck_assert(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    }
}

/* A filter that 20,000 keys fill to its promise leaves about 3 keys without a
 * winner; it leaves more than these once in 10^20 runs (Poisson). */
#define FALSE_POSITIVES 30

/* Checks that no key has more than one winner and that at most `most` have
 * none, as false positives do. */
static void one_winner_each(const uint8_t *wins, unsigned most)
{
    unsigned none = 0;

    for (size_t i = 0; i < RACE_KEYS; i++) {
        ck_assert_msg(wins[i] <= 1, "key %zu has %u winners", i, wins[i]);
        none += wins[i] == 0;
    }
    ck_assert_uint_le(none, most);
}

FIXTURE(start, end);

/* Promise (Seen check and store): a filter in Redis: a batch is one step, a key
 * is new for exactly one process, a confirmed key is in, and a filter that is
 * gone is not mistaken for an empty one. See also
 * `redis_bloom_race/a_server_killed_mid_batch_and_restarted_costs_no_key`,
 * `redis_bloom_race/a_batch_whose_answer_was_lost_is_answered_as_the_first_time`,
 * `redis_bloom_gone/a_filter_that_is_gone_is_not_taken_for_an_empty_one`,
 * `redis_bloom_gone/a_server_that_forgot_what_it_confirmed_is_found_out`,
 * `tests/cli/filter-redis.sh`. */
TEST(of_processes_that_add_a_key_at_once_exactly_one_wins)
{
    uint8_t *wins = shared_counts(RACE_KEYS);
    pid_t racers[RACERS];

    NEEDS_SERVER;
    redis_bloom_free(make());
    for (unsigned i = 0; i < RACERS; i++)
        racers[i] = fork_racer(i, wins);
    join(racers, RACERS);
    one_winner_each(wins, FALSE_POSITIVES);
}

static size_t winners(const uint8_t *wins)
{
    size_t n = 0;

    for (size_t i = 0; i < RACE_KEYS; i++)
        n += __atomic_load_n(&wins[i], __ATOMIC_RELAXED) != 0;
    return n;
}

/* With appendfsync always, what was confirmed survives the restart, and what
 * was not is asked for again. A log that was cut inside a batch returns half of
 * it at the second restart (Redis 7.0): its keys have no winner, and no key has
 * two. */
TEST(a_server_killed_mid_batch_and_restarted_costs_no_key)
{
    uint8_t *wins = shared_counts(RACE_KEYS);
    struct redis_bloom *b;
    pid_t racers[RACERS];

    NEEDS_SERVER;
    redis_bloom_free(make());
    for (unsigned i = 0; i < RACERS; i++)
        racers[i] = fork_racer(i, wins);
    for (int kills = 0; kills < 4; kills++) {
        while (winners(wins) < (size_t)RACE_KEYS * (size_t)(kills + 1) / 8)
            rest_ms(1);
        redis_server_kill(&server);
        redis_server_run(&server);
    }
    join(racers, RACERS);
    b = make();
    ck_assert_uint_eq(maybes(b, 0, RACE_KEYS), RACE_KEYS);
    redis_bloom_free(b);
    one_winner_each(wins, FALSE_POSITIVES + 4 * RACERS * 500);
}

TEST(a_batch_whose_answer_was_lost_is_answered_as_the_first_time)
{
    uint64_t keys[2000];
    bool first[2000], second[2000];
    struct redis_bloom *b;

    NEEDS_SERVER;
    b = make();
    (void)add(b, 0, 1000);
    nth_keys(keys, 500, 2000);
    ck_ok(redis_bloom_add(b, digests(keys), 2000, first));
    b->batch -= 2; /* as if the answer had been lost */
    redis_connection_lose(b->link);
    ck_ok(redis_bloom_add(b, digests(keys), 2000, second));
    ck_assert_mem_eq(first, second, sizeof first);
    ck_ok(redis_bloom_add(b, digests(keys), 2000, second));
    for (int i = 0; i < 2000; i++)
        ck_assert(!second[i]);
    redis_bloom_free(b);
}

/* ---- resizing while everyone goes on ---- */

/* Adds keys from RACE_KEYS on until told to stop, and reports how many. */
static void write_on(uint8_t *shared)
{
    struct redis_bloom *b = open_with("", REDIS_BLOOM_OPEN, 120000);
    uint64_t n = 0;

    while (!__atomic_load_n(&shared[0], __ATOMIC_ACQUIRE)) {
        (void)add(b, RACE_KEYS + n, 100);
        n += 100;
        __atomic_store_n((uint64_t *)(shared + 8), n, __ATOMIC_RELEASE);
    }
    redis_bloom_free(b);
}

/* Waits until the writer has reported more than `before` keys; returns how
 * many. */
static uint64_t written_since(const uint8_t *shared, uint64_t before)
{
    uint64_t n;

    while ((n = __atomic_load_n((const uint64_t *)(shared + 8),
                                __ATOMIC_ACQUIRE)) <= before)
        rest_ms(1);
    return n;
}

/* Promise (Seen check and store): a filter in Redis is rebuilt while it is
 * used, and no key is missed at the swap. See also
 * `redis_bloom_race/of_two_rebuilds_the_later_one_takes_place`. */
TEST(a_rebuild_misses_no_key_while_others_write)
{
    uint8_t *shared = shared_counts(4096);
    uint64_t keys[500], written = 0;
    struct redis_bloom *b;
    pid_t writer;

    NEEDS_SERVER;
    b = make();
    (void)add(b, 0, RACE_KEYS);
    writer = fork();
    if (writer == 0) {
        write_on(shared);
        _exit(0);
    }
    for (unsigned i = 1; i <= 5; i++) {
        struct redis_bloom_info info;

        written = written_since(shared, written);
        ck_ok(redis_bloom_rebuild(b, 100000 * i, 0.001));
        /* All keys from before the rebuild; the writer may not have reported
         * its last batch yet. */
        written = written_since(shared, written - 1);
        for (uint64_t at = 0; at < RACE_KEYS + written + 100; at += 500) {
            nth_keys(keys, at, 500);
            ck_ok(redis_bloom_refill(b, digests(keys), 500));
        }
        ck_ok(redis_bloom_swap(b, false));
        redis_bloom_known(b, &info);
        ck_assert(!info.rebuilding);
        ck_assert_uint_eq(info.expect, 100000 * i);
    }
    __atomic_store_n(&shared[0], 1, __ATOMIC_RELEASE);
    join(&writer, 1);
    written = written_since(shared, written - 1);
    ck_assert_uint_eq(maybes(b, 0, RACE_KEYS + written), RACE_KEYS + written);
    redis_bloom_free(b);
}

/* What a cut log may leave behind: a RENAME without the new record. */
TEST(half_a_swap_is_not_taken_for_a_filter)
{
    struct redis_bloom *b;
    uint64_t key = nth_key(0);
    bool maybe;

    NEEDS_SERVER;
    b = make();
    (void)add(b, 0, 100);
    ck_ok(redis_bloom_rebuild(b, 90000, 0.001));
    (void)redis_server_do(&server, "RENAME test:next test");
    ck_assert_int_eq(redis_bloom_check(b, digests(&key), 1, &maybe),
                     STATUS_NOT_FOUND);
    redis_bloom_free(b);
}

TEST(of_two_rebuilds_the_later_one_takes_place)
{
    struct redis_bloom *a, *b;
    uint64_t key = nth_key(0);

    NEEDS_SERVER;
    a = make();
    b = make();
    (void)add(a, 0, 100);
    ck_ok(redis_bloom_rebuild(a, 30000, 0.001));
    ck_ok(redis_bloom_refill(a, digests(&key), 1));
    ck_ok(redis_bloom_rebuild(b, 40000, 0.001));
    ck_assert_int_eq(redis_bloom_refill(a, digests(&key), 1), STATUS_NOT_FOUND);
    ck_assert_int_eq(redis_bloom_swap(a, false), STATUS_NOT_FOUND);
    ck_ok(redis_bloom_abort(b));
    ck_assert_uint_eq(maybes(a, 0, 100), 100);
    ck_assert_int_eq(redis_server_do(&server, "EXISTS test:next"), 0);
    /* A swap whose answer was lost is neither repeated nor reported as
     * failed. */
    ck_ok(redis_bloom_rebuild(b, 40000, 0.001));
    char token[REDIS_TOKEN_SIZE];
    memcpy(token, b->token, sizeof token);
    ck_ok(redis_bloom_swap(b, true));
    memcpy(b->token, token, sizeof token);
    ck_ok(redis_bloom_swap(b, true));
    redis_bloom_free(a);
    redis_bloom_free(b);
}
