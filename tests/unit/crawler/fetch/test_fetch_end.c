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

TEST(of_an_unsuccessful_response_the_head_is_enough)
{
    static const unsigned statuses[] = {200, 299, 300, 404, 503};

    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        struct fetch *f = with_status(statuses[i]);
        bool success = statuses[i] < 300;

        ck_assert_int_eq(fetch_end_of(f, CURLE_OK), FETCH_ANSWERED);
        ck_assert_int_eq(fetch_end_of(f, CURLE_RECV_ERROR),
                         success ? FETCH_RESET : FETCH_ANSWERED);
        ck_assert_int_eq(fetch_end_of(f, CURLE_OPERATION_TIMEDOUT),
                         success ? FETCH_TIMEOUT : FETCH_ANSWERED);
        f->body_bytes = 1;
        ck_assert_int_eq(fetch_end_of(f, CURLE_OPERATION_TIMEDOUT),
                         success ? FETCH_CUT_TIME : FETCH_ANSWERED);
        f->response.complete = false; /* in the middle of its head */
        ck_assert_int_eq(fetch_end_of(f, CURLE_OK), FETCH_PROTOCOL);
        ck_assert_int_eq(fetch_end_of(f, CURLE_OPERATION_TIMEDOUT),
                         FETCH_TIMEOUT);
    }
}

TEST(what_was_decided_stands_whatever_curl_says)
{
    struct fetch *f = with_status(200);

    f->decided = true;
    f->end = FETCH_MIME;
    ck_assert_int_eq(fetch_end_of(f, CURLE_OK), FETCH_MIME);
    ck_assert_int_eq(fetch_end_of(f, CURLE_WRITE_ERROR), FETCH_MIME);
    ck_assert_int_eq(fetch_end_of(f, CURLE_OPERATION_TIMEDOUT), FETCH_MIME);
}

/* curl tells them by its words alone. */
TEST(a_broken_chunk_is_a_fault_of_the_protocol)
{
    struct fetch *f = with_status(200);

    strcpy(f->error, "Recv failure: Connection reset by peer");
    ck_assert_int_eq(fetch_end_of(f, CURLE_RECV_ERROR), FETCH_RESET);
    strcpy(f->error, "Malformed encoding found in chunked-encoding");
    ck_assert_int_eq(fetch_end_of(f, CURLE_RECV_ERROR), FETCH_PROTOCOL);
}

TEST(a_coding_without_its_end_cuts_a_body_that_is_kept)
{
    static const unsigned statuses[] = {200, 299, 300};

    for (size_t i = 0; i < 3; i++) {
        struct fetch *f;

        hand_fed_again(&h);
        feed_head(&h, "HTTP/1.1 200 OK\r\n");
        feed_head(&h, "Content-Encoding: gzip\r\n");
        feed_head(&h, "\r\n");
        f = h.fetch;
        f->response.status = (uint16_t)statuses[i];
        f->page = statuses[i] < 300;
        ck_assert_int_eq(fetch_end_of(f, CURLE_OK), FETCH_ANSWERED);
        ck_assert_uint_eq(feed_body(&h, GZIP_BODY, 20), 20);
        ck_assert_int_eq(fetch_end_of(f, CURLE_OK), statuses[i] < 300
                                                        ? FETCH_CUT_ENCODING
                                                        : FETCH_ANSWERED);
        ck_assert_int_eq(fetch_end_of(f, CURLE_PARTIAL_FILE),
                         statuses[i] < 300 ? FETCH_RESET : FETCH_ANSWERED);
        f->keep = false;
        ck_assert_int_eq(fetch_end_of(f, CURLE_OK), FETCH_ANSWERED);
        f->keep = true;
        ck_assert_uint_eq(feed_body(&h, GZIP_BODY + 20, sizeof GZIP_BODY - 21),
                          sizeof GZIP_BODY - 21);
        ck_assert_int_eq(fetch_end_of(f, CURLE_OK), FETCH_ANSWERED);
    }
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

TEST(each_end_has_its_words)
{
    struct fetch *f = with_status(200);

    ck_assert_str_eq(fetch_words_for(f, FETCH_ANSWERED, CURLE_OK), "");
    ck_assert_str_eq(fetch_words_for(f, FETCH_ANSWERED, CURLE_RECV_ERROR), "");
    ck_assert_str_eq(fetch_words_for(f, FETCH_CUT_LENGTH, CURLE_WRITE_ERROR),
                     "");
    ck_assert_str_eq(fetch_words_for(f, FETCH_CUT_TIME,
                                     CURLE_OPERATION_TIMEDOUT),
                     "");
    f->unknown_coding = true;
    ck_assert_str_eq(
        fetch_words_for(f, FETCH_ANSWERED, CURLE_OK),
        "the content coding is not known; the body is kept as it came");
    ck_assert_str_eq(fetch_words_for(f, FETCH_CUT_LENGTH, CURLE_OK), "");
    ck_assert_str_eq(fetch_words_for(f, FETCH_ADDRESS, CURLE_COULDNT_CONNECT),
                     guard_words(GUARD_ADDRESS));
    ck_assert_str_eq(fetch_words_for(f, FETCH_CUT_ENCODING, CURLE_OK),
                     "the content coding ends too early");
    ck_assert_str_eq(fetch_words_for(f, FETCH_MIME, CURLE_OK), "");
    ck_assert_str_eq(fetch_words_for(f, FETCH_TLS, CURLE_SSL_CIPHER),
                     curl_easy_strerror(CURLE_SSL_CIPHER));
    strcpy(f->error, "curl's own words");
    ck_assert_str_eq(fetch_words_for(f, FETCH_TLS, CURLE_SSL_CIPHER),
                     "curl's own words");
    f->decided = true;
    f->end = FETCH_RESET;
    ck_assert_str_eq(fetch_words_for(f, FETCH_RESET, CURLE_ABORTED_BY_CALLBACK),
                     "the connection was closed without a response");
    f->end = FETCH_PROTOCOL;
    ck_assert_str_eq(fetch_words_for(f, FETCH_PROTOCOL, CURLE_WRITE_ERROR),
                     "curl's own words");
    f->response.received = RESPONSE_MOST;
    ck_assert_str_eq(fetch_words_for(f, FETCH_PROTOCOL, CURLE_WRITE_ERROR),
                     "curl's own words");
    f->response.received++;
    ck_assert_str_eq(fetch_words_for(f, FETCH_PROTOCOL, CURLE_WRITE_ERROR),
                     "the head is too large");
    f->why = "our own reason";
    ck_assert_str_eq(fetch_words_for(f, FETCH_PROTOCOL, CURLE_WRITE_ERROR),
                     "our own reason");
    ck_assert_str_eq(fetch_words_for(f, FETCH_CUT_ENCODING, CURLE_WRITE_ERROR),
                     "our own reason");
    ck_assert_str_eq(fetch_words_for(f, FETCH_PROTOCOL, CURLE_OK), "");
    f->response.received = 0;
    f->error[0] = '\0';
}
