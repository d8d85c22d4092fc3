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

/* ---- idle calls ----
 *
 * Callers that leave their streams open: which end, and which do not.
 */

#define CALLS 64

static struct answer answers[2 * CALLS];
static struct body bodies[2 * CALLS];

/* Opens a call that stays open, and waits until its message has come back. */
static void open_call(size_t i)
{
    bodies[i] = (struct body){.left = HI, .stays_open = true};
    send_call(&answers[i], IDLE, &bodies[i]);
    while (answers[i].body.len < HI.len)
        ck_assert_msg(turn(PATIENCE_MS), "call %zu is not answered", i);
}

/* Calls `from` to `to` have ended with status `status`; "": they are open. */
static void are(size_t from, size_t to, const char *status)
{
    for (size_t i = from; i < to; i++) {
        ck_assert_msg(strcmp(answers[i].status, status) == 0,
                      "call %zu has the status '%s'", i, answers[i].status);
        ck_assert_msg(answers[i].closed == (*status != '\0'), "call %zu", i);
    }
}

static void forget(size_t n)
{
    for (size_t i = 0; i < n; i++)
        buf_fini(&answers[i].body);
}

TEST(of_many_idle_calls_on_a_connection_the_oldest_end_with_ok)
{
    streams_most = 40;
    start();
    connect_client();
    for (size_t i = 0; i < CALLS; i++)
        open_call(i);
    ck_assert_str_eq(status_of(ONCE, HI), "0");
    are(0, CALLS - 29, "0"); /* three quarters of 40, one was for ONCE */
    are(CALLS - 29, CALLS, "");
    forget(CALLS);
    disconnect();
    stop();
}

TEST(a_call_that_is_used_again_is_not_idle)
{
    streams_most = 40;
    start();
    connect_client();
    for (size_t i = 0; i < 30; i++)
        open_call(i);
    bodies[0].left = HI;
    nghttp2_session_resume_data(ng, 1);
    while (answers[0].body.len < 2 * HI.len)
        ck_assert(turn(PATIENCE_MS));
    bodies[1].left = bytes_of("\0\0\0", 3); /* a part of a message */
    nghttp2_session_resume_data(ng, 3);
    ck_assert(flush());
    for (size_t i = 30; i < 40; i++)
        open_call(i);
    ck_assert_str_eq(status_of(ONCE, HI), "0");
    are(0, 2, "");
    are(2, 13, "0");
    are(13, 40, "");
    forget(40);
    disconnect();
    stop();
}

/* Whoever opens a few streams and keeps them does not lose them to others. */
TEST(where_all_calls_are_taken_the_few_of_a_connection_are_left_alone)
{
    nghttp2_session *other;
    int other_fd;

    calls_most = 40;
    start();
    connect_client();
    for (size_t i = 0; i < 16; i++)
        open_call(i);
    other = ng;
    other_fd = fd;
    connect_client();
    for (size_t i = 16; i < 16 + CALLS; i++)
        open_call(i);
    are(16, 16 + CALLS - 19, "0"); /* seven eighths of 40, less 16 */
    are(16 + CALLS - 19, 16 + CALLS, "");
    disconnect();
    ng = other;
    fd = other_fd;
    ck_assert_str_eq(status_of(ONCE, HI), "0");
    are(0, 16, "");
    forget(16 + CALLS);
    disconnect();
    stop();
}
