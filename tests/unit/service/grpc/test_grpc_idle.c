/* SPDX-License-Identifier: MIT */
/* Callers that leave their streams open: which end, and which do not. */
#include "tests/unit/service/grpc/grpc_rig.h"

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
