/* SPDX-License-Identifier: MIT */
/* test_warc_head.c - a recorded head describes what follows it, no more. */
#include "crawler/archive/archive.h"
#include "tests/unit/unit.h"

static void assert_head(const char *raw, struct warc_body body,
                        const char *want, const char *want_changed)
{
    struct buf out, changed;

    buf_init(&out, 4096);
    buf_init(&changed, 4096);
    warc_response_head(bytes_of_str(raw), &body, &out, &changed);
    ck_assert_str_eq(buf_str(&out), want);
    ck_assert_str_eq(buf_str(&changed), want_changed);
    buf_fini(&out);
    buf_fini(&changed);
}

TEST(a_head_that_is_true_is_kept_as_it_came)
{
    assert_head("HTTP/1.1 200 Fine\r\nA: b\r\ncontent-length:  5\r\n"
                "Content-Encoding: gzip\r\n\r\n",
                (struct warc_body){.length = 5},
                "HTTP/1.1 200 Fine\r\nA: b\r\ncontent-length:  5\r\n"
                "Content-Encoding: gzip\r\n\r\n",
                "");
}

TEST(chunking_and_decoded_codings_are_taken_away_and_told)
{
    assert_head("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
                "Content-Encoding: gzip\r\nX: y\r\n\r\n",
                (struct warc_body){.length = 12, .decoded = true},
                "HTTP/1.1 200 OK\r\nX: y\r\nContent-Length: 12\r\n\r\n",
                "Transfer-Encoding: chunked; Content-Encoding: gzip");
}

TEST(the_length_is_true_and_stands_once)
{
    assert_head("HTTP/1.1 200 OK\r\nContent-Length: 99\r\nX: y\r\n"
                "Content-Length: 99\r\n\r\n",
                (struct warc_body){.length = 12},
                "HTTP/1.1 200 OK\r\nContent-Length: 12\r\nX: y\r\n\r\n",
                "Content-Length: 99; Content-Length: 99");
    assert_head("HTTP/1.0 404 No\r\n\r\n", (struct warc_body){.length = 0},
                "HTTP/1.0 404 No\r\nContent-Length: 0\r\n\r\n", "");
}

/* pywb waits for the body that a length promises, and answers 500. */
TEST(ours_a_length_without_a_body_is_taken_away)
{
    assert_head("HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n",
                (struct warc_body){.none = true},
                "HTTP/1.1 304 Not Modified\r\n\r\n", "Content-Length: 99");
    assert_head("HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n",
                (struct warc_body){.none = true},
                "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n", "");
    assert_head("HTTP/1.1 204 No Content\r\n\r\n",
                (struct warc_body){.none = true},
                "HTTP/1.1 204 No Content\r\n\r\n", "");
}

TEST(http2_is_written_as_http1)
{
    assert_head("HTTP/2 200 \r\ncontent-length: 1\r\n\r\n",
                (struct warc_body){.length = 1},
                "HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n", "");
    assert_head("HTTP/2 299 \r\ncontent-length: 1\r\n\r\n",
                (struct warc_body){.length = 1},
                "HTTP/1.1 299 \r\ncontent-length: 1\r\n\r\n", "");
}

TEST(line_ends_become_those_of_the_standard)
{
    assert_head("HTTP/1.1 200 OK\nA: b\nContent-Length: 1\n\n",
                (struct warc_body){.length = 1},
                "HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 1\r\n\r\n", "");
    assert_head("", (struct warc_body){.none = true}, "\r\n", "");
}

TEST(requests_keep_all_but_the_proxys_secret)
{
    struct buf out;

    buf_init(&out, 4096);
    warc_request_head(bytes_of_str("GET /a HTTP/2\r\nHost: a\r\n"
                                   "Proxy-Authorization: Basic x\r\n"
                                   "Accept: */*\r\n\r\n"),
                      &out);
    ck_assert_str_eq(buf_str(&out),
                     "GET /a HTTP/1.1\r\nHost: a\r\nAccept: */*\r\n\r\n");
    buf_fini(&out);
}
