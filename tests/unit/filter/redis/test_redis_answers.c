/* SPDX-License-Identifier: MIT */
/* test_redis_answers.c - what a shared filter makes of a server's answers,
 * right and wrong ones. */
#include "tests/unit/filter/redis/redis_impostor.h"

#include "base/clock.h"
#include "tests/unit/cli/capture.h"

#define EPOCH "0123456789abcdef0123456789abcdef"
#define OTHER "fedcba9876543210fedcba9876543210"
#define F(name, length, value)                                                 \
    "$" #length "\r\n" name "\r\n$" /* the value brings its own length */ value

/* A blocked filter of 1024 bits, 4 marks a key, made for 50 keys. */
#define RECORD(n, epoch, gen, adds, count, more)                               \
    "*" #n "\r\n" F("v", 1, "1\r\n1\r\n") F("layout", 6, "7\r\nblocked\r\n")   \
        F("hash", 4, "6\r\ndouble\r\n") F("bits", 4, "4\r\n1024\r\n")          \
            F("bytes", 5, "3\r\n128\r\n") F("k", 1, "1\r\n4\r\n")              \
                F("expect", 6, "2\r\n50\r\n") F("fpr", 3, "4\r\n0.25\r\n")     \
                    F("epoch", 5, "32\r\n" epoch "\r\n")                       \
                        F("gen", 3, "1\r\n" gen "\r\n")                        \
                            F("adds", 4, "1\r\n" adds "\r\n")                  \
                                F("count", 5, "1\r\n" count "\r\n")            \
                                    F("set", 3, "2\r\n30\r\n") more
#define PLAIN   RECORD(26, EPOCH, "1", "5", "7", "")
#define CHANGED RECORD(26, EPOCH, "2", "6", "8", "")
#define FOREIGN RECORD(26, OTHER, "1", "5", "7", "")

static struct impostor s;
static struct redis_bloom *b;

static struct redis_bloom *open_it(int64_t patience_ms)
{
    const struct redis_place p = impostor_place(&s, 60000);
    const struct redis_bloom_options o = {.place = &p,
                                          .mode = REDIS_BLOOM_OPEN,
                                          .patience_ms = patience_ms};
    struct redis_bloom *got;

    ck_ok(redis_bloom_open(&got, &o, NULL));
    return got;
}

static void begin(void)
{
    impostor_start(&s);
    s.scripts[redis_script_open.number][0] = PLAIN;
    b = open_it(10000);
}

static void end(void)
{
    redis_bloom_free(b);
    impostor_end(&s);
}

/* Sets the answers to a script from now on, the last one for ever. */
static void answer(const struct redis_script *what, const char *first,
                   const char *then)
{
    s.scripts[what->number][0] = first;
    s.scripts[what->number][1] = then;
    s.asked[what->number] = 0;
}

static unsigned asked(const struct redis_script *what)
{
    return s.asked[what->number];
}

static const uint64_t three[] = {1, 2, 3};

static enum status check_three(bool *maybe)
{
    return redis_bloom_check(b, (struct redis_keys){.digest = three}, 3, maybe);
}

static enum status add_three(bool *fresh)
{
    return redis_bloom_add(b, (struct redis_keys){.digest = three}, 3, fresh);
}

static struct redis_bloom_info known(void)
{
    struct redis_bloom_info i;

    redis_bloom_known(b, &i);
    return i;
}

FIXTURE(begin, end);

TEST(wrong_answers_are_refused)
{
    static const char *const checks[] = {
        "*0\r\n",
        "*1\r\n:1\r\n",
        "*1\r\n$2\r\n01\r\n",
        "*1\r\n$4\r\n0101\r\n",
        "*1\r\n$3\r\n012\r\n",
        "*1\r\n$3\r\n/11\r\n",
        "*2\r\n$3\r\n011\r\n$3\r\n011\r\n",
        ":1\r\n",
        "$3\r\n011\r\n",
        "$4\r\nWHAT\r\n",
        "+LOST\r\n",
    };
    static const char *const adds[] = {
        "*0\r\n",
        "*2\r\n:6\r\n:9\r\n",
        "*4\r\n:6\r\n:9\r\n:30\r\n:1\r\n",
        "*4\r\n:6\r\n:9\r\n:30\r\n$2\r\n10\r\n",
        "*4\r\n$1\r\n6\r\n:9\r\n:30\r\n$3\r\n101\r\n",
        "*4\r\n:6\r\n$1\r\n9\r\n:30\r\n$3\r\n101\r\n",
        "*4\r\n:6\r\n:9\r\n$1\r\n3\r\n$3\r\n101\r\n",
        "*4\r\n:6\r\n:9\r\n$3\r\n101\r\n:1\r\n",
        "*4\r\n:6\r\n:9\r\n:30\r\n$3\r\n1x1\r\n",
    };
    bool got[3];

    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        answer(&redis_script_check, checks[i], SILENCE);
        ck_assert_msg(check_three(got) == STATUS_FORMAT, "%s", checks[i]);
        ck_assert_uint_eq(asked(&redis_script_check), 1);
    }
    for (size_t i = 0; i < sizeof adds / sizeof *adds; i++) {
        answer(&redis_script_add, adds[i], SILENCE);
        ck_assert_msg(add_three(got) == STATUS_FORMAT, "%s", adds[i]);
        ck_assert_uint_eq(known().count, 7);
    }
}

