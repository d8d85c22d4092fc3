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

TEST(bodies_of_pages_are_kept_and_others_only_if_asked_for)
{
    static const struct {
        const char *status, *field;
        bool keep;
    } t[] = {{"HTTP/1.1 199 x\r\n", "", false},
             {OK, "", true},
             {"HTTP/1.1 299 x\r\n", "Location: http://h/\r\n", true},
             {"HTTP/1.1 300 x\r\n", "", true}, /* no redirect: a page */
             {"HTTP/1.1 300 x\r\n", "Location: http://h/\r\n", false},
             {"HTTP/1.1 302 x\r\n", "", true},
             {"HTTP/1.1 302 x\r\n", "Location:\r\n", true},
             {"HTTP/1.1 302 x\r\n", "Location: ftp://h/\r\n", true},
             {"HTTP/1.1 302 x\r\n", "Location: http://h/\r\n", false},
             {"HTTP/1.1 304 x\r\n", "", false},
             {"HTTP/1.1 305 x\r\n", "Location: http://h/\r\n", true},
             {"HTTP/1.1 399 x\r\n", "", true},
             {NO, "", false},
             {"HTTP/1.1 500 x\r\n", "", false}};

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        ck_assert(head(t[i].status, t[i].field));
        ck_assert_msg(h.fetch->keep == t[i].keep, "%s%s", t[i].status,
                      t[i].field);
        ck_assert(!h.fetch->decided && !h.fetch->streamed);
    }
    h.fetch->order.keep_all = true;
    ck_assert(head(NO, ""));
    ck_assert(h.fetch->keep);
}

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

TEST(a_line_that_is_no_status_ends_the_fetch)
{
    hand_fed_again(&h);
    ck_assert_uint_eq(pass_line(&h, "Location: /x\r\n"), 0);
    ck_assert(h.fetch->decided);
    ck_assert_int_eq(h.fetch->end, FETCH_PROTOCOL);
}

/* Reading a short body is cheaper than another connection. */
TEST(of_an_unwanted_type_only_a_short_body_is_read)
{
    static const struct {
        const char *length;
        bool read;
    } t[] = {
        {"Content-Length: 0\r\n", true},
        {"Content-Length: 65536\r\n", true},
        {"Content-Length: 000065536\r\n", true},
        {"Content-Length: 65537\r\n", false},
        {"Content-Length: 0000065536\r\n", false},
        {"Content-Length: 1x\r\n", false},
        {"Content-Length: /\r\n", false},
        {"Content-Length: :\r\n", false},
        {"Content-Length:\r\n", false},
        {"X: y\r\n", false},
    };
    static const char *const list[] = {"text/html"};

    h.o.mime = list;
    h.o.mime_count = 1;
    h.fetch->order.filter_mime = true;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        hand_fed_again(&h);
        feed_head(&h, OK);
        feed_head(&h, "Content-Type: image/png\r\n");
        feed_head(&h, t[i].length);
        ck_assert_msg((pass_line(&h, "\r\n") == 2) == t[i].read, "%s",
                      t[i].length);
        ck_assert(h.fetch->decided && !h.fetch->keep);
        ck_assert_int_eq(h.fetch->end, FETCH_MIME);
        ck_assert_ptr_null(h.fetch->coding);
    }
    /* A type that is wanted, or none at all, or of an error page. */
    ck_assert(head(OK, "Content-Type: Text/HTML; charset=x\r\n"));
    ck_assert(!h.fetch->decided);
    ck_assert(head(OK, ""));
    ck_assert(!h.fetch->decided);
    ck_assert(head(NO, "Content-Type: image/png\r\n"));
    ck_assert(!h.fetch->decided);
    h.fetch->order.filter_mime = false;
    ck_assert(head(OK, "Content-Type: image/png\r\n"));
    ck_assert(!h.fetch->decided && h.fetch->keep);
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

/* ---- bodies
 * ----------------------------------------------------------------*/

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

