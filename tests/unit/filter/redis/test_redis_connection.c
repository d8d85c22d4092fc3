/* SPDX-License-Identifier: MIT */
/* test_redis_connection.c - one connection to a Redis server that may say
 * anything. */
#include "filter/redis/redis_connection.h"

#include "base/clock.h"
#include "tests/unit/filter/redis/redis_impostor.h"

static struct impostor s;
static struct redis_connection *l;

static void begin(void)
{
    struct redis_place p;

    impostor_start(&s);
    p = impostor_place(&s, 60000);
    l = redis_connection_new(&p, 0);
}

static void end(void)
{
    redis_connection_free(l);
    impostor_end(&s);
}

/* A new connection to the same server. */
static void anew(const struct redis_place *p, int64_t patience_ms)
{
    redis_connection_free(l);
    l = redis_connection_new(p, patience_ms);
}

static enum status run(redisReply **r)
{
    struct bytes key = bytes_of_str("key"),
                 args[2] = {bytes_of("a\0b", 3), bytes_of_str("")};

    *r = NULL;
    return redis_connection_run(l, &redis_script_check, &key, 1, args, 2, r);
}

/* Runs a script that answers with an integer; the integer, or -1. */
static long long run_number(void)
{
    redisReply *r;
    long long n = -1;

    if (run(&r) != STATUS_OK)
        return -1;
    if (r->type == REDIS_REPLY_INTEGER)
        n = r->integer;
    freeReplyObject(r);
    return n;
}

FIXTURE(begin, end);

TEST(a_server_says_what_it_is_when_it_is_met)
{
    static const struct {
        const char *info;
        bool evicts, logged;
    } t[] = {
        {"run_id:" RUN_ID "\r\n", false, false},
        {"# Server\r\nrun_id:" RUN_ID "\r\nmaxmemory:0\r\n"
         "maxmemory_policy:allkeys-lru\r\naof_enabled:0\r\n",
         false, false},
        {"maxmemory:100\r\nmaxmemory_policy:noeviction\r\nrun_id:" RUN_ID
         "\r\naof_enabled:1\r\n",
         false, true},
        {"maxmemory:100\r\nmaxmemory_policy:allkeys-lru\r\nrun_id:" RUN_ID,
         true, false},
        {"maxmemory:1\nrun_id:" RUN_ID "\naof_enabled:11\nloading:0\n", true,
         false},
        {"xmaxmemory:1\nrun_id:" RUN_ID "\nxrun_id:" OTHER_ID "\n", false,
         false},
    };
    const struct redis_place p = impostor_place(&s, 60000);

    ck_assert_str_eq(redis_connection_run_id(l), "");
    ck_assert_str_eq(redis_connection_error(l), "");
    ck_assert(!redis_connection_is_open(l));
    ck_assert(redis_connection_is_due(l));
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        s.info = t[i].info;
        anew(&p, 0);
        ck_ok(redis_connection_ready(l));
        ck_assert(redis_connection_is_open(l));
        ck_assert(redis_connection_is_due(l));
        ck_assert_str_eq(redis_connection_run_id(l), RUN_ID);
        ck_assert_msg(redis_connection_may_evict(l) == t[i].evicts, "%zu", i);
        ck_assert_msg(redis_connection_is_logged(l) == t[i].logged, "%zu", i);
        ck_ok(redis_connection_ready(l));
        ck_assert_uint_eq(s.connections, i + 1); /* one serves all calls */
    }
}

TEST(a_server_without_a_run_id_or_still_loading_is_not_ready)
{
    static const struct {
        const char *info, *why;
    } t[] = {
        {"", "run_id"},
        {"run_id:", "run_id"},
        {"run_id:123\r\n", "run_id"},
        {"run_id:" RUN_ID "0\r\n", "run_id"},
        {"xrun_id:" RUN_ID "\r\n", "run_id"},
        {"run_id:" RUN_ID "\r\nloading:1\r\n", "loading its data"},
    };
    const struct redis_place p = impostor_place(&s, 60000);

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        s.info = t[i].info;
        anew(&p, 0);
        ck_assert_int_eq(redis_connection_ready(l), STATUS_CLOSED);
        ck_assert_ptr_nonnull(strstr(redis_connection_error(l), t[i].why));
        ck_assert(!redis_connection_is_open(l));
        ck_assert(!redis_connection_is_due(l)); /* a wait runs */
    }
}

