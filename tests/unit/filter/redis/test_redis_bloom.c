/* SPDX-License-Identifier: MIT */
/*
 * test_redis_bloom.c - a Bloom filter on a real Redis server, used by one
 * process: its keys, its bits, and how it is opened.
 */
#include <math.h>

#include "filter/block.h"
#include "tests/unit/filter/redis/redis_bloom_rig.h"

FIXTURE(start, end);

TEST(keeps_every_key_and_its_promised_rate)
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
        ck_ok(redis_bloom_inspect(b, &info));
        ck_assert_uint_eq(info.count, fresh);
        ck_assert_double_le(info.fpr_predicted, 0.00101);
        ck_assert_uint_gt(info.bits_set, 20000);
        ck_ok(redis_bloom_drop(b));
        redis_bloom_free(b);
    }
}

/* Promise (Seen check and store): large filters are made, counted and freed
 * without a long command of Redis. See also `make bench-redis-stalls`. */
/* A filter of many MiB is made piece by piece, and is as any other. */
TEST(a_large_filter_is_made_in_pieces_and_leaves_nothing_else)
{
    const struct redis_place p = redis_server_place(&server, "");
    struct redis_bloom_options o = {.place = &p,
                                    .mode = REDIS_BLOOM_NEW,
                                    .expect = 3000000,
                                    .fpr = 0.001,
                                    .patience_ms = 5000};
    struct redis_bloom *b, *other;

    NEEDS_SERVER;
    ck_ok(redis_bloom_open(&b, &o, NULL));
    ck_assert_int_gt(redis_server_do(&server, "STRLEN test"), 5000000);
    ck_assert_int_eq(redis_server_do(&server, "TTL test"), -1);
    ck_assert_int_eq(redis_server_do(&server, "DBSIZE"), 2);
    ck_assert_uint_eq(add(b, 0, 1000), 1000);
    ck_ok(redis_bloom_rebuild(b, 4000000, 0.001));
    ck_assert_int_eq(redis_server_do(&server, "DBSIZE"), 4);
    ck_assert_int_gt(redis_server_do(&server, "TTL test:next"), 3000);
    ck_assert_int_eq(redis_bloom_swap(b, false), STATUS_REFUSED);
    ck_ok(redis_bloom_swap(b, true));
    ck_assert_int_eq(redis_server_do(&server, "TTL test"), -1);
    ck_assert_int_gt(redis_server_do(&server, "STRLEN test"), 7000000);
    /* Another client finds it there, and its own room is not needed. */
    o.mode = REDIS_BLOOM_MAKE;
    ck_ok(redis_bloom_open(&other, &o, NULL));
    redis_bloom_free(other);
    redis_bloom_free(b);
}

/* Promise (Seen check and store): a source that fails does not empty a
 * filter in Redis; an abandoned rebuild ends. See also
 * `tests/cli/filter-redis.sh`. */
/* The server drops the bits of a rebuild that nobody goes on with. */
TEST(an_abandoned_rebuild_ends_by_itself)
{
    struct redis_bloom *b;
    struct redis_bloom_info i;

    NEEDS_SERVER;
    b = make();
    ck_ok(redis_bloom_rebuild(b, 30000, 0.001));
    ck_assert_int_eq(redis_server_do(&server, "PEXPIRE test:next 0"), 1);
    (void)add(b, 0, 100);
    ck_assert_int_eq(redis_bloom_swap(b, true), STATUS_NOT_FOUND);
    redis_bloom_free(b);
    b = make();
    redis_bloom_known(b, &i);
    ck_assert(!i.rebuilding);
    ck_assert_uint_eq(maybes(b, 0, 100), 100);
    redis_bloom_free(b);
}

/* Promise (Seen check and store): the layouts of a filter in Redis are those of
 * a filter in memory, and of MurmurHash3 as other programs use it. See also
 * `redis_bits/published_vectors_are_met`,
 * `redis_bits/another_implementation_finds_the_same_offsets`,
 * `redis_bits/another_implementation_finds_the_same_32_bit_offsets`,
 * `redis_bloom/a_bitmap_of_others_is_read_and_written`. */
/* So that a filter file and a Redis string can be compared octet by octet. */
TEST(the_string_is_the_image_of_a_filter_in_memory)
{
    enum { BLOCKS = 640 };
    static _Alignas(64) uint64_t words[BLOCKS * BLOCK_LANES];
    static unsigned char octets[sizeof words];
    struct redis_bloom *b;
    redisContext *c;
    redisReply *r;

    NEEDS_SERVER;
    b = open_with("bits=327680&k=8", REDIS_BLOOM_NEW, 5000);
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

TEST(a_password_and_a_database_are_used)
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
    snprintf(p.at.password, sizeof p.at.password, "wrong");
    ck_assert_int_eq(redis_bloom_open(&b, &o, NULL), STATUS_ARG);
    snprintf(p.at.password, sizeof p.at.password, "secret");
    ck_ok(redis_bloom_open(&b, &o, NULL));
    ck_assert_uint_ge(add(b, 0, 10), 9);
    redis_bloom_free(b);
    snprintf(p.at.user, sizeof p.at.user, "default");
    ck_ok(redis_bloom_open(&b, &o, NULL));
    ck_assert_uint_eq(maybes(b, 0, 10), 10);
    redis_bloom_free(b);
}

TEST(what_is_no_filter_of_ours_is_refused_and_left_alone)
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

/* ---- bitmaps of other programs ---- */

/* Sets bits as another program does: SETBIT for each of its offsets. */
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

TEST(a_bitmap_of_others_is_read_and_written)
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
    ck_ok(redis_bloom_check(b, (struct redis_keys){.text = keys}, 2, answers));
    ck_assert(answers[0] && !answers[1]);
    ck_ok(redis_bloom_add(b, (struct redis_keys){.text = keys}, 2, answers));
    ck_assert(!answers[0] && answers[1]);
    ck_assert_int_eq(redis_bloom_drop(b), STATUS_ARG);
    (void)redis_server_do(&server, "DEL test");
    ck_assert_int_eq(redis_bloom_check(b, (struct redis_keys){.text = keys}, 2,
                                       answers),
                     STATUS_NOT_FOUND);
    redis_bloom_free(b);
}
