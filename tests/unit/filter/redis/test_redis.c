/* SPDX-License-Identifier: MIT */
/* test_redis.c - the `redis` kind: it never wrongly says "new", whatever its
 * server does. */
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include "base/clock.h"
#include "filter/redis/redis.h"
#include "tests/unit/filter/keys.h"
#include "tests/unit/filter/redis/redis_server.h"
#include "tests/unit/unit.h"

static struct redis_server server;

static void start(void)
{
    if (!redis_server_missing())
        redis_server_start(&server, false);
}

static void end(void)
{
    if (server.pid != 0)
        redis_server_end(&server);
}

#define NEEDS_SERVER                                                           \
    if (server.pid == 0)                                                       \
    return

/* After `timeout`, a server that does not respond counts as away. */
static struct filter *make_with(struct remembered *r, const char *timeout)
{
    char url[256];
    struct filter_options o = {.kind = "redis",
                               .expect = 20000,
                               .fpr = 0.001,
                               .redis = url};
    struct filter *f = NULL;

    snprintf(url, sizeof url, "%s?timeout=%s", server.url, timeout);

    if (r != NULL)
        o.source = source_of(r);
    ck_ok(filter_new(&f, &o));
    return f;
}

static struct filter *make(struct remembered *r)
{
    return make_with(r, "60s");
}

static void rest_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&t, NULL);
}

/* As the crawl does: adds to the exact set first. */
static void add_and_remember(struct filter *f, struct remembered *r,
                             uint64_t first, uint64_t n)
{
    remember_range(r, first, n);
    ck_ok(add_range(f, first, n));
}

/* Asks until the filter answers by itself, for two minutes at most. On a busy
 * machine its first call does not even read an empty source to the end. */
static bool becomes_whole(struct filter *f)
{
    for (int i = 0; i < 12000; i++) {
        (void)filter_check_one(f, 1);
        if (redis_filter_state(f).whole)
            return true;
        rest_ms(10);
    }
    return false;
}

TIMEOUT(90);
FIXTURE(start, end);

TEST(behind_the_interface_it_is_a_filter_like_any_other)
{
    struct remembered *r = xcalloc(1, sizeof *r);
    uint64_t keys[] = {5, 6, 5};
    bool fresh[3];
    struct filter_stats s;
    struct filter *f;
    uint64_t unsure;

    NEEDS_SERVER;
    f = make(r);
    ck_assert(becomes_whole(f));
    filter_stats(f, &s);
    unsure = s.unsure;
    ck_ok(filter_add(f, keys, 3, fresh));
    ck_assert(fresh[0] && fresh[1] && !fresh[2]);
    add_and_remember(f, r, 0, 10000);
    ck_assert_uint_eq(count_maybe(f, 0, 10000), 10000);
    ck_assert_uint_le(count_maybe(f, 10000, 10000), 10);
    filter_stats(f, &s);
    ck_assert_uint_ge(s.count, 9990);
    ck_assert_uint_eq(s.capacity, 20000);
    ck_assert(!s.overfull && s.unsure == unsure);
    ck_assert_int_eq(filter_remove(f, keys, 1, NULL), STATUS_ARG);
    ck_assert_int_eq(add_range(f, 10000, 20000), STATUS_LIMIT);
    filter_stats(f, &s);
    ck_assert(s.overfull);
    filter_free(f);
    forget_all(r);
}

TEST(while_the_server_is_away_all_is_maybe_and_nothing_is_lost)
{
    struct remembered *r = xcalloc(1, sizeof *r);
    struct filter_stats s;
    struct filter *f;
    uint64_t unsure;

    NEEDS_SERVER;
    f = make(r);
    add_and_remember(f, r, 0, 5000);
    ck_assert(becomes_whole(f));
    filter_stats(f, &s);
    unsure = s.unsure;
    redis_server_kill(&server);
    ck_assert_uint_eq(count_maybe(f, 0, 1000), 1000);
    ck_assert_uint_eq(count_maybe(f, 50000, 1000), 1000);
    add_and_remember(f, r, 5000, 5000);
    filter_stats(f, &s);
    ck_assert_uint_eq(s.unsure - unsure, 2000);
    ck_assert_uint_eq(redis_filter_state(f).outages, 1);
    redis_server_run(&server); /* empty: it kept nothing */
    ck_assert(becomes_whole(f));
    ck_assert_uint_eq(count_maybe(f, 0, 10000), 10000);
    ck_assert_uint_le(count_maybe(f, 50000, 10000), 20);
    filter_free(f);
    forget_all(r);
}