TEST(it_signs_in_as_it_was_told_and_not_otherwise)
{
    struct redis_place p = impostor_place(&s, 60000);

    ck_ok(redis_connection_ready(l));
    ck_assert_str_eq(s.log, "");
    snprintf(p.at.password, sizeof p.at.password, "secret");
    anew(&p, 0);
    ck_ok(redis_connection_ready(l));
    ck_assert_str_eq(s.log, "AUTH secret; ");
    snprintf(p.at.user, sizeof p.at.user, "me");
    p.at.db = 12;
    s.log[0] = '\0';
    anew(&p, 0);
    ck_ok(redis_connection_ready(l));
    ck_assert_str_eq(s.log, "AUTH me secret; SELECT 12; ");
}

TEST(a_server_that_refuses_us_is_not_open_and_its_words_are_kept)
{
    struct redis_place p = impostor_place(&s, 60000);

    snprintf(p.at.password, sizeof p.at.password, "secret");
    p.at.db = 1;
    s.auth = "-WRONGPASS no\tway\x80\x1b[1m\r\n";
    anew(&p, 0);
    ck_assert_int_eq(redis_connection_ready(l), STATUS_ARG);
    ck_assert_str_eq(redis_connection_error(l), "WRONGPASS no way  [1m");
    ck_assert(!redis_connection_is_open(l));
    ck_assert_str_eq(s.log, "AUTH secret; "); /* nothing after that */
    s.auth = "+OK\r\n";
    s.select = "-ERR DB index is out of range\r\n";
    anew(&p, 0);
    ck_assert_int_eq(redis_connection_ready(l), STATUS_ARG);
    ck_assert(!redis_connection_is_open(l));
    ck_assert_str_eq(redis_connection_run_id(l), "");
    s.select = "-LOADING\r\n";
    anew(&p, 0);
    ck_assert_int_eq(redis_connection_ready(l), STATUS_CLOSED);
}

TEST(a_script_is_loaded_once_and_again_if_the_server_forgot_it)
{
    static const char flushed[] = "-NOSCRIPT No matching script\r\n";
    const unsigned n = redis_script_check.number;
    const struct redis_place p = impostor_place(&s, 60000);
    redisReply *r;

    s.scripts[n][0] = ":7\r\n";
    ck_assert_int_eq(run_number(), 7);
    ck_assert_int_eq(run_number(), 7);
    ck_assert_uint_eq(s.loads, 1);
    ck_assert_uint_eq(s.asked[n], 2);
    ck_assert_str_eq(s.last, "1 key a ; "); /* up to the zero octet */
    s.scripts[n][2] = flushed;
    s.scripts[n][3] = ":8\r\n";
    ck_assert_int_eq(run_number(), 8);
    ck_assert_uint_eq(s.loads, 2);
    ck_assert_uint_eq(s.asked[n], 4);
    /* One that is forgotten at once is not loaded for ever. */
    s.scripts[n][4] = flushed;
    ck_assert_int_eq(run(&r), STATUS_AGAIN);
    ck_assert_uint_eq(s.loads, 4);
    ck_assert_uint_eq(s.asked[n], 7);
    ck_assert(redis_connection_is_open(l));
    /* A new connection knows nothing of the old one's scripts. */
    s.scripts[n][7] = ":9\r\n";
    anew(&p, 0);
    ck_assert_int_eq(run_number(), 9);
    ck_assert_uint_eq(s.loads, 5);
}

TEST(several_scripts_may_be_under_way)
{
    const unsigned n = redis_script_check.number;
    struct bytes args[48];
    redisReply *r = NULL;

    for (size_t i = 0; i < 48; i++)
        args[i] = bytes_of_str("x");
    s.scripts[n][0] = ":1\r\n";
    s.scripts[n][1] = ":2\r\n";
    s.scripts[n][2] = ":3\r\n";
    s.scripts[n][3] = "-NOSCRIPT\r\n";
    s.scripts[n][4] = "-BUSY\r\n";
    ck_assert_int_eq(redis_connection_receive(l, &r), STATUS_CLOSED);
    /* The first has to be loaded, which is not done on the way. */
    ck_assert_int_eq(redis_connection_send(l, &redis_script_check, NULL, 0,
                                           args, 1),
                     STATUS_AGAIN);
    ck_assert_int_eq(run_number(), 1);
    for (int i = 0; i < 4; i++)
        ck_ok(redis_connection_send(l, &redis_script_check, args, 2, args, 1));
    for (int i = 2; i <= 3; i++) {
        ck_ok(redis_connection_receive(l, &r));
        ck_assert_int_eq(r->integer, i);
        freeReplyObject(r);
    }
    r = NULL;
    ck_assert_int_eq(redis_connection_receive(l, &r), STATUS_AGAIN);
    ck_assert(redis_connection_is_open(l));
    ck_assert_int_eq(redis_connection_receive(l, &r), STATUS_CLOSED);
    ck_assert(!redis_connection_is_open(l));
    ck_assert_ptr_null(r);
    ck_assert_str_eq(s.last, "2 x x x; ");
}