TEST(a_body_that_is_not_kept_is_read_to_64_kib)
{
    ck_assert(head(NO, ""));
    ck_assert_uint_eq(feed_body(&h, zeros, 64 * KIB), 64 * KIB);
    ck_assert(!h.fetch->decided);
    ck_assert_uint_eq(h.fetch->body.len, 0);
    ck_assert_uint_eq(body_pool_used(h.o.bodies), 0);
    ck_assert_uint_eq(feed_body(&h, zeros, 1), 0);
    ck_assert(h.fetch->decided);
    ck_assert_int_eq(h.fetch->end, FETCH_ANSWERED);
    ck_assert_uint_eq(h.fetch->body_bytes, 64 * KIB + 1);
}

/* Reservations double, and are never more than the limit asks for. */
TEST(memory_is_reserved_in_steps_that_double)
{
    uint64_t before = 0, steps = 0;

    h.fetch->order.body_most = 900 * KIB;
    ck_assert(head(OK, ""));
    for (size_t n = 1; n <= 900; n++) {
        uint64_t used;

        ck_assert_uint_eq(feed_body(&h, zeros, KIB), KIB);
        used = body_pool_used(h.o.bodies);
        ck_assert_uint_ge(used, n * KIB);
        ck_assert_uint_le(used, n * KIB < 16 * KIB ? 32 * KIB
                                                   : 2 * n * KIB + 32 * KIB);
        ck_assert_uint_le(used, 900 * KIB);
        ck_assert_uint_eq(used, h.fetch->reserved);
        steps += used != before;
        before = used;
    }
    ck_assert_uint_le(steps, 6); /* 32, 64, 128, 256, 512, 900 */
    ck_assert_uint_eq(before, 900 * KIB);
    fetch_give_back(h.fetch);
    ck_assert_uint_eq(body_pool_used(h.o.bodies), 0);
    ck_assert_uint_eq(h.fetch->body.len, 0);
    ck_assert_uint_eq(h.fetch->body.cap, 0); /* a large one is freed */
    ck_assert(head(OK, ""));
    ck_assert_uint_eq(feed_body(&h, zeros, 100), 100);
    ck_assert_uint_eq(body_pool_used(h.o.bodies), 32 * KIB);
    fetch_give_back(h.fetch);
    ck_assert_uint_gt(h.fetch->body.cap, 0);
    h.fetch->order.body_most = 10;
    ck_assert(head(OK, ""));
    ck_assert_uint_eq(feed_body(&h, zeros, 10), 10);
    ck_assert_uint_eq(body_pool_used(h.o.bodies), 10);
}

/* Each octet is `i % 251`, so that a piece read twice or not at all shows. */
static void fill_pattern(char *to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (char)(i % 251);
}

