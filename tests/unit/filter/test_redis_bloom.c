/* SPDX-License-Identifier: MIT */
/* test_redis_bloom.c - a Bloom filter that processes share, on a real server.
 */
#include <check.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "filter/block.h"
#include "filter/redis_impl.h"
#include "tests/unit/filter/keys.h"
#include "tests/unit/filter/redis_server.h"

static struct redis_server server;

static void start(void)
{
    if (!redis_server_missing())
        redis_server_start(&server, true);
}

static void end(void)
{
    if (server.pid != 0)
        redis_server_end(&server);
}

#define NEEDS_SERVER                                                           \
    if (server.pid == 0)                                                       \
    return

static struct redis_bloom *open_with(const char *settings,
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

static struct redis_bloom *make(void)
{
    return open_with("", REDIS_BLOOM_MAKE, 120000);
}

static void nth_keys(uint64_t *keys, uint64_t first, size_t n)
{
    for (size_t i = 0; i < n; i++)
        keys[i] = nth_key(first + i);
}

static struct redis_keys digests(const uint64_t *keys)
{
    return (struct redis_keys){.digest = keys};
}

/* Adds the keys first .. first + n - 1; how many were new. */
static size_t add(struct redis_bloom *b, uint64_t first, size_t n)
{
    uint64_t *keys = xmalloc(n * sizeof *keys);
    bool *fresh = xmalloc(n * sizeof *fresh);
    size_t got = 0;

    nth_keys(keys, first, n);
    ck_assert_int_eq(redis_bloom_add(b, digests(keys), n, fresh), STATUS_OK);
    for (size_t i = 0; i < n; i++)
        got += fresh[i];
    free(keys);
    free(fresh);
    return got;
}

static size_t maybes(struct redis_bloom *b, uint64_t first, size_t n)
{
    uint64_t *keys = xmalloc(n * sizeof *keys);
    bool *maybe = xmalloc(n * sizeof *maybe);
    size_t got = 0;

    nth_keys(keys, first, n);
    ck_assert_int_eq(redis_bloom_check(b, digests(keys), n, maybe), STATUS_OK);
    for (size_t i = 0; i < n; i++)
        got += maybe[i];
    free(keys);
    free(maybe);
    return got;
}

START_TEST(keeps_every_key_and_its_promised_rate)
{
    static const char *const settings[] = {"", "layout=plain",
                                           "layout=plain&hash=salted&k=14"};

    NEEDS_SERVER;
    for (int i = 0; i < 3; i++) {
        struct redis_bloom *b = open_with(settings[i], REDIS_BLOOM_NEW, 5000);
        size_t fresh = add(b, 0, 20000);
        struct redis_bloom_info info;

        ck_assert_uint_ge(fresh, 19970);
        ck_assert_uint_eq(maybes(b, 0, 20000), 20000);
        ck_assert_uint_le(maybes(b, 20000, 20000), 40);
        ck_assert_uint_eq(add(b, 0, 20000), 0);
        ck_assert_int_eq(redis_bloom_look(b, &info), STATUS_OK);
        ck_assert_uint_eq(info.count, fresh);
        ck_assert_double_le(info.fpr_predicted, 0.00101);
        ck_assert_uint_gt(info.bits_set, 20000);
        ck_assert_int_eq(redis_bloom_drop(b), STATUS_OK);
        redis_bloom_free(b);
    }
}
END_TEST

START_TEST(a_key_is_fresh_once_also_inside_a_batch)
{
    uint64_t keys[] = {1, 2, 1, 3, 2};
    bool fresh[5], known[] = {true, true, false, true, false};
    struct redis_bloom *b;

    NEEDS_SERVER;
    b = make();
    ck_assert_int_eq(redis_bloom_add(b, digests(keys), 5, fresh), STATUS_OK);
    ck_assert_mem_eq(fresh, known, sizeof known);
    redis_bloom_free(b);
}
END_TEST

/* So a filter file and a Redis string can be compared octet by octet. */
START_TEST(the_string_is_the_image_of_a_filter_in_memory)
{
    enum { BLOCKS = 64 };
    static _Alignas(64) uint64_t words[BLOCKS * BLOCK_LANES];
    static unsigned char octets[sizeof words];
    struct redis_bloom *b;
    redisContext *c;
    redisReply *r;

    NEEDS_SERVER;
    b = open_with("bits=32768&k=8", REDIS_BLOOM_NEW, 5000);
    (void)add(b, 0, 3000);
    for (uint64_t i = 0; i < 3000; i++) {
        uint64_t key = nth_key(i);
        uint64_t *at = words + block_index(key, BLOCKS) * BLOCK_LANES;
        bool fresh;

        block_set(8, &at, &key, 1, &fresh);
    }
    block_export(octets, words, BLOCKS * BLOCK_LANES);
    c = redisConnectUnix(server.socket);
    r = redisCommand(c, "GET test");
    ck_assert_uint_eq((size_t)r->len, sizeof octets);
    ck_assert_mem_eq(r->str, octets, sizeof octets);
    freeReplyObject(r);
    redisFree(c);
    redis_bloom_free(b);
}
END_TEST

/* ---- several processes ---- */

enum { RACERS = 4, RACE_KEYS = 20000 };

/* Each racer's count of wins for each key, in memory they share. */
static uint8_t *shared_counts(size_t n)
{
    uint8_t *p = mmap(NULL, n, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    ck_assert_ptr_ne(p, MAP_FAILED);
    return p;
}

/* Adds all keys in batches of 500, each racer in an order of its own. */
static void race(unsigned who, uint8_t *wins)
{
    struct redis_bloom *b = open_with("", REDIS_BLOOM_OPEN, 120000);
    uint64_t keys[500];
    bool fresh[500];

    for (uint64_t batch = 0; batch < RACE_KEYS / 500; batch++) {
        uint64_t first = (batch + who * 7) % (RACE_KEYS / 500) * 500;

        nth_keys(keys, first, 500);
        ck_assert_int_eq(redis_bloom_add(b, digests(keys), 500, fresh),
                         STATUS_OK);
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

/* No key has more than one winner; at most `most` have none, such as false
 * positives. */
static void one_winner_each(const uint8_t *wins, unsigned most)
{
    unsigned none = 0;

    for (size_t i = 0; i < RACE_KEYS; i++) {
        ck_assert_msg(wins[i] <= 1, "key %zu has %u winners", i, wins[i]);
        none += wins[i] == 0;
    }
    ck_assert_uint_le(none, most);
}

START_TEST(of_processes_that_add_a_key_at_once_exactly_one_wins)
{
    uint8_t *wins = shared_counts(RACE_KEYS);
    pid_t racers[RACERS];

    NEEDS_SERVER;
    redis_bloom_free(make());
    for (unsigned i = 0; i < RACERS; i++)
        racers[i] = fork_racer(i, wins);
    join(racers, RACERS);
    one_winner_each(wins, 30);
}
END_TEST

static void rest_ms(long ms)
{
    struct timespec t = {0, ms * 1000000};

    nanosleep(&t, NULL);
}

/* With appendfsync always, what was confirmed is there after the restart, and
 * what was not is asked for again. A log that was cut inside a batch gives half
 * of it back at the second restart (Redis 7.0): its keys have no winner, and
 * none has two. */
START_TEST(a_server_killed_mid_batch_and_restarted_costs_no_key)
{
    uint8_t *wins = shared_counts(RACE_KEYS);
    struct redis_bloom *b;
    pid_t racers[RACERS];

    NEEDS_SERVER;
    redis_bloom_free(make());
    for (unsigned i = 0; i < RACERS; i++)
        racers[i] = fork_racer(i, wins);
    for (int kills = 0; kills < 4; kills++) {
        rest_ms(30);
        redis_server_kill(&server);
        redis_server_run(&server);
    }
    join(racers, RACERS);
    b = make();
    ck_assert_uint_eq(maybes(b, 0, RACE_KEYS), RACE_KEYS);
    redis_bloom_free(b);
    one_winner_each(wins, 30 + 4 * RACERS * 500);
}
END_TEST

START_TEST(a_batch_whose_answer_was_lost_is_answered_as_the_first_time)
{
    uint64_t keys[2000];
    bool first[2000], second[2000];
    struct redis_bloom *b;

    NEEDS_SERVER;
    b = make();
    (void)add(b, 0, 1000);
    nth_keys(keys, 500, 2000);
    ck_assert_int_eq(redis_bloom_add(b, digests(keys), 2000, first), STATUS_OK);
    b->batch -= 2; /* as if no answer had come */
    redis_link_lose(b->link);
    ck_assert_int_eq(redis_bloom_add(b, digests(keys), 2000, second),
                     STATUS_OK);
    ck_assert_mem_eq(first, second, sizeof first);
    ck_assert_int_eq(redis_bloom_add(b, digests(keys), 2000, second),
                     STATUS_OK);
    for (int i = 0; i < 2000; i++)
        ck_assert(!second[i]);
    redis_bloom_free(b);
}
END_TEST

/* ---- filters that went away ---- */

START_TEST(a_filter_that_is_gone_is_not_taken_for_an_empty_one)
{
    static const char *const ends[] = {"FLUSHALL",
                                       "DEL test",
                                       "DEL test:meta",
                                       "PEXPIRE test 1",
                                       "RENAME test:meta else",
                                       "SETRANGE test 0 x"};
    bool maybe[1];
    uint64_t key = nth_key(0);

    NEEDS_SERVER;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct redis_bloom *b = make(), *other;
        bool gone = i + 1 < sizeof ends / sizeof *ends;

        (void)add(b, 0, 100);
        (void)redis_server_do(&server, ends[i]);
        rest_ms(5);
        ck_assert_int_eq(redis_bloom_check(b, digests(&key), 1, maybe),
                         gone ? STATUS_NOT_FOUND : STATUS_OK);
        ck_assert_int_eq(redis_bloom_add(b, digests(&key), 1, NULL),
                         gone ? STATUS_NOT_FOUND : STATUS_OK);
        if (!gone) {
            redis_bloom_free(b);
            continue;
        }
        (void)redis_server_do(&server, "DEL test");
        other = make(); /* made anew by somebody: still not ours */
        ck_assert_int_eq(redis_bloom_check(b, digests(&key), 1, maybe),
                         STATUS_NOT_FOUND);
        redis_bloom_free(b);
        redis_bloom_free(other);
        (void)redis_server_do(&server, "FLUSHALL");
    }
}
END_TEST

START_TEST(a_server_that_forgot_what_it_confirmed_is_found_out)
{
    struct redis_bloom *b;
    uint64_t key = nth_key(0);
    bool maybe;

    NEEDS_SERVER;
    b = make();
    (void)add(b, 0, 100);
    (void)redis_server_do(&server, "CONFIG SET appendonly no");
    (void)redis_server_do(&server, "SAVE");
    (void)add(b, 100, 100); /* not in the image */
    redis_server_kill(&server);
    server.logged = false;
    redis_server_run(&server);
    ck_assert_int_eq(redis_bloom_check(b, digests(&key), 1, &maybe),
                     STATUS_DAMAGED);
    ck_assert_uint_eq(redis_bloom_restarts(b), 1);
    redis_bloom_free(b);
}
END_TEST

START_TEST(it_ends_when_its_time_is_over)
{
    static const char *const parts[] = {"test", "test:meta"};
    struct redis_bloom *b;
    struct redis_bloom_info info;
    uint64_t key = nth_key(0);
    int64_t before;
    bool maybe;

    NEEDS_SERVER;
    b = open_with("ttl=1h", REDIS_BLOOM_NEW, 5000);
    (void)add(b, 0, 10);
    ck_assert_int_eq(redis_bloom_look(b, &info), STATUS_OK);
    before = info.ttl_ms;
    ck_assert_int_gt(before, 0);
    ck_assert_int_le(before, 3600000);
    rest_ms(5);
    /* A rebuild does not make it live longer. */
    ck_assert_int_eq(redis_bloom_rebuild(b, 50000, 0.001), STATUS_OK);
    ck_assert_int_eq(redis_bloom_swap(b), STATUS_OK);
    ck_assert_int_eq(redis_bloom_look(b, &info), STATUS_OK);
    ck_assert_int_gt(info.ttl_ms, 0);
    ck_assert_int_lt(info.ttl_ms, before);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char command[64];
        long long left;

        snprintf(command, sizeof command, "PTTL %s", parts[i]);
        left = redis_server_do(&server, command);
        ck_assert(left > 0 && left < before);
        snprintf(command, sizeof command, "PEXPIRE %s 1", parts[i]);
        ck_assert_int_eq(redis_server_do(&server, command), 1);
    }
    rest_ms(5);
    ck_assert_int_eq(redis_bloom_check(b, digests(&key), 1, &maybe),
                     STATUS_NOT_FOUND);
    redis_bloom_free(b);
}
END_TEST

START_TEST(dropping_leaves_nothing)
{
    struct redis_bloom *b;

    NEEDS_SERVER;
    b = make();
    ck_assert_int_eq(redis_bloom_rebuild(b, 50000, 0.001), STATUS_OK);
    ck_assert_int_eq(redis_bloom_drop(b), STATUS_OK);
    ck_assert_int_eq(redis_server_do(&server, "DBSIZE"), 0);
    redis_bloom_free(b);
}
END_TEST

/* ---- a server that is short of something ---- */

START_TEST(what_the_server_refuses_is_a_clear_error_and_not_in)
{
    struct redis_bloom *b;
    uint64_t key = nth_key(5000);
    bool fresh = false, maybe = true;

    NEEDS_SERVER;
    b = make();
    (void)add(b, 0, 100);
    (void)redis_server_do(&server, "CONFIG SET maxmemory 1");
    ck_assert_int_eq(redis_bloom_add(b, digests(&key), 1, &fresh), STATUS_FULL);
    (void)redis_server_do(&server, "CONFIG SET maxmemory 0");
    ck_assert_int_eq(redis_bloom_check(b, digests(&key), 1, &maybe), STATUS_OK);
    ck_assert(!maybe);
    (void)redis_server_do(&server, "CONFIG SET min-replicas-to-write 1");
    ck_assert_int_eq(redis_bloom_add(b, digests(&key), 1, &fresh), STATUS_BUSY);
    (void)redis_server_do(&server, "CONFIG SET min-replicas-to-write 0");
    (void)redis_server_do(&server, "SCRIPT FLUSH");
    ck_assert_int_eq(redis_bloom_add(b, digests(&key), 1, &fresh), STATUS_OK);
    ck_assert(fresh);
    (void)redis_server_do(&server, "SCRIPT FLUSH");
    ck_assert_uint_eq(maybes(b, 0, 3000), 100);
    redis_bloom_free(b);
}
END_TEST

START_TEST(what_is_no_filter_of_ours_is_refused_and_left_alone)
{
    const struct redis_place p = redis_server_place(&server, "");
    struct redis_bloom_options o = {.place = &p,
                                    .expect = 100,
                                    .fpr = 0.01,
                                    .patience_ms = 1000};
    static const struct {
        const char *before;
        enum redis_bloom_mode mode;
        enum status st;
    } cases[] = {
        {"DEL nothing", REDIS_BLOOM_OPEN, STATUS_NOT_FOUND},
        {"SET test x", REDIS_BLOOM_OPEN, STATUS_ARG},
        {"SET test x", REDIS_BLOOM_MAKE, STATUS_EXISTS},
        {"LPUSH test x", REDIS_BLOOM_MAKE, STATUS_EXISTS},
        {"SET test:meta x", REDIS_BLOOM_MAKE, STATUS_ARG},
        {"HSET test:meta a b", REDIS_BLOOM_MAKE, STATUS_EXISTS},
        {"HSET test:meta bytes 0 v 2", REDIS_BLOOM_OPEN, STATUS_VERSION},
        {"HSET test:meta bytes 0 v 1 bits 9999999999999", REDIS_BLOOM_OPEN,
         STATUS_FORMAT},
    };

    NEEDS_SERVER;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct redis_bloom *b = (struct redis_bloom *)&o;

        (void)redis_server_do(&server, "FLUSHALL");
        (void)redis_server_do(&server, cases[i].before);
        o.mode = cases[i].mode;
        ck_assert_msg(redis_bloom_open(&b, &o, NULL) == cases[i].st, "%zu", i);
        ck_assert_ptr_null(b);
    }
    (void)redis_server_do(&server, "FLUSHALL");
    redis_bloom_free(open_with("", REDIS_BLOOM_NEW, 1000));
    o.mode = REDIS_BLOOM_NEW;
    struct redis_bloom *twice;
    ck_assert_int_eq(redis_bloom_open(&twice, &o, NULL), STATUS_EXISTS);
    o.expect = UINT64_C(1) << 40;
    ck_assert_int_eq(redis_bloom_open(&twice, &o, NULL), STATUS_LIMIT);
}
END_TEST

START_TEST(a_password_and_a_database_are_used)
{
    struct redis_place p;
    struct redis_bloom_options o = {.place = &p,
                                    .mode = REDIS_BLOOM_MAKE,
                                    .expect = 100,
                                    .fpr = 0.01,
                                    .patience_ms = 1000};
    struct redis_bloom *b;

    NEEDS_SERVER;
    p = redis_server_place(&server, "db=3");
    (void)redis_server_do(&server, "CONFIG SET requirepass secret");
    ck_assert_int_eq(redis_bloom_open(&b, &o, NULL), STATUS_ARG);
    snprintf(p.password, sizeof p.password, "wrong");
    ck_assert_int_eq(redis_bloom_open(&b, &o, NULL), STATUS_ARG);
    snprintf(p.password, sizeof p.password, "secret");
    ck_assert_int_eq(redis_bloom_open(&b, &o, NULL), STATUS_OK);
    ck_assert_uint_ge(add(b, 0, 10), 9);
    redis_bloom_free(b);
    snprintf(p.user, sizeof p.user, "default");
    ck_assert_int_eq(redis_bloom_open(&b, &o, NULL), STATUS_OK);
    ck_assert_uint_eq(maybes(b, 0, 10), 10);
    redis_bloom_free(b);
}
END_TEST

/* ---- bitmaps of others ---- */

/* What another program does: SETBIT for each of its offsets. */
static void set_as_others(const struct redis_geometry *g, struct bytes key)
{
    uint32_t offsets[REDIS_MOST_K];

    redis_bits_of(g, (struct redis_keys){.text = &key}, 0, offsets);
    for (unsigned i = 0; i < g->k; i++) {
        char command[64];

        snprintf(command, sizeof command, "SETBIT test %u 1", offsets[i]);
        (void)redis_server_do(&server, command);
    }
}

START_TEST(a_bitmap_of_others_is_read_and_written)
{
    struct redis_geometry g = {REDIS_PLAIN, REDIS_SALTED, 14, 20000};
    struct bytes keys[2] = {bytes_of_str("http://a.example/"),
                            bytes_of_str("http://b.example/")};
    struct redis_bloom *b;
    bool answers[2];

    NEEDS_SERVER;
    set_as_others(&g, keys[0]);
    b = open_with("layout=plain&hash=salted&bits=20000", REDIS_BLOOM_OPEN,
                  1000);
    ck_assert_int_eq(redis_bloom_check(b, (struct redis_keys){.text = keys}, 2,
                                       answers),
                     STATUS_OK);
    ck_assert(answers[0] && !answers[1]);
    ck_assert_int_eq(redis_bloom_add(b, (struct redis_keys){.text = keys}, 2,
                                     answers),
                     STATUS_OK);
    ck_assert(!answers[0] && answers[1]);
    ck_assert_int_eq(redis_bloom_drop(b), STATUS_ARG);
    (void)redis_server_do(&server, "DEL test");
    ck_assert_int_eq(redis_bloom_check(b, (struct redis_keys){.text = keys}, 2,
                                       answers),
                     STATUS_NOT_FOUND);
    redis_bloom_free(b);
}
END_TEST

/* ---- another size while everyone goes on ---- */

/* Adds keys from RACE_KEYS on until it is told to stop; how many. */
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

/* How many keys the writer has told of, once that are more than `before`. */
static uint64_t written_since(const uint8_t *shared, uint64_t before)
{
    uint64_t n;

    while ((n = __atomic_load_n((const uint64_t *)(shared + 8),
                                __ATOMIC_ACQUIRE)) <= before)
        rest_ms(1);
    return n;
}

START_TEST(a_rebuild_misses_no_key_while_others_write)
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
        ck_assert_int_eq(redis_bloom_rebuild(b, 100000 * i, 0.001), STATUS_OK);
        /* All from before it began; of the last batch the writer may not have
         * told yet. */
        written = written_since(shared, written - 1);
        for (uint64_t at = 0; at < RACE_KEYS + written + 100; at += 500) {
            nth_keys(keys, at, 500);
            ck_assert_int_eq(redis_bloom_refill(b, digests(keys), 500),
                             STATUS_OK);
        }
        ck_assert_int_eq(redis_bloom_swap(b), STATUS_OK);
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
END_TEST

/* What a log that was cut may give back: a RENAME without the new record. */
START_TEST(half_a_swap_is_not_taken_for_a_filter)
{
    struct redis_bloom *b;
    uint64_t key = nth_key(0);
    bool maybe;

    NEEDS_SERVER;
    b = make();
    (void)add(b, 0, 100);
    ck_assert_int_eq(redis_bloom_rebuild(b, 90000, 0.001), STATUS_OK);
    (void)redis_server_do(&server, "RENAME test:next test");
    ck_assert_int_eq(redis_bloom_check(b, digests(&key), 1, &maybe),
                     STATUS_NOT_FOUND);
    redis_bloom_free(b);
}
END_TEST

START_TEST(of_two_rebuilds_the_later_one_takes_place)
{
    struct redis_bloom *a, *b;
    uint64_t key = nth_key(0);

    NEEDS_SERVER;
    a = make();
    b = make();
    (void)add(a, 0, 100);
    ck_assert_int_eq(redis_bloom_rebuild(a, 30000, 0.001), STATUS_OK);
    ck_assert_int_eq(redis_bloom_refill(a, digests(&key), 1), STATUS_OK);
    ck_assert_int_eq(redis_bloom_rebuild(b, 40000, 0.001), STATUS_OK);
    ck_assert_int_eq(redis_bloom_refill(a, digests(&key), 1), STATUS_NOT_FOUND);
    ck_assert_int_eq(redis_bloom_swap(a), STATUS_NOT_FOUND);
    ck_assert_int_eq(redis_bloom_abort(b), STATUS_OK);
    ck_assert_uint_eq(maybes(a, 0, 100), 100);
    ck_assert_int_eq(redis_server_do(&server, "EXISTS test:next"), 0);
    /* Its answer lost, a swap is not done twice, and not called failed. */
    ck_assert_int_eq(redis_bloom_rebuild(b, 40000, 0.001), STATUS_OK);
    char token[REDIS_TOKEN_SIZE];
    memcpy(token, b->token, sizeof token);
    ck_assert_int_eq(redis_bloom_swap(b), STATUS_OK);
    memcpy(b->token, token, sizeof token);
    ck_assert_int_eq(redis_bloom_swap(b), STATUS_OK);
    redis_bloom_free(a);
    redis_bloom_free(b);
}
END_TEST

Suite *suite_redis_bloom(void)
{
    Suite *s = suite_create("redis_bloom");
    TCase *t = tcase_create("server");

    tcase_add_checked_fixture(t, start, end);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, keeps_every_key_and_its_promised_rate);
    tcase_add_test(t, a_key_is_fresh_once_also_inside_a_batch);
    tcase_add_test(t, the_string_is_the_image_of_a_filter_in_memory);
    tcase_add_test(t, of_processes_that_add_a_key_at_once_exactly_one_wins);
    tcase_add_test(t, a_server_killed_mid_batch_and_restarted_costs_no_key);
    tcase_add_test(t,
                   a_batch_whose_answer_was_lost_is_answered_as_the_first_time);
    tcase_add_test(t, a_filter_that_is_gone_is_not_taken_for_an_empty_one);
    tcase_add_test(t, a_server_that_forgot_what_it_confirmed_is_found_out);
    tcase_add_test(t, it_ends_when_its_time_is_over);
    tcase_add_test(t, dropping_leaves_nothing);
    tcase_add_test(t, what_the_server_refuses_is_a_clear_error_and_not_in);
    tcase_add_test(t, what_is_no_filter_of_ours_is_refused_and_left_alone);
    tcase_add_test(t, a_password_and_a_database_are_used);
    tcase_add_test(t, a_bitmap_of_others_is_read_and_written);
    tcase_add_test(t, a_rebuild_misses_no_key_while_others_write);
    tcase_add_test(t, half_a_swap_is_not_taken_for_a_filter);
    tcase_add_test(t, of_two_rebuilds_the_later_one_takes_place);
    suite_add_tcase(s, t);
    return s;
}