/* The list has room for 65,536 of them, in whatever calls they come. */
TEST(a_call_that_fills_the_list_of_missed_keys_loses_none)
{
    struct remembered *r = xcalloc(1, sizeof *r);
    uint64_t *keys = xmalloc(65536 * sizeof *keys), asked;
    struct filter *f;

    NEEDS_SERVER;
    f = make(r);
    add_and_remember(f, r, 0, 100);
    ck_assert(becomes_whole(f));
    asked = r->asked;
    (void)redis_server_do(&server, "CLIENT KILL TYPE normal SKIPME yes");
    for (uint64_t i = 0; i < 65536; i++)
        keys[i] = nth_key(100 + i);
    remember_range(r, 100, 65536);
    ck_ok(filter_add(f, keys, 65536, NULL));
    ck_assert(becomes_whole(f));
    ck_assert_uint_eq(r->asked, asked);
    ck_assert_uint_eq(count_maybe(f, 0, 65636), 65636);
    free(keys);
    filter_free(f);
    forget_all(r);
}

TEST(more_missed_keys_than_are_kept_are_taken_from_the_source)
{
    struct remembered *r = xcalloc(1, sizeof *r);
    struct filter *f;

    NEEDS_SERVER;
    f = make_with(r, "2s");
    add_and_remember(f, r, 0, 100);
    kill(server.pid, SIGSTOP); /* it is up but does not respond */
    remember_range(r, 100, 70000);
    ck_ok(add_range(f, 100, 70000));
    kill(server.pid, SIGCONT);
    ck_assert(becomes_whole(f));
    ck_assert_uint_eq(count_maybe(f, 0, 70100), 70100);
    filter_free(f);
    forget_all(r);
}

/* The server's counters prove nothing then: another process has added keys
 * since. */
TEST(a_server_that_came_back_with_older_keys_is_filled_again)
{
    struct remembered *r = xcalloc(1, sizeof *r);
    struct filter *f, *other;

    NEEDS_SERVER;
    f = make(r);
    add_and_remember(f, r, 0, 1000);
    ck_assert(becomes_whole(f));
    (void)redis_server_do(&server, "SAVE");
    add_and_remember(f, r, 1000, 1000);
    redis_server_kill(&server);
    redis_server_run(&server);
    other = make(NULL);
    for (uint64_t i = 0; i < 50; i++)
        ck_ok(add_range(other, 90000 + i, 1));
    filter_free(other);
    for (int i = 0; i < 3; i++) {
        ck_assert_uint_eq(count_maybe(f, 0, 2000), 2000);
        ck_assert(becomes_whole(f));
    }
    ck_assert_uint_le(count_maybe(f, 50000, 5000), 10);
    filter_free(f);
    forget_all(r);
}

/* A call costs nothing while it waits for its back-off; otherwise these would
 * take more than an hour. */
TEST(a_dead_server_does_not_slow_questions_down)
{
    struct remembered *r = xcalloc(1, sizeof *r);
    struct filter *f;
    int64_t began;

    NEEDS_SERVER;
    f = make(r);
    redis_server_kill(&server);
    began = clock_mono();
    for (int i = 0; i < 100000; i++)
        if (!filter_check_one(f, nth_key((uint64_t)i)))
            ck_abort_msg("key %d is called new", i);
    ck_assert_int_lt(clock_mono() - began, 60 * NS_PER_S);
    filter_free(f);
    forget_all(r);
    redis_server_run(&server);
}

TEST(without_a_source_a_lost_key_is_an_error)
{
    struct filter *f;

    NEEDS_SERVER;
    f = make(NULL);
    ck_ok(add_range(f, 0, 100));
    (void)redis_server_do(&server, "FLUSHALL");
    ck_assert_int_ne(add_range(f, 0, 100), STATUS_OK);
    ck_assert_uint_eq(count_maybe(f, 500, 100), 100);
    filter_free(f);
}

