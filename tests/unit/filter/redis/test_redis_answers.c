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
#define REBUILT                                                                \
    RECORD(34, EPOCH, "2", "5", "7",                                           \
           F("next_token", 10, "32\r\n" OTHER "\r\n")                          \
               F("next_bits", 9, "4\r\n2048\r\n") F("next_k", 6, "1\r\n8\r\n") \
                   F("next_count", 10, "1\r\n0\r\n"))

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

TEST(what_the_record_says_is_known)
{
    struct redis_bloom_info i = known();

    ck_assert_int_eq(i.layout, REDIS_BLOCKED);
    ck_assert_uint_eq(i.bits, 1024);
    ck_assert_uint_eq(i.k, 4);
    ck_assert_uint_eq(i.expect, 50);
    ck_assert_uint_eq(i.count, 7);
    ck_assert_double_eq(i.fpr, 0.25);
    ck_assert_double_gt(i.fpr_predicted, 0);
    ck_assert(!i.foreign && !i.has_seed && !i.rebuilding && !i.may_evict);
    ck_assert_str_eq(i.epoch, EPOCH);
    ck_assert_str_eq(i.run_id, RUN_ID);
    ck_assert_int_eq(i.ends_ms, -1);
    ck_assert_str_eq(s.last, "2 k k:meta open 0 0; ");
    ck_assert(!redis_bloom_is_overfull(b));
    /* The promise is 0.25; it is the bits that tell, not the keys. */
    b->record.count = 51;
    b->record.set = 820;
    ck_assert(!redis_bloom_is_overfull(b));
    b->record.set = 880;
    ck_assert(redis_bloom_is_overfull(b));
    b->record.set = 1024;
    ck_assert_double_eq(known().fpr_predicted, 1);
    b->record.epoch[0] = '\0';
    ck_assert(!redis_bloom_is_overfull(b));
}

TEST(each_key_has_its_own_answer)
{
    bool got[3] = {true, false, false};

    answer(&redis_script_check, "*1\r\n$3\r\n011\r\n", SILENCE);
    ck_ok(check_three(got));
    ck_assert(!got[0] && got[1] && got[2]);
    answer(&redis_script_add, "*4\r\n:6\r\n:9\r\n:30\r\n$3\r\n101\r\n",
           SILENCE);
    ck_ok(add_three(got));
    ck_assert(got[0] && !got[1] && got[2]);
    ck_assert_uint_eq(known().count, 9);
    ck_ok(add_three(NULL));
    /* Answers overtake each other: the lower count is the older one. */
    answer(&redis_script_add, "*4\r\n:5\r\n:8\r\n:30\r\n$3\r\n000\r\n",
           SILENCE);
    ck_ok(add_three(got));
    ck_assert(!got[0] && !got[1] && !got[2]);
    ck_assert_uint_eq(known().count, 9);
}

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

TEST(words_have_their_meaning)
{
    bool got[3];

    answer(&redis_script_check, "$4\r\nLOST\r\n", SILENCE);
    ck_assert_int_eq(check_three(got), STATUS_NOT_FOUND);
    answer(&redis_script_check, "$4\r\nNONE\r\n", SILENCE);
    ck_assert_int_eq(check_three(got), STATUS_NOT_FOUND);
    answer(&redis_script_check, "$4\r\nGONE\r\n", SILENCE);
    ck_assert_int_eq(check_three(got), STATUS_NOT_FOUND);
    answer(&redis_script_check, "$5\r\nTAKEN\r\n", SILENCE);
    ck_assert_int_eq(check_three(got), STATUS_EXISTS);
    answer(&redis_script_check, "$7\r\nFOREIGN\r\n", SILENCE);
    ck_assert_int_eq(check_three(got), STATUS_ARG);
}