TEST(a_piece_that_waited_is_read_where_it_was_left)
{
    static char text[300 << 10];
    const size_t n = sizeof text;
    uint64_t other = 64 * MEBIBYTE - 100 * KIB;
    int who = 0, over = 0;
    size_t got;

    fill_pattern(text, n);
    ck_assert(body_pool_take(h.o.bodies, &who, other));
    ck_assert(body_pool_take(h.o.bodies, &over, MEBIBYTE)); /* overdrawn */
    body_pool_hold(h.o.bodies, 0);
    ck_assert(head(OK, ""));
    got = feed_body(&h, text, n);
    ck_assert_uint_eq(got, CURL_WRITEFUNC_PAUSE);
    ck_assert_int_eq(h.fetch->waits, FETCH_WAITS_MEMORY);
    ck_assert(!fetch_may_go_on(h.fetch, 0));
    body_pool_give(h.o.bodies, &over, MEBIBYTE);
    ck_assert(body_pool_take(h.o.bodies, &over, 50 * KIB));
    ck_assert(fetch_may_go_on(h.fetch, 0));
    ck_assert_uint_eq(feed_body(&h, text, n), n); /* now it has the overdraft */
    ck_assert_uint_eq(h.fetch->body.len, n);
    ck_assert_mem_eq(h.fetch->body.at, text, n);
    ck_assert_uint_eq(h.fetch->body_bytes, n);
    body_pool_give(h.o.bodies, &over, 50 * KIB);
    body_pool_give(h.o.bodies, &who, other);
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

/* ---- streams
 * ---------------------------------------------------------------*/

static size_t streamed, enough;

static bool take(void *ctx, const struct response *a, struct bytes octets)
{
    ck_assert_ptr_eq(ctx, &streamed);
    ck_assert_uint_eq(a->status, 200);
    ck_assert_uint_gt(octets.len, 0);
    streamed += octets.len;
    return streamed < enough;
}

TEST(a_streamed_body_is_passed_on_and_kept_only_as_html)
{
    h.fetch->order.take = take;
    h.fetch->order.take_ctx = &streamed;
    h.fetch->order.take_memory = 3 * MEBIBYTE;
    h.fetch->order.body_most = 100 * KIB;
    for (int html = 0; html < 2; html++) {
        streamed = 0;
        enough = SIZE_MAX;
        ck_assert(head(OK, html ? "Content-Type: text/html\r\n"
                                : "Content-Type: text/xml\r\n"));
        ck_assert(h.fetch->streamed);
        ck_assert(h.fetch->keep == (html == 1));
        ck_assert_uint_eq(feed_body(&h, zeros, 900 * KIB), 900 * KIB);
        ck_assert_uint_eq(streamed, 900 * KIB);
        ck_assert_uint_eq(h.fetch->body.len, html ? 100 * KIB : 0);
        ck_assert_uint_eq(h.fetch->body_bytes, 900 * KIB);
        ck_assert(!h.fetch->decided);
        ck_assert_uint_ge(body_pool_used(h.o.bodies), 3 * MEBIBYTE);
        ck_assert_uint_le(body_pool_used(h.o.bodies), 3 * MEBIBYTE + 100 * KIB);
    }
    streamed = 0;
    enough = 5000;
    ck_assert(head(OK, ""));
    ck_assert_uint_eq(feed_body(&h, zeros, 4999), 4999);
    ck_assert_uint_eq(feed_body(&h, zeros, 1), 0);
    ck_assert_int_eq(h.fetch->end, FETCH_CUT_LENGTH);
    /* An error page is neither passed on nor kept. */
    streamed = 0;
    ck_assert(head(NO, "Content-Type: text/html\r\n"));
    ck_assert(!h.fetch->streamed && !h.fetch->keep);
    ck_assert_uint_eq(feed_body(&h, zeros, 100), 100);
    ck_assert_uint_eq(streamed, 0);
}

/* ---- what is counted
 * -------------------------------------------------------*/

TEST(octets_are_counted_once_and_paid_for)
{
    h.o.rate = rate_limit_new(1000);
    ck_assert(head(OK, "X: y\r\n"));
    fetch_count_wire(h.fetch);
    ck_assert_uint_eq(atomic_load(&h.counters.wire_bytes), 17 + 6 + 2);
    ck_assert_uint_eq(h.fetch->counted, 25);
    ck_assert_int_gt(h.fetch->paid_at, INT64_MIN);
    fetch_count_wire(h.fetch);
    ck_assert_uint_eq(atomic_load(&h.counters.wire_bytes), 25);
    ck_assert(fetch_is_within_rate(h.fetch, h.fetch->paid_at));
    (void)rate_limit_spend(h.o.rate, 5000, clock_mono());
    ck_assert(fetch_is_within_rate(h.fetch, h.fetch->paid_at));
    ck_assert(!fetch_is_within_rate(h.fetch, h.fetch->paid_at - 1));
    /* If the rate is lifted, nobody waits. */
    rate_limit_set(h.o.rate, 0, clock_mono());
    ck_assert(fetch_is_within_rate(h.fetch, 0));
    rate_limit_free(h.o.rate);
    h.o.rate = NULL;
}

TEST(over_the_rate_limit_a_body_waits_until_it_is_paid_for)
{
    ck_assert(head(OK, ""));
    h.o.rate = rate_limit_new(1000);
    (void)rate_limit_spend(h.o.rate, 3000000, clock_mono());
    h.fetch->paid_at = clock_mono() + 3000 * NS_PER_S;
    ck_assert_uint_eq(feed_body(&h, zeros, 10), CURL_WRITEFUNC_PAUSE);
    ck_assert_int_eq(h.fetch->waits, FETCH_WAITS_RATE);
    ck_assert_uint_eq(h.fetch->body.len, 0);
    ck_assert(!fetch_may_go_on(h.fetch, clock_mono()));
    ck_assert(fetch_may_go_on(h.fetch, h.fetch->paid_at));
    rate_limit_set(h.o.rate, 0, clock_mono());
    ck_assert(fetch_may_go_on(h.fetch, clock_mono()));
    ck_assert_uint_eq(feed_body(&h, zeros, 10), 10);
    rate_limit_free(h.o.rate);
    h.o.rate = NULL;
}

/* libcurl 8 reads on while a transfer is paused, and counts a piece only after
 * it has offered it. */
TEST(a_piece_that_has_waited_is_taken_whatever_came_meanwhile)
{
    ck_assert(head(OK, ""));
    h.o.rate = rate_limit_new(1000);
    h.fetch->response.received = 3000;
    for (int i = 1; i < 4; i++) {
        ck_assert_uint_eq(feed_body(&h, zeros, 10), CURL_WRITEFUNC_PAUSE);
        ck_assert_int_eq(h.fetch->waits, FETCH_WAITS_RATE);
        ck_assert_uint_eq(h.fetch->counted,
                          5000 * (unsigned)i - 2000 + 10 * (unsigned)i);
        h.fetch->paid_at = clock_mono(); /* the time has passed */
        h.fetch->response.received += 5000;
        (void)fetch_go_on(h.fetch); /* curl has no transfer to go on with */
        ck_assert_uint_eq(feed_body(&h, zeros, 10), 10);
        ck_assert_uint_eq(h.fetch->body.len, 10 * (unsigned)i);
        ck_assert_int_gt(h.fetch->paid_at, clock_mono());
    }
    rate_limit_free(h.o.rate);
    h.o.rate = NULL;
}

TEST(cookies_are_taken_if_the_request_uses_the_jar)
{
    h.o.jar = cookie_jar_new();
    ck_assert_int_eq(curl_easy_setopt(h.fetch->transfer.easy,
                                      CURLOPT_COOKIELIST,
                                      "a.example\tFALSE\t/\tFALSE\t0\ta\tb"),
                     CURLE_OK);
    (void)head(OK, "Set-Cookie: a=b\r\n");
    ck_assert(!cookie_jar_is_changed(h.o.jar));
    h.fetch->in_jar = true;
    (void)head(OK, "Set-Cookies: a=b\r\n");
    (void)head(OK, "Cookie: a=b\r\n");
    ck_assert(!cookie_jar_is_changed(h.o.jar));
    (void)head(OK, "SET-cookie: a=b\r\n");
    ck_assert(cookie_jar_is_changed(h.o.jar));
    h.fetch->in_jar = false;
    cookie_jar_free(h.o.jar);
    h.o.jar = NULL;
}

TEST(a_request_goes_out_once)
{
    char ip[] = "127.0.0.1";

    ck_assert_int_eq(fetch_on_send(h.fetch, ip, ip, 1, 2), CURL_PREREQFUNC_OK);
    ck_assert(!h.fetch->decided);
    ck_assert_int_eq(fetch_on_send(h.fetch, ip, ip, 1, 2),
                     CURL_PREREQFUNC_ABORT);
    ck_assert(h.fetch->decided);
    ck_assert_int_eq(h.fetch->end, FETCH_RESET);
}

static void debug(curl_infotype type, const char *text)
{
    ck_assert_int_eq(fetch_on_debug(NULL, type, (char *)(uintptr_t)text,
                                    strlen(text), h.fetch),
                     0);
}

/* Of a proxy's CONNECT and the request behind it, the last one. */
TEST(the_request_is_collected_as_it_is_sent)
{
    debug(CURLINFO_HEADER_OUT, "CONNECT a:1 HTTP/1.1\r\n");
    debug(CURLINFO_TEXT, "* noise\r\n\r\n");
    debug(CURLINFO_HEADER_OUT, "\r\n");
    ck_assert(
        bytes_is(buf_bytes(&h.fetch->request), "CONNECT a:1 HTTP/1.1\r\n\r\n"));
    debug(CURLINFO_HEADER_IN, "HTTP/1.1 200 OK\r\n");
    debug(CURLINFO_DATA_OUT, "x");
    debug(CURLINFO_HEADER_OUT, "GET / HTTP/1.1\r\n");
    debug(CURLINFO_HEADER_OUT, "Host: a\r\n\r\n");
    ck_assert(bytes_is(buf_bytes(&h.fetch->request),
                       "GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
}