TEST(a_mark_is_trusted_only_by_the_run_that_gave_it)
{
    struct remembered *r = xcalloc(1, sizeof *r);
    struct buf mark;
    struct filter *f;

    NEEDS_SERVER;
    buf_init(&mark, 1000);
    f = make(r);
    add_and_remember(f, r, 0, 2000);
    ck_assert(becomes_whole(f));
    ck_assert(redis_filter_mark(f, &mark));
    filter_free(f);

    f = make(r); /* our own restart */
    ck_assert(!redis_filter_state(f).whole);
    ck_assert(!redis_filter_trust(f, bytes_of_str("something else")));
    ck_assert(redis_filter_trust(f, buf_bytes(&mark)));
    ck_assert(redis_filter_state(f).whole);
    r->asked = 0;
    ck_assert_uint_eq(count_maybe(f, 0, 2000), 2000);
    ck_assert_uint_eq(r->asked, 0);
    filter_free(f);

    (void)redis_server_do(&server, "FLUSHALL");
    f = make(r);
    ck_assert(!redis_filter_trust(f, buf_bytes(&mark)));
    ck_assert_uint_eq(count_maybe(f, 0, 2000), 2000);
    filter_free(f);

    f = make(r);
    buf_clear(&mark);
    for (int i = 0; !redis_filter_mark(f, &mark); i++) {
        ck_assert_int_lt(i, 12000); /* questions fill it, part by part */
        rest_ms(10);
    }
    filter_free(f);
    redis_server_kill(&server);
    redis_server_run(&server);
    f = make(r);
    ck_assert(!redis_filter_trust(f, buf_bytes(&mark)));
    redis_server_kill(&server);
    buf_clear(&mark);
    add_and_remember(f, r, 2000, 100);
    ck_assert(!redis_filter_mark(f, &mark));
    filter_free(f);
    redis_server_run(&server);
    buf_fini(&mark);
    forget_all(r);
}

/* Promise (Seen check and store): whatever the Redis server does, an added key
 * is never called new; hostile replies are bounded. See also
 * `redis/a_mark_is_trusted_only_by_the_run_that_gave_it`,
 * `redis/hostile_answers_are_refused_and_bounded`, `make fuzz`, `redis`. */
/* Whatever happens to the server, in any order, an added key is never called
 * new. */
TEST(no_key_is_ever_called_new_again_whatever_happens)
{
    struct remembered *r = xcalloc(1, sizeof *r);
    uint64_t random = 7, count = 0;
    struct filter *f;
    bool up = true;

    NEEDS_SERVER;
    f = make(r);
    for (int step = 0; step < 300; step++) {
        random = nth_key(random);
        switch (random % 20) {
        case 0:
            if (up)
                redis_server_kill(&server);
            up = false;
            break;
        case 1:
        case 2:
            if (!up)
                redis_server_run(&server);
            up = true;
            break;
        case 3:
            if (up)
                (void)redis_server_do(&server, "FLUSHALL");
            break;
        case 4:
            if (up)
                (void)redis_server_do(&server,
                                      "CLIENT KILL TYPE normal SKIPME yes");
            break;
        case 5:
            if (up)
                (void)redis_server_do(&server, "SCRIPT FLUSH");
            break;
        case 6: /* ours is restarted */
            filter_free(f);
            f = make(r);
            break;
        default:
            add_and_remember(f, r, count, random >> 32 & 63);
            count += random >> 32 & 63;
        }
        if (step % 3 == 0)
            ck_assert_uint_eq(count_maybe(f, 0, count), count);
        rest_ms(random >> 40 & 7);
    }
    if (!up)
        redis_server_run(&server);
    ck_assert(becomes_whole(f));
    ck_assert_uint_eq(count_maybe(f, 0, count), count);
    filter_free(f);
    forget_all(r);
}

FIXTURE(NULL, NULL);

TEST(options_that_cannot_be_are_refused)
{
    struct filter_options o = {.kind = "redis", .expect = 100, .fpr = 0.01};
    struct filter *f = NULL;

    redis_server_quiet();
    ck_assert_int_eq(filter_new(&f, &o), STATUS_ARG);
    o.redis = "http://h/";
    ck_assert_int_eq(filter_new(&f, &o), STATUS_ARG);
    o.redis = "redis+unix:///nowhere/at/all";
    ck_assert_int_eq(filter_new(&f, &o), STATUS_CLOSED);
    ck_assert_ptr_null(f);
    for (size_t i = 0; filter_kind(i) != NULL; i++)
        ck_assert(!filter_kind(i)->remote);
}

/* ---- a hostile server ---- */

/* Answers INFO and SCRIPT LOAD as a server would, and everything else with
 * `harm`. */
struct impostor {
    struct sockaddr_un address;
    int listener;
    const char *harm;
    size_t harm_length;
    bool from_the_start;
};

#define INFO_TEXT  "run_id:0123456789012345678901234567890123456789\r\n"
#define INFO_REPLY "$49\r\n" INFO_TEXT "\r\n"
#define SHA_REPLY  "$40\r\n0123456789012345678901234567890123456789\r\n"

