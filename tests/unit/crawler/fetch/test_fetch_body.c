/* SPDX-License-Identifier: MIT */
/* test_fetch_body.c - what is kept of heads and bodies, and what memory they
 * take. */
#include "tests/unit/crawler/fetch/hand_fed.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/unit/crawler/fetch/coded_bodies.h"

#define OK  "HTTP/1.1 200 OK\r\n"
#define NO  "HTTP/1.1 404 No\r\n"
#define KIB ((size_t)1 << 10)

static struct hand_fed h;
static char zeros[(1 << 20) + 1];

static void begin(void)
{
    hand_fed_init(&h, 64 * MEBIBYTE);
}

static void end(void)
{
    hand_fed_fini(&h);
}

/* Passes a head whose lines are all taken but the last; returns what becomes of
 * that. */
static bool head(const char *status, const char *field)
{
    hand_fed_again(&h);
    feed_head(&h, status);
    if (field[0] != '\0')
        feed_head(&h, field);
    return pass_line(&h, "\r\n") == 2;
}

/* ---- heads ---------------------------------------------------------------*/

FIXTURE(begin, end);

TEST(rfc9112_6_3_lengths_that_differ_are_a_fault_of_the_protocol)
{
    static const struct {
        const char *fields[3];
        bool fault;
    } t[] = {{{"Content-Length: 5\r\n", "Content-Length: 7\r\n"}, true},
             {{"Content-Length: 5, 7\r\n"}, true},
             {{"Content-Length: 5\r\n", "content-length:5 ,5\r\n"}, false},
             {{"Content-Length: 5\r\n", "Content-Length: 7\r\n",
               "Transfer-Encoding: chunked\r\n"},
              false}}; /* the chunks tell where it ends */

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        hand_fed_again(&h);
        feed_head(&h, i % 2 == 0 ? OK : NO);
        for (size_t j = 0; j < 3 && t[i].fields[j] != NULL; j++)
            feed_head(&h, t[i].fields[j]);
        ck_assert_msg((pass_line(&h, "\r\n") == 0) == t[i].fault, "%zu", i);
        if (t[i].fault)
            ck_assert_int_eq(h.fetch->end, FETCH_PROTOCOL);
    }
}

/* Whatever the pieces are in which the octets come. */
TEST(a_body_that_is_not_in_its_coding_is_kept_as_it_came)
{
    static const char *const codings[] = {"gzip", "zstd", "deflate", "gzip, br",
                                          "br, gzip"};
    static const char body[] = "<html><a href=x>x</a></html>";
    char field[64];

    for (size_t i = 0; i < sizeof codings / sizeof *codings; i++)
        for (size_t step = 1; step <= sizeof body; step += 9) {
            size_t at = 0, n;

            snprintf(field, sizeof field, "Content-Encoding: %s\r\n",
                     codings[i]);
            ck_assert(head(OK, field));
            for (; at < sizeof body - 1; at += n) {
                n = sizeof body - 1 - at < step ? sizeof body - 1 - at : step;
                ck_assert_uint_eq(feed_body(&h, body + at, n), n);
            }
            ck_assert(h.fetch->mislabelled && !h.fetch->decided);
            ck_assert_msg(bytes_is(buf_bytes(&h.fetch->body), body), "%s %zu",
                          codings[i], step);
            ck_assert_uint_eq(h.fetch->body_bytes, sizeof body - 1);
            ck_assert_int_eq(fetch_end_of(h.fetch, CURLE_OK),
                             FETCH_CUT_ENCODING);
            ck_assert_int_eq(fetch_cut_of(h.fetch, CURLE_OK), FETCH_WHOLE);
        }
    /* One that begins as gzip does is damaged, and the rest is lost. */
    ck_assert(head(OK, "Content-Encoding: gzip\r\n"));
    ck_assert_uint_eq(feed_body(&h, "\x1f\x8b\xff\xff\xff", 5), 0);
    ck_assert(!h.fetch->mislabelled);
    ck_assert_int_eq(h.fetch->end, FETCH_CUT_ENCODING);
}

TEST(transfer_codings_that_were_not_asked_for_are_refused)
{
    static const struct {
        const char *field;
        bool good;
    } t[] = {
        {"Transfer-Encoding: chunked\r\n", true},
        {"Transfer-Encoding: Identity, ,CHUNKED\r\n", true},
        {"Transfer-Encoding:\r\n", true},
        {"Transfer-Encoding: gzip, chunked\r\n", false},
        {"Transfer-Encoding: chunked, x\r\n", false},
        {"Transfer-Encoding: chunkedx\r\n", false},
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        ck_assert_msg(head(OK, t[i].field) == t[i].good, "%s", t[i].field);
        ck_assert(h.fetch->decided != t[i].good);
        if (t[i].good)
            continue;
        ck_assert_int_eq(h.fetch->end, FETCH_PROTOCOL);
        ck_assert_str_eq(h.fetch->why,
                         "a transfer coding that was not requested");
        ck_assert(!head(NO, t[i].field)); /* its head is enough */
        ck_assert_int_eq(h.fetch->end, FETCH_ANSWERED);
    }
}

