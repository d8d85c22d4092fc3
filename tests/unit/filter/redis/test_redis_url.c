/* SPDX-License-Identifier: MIT */
/* test_redis_url.c - URLs of Redis filters, as people write them. */

#include "filter/redis/redis_place.h"
#include "tests/unit/unit.h"

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

TEST(a_whole_url_is_read)
{
    ck_assert(parses("redis://me:p%40ss%3aword@cache.example:6380/3?key=a%20b&"
                     "ttl=24h&layout=plain&bits=4294967296&k=14&hash=salted&"
                     "timeout=5s&retry=3m"));
    ck_assert_str_eq(place.at.user, "me");
    ck_assert_str_eq(place.at.password, "p@ss:word");
    ck_assert_str_eq(place.at.host, "cache.example");
    ck_assert_uint_eq(place.at.port, 6380);
    ck_assert_uint_eq(place.at.db, 3);
    ck_assert_str_eq(place.key, "a b");
    ck_assert_int_eq(place.ttl_ms, 86400000);
    ck_assert_int_eq(place.layout, REDIS_PLAIN);
    ck_assert_int_eq(place.hash, REDIS_SALTED);
    ck_assert_uint_eq(place.bits, UINT64_C(1) << 32);
    ck_assert_uint_eq(place.k, 14);
    ck_assert_int_eq(place.timeout_ms, 5000);
    ck_assert_int_eq(place.retry_ms, 180000);
}

TEST(what_is_not_said_has_a_default)
{
    ck_assert(parses("redis://h"));
    ck_assert_uint_eq(place.at.port, 6379);
    ck_assert_uint_eq(place.at.db, 0);
    ck_assert_str_eq(place.key, "urlweir:filter");
    ck_assert_str_eq(place.at.password, "");
    ck_assert_int_eq(place.layout, REDIS_BLOCKED);
    ck_assert_int_eq(place.ttl_ms, 0);
    ck_assert(parses("redis://:secret@[::1]:7000"));
    ck_assert_str_eq(place.at.host, "::1");
    ck_assert_uint_eq(place.at.port, 7000);
    ck_assert_str_eq(place.at.user, "");
    ck_assert_str_eq(place.at.password, "secret");
    ck_assert(parses("redis://?key=a"));
    ck_assert_str_eq(place.at.host, "localhost");
    ck_assert_uint_eq(place.at.port, 6379);
    ck_assert_str_eq(place.key, "a");
    ck_assert(parses("rediss://:secret@/2?key=b&layout=plain&hash=double32"));
    ck_assert_str_eq(place.at.host, "localhost");
    ck_assert_str_eq(place.at.password, "secret");
    ck_assert_uint_eq(place.at.db, 2);
    ck_assert_int_eq(place.hash, REDIS_DOUBLE32);
    ck_assert(parses("redis+unix:///run/redis.sock?db=2"));
    ck_assert(place.at.is_unix);
    ck_assert_str_eq(place.at.path, "/run/redis.sock");
    ck_assert_uint_eq(place.at.db, 2);
}

TEST(what_is_wrong_is_refused_and_said)
{
    static const char *const wrong[] = {
        "",
        "http://h/",
        "redis://,b",
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

TEST(what_is_shown_has_no_secret)
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
    ck_assert(redis_address_is_url("redis://x") &&
              redis_address_is_url("rediss://x") &&
              !redis_address_is_url("redis") && !redis_address_is_url("file"));
}
TEST(limits_are_met_and_not_passed)
{
    static const char *const good[] = {
        "redis://h:1",
        "redis://h:65535",
        "redis://h/0",
        "redis://h/65535",
        "redis://h/",
        "redis://h?",
        "redis://h?&&db=65535&",
        "redis://h/?db=0",
        "redis://h?k=4",
        "redis://h?k=24",
        "redis://h?bits=512",
        "redis://h?layout=plain&k=64",
        "redis://h?layout=plain&k=1",
        "redis://h?layout=plain&bits=1",
        "redis://h?layout=blocked&hash=double",
        "redis://h?ttl=1",
        "redis://h?ttl=315360000",
        "redis://h?ttl=5256000m",
        "redis://h?ttl=87600h",
        "redis://h?ttl=3650d",
        "redis://h?timeout=3600",
        "redis://h?timeout=1h",
        "redis://h?retry=180",
        "redis://h?retry=1",
        "redis://h?key=a%41",
        "redis://[::1]",
        "redis://[::1]:1",
        "redis://:p@h",
        "redis://u:p@h",
        "redis://u@x:p@h",
        "redis://h?key=a@b",
        "redis+unix:///a?key=b/c",
    };
    static const char *const bad[] = {
        "redis://h:00000000000001",
        "redis://h/65536",
        "redis://h/-1",
        "redis://h?db=65536",
        "redis://h?db=",
        "redis://h?db=1x",
        "redis://h?k=28",
        "redis://h?k=2",
        "redis://h?k=65",
        "redis://h?k=",
        "redis://h?bits=511",
        "redis://h?bits=513",
        "redis://h?bits=",
        "redis://h?bits=4294967808",
        "redis://h?layout=plain&bits=",
        "redis://h?layout=",
        "redis://h?layout=plain&hash=",
        "redis://h?ttl=",
        "redis://h?ttl=s",
        "redis://h?ttl=1ss",
        "redis://h?ttl=315360001",
        "redis://h?ttl=5256001m",
        "redis://h?ttl=87601h",
        "redis://h?ttl=3651d",
        "redis://h?ttl=0d",
        "redis://h?timeout=3601",
        "redis://h?timeout=0",
        "redis://h?timeout=61m",
        "redis://h?retry=181",
        "redis://h?retry=0",
        "redis://h?key",
        "redis://h?key=%",
        "redis://h?key=%4",
        "redis://h?key=%g1",
        "redis://h?key=%1g",
        "redis://[]",
        "redis://[::1]1",
        "redis://h%00",
        "redis://:@h",
        "redis://u:%@h",
        "redis://u%:p@h",
        "redis://@h",
        "redis://h ?=1",
        "redis+unix://h/a",
        "redis+unix:///%00",
        "redis+unix:///a?db=65536",
        "redis:/h",
        "redis",
        "redis+unix://u@/a",
    };

    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        ck_assert_msg(parses(good[i]), "%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!parses(bad[i]), "%s", bad[i]);
}

TEST(times_have_units)
{
    ck_assert(parses("redis://h?ttl=90&timeout=2m&retry=3s"));
    ck_assert_int_eq(place.ttl_ms, 90000);
    ck_assert_int_eq(place.timeout_ms, 120000);
    ck_assert_int_eq(place.retry_ms, 3000);
    ck_assert(parses("redis://h?ttl=3h"));
    ck_assert_int_eq(place.ttl_ms, 3 * 3600000);
    ck_assert_int_eq(place.timeout_ms, 2000);
    ck_assert_int_eq(place.retry_ms, 5000);
    ck_assert(parses("redis://h?ttl=2d"));
    ck_assert_int_eq(place.ttl_ms, 2 * 86400000);
    ck_assert(parses("redis://h?ttl=1s"));
    ck_assert_int_eq(place.ttl_ms, 1000);
}