static void *impostor_run(void *arg)
{
    struct impostor *i = arg;
    char in[65536];
    int fd;

    while ((fd = accept(i->listener, NULL, NULL)) >= 0) {
        ssize_t n;

        while ((n = read(fd, in, sizeof in - 1)) > 0) {
            const char *out = i->harm;
            size_t length = i->harm_length;

            in[n] = '\0';
            if (!i->from_the_start && strstr(in, "INFO") != NULL)
                out = INFO_REPLY, length = strlen(INFO_REPLY);
            else if (!i->from_the_start && strstr(in, "LOAD") != NULL)
                out = SHA_REPLY, length = strlen(SHA_REPLY);
            if (send(fd, out, length, MSG_NOSIGNAL) < 0)
                break;
        }
        close(fd);
    }
    return NULL;
}

static void meet_impostor(const char *harm, size_t length, bool from_the_start)
{
    struct impostor i = {.harm = harm,
                         .harm_length = length,
                         .from_the_start = from_the_start};
    struct redis_place place = {.at.is_unix = true,
                                .key = "k",
                                .timeout_ms = 100};
    struct redis_bloom_options o = {.place = &place,
                                    .mode = REDIS_BLOOM_MAKE,
                                    .expect = 100,
                                    .fpr = 0.01};
    struct redis_bloom *b = NULL;
    char dir[] = "/tmp/urlweir-impostor.XXXXXX";
    pthread_t thread;

    ck_assert_ptr_nonnull(mkdtemp(dir));
    i.address.sun_family = AF_UNIX;
    snprintf(i.address.sun_path, sizeof i.address.sun_path, "%s/socket", dir);
    snprintf(place.at.path, sizeof place.at.path, "%s", i.address.sun_path);
    i.listener = socket(AF_UNIX, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(i.listener, (struct sockaddr *)&i.address,
                          sizeof i.address),
                     0);
    ck_assert_int_eq(listen(i.listener, 8), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, impostor_run, &i), 0);
    ck_assert_int_ne(redis_bloom_open(&b, &o, NULL), STATUS_OK);
    ck_assert_ptr_null(b);
    shutdown(i.listener, SHUT_RDWR);
    pthread_join(thread, NULL);
    close(i.listener);
    unlink(i.address.sun_path);
    rmdir(dir);
}

TEST(hostile_answers_are_refused_and_bounded)
{
    static const char *const harms[] = {
        "",
        "x",
        "\r\n",
        "+OK\r\n",
        ":1\r\n",
        "$-1\r\n",
        "*-1\r\n",
        "*0\r\n",
        "-\r\n",
        "-LOADING\r\n",
        "-NOSCRIPT no\r\n",
        "$3\r\nabc\r\n",
        "$5\r\nSTALE\r\n",
        "$4\r\nLOST\r\n",
        "$9999999999\r\nabc",
        "$99999999999999999999\r\nabc",
        "*1000000000\r\n:1\r\n",
        "*2147483647\r\n",
        "*1024\r\n*1024\r\n*1024\r\n*1024\r\n*1024\r\n*1024\r\n*1024\r\n*1\r\n",
        "*2\r\n$1\r\nv\r\n$1\r\n1\r\n",
        "*2\r\n:1\r\n:2\r\n",
        "*1\r\n$-1\r\n",
        "*3\r\n:1\r\n:1\r\n$1\r\n1\r\n",
    };
    static const char record[] =
        "*26\r\n$1\r\nv\r\n$1\r\n1\r\n$6\r\nlayout\r\n$7\r\nblocked\r\n"
        "$4\r\nhash\r\n$6\r\ndouble\r\n$4\r\nbits\r\n$3\r\n100\r\n"
        "$5\r\nbytes\r\n$2\r\n13\r\n$1\r\nk\r\n$1\r\n7\r\n"
        "$5\r\nepoch\r\n$3\r\nabc\r\n";

    redis_server_quiet();
    for (size_t i = 0; i < sizeof harms / sizeof *harms; i++) {
        meet_impostor(harms[i], strlen(harms[i]), true);
        meet_impostor(harms[i], strlen(harms[i]), false);
    }
    meet_impostor("a\0b\r\n", 5, false);
    meet_impostor(record, sizeof record - 1, false);
}

/* More than the ceiling, octet by octet or all at once. */
TEST(an_answer_without_an_end_is_cut)
{
    size_t n = REDIS_REPLY_MOST * 2;
    char *harm = xmalloc(n);

    redis_server_quiet();
    memset(harm, 'a', n);
    memcpy(harm, "$999999999\r\n", 12);
    meet_impostor(harm, n, false);
    memcpy(harm, "+bbbbbbbbbbb", 12);
    meet_impostor(harm, n, true);
    free(harm);
}
