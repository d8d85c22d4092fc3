/* SPDX-License-Identifier: MIT */
/* test_redis_reply.c - commands as written, replies of hostile servers. */
#include <stdio.h>

#include "base/redis/redis_address.h"
#include "base/redis/redis_reply.h"
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

TEST(info_is_read_by_line_and_trusts_no_number)
{
    static const char text[] =
        "# Server\r\nrun_id:0123456789012345678901234567890123456789\r\n"
        "used_memory:1244\r\nmem_not_counted_for_evict:10\r\nmaxmemory:"
        "99999999999999999999999\r\n"
        "maxmemory_policy:allkeys-lru\r\nrole:slave\r\n"
        "connected_slaves:x2\r\ncluster_enabled:1\r\n";
    struct redis_info info;

    redis_info_read(&info, bytes_of_str(text));
    ck_assert_str_eq(info.run_id, "0123456789012345678901234567890123456789");
    ck_assert_uint_eq(info.memory_used, 1234);
    ck_assert_uint_eq(info.memory_most, UINT64_C(999999999999999999));
    ck_assert(info.may_evict && info.is_replica && info.is_cluster);
    ck_assert(!info.loading && !info.is_logged);
    ck_assert_uint_eq(info.replicas, 0);
    redis_info_read(&info, bytes_of("", 0));
    ck_assert_str_eq(info.run_id, "");
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

TEST(a_url_may_name_several_hosts)
{
    struct redis_url_parts p;
    const char *why = NULL;
    char text[400];
    size_t n;

    ck_ok(redis_address_read(&p, "rediss://me:p%40@a:1,b,[::1]:3/x?y", &why));
    ck_assert_uint_eq(p.host_count, 3);
    ck_assert_str_eq(p.hosts[1].host, "b");
    ck_assert_uint_eq(p.hosts[1].port, 6379);
    ck_assert_str_eq(p.hosts[2].host, "::1");
    ck_assert_uint_eq(p.hosts[2].port, 3);
    for (size_t i = 0; i < 3; i++)
        ck_assert(p.hosts[i].tls && strcmp(p.hosts[i].password, "p@") == 0);
    ck_assert(bytes_is(p.path, "x") && bytes_is(p.settings, "y"));
    ck_assert_int_eq(redis_address_read(&p, "redis://a,,b/", &why),
                     STATUS_FORMAT);
    n = (size_t)snprintf(text, sizeof text, "redis://a");
    for (int i = 0; i < REDIS_HOSTS_MOST; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, ",b");
    ck_assert_int_eq(redis_address_read(&p, text, &why), STATUS_FORMAT);
    text[n - 2] = '\0';
    ck_ok(redis_address_read(&p, text, &why));
}
