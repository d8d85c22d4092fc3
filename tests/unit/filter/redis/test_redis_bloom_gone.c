/* SPDX-License-Identifier: MIT */
/*
 * test_redis_bloom_gone.c - a Bloom filter on a server that has lost it, evicts
 * keys, or refuses writes: it never counts as an empty filter, and no key
 * counts as added that was not.
 */
#include "tests/unit/filter/redis/redis_bloom_rig.h"

FIXTURE(start, end);

TEST(a_filter_that_is_gone_is_not_taken_for_an_empty_one)
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
        rest_ms(5); /* past a millisecond of the server's */
        ck_assert_int_eq(redis_bloom_check(b, digests(&key), 1, maybe),
                         gone ? STATUS_NOT_FOUND : STATUS_OK);
        ck_assert_int_eq(redis_bloom_add(b, digests(&key), 1, NULL),
                         gone ? STATUS_NOT_FOUND : STATUS_OK);
        if (!gone) {
            redis_bloom_free(b);
            continue;
        }
        (void)redis_server_do(&server, "DEL test");
        other = make(); /* somebody else's new filter is not ours */
        ck_assert_int_eq(redis_bloom_check(b, digests(&key), 1, maybe),
                         STATUS_NOT_FOUND);
        redis_bloom_free(b);
        redis_bloom_free(other);
        (void)redis_server_do(&server, "FLUSHALL");
    }
}

TEST(a_server_that_forgot_what_it_confirmed_is_found_out)
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

/* While it loads, the server answers INFO and refuses scripts. */
TEST(a_server_that_loads_what_it_kept_is_waited_for)
{
    struct redis_bloom *b;

    NEEDS_SERVER;
    b = make();
    (void)add(b, 0, 100);
    redis_server_fill(&server, 4000);
    (void)redis_server_do(&server, "CONFIG SET appendonly no");
    (void)redis_server_do(&server, "SAVE");
    redis_server_kill(&server);
    server.logged = false;
    server.delay = "1000";
    redis_server_spawn(&server);
    ck_assert_uint_eq(maybes(b, 0, 100), 100);
    ck_assert_uint_eq(redis_bloom_restarts(b), 1);
    redis_bloom_free(b);
}

TEST(it_ends_when_its_time_is_over)
{
    struct redis_bloom *b;
    struct redis_bloom_info info;
    uint64_t key = nth_key(0);
    int64_t before;
    bool maybe;

    NEEDS_SERVER;
    b = open_with("ttl=1h", REDIS_BLOOM_NEW, 5000);
    (void)add(b, 0, 10);
    ck_ok(redis_bloom_inspect(b, &info));
    before = info.ends_ms;
    ck_assert_int_gt(before, 0);
    ck_assert_int_le(before, 3600000);
    rest_ms(5); /* for less to be left */
    /* A rebuild does not extend its life. */
    ck_ok(redis_bloom_rebuild(b, 50000, 0.001));
    ck_ok(redis_bloom_swap(b, true));
    ck_ok(redis_bloom_inspect(b, &info));
    ck_assert_int_gt(info.ends_ms, 0);
    ck_assert_int_lt(info.ends_ms, before);
    /* The record stays, so that it can be begun anew. */
    ck_assert_int_eq(redis_server_do(&server, "PTTL test:meta"), -1);
    ck_assert_int_eq(redis_server_do(&server, "PEXPIRE test 1"), 1);
    rest_ms(5); /* past that by the server's clock */
    ck_assert_int_eq(redis_bloom_check(b, digests(&key), 1, &maybe),
                     STATUS_NOT_FOUND);
    redis_bloom_free(b);
}

TEST(dropping_leaves_nothing)
{
    struct redis_bloom *b;

    NEEDS_SERVER;
    b = make();
    ck_ok(redis_bloom_rebuild(b, 50000, 0.001));
    ck_ok(redis_bloom_drop(b));
    ck_assert_int_eq(redis_server_do(&server, "DBSIZE"), 0);
    redis_bloom_free(b);
}

TEST(what_the_server_refuses_is_a_clear_error_and_not_in)
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
    ck_ok(redis_bloom_check(b, digests(&key), 1, &maybe));
    ck_assert(!maybe);
    (void)redis_server_do(&server, "CONFIG SET min-replicas-to-write 1");
    ck_assert_int_eq(redis_bloom_add(b, digests(&key), 1, &fresh), STATUS_BUSY);
    (void)redis_server_do(&server, "CONFIG SET min-replicas-to-write 0");
    (void)redis_server_do(&server, "SCRIPT FLUSH");
    ck_ok(redis_bloom_add(b, digests(&key), 1, &fresh));
    ck_assert(fresh);
    (void)redis_server_do(&server, "SCRIPT FLUSH");
    ck_assert_uint_eq(maybes(b, 0, 3000), 100);
    redis_bloom_free(b);
}
