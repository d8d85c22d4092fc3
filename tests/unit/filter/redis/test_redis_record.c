/* SPDX-License-Identifier: MIT */
/* test_redis_record.c - the record beside the bits: what is read of it, and
 * what is refused. */
#include <stdio.h>
#include <string.h>

#include "filter/redis/redis_impl.h"
#include "tests/unit/unit.h"

#define EPOCH "0123456789abcdef0123456789abcdef"
#define TOKEN "fedcba9876543210fedcba9876543210"
#define BUILT "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define SEED  "000102030405060708090a0B0C0D0E0F101112131415161718191a1b1c1d1efF"

struct field {
    const char *name, *value; /* value NULL: left out */
};

static const struct field whole[] = {
    {"v", "1"},          {"layout", "plain"},
    {"hash", "salted"},  {"bits", "1001"},
    {"bytes", "126"},    {"k", "7"},
    {"expect", "100"},   {"fpr", "0.25"},
    {"seed", SEED},      {"epoch", EPOCH},
    {"gen", "12"},       {"adds", "34"},
    {"count", "56"},     {"set", "78"},
    {"built", BUILT},    {"next_token", TOKEN},
    {"next_bits", "9"},  {"next_k", "2"},
    {"next_count", "3"},
};

enum { FIELDS = sizeof whole / sizeof *whole };

/* Writes the record as HGETALL gives it, with one field changed or added. */
static void write_record(char *out, size_t size, const struct field *other)
{
    char head[16];
    size_t n = 0, len = 0;
    bool is_new = other != NULL && other->value != NULL;

    for (size_t i = 0; other != NULL && i < FIELDS; i++)
        if (strcmp(whole[i].name, other->name) == 0)
            is_new = false;
    for (size_t i = 0; i <= FIELDS; i++) {
        const struct field *f = i < FIELDS ? &whole[i] : other;

        if (i == FIELDS && !is_new)
            break;
        if (other != NULL && strcmp(f->name, other->name) == 0)
            f = other;
        if (f->value == NULL)
            continue;
        len += (size_t)snprintf(out + len, size - len,
                                "$%zu\r\n%s\r\n$%zu\r\n%s\r\n", strlen(f->name),
                                f->name, strlen(f->value), f->value);
        n++;
    }
    memmove(out + 5, out, len + 1); /* "*NN\r\n" */
    snprintf(head, sizeof head, "*%2zu\r\n", 2 * n);
    memcpy(out, head, 5);
}

static enum status parse(const char *text, struct redis_record *out)
{
    redisReader *r = redisReaderCreate();
    void *reply = NULL;
    enum status st;

    ck_assert_int_eq(redisReaderFeed(r, text, strlen(text)), REDIS_OK);
    ck_assert_int_eq(redisReaderGetReply(r, &reply), REDIS_OK);
    ck_assert_ptr_nonnull(reply);
    st = redis_record_read(out, reply);
    freeReplyObject(reply);
    redisReaderFree(r);
    return st;
}

static enum status read_with(const char *name, const char *value,
                             struct redis_record *out)
{
    const struct field other = {name, value};
    char text[4096];

    write_record(text, sizeof text, name != NULL ? &other : NULL);
    return parse(text, out);
}

TEST(a_whole_record_is_read)
{
    struct redis_record r;

    ck_ok(read_with(NULL, NULL, &r));
    ck_assert_int_eq(r.now.layout, REDIS_PLAIN);
    ck_assert_int_eq(r.now.hash, REDIS_SALTED);
    ck_assert_uint_eq(r.now.bits, 1001);
    ck_assert_uint_eq(r.now.k, 7);
    ck_assert_uint_eq(r.expect, 100);
    ck_assert_double_eq(r.fpr, 0.25);
    ck_assert(r.has_seed);
    for (unsigned i = 0; i < 31; i++)
        ck_assert_uint_eq(r.seed[i], i);
    ck_assert_uint_eq(r.seed[31], 255);
    ck_assert_str_eq(r.epoch, EPOCH);
    ck_assert_str_eq(r.generation, "12");
    ck_assert_uint_eq(r.adds, 34);
    ck_assert_uint_eq(r.count, 56);
    ck_assert_uint_eq(r.set, 78);
    ck_assert_uint_eq(r.next_count, 3);
    ck_assert_str_eq(r.built, BUILT);
    ck_assert_str_eq(r.next_token, TOKEN);
    ck_assert_int_eq(r.next.layout, REDIS_PLAIN);
    ck_assert_int_eq(r.next.hash, REDIS_SALTED);
    ck_assert_uint_eq(r.next.bits, 9);
    ck_assert_uint_eq(r.next.k, 2);
}