/* "*N" and N times ":5". */
static char *array_of(char *to, unsigned n)
{
    char *at = to + sprintf(to, "*%u\r\n", n);

    for (unsigned i = 0; i < n; i++)
        at += sprintf(at, ":5\r\n");
    return to;
}

TEST(arrays_are_bounded)
{
    static char text[REDIS_ELEMENTS_MOST * 4 + 16];
    const unsigned n = redis_script_check.number;
    redisReply *r;

    s.scripts[n][0] = array_of(text, REDIS_ELEMENTS_MOST);
    ck_ok(run(&r));
    ck_assert_uint_eq(r->elements, REDIS_ELEMENTS_MOST);
    ck_assert_int_eq(r->element[REDIS_ELEMENTS_MOST - 1]->integer, 5);
    freeReplyObject(r);
    s.scripts[n][1] = "*2\r\n*0\r\n*1\r\n:6\r\n";
    ck_ok(run(&r));
    ck_assert_uint_eq(r->element[0]->elements, 0);
    ck_assert_int_eq(r->element[1]->type, REDIS_REPLY_ARRAY);
    ck_assert_int_eq(r->element[1]->element[0]->integer, 6);
    freeReplyObject(r);
    s.scripts[n][2] = "*65537\r\n";
    ck_assert_int_eq(run(&r), STATUS_CLOSED);
    ck_assert_ptr_nonnull(strstr(redis_connection_error(l), "too long"));
}

TEST(silence_slowness_and_hanging_up_lose_the_connection)
{
    static const char *const answers[] = {SILENCE, DRIBBLE, HANG_UP};
    const struct redis_place p = impostor_place(&s, 200);
    redisReply *r;

    for (int i = 0; i < 3; i++) {
        int64_t before;

        s.scripts[redis_script_check.number][0] = answers[i];
        anew(&p, 0);
        before = clock_mono();
        while (run(&r) == STATUS_OK)
            ck_abort_msg("answered");
        ck_assert(!redis_connection_is_open(l));
        ck_assert_uint_gt(strlen(redis_connection_error(l)), 0);
        if (i < 2)
            ck_assert_int_ge(clock_mono() - before, 190 * NS_PER_MS);
    }
}

/* 100 ms at most after the first failure, twice that after the second, half of
 * it at random; and from the beginning after a success. */
TEST(tries_are_spaced_ever_wider_until_one_succeeds)
{
    const struct redis_place p = impostor_place(&s, 60000);
    redisReply *r;

    s.scripts[redis_script_check.number][0] = ":1\r\n";
    for (int round = 0; round < 2; round++) {
        for (int64_t wait = 50; wait <= 200; wait *= 2) {
            int64_t before = clock_mono();

            redis_connection_lose(l);
            while (!redis_connection_is_due(l))
                usleep(1000);
            ck_assert_int_ge(clock_mono() - before, wait * NS_PER_MS);
        }
        ck_assert_int_eq(run_number(), 1);
        ck_assert(redis_connection_is_open(l));
    }
    /* Without patience a call does not wait, and does not even try. */
    redis_connection_lose(l);
    ck_assert_int_eq(run(&r), STATUS_CLOSED);
    ck_assert_uint_eq(s.connections, 2);
    ck_assert_int_eq(redis_connection_patience(l), 0);
    anew(&p, 60000);
    ck_assert_int_eq(redis_connection_patience(l), 60000 * NS_PER_MS);
    redis_connection_lose(l);
    ck_assert_int_eq(run_number(), 1); /* this one waits */
    ck_assert_uint_eq(s.connections, 3);
}
