/* SPDX-License-Identifier: MIT */
/* test_redis_slots.c - which server has which slot, as servers say it. */

#include "base/redis/redis_slots.h"
#include "tests/unit/unit.h"

/* Key slots as Redis 7.0.15 answers CLUSTER KEYSLOT; "123456789" has the CRC of
 * the cluster specification, 0x31C3. */
TEST(slots_are_those_that_servers_compute)
{
    static const struct {
        const char *tag;
        unsigned slot;
    } t[] = {{"123456789", 12739},
             {"foo", 12182},
             {"", 0},
             {"a", 15495},
             {"bar", 5061}};

    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        ck_assert_msg(redis_slot_of(bytes_of_str(t[i].tag)) == t[i].slot,
                      "%s: %u", t[i].tag,
                      redis_slot_of(bytes_of_str(t[i].tag)));
}

TEST(a_redirection_is_read)
{
    struct redis_spot spot;
    uint16_t slot;
    bool ask;

    ck_ok(redis_redirect_read(bytes_of_str("MOVED 3999 127.0.0.1:6381"), &ask,
                              &slot, &spot));
    ck_assert(!ask && slot == 3999 && spot.port == 6381);
    ck_assert(bytes_is(spot.host, "127.0.0.1"));
    ck_ok(redis_redirect_read(bytes_of_str("ASK 0 fe80::1:7"), &ask, &slot,
                              &spot));
    ck_assert(ask && slot == 0 && spot.port == 7);
    ck_assert(bytes_is(spot.host, "fe80::1"));
    ck_ok(redis_redirect_read(bytes_of_str("MOVED 16383 :1"), &ask, &slot,
                              &spot));
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
    uint16_t slot;
    bool ask;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(redis_redirect_read(bytes_of_str(bad[i]), &ask, &slot,
                                          &spot) == STATUS_FORMAT,
                      "%s", bad[i]);
}

static enum status read_map(const char *text, struct redis_slot_range *out)
{
    struct redis_reader reader;
    redisReply *r = NULL;
    enum status st;

    redis_reader_init(&reader);
    (void)redisReaderFeed(reader.r, text, strlen(text));
    st = redis_reader_next(&reader, &r);
    ck_ok(st);
    st = redis_slots_read(r, 0, out);
    if (st == STATUS_OK)
        ck_assert_uint_lt(out->spot.host.len, 256);
    freeReplyObject(r);
    redis_reader_fini(&reader);
    return st;
}

TEST(a_map_is_read_and_nothing_else_is_taken_for_one)
{
    static const char *const bad[] = {
        "*0\r\n",
        ":1\r\n",
        "*1\r\n:1\r\n",
        "*1\r\n*2\r\n:0\r\n:1\r\n",
        "*1\r\n*3\r\n:0\r\n:1\r\n:2\r\n",
        "*1\r\n*3\r\n:0\r\n:1\r\n*1\r\n$1\r\nh\r\n",
        "*1\r\n*3\r\n:0\r\n:16384\r\n*2\r\n$1\r\nh\r\n:1\r\n",
        "*1\r\n*3\r\n:-1\r\n:1\r\n*2\r\n$1\r\nh\r\n:1\r\n",
        "*1\r\n*3\r\n:2\r\n:1\r\n*2\r\n$1\r\nh\r\n:1\r\n",
        "*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n$1\r\nh\r\n:0\r\n",
        "*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n$1\r\nh\r\n:65536\r\n",
        "*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n$3\r\na b\r\n:1\r\n",
        "*1\r\n*3\r\n$1\r\n0\r\n:1\r\n*2\r\n$1\r\nh\r\n:1\r\n",
    };
    struct redis_slot_range range;

    ck_ok(read_map("*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$1\r\nh\r\n:65535\r\n",
                   &range));
    ck_assert(range.first == 0 && range.last == 16383);
    ck_assert_uint_eq(range.spot.port, 65535);
    ck_ok(read_map("*1\r\n*3\r\n:5\r\n:5\r\n*3\r\n$-1\r\n:1\r\n$2\r\nid\r\n",
                   &range));
    ck_assert_uint_eq(range.spot.host.len, 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(read_map(bad[i], &range) == STATUS_FORMAT, "%s", bad[i]);
}