TEST(what_is_wrong_is_refused_and_nothing_is_given)
{
    static const struct field wrong[] = {
        {"v", NULL},
        {"v", ""},
        {"v", "1x"},
        {"v", "/"},
        {"v", ":"},
        {"layout", NULL},
        {"layout", "square"},
        {"layout", "blocked"}, /* 1001 bits */
        {"hash", NULL},
        {"hash", "md5"},
        {"bits", NULL},
        {"bits", "0"},
        {"bits", "4294967297"},
        {"bits", "-1"},
        {"bits", "1009"}, /* 127 octets */
        {"bits", "1000"},
        {"bits", "00000000000000001001"},
        {"bytes", NULL},
        {"bytes", "125"},
        {"bytes", "127"},
        {"k", NULL},
        {"k", "0"},
        {"k", "65"},
        {"expect", NULL},
        {"expect", "1099511627777"},
        {"fpr", NULL},
        {"fpr", "0.51"},
        {"fpr", "0.9e-9"},
        {"fpr", "0.1x"},
        {"fpr", "x"},
        {"fpr", "nan"},
        {"fpr", "0.100000000000000000000000000000"},
        {"seed", "00"},
        {"seed", SEED "00"},
        {"seed", "000102030405060708090a0b0c0d0e0f"
                 "101112131415161718191a1b1c1d1e0g"},
        {"seed", "g00102030405060708090a0b0c0d0e0f"
                 "101112131415161718191a1b1c1d1e0f"},
        {"epoch", NULL},
        {"epoch", ""},
        {"epoch", "0123456789abcdef0123456789abcde"},
        {"epoch", EPOCH "0"},
        {"gen", NULL},
        {"gen", "x"},
        {"gen", "9223372036854775808"},
        {"adds", NULL},
        {"adds", "9223372036854775808"},
        {"count", NULL},
        {"count", "9223372036854775808"},
        {"next_token", "short"},
        {"next_bits", NULL},
        {"next_bits", "0"},
        {"next_k", NULL},
        {"next_k", "0"},
    };
    struct redis_record r = {.adds = 7};

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_msg(read_with(wrong[i].name, wrong[i].value, &r) ==
                          STATUS_FORMAT,
                      "%s=%s", wrong[i].name, wrong[i].value);
        ck_assert_uint_eq(r.adds, 7);
    }
    ck_assert_int_eq(read_with("v", "2", &r), STATUS_VERSION);
    ck_assert_int_eq(read_with("v", "0", &r), STATUS_VERSION);
    ck_assert_uint_eq(r.adds, 7);
}

TEST(what_is_no_list_of_texts_is_refused)
{
    static const char *const texts[] = {
        "$1\r\nv\r\n",
        ":1\r\n",
        "*0\r\n",
        "*1\r\n$1\r\nv\r\n",
        "*2\r\n$1\r\nv\r\n:1\r\n",
        "*2\r\n:1\r\n$1\r\n1\r\n",
        "*3\r\n$1\r\nv\r\n$1\r\n1\r\n$1\r\nx\r\n",
        "*2\r\n$1\r\nv\r\n$-1\r\n",
    };
    struct redis_record r;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        ck_assert_msg(parse(texts[i], &r) == STATUS_FORMAT, "%zu", i);
}