/* Several batches are under way at once; one that failed is sent again. */
TEST(a_long_call_is_several_batches_and_each_is_answered)
{
    enum { N = 3 * REDIS_BATCH + 5 };
    static char full[2000], rest[64];
    static uint64_t keys[N];
    static bool got[N];

    sprintf(full, "*1\r\n$%d\r\n", REDIS_BATCH);
    memset(full + strlen(full), '1', REDIS_BATCH);
    strcat(full, "\r\n");
    strcpy(rest, "*1\r\n$5\r\n01010\r\n");
    answer(&redis_script_check, full, full);
    ck_ok(redis_bloom_check(b, (struct redis_keys){.digest = keys}, REDIS_BATCH,
                            got));
    ck_assert_uint_eq(asked(&redis_script_check), 1);
    answer(&redis_script_check, full, full);
    s.scripts[redis_script_check.number][2] = full;
    s.scripts[redis_script_check.number][3] = rest;
    memset(got, 0, sizeof got);
    ck_ok(redis_bloom_check(b, (struct redis_keys){.digest = keys}, N, got));
    ck_assert_uint_eq(asked(&redis_script_check), 4);
    for (size_t i = 0; i < N; i++)
        ck_assert(got[i] == (i < 3 * REDIS_BATCH || (i - 3 * REDIS_BATCH) % 2));
    /* The second answer is lost, with those behind it and perhaps the first,
     * if the connection ended while the client was still sending. */
    answer(&redis_script_check, full, HANG_UP);
    s.scripts[redis_script_check.number][2] = full;
    s.scripts[redis_script_check.number][3] = SILENCE;
    memset(got, 0, sizeof got);
    ck_ok(redis_bloom_check(b, (struct redis_keys){.digest = keys},
                            3 * REDIS_BATCH, got));
    ck_assert_uint_ge(asked(&redis_script_check), 4);
    ck_assert_uint_le(asked(&redis_script_check), 5);
    for (size_t i = 0; i < 3 * REDIS_BATCH; i++)
        ck_assert(got[i]);
    ck_assert_uint_eq(s.connections, 2);
}

/* ---- restarts ---- */

TEST(a_restarted_server_is_asked_what_it_still_has)
{
    static const struct {
        const char *record;
        enum status st;
    } t[] = {{PLAIN, STATUS_OK},
             {CHANGED, STATUS_OK},
             {RECORD(26, EPOCH, "1", "4", "7", ""), STATUS_DAMAGED},
             {FOREIGN, STATUS_NOT_FOUND},
             {"$4\r\nNONE\r\n", STATUS_NOT_FOUND}};
    bool got[3];

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        redis_bloom_free(b);
        s.info = "run_id:" RUN_ID "\r\n";
        answer(&redis_script_open, PLAIN, SILENCE);
        b = open_it(10000);
        answer(&redis_script_check, "*1\r\n$3\r\n111\r\n", SILENCE);
        ck_ok(check_three(got));
        /* A new connection to the same run proves nothing was lost. */
        redis_connection_lose(b->link);
        answer(&redis_script_open, SILENCE, SILENCE);
        ck_ok(check_three(got));
        ck_assert_uint_eq(redis_bloom_restarts(b), 0);
        ck_assert_uint_eq(asked(&redis_script_open), 0);
        s.info = "run_id:" OTHER_ID "\r\n";
        answer(&redis_script_open, t[i].record, SILENCE);
        redis_connection_lose(b->link);
        ck_assert_msg(check_three(got) == t[i].st, "%zu", i);
        ck_assert_uint_eq(redis_bloom_restarts(b), 1);
        ck_assert_str_eq(known().run_id, OTHER_ID);
        ck_ok(check_three(got)); /* said once */
        ck_assert_uint_eq(redis_bloom_restarts(b), 1);
    }
}

/* ---- opening ---- */