TEST(a_stale_record_is_read_again_and_the_call_repeated)
{
    bool got[3];

    answer(&redis_script_check, "$5\r\nSTALE\r\n", "*1\r\n$3\r\n011\r\n");
    answer(&redis_script_open, CHANGED, SILENCE);
    ck_ok(check_three(got));
    ck_assert(!got[0] && got[1] && got[2]);
    ck_assert_uint_eq(asked(&redis_script_check), 2);
    ck_assert_uint_eq(asked(&redis_script_open), 1);
    ck_assert_uint_eq(known().count, 8);
    ck_assert_ptr_nonnull(strstr(s.last, "2 k k:meta " EPOCH " 2 4 "));
    /* One that is stale for ever is given up. */
    answer(&redis_script_check, "$5\r\nSTALE\r\n", SILENCE);
    ck_assert_int_eq(check_three(got), STATUS_CLOSED);
    ck_assert_uint_eq(asked(&redis_script_check), REDIS_TRIES);
    /* Another filter under our name is not ours. */
    answer(&redis_script_open, FOREIGN, SILENCE);
    answer(&redis_script_check, "$5\r\nSTALE\r\n", SILENCE);
    ck_assert_int_eq(check_three(got), STATUS_NOT_FOUND);
    ck_assert_str_eq(known().epoch, EPOCH);
    answer(&redis_script_open, "$4\r\nNONE\r\n", SILENCE);
    ck_assert_int_eq(check_three(got), STATUS_NOT_FOUND);
    answer(&redis_script_open, "*0\r\n", SILENCE);
    ck_assert_int_eq(check_three(got), STATUS_FORMAT);
}

TEST(what_is_added_during_a_rebuild_goes_to_both)
{
    bool got[3];

    answer(&redis_script_add, "$5\r\nSTALE\r\n",
           "*4\r\n:6\r\n:9\r\n:30\r\n$3\r\n111\r\n");
    answer(&redis_script_open, REBUILT, SILENCE);
    ck_ok(add_three(got));
    ck_assert(known().rebuilding);
    ck_assert_uint_eq(b->packed.len, 3 * 4 * 4);
    ck_assert_uint_eq(b->packed_next.len, 3 * 8 * 4);
    answer(&redis_script_check, "*1\r\n$3\r\n011\r\n", SILENCE);
    ck_ok(check_three(got));
    ck_assert_uint_eq(b->packed_next.len, 0);
    ck_ok(add_three(NULL)); /* without a batch ID */
    ck_assert_ptr_nonnull(strstr(s.last, " " EPOCH " 2  4 "));
}

