/* SPDX-License-Identifier: MIT */
/* Calls and their results: answers, mistakes, deadlines and stats.
 * test_grpc_peers.c has peers that break the rules. */
#include "tests/unit/service/grpc/grpc_rig.h"

TEST(a_message_goes_out_and_comes_back_with_status_0)
{
    struct answer a;

    start();
    connect_client();
    call(&a, ONCE, HI);
    ck_assert_str_eq(a.http, "200");
    ck_assert_str_eq(a.status, "0");
    ck_assert(bytes_equal(buf_bytes(&a.body), HI));
    buf_fini(&a.body);
    call(&a, ECHO, bytes_of("\0\0\0\0\1a\0\0\0\0\0\0\0\0\0\1b", 17));
    ck_assert_str_eq(a.status, "0");
    ck_assert_uint_eq(a.body.len, 17);
    buf_fini(&a.body);
    disconnect();
    stop();
}

TEST(what_is_no_call_of_grpc_is_told_so_in_http)
{
    struct answer a;

    start();
    connect_client();
    type_sent = "application/json";
    call(&a, ONCE, HI);
    ck_assert_str_eq(a.http, "415");
    buf_fini(&a.body);
    type_sent = "application/grpc";
    method_sent = "PUT";
    call(&a, ONCE, HI);
    ck_assert_str_eq(a.http, "405");
    buf_fini(&a.body);
    disconnect();
    stop();
}

TEST(each_mistake_has_its_status)
{
    char long_value[20000];

    start();
    connect_client();
    ck_assert_str_eq(status_of("/test.T/Nothing", HI), "12");
    ck_assert_str_eq(status_of(ONCE, bytes_of(NULL, 0)), "13");
    ck_assert_str_eq(status_of(ONCE, bytes_of("\0\0\0\0\5hi", 7)), "13");
    ck_assert_str_eq(status_of(ONCE, bytes_of("\1\0\0\0\2hi", 7)), "13");
    ck_assert_str_eq(status_of(ONCE, bytes_of("\0\x7f\xff\xff\xffhi", 7)), "8");
    ck_assert_str_eq(status_of(ONCE, bytes_of("\0\0\0\0\0\0\0\0\0\0", 10)),
                     "13");
    more_name = "grpc-encoding";
    more_value = "zstd";
    ck_assert_str_eq(status_of(ONCE, HI), "12");
    more_name = "grpc-timeout";
    more_value = "soon";
    ck_assert_str_eq(status_of(ONCE, HI), "13");
    more_value = "0n";
    ck_assert_str_eq(status_of(HOLD, HI), "4");
    more_name = "x-large";
    memset(long_value, 'x', sizeof long_value - 1);
    long_value[sizeof long_value - 1] = '\0';
    more_value = long_value;
    ck_assert_str_eq(status_of(ONCE, HI), "8");
    more_name = NULL;
    ck_assert_str_eq(status_of(ONCE, HI), "0");
    disconnect();
    stop();
}

TEST(a_deadline_ends_a_call_and_a_reset_does)
{
    struct answer a;
    struct body b = {.left = HI};
    int64_t begun = clock_mono();

    start();
    connect_client();
    more_name = "grpc-timeout";
    more_value = "200m";
    ck_assert_str_eq(status_of(HOLD, HI), "4");
    ck_assert_int_ge(clock_mono() - begun, 200 * NS_PER_MS);
    comes_to(&ended, 1);
    more_name = NULL;
    send_call(&a, HOLD, &b);
    ck_assert(flush());
    comes_to(&held, 2);
    nghttp2_submit_rst_stream(ng, NGHTTP2_FLAG_NONE, 3, NGHTTP2_CANCEL);
    ck_assert(flush());
    comes_to(&ended, 2);
    buf_fini(&a.body);
    disconnect();
    stop();
}

static bool holds_one_call(const struct grpc_stats *s)
{
    return s->open == 1 && s->received == 3;
}

static bool is_left_alone(const struct grpc_stats *s)
{
    return s->http2.open == 0 && s->open == 0 && s->ended[GRPC_CANCELLED] > 0;
}

TEST(a_monitor_is_told_each_stream_once_by_its_status)
{
    struct grpc_stats s;
    struct answer a;
    struct body b = {.left = HI};

    start();
    connect_client();
    ck_assert_str_eq(status_of(ONCE, HI), "0");
    ck_assert_str_eq(status_of("/test.T/Nothing", HI), "12");
    more_name = "grpc-timeout";
    more_value = "50m";
    ck_assert_str_eq(status_of(HOLD, HI), "4");
    more_name = NULL;
    type_sent = "application/json";
    call(&a, ONCE, HI);
    buf_fini(&a.body);
    type_sent = "application/grpc";
    send_call(&a, HOLD, &b);
    ck_assert(flush());
    s = sample_when(holds_one_call);
    ck_assert_uint_eq(s.open, 1);
    disconnect();
    s = sample_when(is_left_alone);
    buf_fini(&a.body);
    ck_assert_uint_eq(s.http2.open, 0);
    ck_assert_uint_eq(s.http2.accepted, 1);
    ck_assert_uint_eq(s.open, 0);
    ck_assert_uint_eq(s.ended[GRPC_OK], 1);
    ck_assert_uint_eq(s.ended[GRPC_UNIMPLEMENTED], 1);
    ck_assert_uint_eq(s.ended[GRPC_DEADLINE_EXCEEDED], 1);
    ck_assert_uint_eq(s.ended[GRPC_CANCELLED], 1);
    ck_assert_uint_eq(s.strangers, 1);
    ck_assert_uint_eq(s.received, 3);
    ck_assert_uint_eq(s.sent, 1);
    ck_assert_uint_gt(s.http2.received, 100);
    ck_assert_uint_gt(s.http2.sent, 100);
    stop();
}
