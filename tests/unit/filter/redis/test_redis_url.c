/* SPDX-License-Identifier: MIT */
/* test_redis_url.c - URLs of Redis filters, as people write them. */
#include <check.h>

#include "filter/redis/redis_url.h"

static struct redis_place place;

static bool parses(const char *text)
{
    struct buf error;
    bool ok;

    buf_init(&error, 1000);
    ok = redis_url_parse(&place, text, &error) == STATUS_OK;
    ck_assert(ok == (error.len == 0));
    buf_fini(&error);
    return ok;
}

START_TEST(a_whole_url_is_read)
{
    ck_assert(parses("redis://me:p%40ss%3aword@cache.example:6380/3?key=a%20b&"
                     "ttl=24h&layout=plain&bits=4294967296&k=14&hash=salted&"
                     "timeout=5s&retry=3m"));
    ck_assert_str_eq(place.user, "me");
    ck_assert_str_eq(place.password, "p@ss:word");
    ck_assert_str_eq(place.host, "cache.example");
    ck_assert_uint_eq(place.port, 6380);
    ck_assert_uint_eq(place.db, 3);
    ck_assert_str_eq(place.key, "a b");
    ck_assert_int_eq(place.ttl_ms, 86400000);
    ck_assert_int_eq(place.layout, REDIS_PLAIN);
    ck_assert_int_eq(place.hash, REDIS_SALTED);
    ck_assert_uint_eq(place.bits, UINT64_C(1) << 32);
    ck_assert_uint_eq(place.k, 14);
    ck_assert_int_eq(place.timeout_ms, 5000);
    ck_assert_int_eq(place.retry_ms, 180000);
}
END_TEST

START_TEST(what_is_not_said_has_a_default)
{
    ck_assert(parses("redis://h"));
    ck_assert_uint_eq(place.port, 6379);
    ck_assert_uint_eq(place.db, 0);
    ck_assert_str_eq(place.key, "urlweir:filter");
    ck_assert_str_eq(place.password, "");
    ck_assert_int_eq(place.layout, REDIS_BLOCKED);
    ck_assert_int_eq(place.ttl_ms, 0);
    ck_assert(parses("redis://:secret@[::1]:7000"));
    ck_assert_str_eq(place.host, "::1");
    ck_assert_uint_eq(place.port, 7000);
    ck_assert_str_eq(place.user, "");
    ck_assert_str_eq(place.password, "secret");
    ck_assert(parses("redis+unix:///run/redis.sock?db=2"));
    ck_assert(place.is_unix);
    ck_assert_str_eq(place.path, "/run/redis.sock");
    ck_assert_uint_eq(place.db, 2);
}
END_TEST

START_TEST(what_is_wrong_is_refused_and_said)
{
    static const char *const wrong[] = {
        "",
        "http://h/",
        "redis://",
        "redis://:6379",
        "redis://h:",
        "redis://h:0",
        "redis://h:65536",
        "redis://h:12x",
        "redis://me@h",
        "redis://me:@h",
        "redis://[::1",
        "redis://[::1]x",
        "redis://h/x",
        "redis://h/65536",
        "redis://h?key=",
        "redis://h?key=a%0",
        "redis://h?key=a%zz",
        "redis://h?key=a%00b",
        "redis://h?color=red",
        "redis://h?k=0",
        "redis://h?k=6",
        "redis://h?bits=1000",
        "redis://h?layout=plain&k=65",
        "redis://h?layout=plain&bits=4294967297",
        "redis://h?layout=plain&bits=0",
        "redis://h?layout=square",
        "redis://h?hash=salted",
        "redis://h?ttl=0",
        "redis://h?ttl=1y",
        "redis://h?ttl=99999999999d",
        "redis://h?timeout=2h",
        "redis://h?retry=4m",
        "redis+unix://relative",
        "redis+unix://",
        "rediss://h",
    };
    char text[700];

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_msg(!parses(wrong[i]), "%s", wrong[i]);
    memset(text, 'a', sizeof text);
    memcpy(text, "redis://", 8);
    text[sizeof text - 1] = '\0';
    ck_assert(!parses(text));
    memcpy(text, "redis://h?key=", 14);
    ck_assert(!parses(text));
    memcpy(text, "redis+unix:///", 14);
    ck_assert(!parses(text));
}
END_TEST

START_TEST(what_is_shown_has_no_secret)
{
    struct buf b;

    buf_init(&b, 1000);
    ck_assert(parses("redis://me:secret@h:1/2?key=n"));
    redis_url_show(&place, &b);
    ck_assert_str_eq(buf_str(&b), "redis://h:1/2?key=n");
    buf_clear(&b);
    ck_assert(parses("redis+unix://:secret@/run/s?key=n"));
    redis_url_show(&place, &b);
    ck_assert_str_eq(buf_str(&b), "redis+unix:///run/s?db=0&key=n");
    buf_fini(&b);
    ck_assert(redis_url_is_one("redis://x") && redis_url_is_one("rediss://x") &&
              !redis_url_is_one("redis") && !redis_url_is_one("file"));
}
END_TEST

Suite *suite_redis_url(void)
{
    Suite *s = suite_create("redis_url");
    TCase *t = tcase_create("url");

    tcase_add_test(t, a_whole_url_is_read);
    tcase_add_test(t, what_is_not_said_has_a_default);
    tcase_add_test(t, what_is_wrong_is_refused_and_said);
    tcase_add_test(t, what_is_shown_has_no_secret);
    suite_add_tcase(s, t);
    return s;
}
