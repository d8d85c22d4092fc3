/* SPDX-License-Identifier: MIT */
/* test_fetch_end.c - what curl's codes mean for a fetch. */
#include "tests/unit/crawler/fetch/hand_fed.h"

#include "tests/unit/crawler/fetch/coded_bodies.h"

static struct hand_fed h;

static void begin(void)
{
    hand_fed_init(&h, MEBIBYTE);
}

static void end(void)
{
    hand_fed_fini(&h);
}

/* A response with this status, whose head is whole; 0: none has begun. */
static struct fetch *with_status(unsigned status)
{
    hand_fed_again(&h);
    h.fetch->error[0] = '\0';
    h.fetch->response.status = (uint16_t)status;
    h.fetch->response.complete = status != 0;
    h.fetch->keep = h.fetch->page = status / 100 == 2;
    return h.fetch;
}

FIXTURE(begin, end);

TEST(without_a_response_the_code_says_what_failed)
{
    static const struct {
        CURLcode code;
        enum fetch_end end;
        bool transient;
    } t[] = {
        {CURLE_OK, FETCH_PROTOCOL, false}, /* no head, and no error */
        {CURLE_URL_MALFORMAT, FETCH_DNS, false},
        {CURLE_COULDNT_RESOLVE_HOST, FETCH_DNS, true},
        {CURLE_COULDNT_RESOLVE_PROXY, FETCH_DNS, true},
        {CURLE_COULDNT_CONNECT, FETCH_CONNECT, true},
        {CURLE_SSL_CONNECT_ERROR, FETCH_TLS, true},
        {CURLE_PEER_FAILED_VERIFICATION, FETCH_TLS, false},
        {CURLE_SSL_CERTPROBLEM, FETCH_TLS, true},
        {CURLE_SSL_CIPHER, FETCH_TLS, true},
        {CURLE_SSL_CACERT_BADFILE, FETCH_TLS, false},
        {CURLE_SSL_ISSUER_ERROR, FETCH_TLS, true},
        {CURLE_SSL_INVALIDCERTSTATUS, FETCH_TLS, true},
        {CURLE_GOT_NOTHING, FETCH_RESET, true},
        {CURLE_SEND_ERROR, FETCH_RESET, true},
        {CURLE_RECV_ERROR, FETCH_RESET, true},
        {CURLE_PARTIAL_FILE, FETCH_RESET, true},
        {CURLE_HTTP2, FETCH_RESET, true},
        {CURLE_HTTP2_STREAM, FETCH_RESET, true},
        {CURLE_OPERATION_TIMEDOUT, FETCH_DNS, true}, /* nothing looked up */
        {CURLE_ABORTED_BY_CALLBACK, FETCH_STOPPED, false},
        {CURLE_WEIRD_SERVER_REPLY, FETCH_PROTOCOL, false},
        {CURLE_UNSUPPORTED_PROTOCOL, FETCH_PROTOCOL, false},
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct fetch *f = with_status(0);

        ck_assert_msg(fetch_end_of(f, t[i].code) == t[i].end, "%d",
                      (int)t[i].code);
        ck_assert_msg(fetch_is_transient(t[i].end, t[i].code) == t[i].transient,
                      "%d", (int)t[i].code);
    }
    ck_assert(fetch_is_transient(FETCH_TIMEOUT, CURLE_OPERATION_TIMEDOUT));
    for (int e = FETCH_ANSWERED; e < FETCH_DNS; e++)
        ck_assert(!fetch_is_transient((enum fetch_end)e, CURLE_RECV_ERROR));
}

TEST(a_connection_may_be_refused_by_guard_limit_or_server)
{
    struct fetch *f = with_status(0);

    f->transfer.refused = true;
    ck_assert_int_eq(fetch_end_of(f, CURLE_COULDNT_CONNECT), FETCH_ADDRESS);
    f->transfer.permitted = true; /* another address was tried */
    ck_assert_int_eq(fetch_end_of(f, CURLE_COULDNT_CONNECT), FETCH_CONNECT);
    f->transfer.crowded = true;
    ck_assert_int_eq(fetch_end_of(f, CURLE_COULDNT_CONNECT), FETCH_CROWDED);
    f->transfer.crowded = f->transfer.refused = false;
    ck_assert_int_eq(fetch_end_of(f, CURLE_COULDNT_CONNECT), FETCH_CONNECT);
    f->transfer.permitted = false;
}

TEST(why_the_rest_of_a_body_is_missing)
{
    struct fetch *f = with_status(200);

    ck_assert_int_eq(fetch_cut_of(f, CURLE_OK), FETCH_WHOLE);
    ck_assert_int_eq(fetch_cut_of(f, CURLE_WRITE_ERROR), FETCH_TOO_LONG);
    ck_assert_int_eq(fetch_cut_of(f, CURLE_OPERATION_TIMEDOUT), FETCH_TOO_LATE);
    ck_assert_int_eq(fetch_cut_of(f, CURLE_RECV_ERROR), FETCH_GONE);
    f->end = FETCH_CUT_LENGTH; /* not decided: of an earlier transfer */
    ck_assert_int_eq(fetch_cut_of(f, CURLE_RECV_ERROR), FETCH_GONE);
    f->decided = true;
    ck_assert_int_eq(fetch_cut_of(f, CURLE_RECV_ERROR), FETCH_TOO_LONG);
    f->end = FETCH_RESET;
    ck_assert_int_eq(fetch_cut_of(f, CURLE_RECV_ERROR), FETCH_GONE);
    f->why = "it does not decode";
    ck_assert_int_eq(fetch_cut_of(f, CURLE_OK), FETCH_GONE);
    ck_assert_int_eq(fetch_cut_of(f, CURLE_WRITE_ERROR), FETCH_GONE);
}