static enum status try_open(const char *settings, enum redis_bloom_mode mode,
                            const char *record, struct buf *why)
{
    struct redis_place p = impostor_place(&s, 60000), asked_for;
    const unsigned char seed[DIGEST_SEED_SIZE] = {0xab, 1};
    struct redis_bloom_options o = {
        .place = &p, .mode = mode, .expect = 50, .fpr = 0.25, .seed = seed};
    struct redis_bloom *got = NULL;
    char url[256];
    enum status st;

    snprintf(url, sizeof url, "redis://h?%s", settings);
    buf_clear(why);
    ck_ok(redis_url_parse(&asked_for, url, why));
    p.layout = asked_for.layout;
    p.layout_given = asked_for.layout_given;
    p.hash = asked_for.hash;
    p.hash_given = asked_for.hash_given;
    p.bits = asked_for.bits;
    p.k = asked_for.k;
    p.ttl_ms = asked_for.ttl_ms;
    answer(&redis_script_open, record, SILENCE);
    redis_bloom_free(b); /* the impostor talks to one client at a time */
    b = NULL;
    st = redis_bloom_open(&got, &o, why);
    ck_assert((st == STATUS_OK) == (got != NULL));
    ck_assert((st == STATUS_OK) == (why->len == 0));
    b = got;
    return st;
}

TEST(what_was_asked_for_must_not_contradict_what_is_there)
{
    struct buf why;

    buf_init(&why, 4096);
    ck_ok(try_open("bits=1024&k=4", REDIS_BLOOM_OPEN, PLAIN, &why));
    ck_assert_int_eq(try_open("bits=2048", REDIS_BLOOM_OPEN, PLAIN, &why),
                     STATUS_ARG);
    ck_assert_str_eq(buf_str(&why),
                     "k is a filter of layout=blocked&bits=1024&k=4, which is "
                     "not what was asked for");
    ck_assert_int_eq(try_open("k=8", REDIS_BLOOM_OPEN, PLAIN, &why),
                     STATUS_ARG);
    ck_assert_int_eq(try_open("layout=plain", REDIS_BLOOM_OPEN, PLAIN, &why),
                     STATUS_ARG);
    ck_assert_int_eq(try_open("k=8", REDIS_BLOOM_MAKE, PLAIN, &why),
                     STATUS_ARG);
    buf_fini(&why);
}

TEST(a_bitmap_of_others_needs_its_geometry_to_be_given)
{
    static const char foreign[] = "$7\r\nFOREIGN\r\n";
    struct buf why;

    buf_init(&why, 4096);
    ck_assert_int_eq(try_open("layout=plain", REDIS_BLOOM_OPEN, foreign, &why),
                     STATUS_ARG);
    ck_assert_ptr_nonnull(strstr(buf_str(&why), "say layout=plain&bits=N"));
    ck_assert_int_eq(try_open("bits=1024", REDIS_BLOOM_OPEN, foreign, &why),
                     STATUS_ARG);
    answer(&redis_script_count, "*2\r\n:20\r\n:13\r\n", SILENCE);
    ck_ok(
        try_open("layout=plain&bits=99&k=3", REDIS_BLOOM_OPEN, foreign, &why));
    ck_assert_uint_eq(known().k, 3);
    ck_assert_uint_eq(known().bits, 99);
    ck_assert(known().foreign);
    ck_ok(try_open("layout=plain&bits=99&hash=salted", REDIS_BLOOM_OPEN,
                   foreign, &why));
    ck_assert_uint_eq(known().k, 14);
    ck_assert_int_eq(known().hash, REDIS_SALTED);
    buf_fini(&why);
}

TEST(a_server_that_may_evict_is_warned_of_once)
{
    static struct capture said;
    const struct redis_place p = impostor_place(&s, 60000);
    const struct redis_bloom_options o = {.place = &p};
    const char *text;

    redis_bloom_free(b);
    s.info = "run_id:" RUN_ID "\r\nmaxmemory:1\r\nmaxmemory_policy:any\r\n";
    b = redis_bloom_new(&o);
    capture_start(&said, STDERR_FILENO);
    ck_ok(redis_bloom_start(b, NULL));
    ck_ok(redis_bloom_start(b, NULL));
    text = capture_end(&said);
    ck_assert(known().may_evict);
    text = strstr(text, "may throw the filter away");
    ck_assert_ptr_nonnull(text);
    ck_assert_ptr_null(strstr(text + 1, "may throw the filter away"));
}

TEST(a_filter_too_large_for_a_string_is_refused_before_it_is_made)
{
    const struct redis_place p = impostor_place(&s, 60000);
    const struct redis_bloom_options o = {.place = &p,
                                          .mode = REDIS_BLOOM_MAKE,
                                          .expect = UINT64_C(1) << 40,
                                          .fpr = 0.01};
    struct redis_bloom *got = b;
    struct buf why;

    buf_init(&why, 4096);
    answer(&redis_script_open, PLAIN, SILENCE);
    ck_assert_int_eq(redis_bloom_open(&got, &o, &why), STATUS_LIMIT);
    ck_assert_ptr_null(got);
    ck_assert(bytes_starts_with(buf_bytes(&why),
                                "1099511627776 keys at a rate of 0.01 take "));
    ck_assert_uint_eq(asked(&redis_script_open), 0);
    buf_fini(&why);
}