TEST(too_many_content_codings_are_refused)
{
    static char field[6000];
    size_t n = (size_t)sprintf(field, "Content-Encoding: ");

    ck_assert(!head(OK, "Content-Encoding: br, br, br\r\n"));
    ck_assert_int_eq(h.fetch->end, FETCH_CUT_ENCODING);
    ck_assert_str_eq(h.fetch->why, "too many content codings");
    ck_assert(!head(NO, "Content-Encoding: br, br, br\r\n"));
    ck_assert_int_eq(h.fetch->end, FETCH_ANSWERED);
    /* Fields of 4096 octets, with the comma between them. */
    for (int more = 0; more < 2; more++) {
        memset(field + n, 'x', 4095 + (size_t)more);
        strcpy(field + n + 4095 + more, "\r\n");
        ck_assert(head(OK, field) == (more == 0));
        ck_assert(h.fetch->unknown_coding == (more == 0));
    }
    hand_fed_again(&h); /* two fields are one list */
    feed_head(&h, OK);
    feed_head(&h, "Content-Encoding: br\r\n");
    feed_head(&h, "Content-Encoding: gzip\r\n");
    feed_head(&h, "\r\n");
    ck_assert_ptr_nonnull(h.fetch->coding);
}

/* ---- bodies --------------------------------------------------------------*/

TEST(a_body_is_cut_one_octet_past_its_limit)
{
    h.fetch->order.body_most = 100 * KIB;
    for (size_t step = 1000; step <= 100 * KIB; step += 33800) {
        size_t left = 100 * KIB;

        ck_assert(head(OK, ""));
        while (left > 0) {
            size_t n = left < step ? left : step;

            ck_assert_uint_eq(feed_body(&h, zeros, n), n);
            left -= n;
        }
        ck_assert(!h.fetch->decided);
        ck_assert_uint_eq(h.fetch->body.len, 100 * KIB);
        ck_assert_uint_eq(h.fetch->body_bytes, 100 * KIB);
        ck_assert_uint_eq(feed_body(&h, zeros, 0), 0);
        ck_assert(!h.fetch->decided);
        ck_assert_uint_eq(feed_body(&h, zeros, 1), 0);
        ck_assert(h.fetch->decided);
        ck_assert_int_eq(h.fetch->end, FETCH_CUT_LENGTH);
        ck_assert_uint_eq(h.fetch->body.len, 100 * KIB);
    }
}

/* Each octet is `i % 251`, so that a piece read twice or not at all shows. */
static void fill_pattern(char *to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (char)(i % 251);
}

TEST(a_piece_left_half_read_goes_on_there)
{
    static char text[300 << 10];
    const size_t n = sizeof text;
    int who = 0, over = 0;

    fill_pattern(text, n);
    /* 96 KiB are left, and somebody else has the overdraft. */
    ck_assert(body_pool_take(h.o.bodies, &who, 64 * MEBIBYTE - 96 * KIB));
    ck_assert(body_pool_take(h.o.bodies, &over, 97 * KIB));
    body_pool_give(h.o.bodies, &who, 97 * KIB);
    ck_assert(body_pool_take(h.o.bodies, &over, 64 * MEBIBYTE));
    body_pool_give(h.o.bodies, &who, 64 * MEBIBYTE);
    ck_assert(head(OK, ""));
    ck_assert_uint_eq(feed_body(&h, text, n), CURL_WRITEFUNC_PAUSE);
    ck_assert_uint_gt(h.fetch->body.len, 16 * KIB);
    ck_assert_uint_lt(h.fetch->body.len, 100 * KIB);
    ck_assert_uint_eq(h.fetch->taken, h.fetch->body.len);
    body_pool_give(h.o.bodies, &over, 64 * MEBIBYTE + 97 * KIB);
    ck_assert(fetch_may_go_on(h.fetch, 0));
    ck_assert_uint_eq(feed_body(&h, text, n), n);
    ck_assert_uint_eq(h.fetch->body.len, n);
    ck_assert_mem_eq(h.fetch->body.at, text, n);
    ck_assert_uint_eq(h.fetch->taken, 0);
    /* what `who` still has */
    body_pool_give(h.o.bodies, &who,
                   body_pool_used(h.o.bodies) - h.fetch->reserved);
}

TEST(a_damaged_coding_cuts_the_body_of_a_success)
{
    ck_assert(head(OK, "Content-Encoding: gzip\r\n"));
    ck_assert_uint_eq(feed_body(&h, BROKEN_BODY, sizeof BROKEN_BODY - 1), 0);
    ck_assert_int_eq(h.fetch->end, FETCH_CUT_ENCODING);
    ck_assert_str_eq(h.fetch->why, "the content coding is damaged");
    ck_assert_uint_eq(h.fetch->body.len, CODED_LENGTH);
    ck_assert(head(NO, "Content-Encoding: gzip\r\n"));
    ck_assert_uint_eq(feed_body(&h, BROKEN_BODY, sizeof BROKEN_BODY - 1), 0);
    ck_assert_int_eq(h.fetch->end, FETCH_ANSWERED);
    ck_assert(head(OK, "Content-Encoding: gzip\r\n"));
    ck_assert_uint_eq(feed_body(&h, GZIP_BODY, sizeof GZIP_BODY - 1),
                      sizeof GZIP_BODY - 1);
    ck_assert(!h.fetch->decided);
    ck_assert_uint_eq(h.fetch->body_bytes, CODED_LENGTH);
}