/* A batch ID is repeated for a repeated call only. */
TEST(batches_have_numbers_of_their_own)
{
    char first[4096], again[4096];
    bool got[3];

    answer(&redis_script_add, HANG_UP,
           "*4\r\n:6\r\n:9\r\n:30\r\n$3\r\n111\r\n");
    s.last[0] = '\0';
    ck_ok(add_three(got));
    ck_assert_uint_eq(asked(&redis_script_add), 2);
    ck_assert_uint_eq(s.connections, 2);
    memcpy(first, s.last, sizeof first);
    ck_ok(add_three(got));
    memcpy(again, s.last, sizeof again);
    ck_assert_str_ne(first, again);
    ck_assert_ptr_nonnull(strstr(first, "0000000000000000 4 "));
    ck_assert_ptr_nonnull(strstr(again, "0000000000000001 4 "));
    ck_assert_ptr_nonnull(strstr(first, " k:last:"));
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

TEST(texts_are_keys_of_the_plain_layout_only)
{
    struct bytes text = bytes_of_str("x");
    bool got;

    ck_assert_int_eq(redis_bloom_check(b, (struct redis_keys){.text = &text}, 1,
                                       &got),
                     STATUS_ARG);
    ck_assert_int_eq(redis_bloom_add(b, (struct redis_keys){.text = &text}, 1,
                                     &got),
                     STATUS_ARG);
    ck_assert_uint_eq(asked(&redis_script_check) + asked(&redis_script_add), 0);
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

TEST(ready_is_who_can_be_reached_and_is_the_one_we_know)
{
    ck_ok(redis_bloom_ready(b));
    ck_assert_uint_eq(asked(&redis_script_open), 2);
    ck_assert(redis_bloom_is_due(b));
    answer(&redis_script_open, CHANGED, SILENCE);
    ck_ok(redis_bloom_ready(b));
    ck_assert_uint_eq(known().count, 8);
    answer(&redis_script_open, FOREIGN, SILENCE);
    ck_assert_int_eq(redis_bloom_ready(b), STATUS_NOT_FOUND);
    answer(&redis_script_open, HANG_UP, SILENCE);
    ck_assert_int_eq(redis_bloom_ready(b), STATUS_CLOSED);
    ck_assert(!redis_bloom_is_due(b));
    b->record.epoch[0] = '\0'; /* a bitmap of others: there is no record */
    answer(&redis_script_open, SILENCE, SILENCE);
    ck_ok(redis_bloom_ready(b));
    ck_assert_uint_eq(asked(&redis_script_open), 0);
}

/* ---- rebuilding, inspecting, dropping ---- */

TEST(a_rebuild_goes_through_its_steps_or_says_why_not)
{
    const struct redis_keys keys = {.digest = three};

    ck_assert_int_eq(redis_bloom_refill(b, keys, 3), STATUS_ARG);
    ck_assert_int_eq(redis_bloom_swap(b, false), STATUS_ARG);
    ck_assert_int_eq(redis_bloom_abort(b), STATUS_ARG);
    ck_assert_int_eq(redis_bloom_rebuild(b, UINT64_C(1) << 40, 0.001),
                     STATUS_LIMIT);
    answer(&redis_script_begin, "$4\r\nLOST\r\n", SILENCE);
    ck_assert_int_eq(redis_bloom_rebuild(b, 100, 0.25), STATUS_NOT_FOUND);
    ck_assert_str_eq(b->token, "");
    answer(&redis_script_begin, "*0\r\n", SILENCE);
    ck_assert_int_eq(redis_bloom_rebuild(b, 100, 0.25), STATUS_FORMAT);
    ck_assert_str_eq(b->token, "");
    answer(&redis_script_begin, REBUILT, SILENCE);
    ck_ok(redis_bloom_rebuild(b, 100, 0.25));
    ck_assert_uint_eq(strlen(b->token), 32);
    ck_assert_ptr_nonnull(strstr(s.last, " next_expect 100 next_fpr 0.25; "));
    ck_assert_ptr_nonnull(strstr(s.last, "4 k k:meta k:next k:room:"));
    ck_assert_ptr_nonnull(strstr(s.last, " " EPOCH " "));

    answer(&redis_script_fill, "*1\r\n:1\r\n", SILENCE);
    ck_ok(redis_bloom_refill(b, keys, 3));
    ck_assert_uint_eq(b->packed.len, 3 * 8 * 4);
    ck_assert_uint_eq(asked(&redis_script_fill), 1);
    answer(&redis_script_fill, "$4\r\nGONE\r\n", SILENCE);
    ck_assert_int_eq(redis_bloom_refill(b, keys, 3), STATUS_NOT_FOUND);

    answer(&redis_script_swap, "*0\r\n", SILENCE);
    ck_assert_int_eq(redis_bloom_swap(b, false), STATUS_FORMAT);
    ck_assert_str_ne(b->token, "");
    answer(&redis_script_abort, "$5\r\nTAKEN\r\n", SILENCE);
    ck_assert_int_eq(redis_bloom_abort(b), STATUS_EXISTS);
    answer(&redis_script_swap, PLAIN, SILENCE);
    ck_ok(redis_bloom_swap(b, false));
    ck_assert_str_eq(b->token, "");
    ck_assert(!known().rebuilding);
    b->record.epoch[0] = '\0';
    ck_assert_int_eq(redis_bloom_rebuild(b, 100, 0.25), STATUS_ARG);
}

TEST(many_keys_are_refilled_in_batches)
{
    static uint64_t keys[2 * REDIS_BATCH + 1];

    answer(&redis_script_begin, REBUILT, SILENCE);
    ck_ok(redis_bloom_rebuild(b, 100, 0.25));
    answer(&redis_script_fill, "*1\r\n:1\r\n", SILENCE);
    ck_ok(redis_bloom_refill(b, (struct redis_keys){.digest = keys},
                             2 * REDIS_BATCH));
    ck_assert_uint_eq(asked(&redis_script_fill), 2);
    ck_ok(redis_bloom_refill(b, (struct redis_keys){.digest = keys},
                             2 * REDIS_BATCH + 1));
    ck_assert_uint_eq(asked(&redis_script_fill), 5);
    ck_assert_uint_eq(b->packed.len, 8 * 4);
    ck_ok(redis_bloom_refill(b, (struct redis_keys){.digest = keys}, 0));
    ck_assert_uint_eq(asked(&redis_script_fill), 5);
    answer(&redis_script_fill, "$4\r\nGONE\r\n", SILENCE);
    ck_assert_int_eq(redis_bloom_refill(b, (struct redis_keys){.digest = keys},
                                        2 * REDIS_BATCH + 1),
                     STATUS_NOT_FOUND);
    ck_assert_uint_eq(asked(&redis_script_fill), 1);
}

/* A swap that answers GONE was ours if the record names our token. */
TEST(a_swap_is_done_if_the_record_says_so)
{
    static char text[4096];

    for (int own = 0; own < 2; own++) {
        answer(&redis_script_begin, REBUILT, SILENCE);
        ck_ok(redis_bloom_rebuild(b, 100, 0.25));
        snprintf(text, sizeof text, "%s$5\r\nbuilt\r\n$32\r\n%s\r\n",
                 RECORD(28, EPOCH, "3", "5", "7", ""), own ? b->token : OTHER);
        answer(&redis_script_swap, "$4\r\nGONE\r\n", SILENCE);
        answer(&redis_script_open, text, SILENCE);
        ck_assert_int_eq(redis_bloom_swap(b, false),
                         own ? STATUS_OK : STATUS_NOT_FOUND);
        ck_assert_str_eq(b->token, "");
        ck_assert_uint_eq(asked(&redis_script_open), 1);
    }
}

TEST(inspecting_counts_bits_and_time_to_live)
{
    static const char *const wrong[] = {"*1\r\n" PLAIN,
                                        "*2\r\n" PLAIN "$1\r\n1\r\n",
                                        "*2\r\n*0\r\n:1\r\n",
                                        "*3\r\n" PLAIN ":1\r\n:1\r\n"};
    struct redis_bloom_info i = {.bits = 99};

    answer(&redis_script_info, "*2\r\n" CHANGED ":1234\r\n", SILENCE);
    answer(&redis_script_count, "*2\r\n:77\r\n:128\r\n", SILENCE);
    ck_ok(redis_bloom_inspect(b, &i));
    ck_assert_int_eq(i.ends_ms, 1234);
    ck_assert_uint_eq(i.bits_set, 77);
    ck_assert_uint_eq(i.count, 8);
    answer(&redis_script_info, "*2\r\n" PLAIN ":0\r\n", SILENCE);
    answer(&redis_script_count, "*2\r\n:1025\r\n:128\r\n", SILENCE);
    ck_ok(redis_bloom_inspect(b, &i));
    ck_assert_int_eq(i.ends_ms, 0);
    ck_assert_uint_eq(i.bits_set, 1024); /* there are no more */
    answer(&redis_script_info, "*2\r\n" PLAIN ":-2\r\n", SILENCE);
    answer(&redis_script_count, "*2\r\n:1024\r\n:128\r\n", SILENCE);
    ck_ok(redis_bloom_inspect(b, &i));
    ck_assert_int_eq(i.ends_ms, -1);
    ck_assert_uint_eq(i.bits_set, 1024);
    i.bits = 99;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        answer(&redis_script_info, wrong[k], SILENCE);
        ck_assert_msg(redis_bloom_inspect(b, &i) == STATUS_FORMAT, "%zu", k);
        ck_assert_uint_eq(i.bits, 99);
    }
    answer(&redis_script_info, "*2\r\n" PLAIN ":0\r\n", SILENCE);
    answer(&redis_script_count, "*2\r\n:-1\r\n:128\r\n", SILENCE);
    ck_assert_int_eq(redis_bloom_inspect(b, &i), STATUS_FORMAT);
    answer(&redis_script_info, "$4\r\nLOST\r\n", SILENCE);
    ck_assert_int_eq(redis_bloom_inspect(b, &i), STATUS_NOT_FOUND);
    b->record.epoch[0] = '\0'; /* of another program: the list is empty */
    answer(&redis_script_info, "*2\r\n*0\r\n:-1\r\n", SILENCE);
    answer(&redis_script_count, "*2\r\n:5\r\n:128\r\n", SILENCE);
    ck_ok(redis_bloom_inspect(b, &i));
    ck_assert_uint_eq(i.bits_set, 5);
    ck_assert(i.foreign);
}

TEST(dropping_is_for_filters_of_ours)
{
    answer(&redis_script_drop, "*1\r\n:3\r\n", SILENCE);
    ck_ok(redis_bloom_drop(b));
    ck_assert_ptr_nonnull(strstr(s.last, "8 k k:meta k:next k:room:"));
    ck_assert_ptr_nonnull(strstr(s.last, " k:old1 k:old2 k:old3 k:old4; "));
    answer(&redis_script_drop, "$4\r\nLOST\r\n", SILENCE);
    ck_assert_int_eq(redis_bloom_drop(b), STATUS_NOT_FOUND);
    b->record.epoch[0] = '\0';
    ck_assert_int_eq(redis_bloom_drop(b), STATUS_ARG);
    ck_assert_uint_eq(asked(&redis_script_drop), 1);
    redis_bloom_free(NULL);
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

TEST(a_filter_is_made_with_all_its_numbers)
{
    struct buf why;

    buf_init(&why, 4096);
    ck_ok(try_open("bits=1024&k=4&ttl=90s", REDIS_BLOOM_NEW, PLAIN, &why));
    ck_assert_ptr_nonnull(
        strstr(s.last, " new 1024 90000 0 v 1 layout blocked "
                       "hash double bits 1024 bytes 128 k 4 expect 50 fpr 0.25 "
                       "seed ab01000000000000000000000000000000000000000000000"
                       "000000000000000 epoch "));
    ck_assert_ptr_nonnull(strstr(s.last, " gen 1 adds 0 count 0 set 0; "));
    (void)try_open("layout=plain&bits=1025&hash=salted&k=3", REDIS_BLOOM_MAKE,
                   PLAIN, &why);
    ck_assert_ptr_nonnull(strstr(s.last,
                                 "make 1025 0 0 v 1 layout plain hash salted "
                                 "bits 1025 bytes 129 k 3 "));
    ck_assert_int_eq(try_open("bits=1024&k=4", REDIS_BLOOM_NEW,
                              "$5\r\nTAKEN\r\n", &why),
                     STATUS_EXISTS);
    buf_fini(&why);
}

/* Started again after it was lost, it takes what is there or makes it. */
TEST(one_that_is_started_again_says_so)
{
    answer(&redis_script_open, FOREIGN, SILENCE);
    b->mode = REDIS_BLOOM_MAKE;
    b->place.bits = 1024;
    b->place.k = 4;
    b->expect = 50;
    b->fpr = 0.25;
    ck_ok(redis_bloom_start(b, NULL));
    ck_assert_ptr_nonnull(strstr(s.last, " again 1024 0 "));
    ck_assert_str_eq(known().epoch, OTHER);
    answer(&redis_script_open, "$5\r\nTAKEN\r\n", SILENCE);
    ck_assert_int_eq(redis_bloom_start(b, NULL), STATUS_EXISTS);
    ck_assert_str_eq(known().epoch, OTHER); /* what it knew before */
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

/* Half of the bits of the real size would call keys new that are there. */
TEST(a_bitmap_that_cannot_have_the_size_given_is_refused)
{
    static const char foreign[] = "$7\r\nFOREIGN\r\n";
    struct buf why;

    buf_init(&why, 4096);
    answer(&redis_script_count, "*2\r\n:20\r\n:13\r\n", SILENCE);
    ck_assert_int_eq(try_open("layout=plain&bits=96", REDIS_BLOOM_OPEN, foreign,
                              &why),
                     STATUS_ARG);
    ck_assert_str_eq(buf_str(&why),
                     "k has 13 octets, so its filter has from 97 to 104 bits "
                     "or more, and not bits=96");
    /* Too many: nothing in so many octets behind the last one. */
    ck_ok(try_open("layout=plain&bits=200", REDIS_BLOOM_OPEN, foreign, &why));
    answer(&redis_script_count, "*2\r\n:50\r\n:13\r\n", SILENCE);
    ck_assert_int_eq(try_open("layout=plain&bits=200", REDIS_BLOOM_OPEN,
                              foreign, &why),
                     STATUS_ARG);
    ck_assert_ptr_nonnull(strstr(buf_str(&why), "has some 104 bits"));
    /* double32 does not reach beyond 2^31. */
    answer(&redis_script_count, "*2\r\n:4194304\r\n:268435456\r\n", SILENCE);
    ck_ok(try_open("layout=plain&hash=double32&bits=4294967296",
                   REDIS_BLOOM_OPEN, foreign, &why));
    ck_assert_int_eq(try_open("layout=plain&bits=4294967296", REDIS_BLOOM_OPEN,
                              foreign, &why),
                     STATUS_ARG);
    buf_fini(&why);
}

TEST(each_failure_has_its_sentence)
{
    static const struct {
        enum status st;
        const char *text;
    } t[] = {
        {STATUS_NOT_FOUND, ": no such filter there"},
        {STATUS_EXISTS, ": that key exists already"},
        {STATUS_DAMAGED, ": the server was restarted and has lost"},
        {STATUS_FORMAT, ": what is there is not a filter of urlweir"},
        {STATUS_VERSION, ": written by a newer release"},
        {STATUS_ARG, ": a bitmap without urlweir's record"},
        {STATUS_FULL, ": "},
    };
    struct buf why;
    bool got[3];

    buf_init(&why, 4096);
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        buf_clear(&why);
        redis_bloom_why(b, t[i].st, &why);
        ck_assert(bytes_starts_with(buf_bytes(&why), "redis+unix:///tmp/"));
        ck_assert_msg(strstr(buf_str(&why), t[i].text) != NULL, "%s",
                      buf_str(&why));
    }
    answer(&redis_script_check, "-NOPERM not you\r\n", SILENCE);
    ck_assert_int_eq(check_three(got), STATUS_ARG);
    buf_clear(&why);
    redis_bloom_why(b, STATUS_ARG, &why);
    ck_assert(bytes_ends_with(buf_bytes(&why), ": NOPERM not you"));
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

/* Within the patience; each try begins anew. */
TEST(a_call_is_tried_for_as_long_as_its_patience)
{
    bool got[3];
    int64_t before = clock_mono();

    redis_bloom_free(b);
    b = open_it(500);
    answer(&redis_script_check, "-BUSY\r\n", SILENCE);
    ck_assert_int_eq(check_three(got), STATUS_CLOSED);
    ck_assert_uint_ge(asked(&redis_script_check), 2);
    ck_assert_int_ge(clock_mono() - before, 250 * NS_PER_MS);
    redis_connection_lose(b->link);
    while (!redis_bloom_is_due(b))
        usleep(1000);
    answer(&redis_script_check, "-BUSY\r\n", "*1\r\n$3\r\n111\r\n");
    s.scripts[redis_script_check.number][1] = "*1\r\n$3\r\n111\r\n";
    redis_bloom_free(b);
    b = open_it(10000);
    ck_ok(check_three(got));
    ck_assert_uint_eq(asked(&redis_script_check), 2);
}

TEST(a_plain_filter_is_told_by_its_hash_too)
{
    static char plain[4096];
    struct buf why;
    char *at;

    strcpy(plain, PLAIN);
    at = strstr(plain, "blocked");
    memmove(at + 5, at + 7, strlen(at + 7) + 1);
    memcpy(at - 3, "5\r\nplain", 8);
    buf_init(&why, 4096);
    ck_ok(try_open("layout=plain", REDIS_BLOOM_OPEN, plain, &why));
    ck_assert_int_eq(try_open("layout=plain&hash=salted", REDIS_BLOOM_OPEN,
                              plain, &why),
                     STATUS_ARG);
    ck_assert_str_eq(buf_str(&why),
                     "k is a filter of layout=plain&bits=1024&k=4&hash=double, "
                     "which is not what was asked for");
    /* The record knows; only what is said can contradict it. */
    ck_ok(try_open("", REDIS_BLOOM_OPEN, plain, &why));
    ck_assert_int_eq(try_open("layout=blocked", REDIS_BLOOM_OPEN, plain, &why),
                     STATUS_ARG);
    buf_fini(&why);
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
