/* SPDX-License-Identifier: MIT */
/* test_redis_reply.c - commands as written, replies of hostile servers. */
#include <stdio.h>

#include "filter/redis/redis_reply.h"
#include "tests/unit/unit.h"

static struct redis_reader reader;

static void begin(void)
{
    redis_reader_init(&reader);
}

static void end(void)
{
    redis_reader_fini(&reader);
}

static enum status next(const char *octets, redisReply **r)
{
    (void)redisReaderFeed(reader.r, octets, strlen(octets));
    return redis_reader_next(&reader, r);
}

FIXTURE(begin, end);

TEST(a_command_is_written_as_resp_with_any_octets)
{
    const struct bytes words[3] = {bytes_of_str("GET"), bytes_of("a\0\r\n", 4),
                                   bytes_of_str("")};
    struct buf b;

    buf_init(&b, 1000);
    redis_command_write(&b, words, 3);
    ck_assert_uint_eq(b.len, sizeof "*3\r\n$3\r\nGET\r\n$4\r\na\0\r\n\r\n$0\r\n"
                                    "\r\n" -
                                 1);
    ck_assert_mem_eq(b.at, "*3\r\n$3\r\nGET\r\n$4\r\na\0\r\n\r\n$0\r\n\r\n",
                     b.len);
    buf_fini(&b);
}

TEST(a_reply_comes_when_it_is_whole)
{
    redisReply *r = NULL;

    ck_assert_int_eq(next("*2\r\n:1\r\n$3\r\nab", &r), STATUS_AGAIN);
    ck_assert_ptr_null(r);
    ck_ok(next("c\r\n:7\r\n", &r));
    ck_assert_uint_eq(r->elements, 2);
    ck_assert_str_eq(r->element[1]->str, "abc");
    freeReplyObject(r);
    ck_ok(next("", &r));
    ck_assert_int_eq(r->integer, 7);
    freeReplyObject(r);
    ck_assert_int_eq(next("what\r\n", &r), STATUS_FORMAT);
}

/* Seven octets may ask for an array of 65,536; many of them in one reply must
 * not. */
TEST(the_elements_of_a_reply_are_bounded_over_all_its_arrays)
{
    char text[64];
    redisReply *r = NULL;

    reader.elements_most = 10;
    ck_ok(next("*2\r\n*4\r\n:1\r\n:1\r\n:1\r\n:1\r\n*4\r\n:1\r\n"
               ":1\r\n:1\r\n:1\r\n",
               &r));
    freeReplyObject(r);
    /* Each reply has the whole bound. */
    ck_ok(next("*2\r\n*4\r\n:1\r\n:1\r\n:1\r\n:1\r\n*0\r\n", &r));
    freeReplyObject(r);
    ck_assert_int_eq(next("*2\r\n*4\r\n:1\r\n:1\r\n:1\r\n:1\r\n*5\r\n:1\r\n",
                          &r),
                     STATUS_FORMAT);
    end();
    begin();
    snprintf(text, sizeof text, "*%d\r\n", REDIS_ELEMENTS_MOST + 1);
    ck_assert_int_eq(next(text, &r), STATUS_FORMAT);
}

TEST(info_is_read_by_line)
{
    static const char text[] =
        "# Server\r\nrun_id:0123456789012345678901234567890123456789\r\n"
        "maxmemory:99999999999999999999999\r\n"
        "maxmemory_policy:allkeys-lru\r\n";
    struct redis_info info;

    redis_info_read(&info, bytes_of_str(text));
    ck_assert_str_eq(info.run_id, "0123456789012345678901234567890123456789");
    ck_assert(info.may_evict && !info.loading && !info.is_logged);
    redis_info_read(&info, bytes_of_str("maxmemory:0\r\nmaxmemory_policy:"
                                        "allkeys-lru\r\naof_enabled:1\r\n"));
    ck_assert_str_eq(info.run_id, "");
    ck_assert(!info.may_evict && info.is_logged);
}

TEST(error_replies_have_their_status)
{
    static const struct {
        const char *text;
        enum status st;
    } t[] = {
        {"MOVED 3999 127.0.0.1:6381", STATUS_NOT_FOUND},
        {"ASK 3999 127.0.0.1:6381", STATUS_NOT_FOUND},
        {"ASKING what", STATUS_ARG},
        {"NOSCRIPT No matching script", STATUS_AGAIN},
        {"CLUSTERDOWN The cluster is down", STATUS_CLOSED},
        {"OOM command not allowed", STATUS_FULL},
        {"READONLY You can't write", STATUS_BUSY},
        {"", STATUS_ARG},
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        ck_assert_msg(redis_error_status(bytes_of_str(t[i].text)) == t[i].st,
                      "%s", t[i].text);
}

TEST(a_redirection_is_read)
{
    struct redis_spot spot;
    bool ask;

    ck_ok(redis_redirect_read(bytes_of_str("MOVED 3999 127.0.0.1:6381"), &ask,
                              &spot));
    ck_assert(!ask && spot.port == 6381);
    ck_assert(bytes_is(spot.host, "127.0.0.1"));
    ck_ok(redis_redirect_read(bytes_of_str("ASK 0 fe80::1:7"), &ask, &spot));
    ck_assert(ask && spot.port == 7);
    ck_assert(bytes_is(spot.host, "fe80::1"));
    ck_ok(redis_redirect_read(bytes_of_str("MOVED 16383 :1"), &ask, &spot));
    ck_assert_uint_eq(spot.host.len, 0); /* the server that says so */
}

TEST(what_is_no_redirection_is_refused)
{
    static const char *const bad[] = {"",
                                      "MOVED",
                                      "MOVED ",
                                      "MOVED 1",
                                      "MOVED 1 ",
                                      "MOVED 1 h",
                                      "MOVED 1 h:",
                                      "MOVED 1 h:0",
                                      "ASK x h:1",
                                      "MOVED 16384 h:1",
                                      "MOVED 1 h:65536",
                                      "MOVED 1 h:1x",
                                      "MOVED -1 h:1",
                                      "MOVED 1 h h:1",
                                      "ASK 1\th:1",
                                      "ASKING",
                                      "MOVED 99999999999999999999 h:1"};
    struct redis_spot spot;
    bool ask;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(redis_redirect_read(bytes_of_str(bad[i]), &ask, &spot) ==
                          STATUS_FORMAT,
                      "%s", bad[i]);
}
