/* SPDX-License-Identifier: MIT */
/* test_fetch_turns.c - when decoding a body pauses its transfer. */
#include <check.h>
#include <string.h>

#include "crawler/fetch/body_pool.h"
#include "crawler/fetch/fetch_parts.h"
#include "crawler/fetcher.h"

#define MEBIBYTE ((uint64_t)1 << 20)

/* A transfer without a connection: the test passes it heads and pieces as curl
 * would. */
struct hand_fed {
    struct fetcher_options o;
    struct fetcher_counters counters;
    struct multi *multi;
    struct fetch *fetch;
};

static void feed_head(struct hand_fed *h, const char *line)
{
    char text[100];
    size_t len = strlen(line);

    memcpy(text, line, len + 1);
    ck_assert_uint_eq(fetch_on_head(text, 1, len, h->fetch), len);
}

static void hand_fed_init(struct hand_fed *h, uint64_t pool)
{
    static const struct multi_options mo = {.guard = NULL};

    memset(h, 0, sizeof *h);
    h->o.user_agent = "test";
    h->o.bodies = body_pool_new(pool);
    ck_assert_int_eq(fetcher_global_init(), STATUS_OK);
    ck_assert_int_eq(multi_new(&h->multi, &mo), STATUS_OK);
    h->fetch = fetch_new(&h->o, &h->counters, h->multi);
    ck_assert_ptr_nonnull(h->fetch);
    h->fetch->transfer.busy = true;
    h->fetch->order.body_most = 1024 * MEBIBYTE;
    h->fetch->paid_at = INT64_MIN;
    feed_head(h, "HTTP/1.1 200 OK\r\n");
    feed_head(h, "Content-Encoding: zstd\r\n");
    feed_head(h, "\r\n");
}

static void hand_fed_fini(struct hand_fed *h)
{
    h->fetch->transfer.busy = false;
    fetch_clear(h->fetch);
    ck_assert_uint_eq(body_pool_used(h->o.bodies), 0);
    fetch_free(h->fetch);
    multi_free(h->multi);
    body_pool_free(h->o.bodies);
}

/* A zstd frame with a window of 1 MiB: `blocks` blocks of 128 KiB of zeros. */
static size_t bomb(char *to, unsigned blocks)
{
    static const char head[] = "\x28\xb5\x2f\xfd\x00\x50",
                      block[] = "\x02\x00\x10";
    size_t len = sizeof head - 1;

    memcpy(to, head, len);
    for (unsigned i = 0; i < blocks; i++, len += 4) {
        memcpy(to + len, block, 3);
        to[len] |= i == blocks - 1; /* marks the last one */
        to[len + 3] = '\0';
    }
    return len;
}

/* A kilobyte that decodes to 32 MiB takes 32 turns, so that deadlines are
 * checked in between. */
START_TEST(a_piece_that_decodes_to_much_has_a_turn_for_each_mebibyte)
{
    const unsigned blocks = 256;
    char piece[2048];
    size_t n = bomb(piece, blocks), turns = 0, taken;
    uint64_t before = 0;
    struct hand_fed h;

    hand_fed_init(&h, 100 * MEBIBYTE);
    while ((taken = fetch_on_body(piece, 1, n, h.fetch)) ==
           CURL_WRITEFUNC_PAUSE) {
        ck_assert_int_eq(h.fetch->waits, FETCH_WAITS_TURN);
        ck_assert_uint_ge(h.fetch->body.len - before, MEBIBYTE);
        ck_assert_uint_lt(h.fetch->body.len - before, 2 * MEBIBYTE);
        before = h.fetch->body.len;
        ck_assert(fetch_may_go_on(h.fetch, 0));
        turns++;
    }
    ck_assert_uint_eq(taken, n);
    ck_assert_uint_eq(h.fetch->body.len, blocks * MEBIBYTE / 8);
    ck_assert_uint_ge(turns, 31);
    hand_fed_fini(&h);
}
END_TEST

/* Another body holds more than all memory: nothing is lost, nothing fails. */
START_TEST(a_window_waits_for_memory_and_then_the_body_is_decoded_anew)
{
    const unsigned blocks = 4;
    char piece[2048];
    size_t n = bomb(piece, blocks);
    struct hand_fed h;
    int other, third;

    hand_fed_init(&h, 2 * MEBIBYTE);
    ck_assert(body_pool_take(h.o.bodies, &other, 3 * MEBIBYTE));
    for (int i = 0; i < 3; i++) {
        ck_assert_uint_eq(fetch_on_body(piece, 1, n, h.fetch),
                          CURL_WRITEFUNC_PAUSE);
        ck_assert_int_eq(h.fetch->waits, FETCH_WAITS_MEMORY);
        ck_assert(!fetch_may_go_on(h.fetch, 0));
    }
    body_pool_give(h.o.bodies, &other, 3 * MEBIBYTE);
    /* Now there is room for the body but not for the window, and a third body
     * has the overdraft. */
    ck_assert(body_pool_take(h.o.bodies, &other, 2 * MEBIBYTE));
    ck_assert(body_pool_take(h.o.bodies, &third, 1024));
    body_pool_give(h.o.bodies, &other, 96 * 1024);
    for (int i = 0; i < 3; i++) {
        ck_assert(fetch_may_go_on(h.fetch, 0));
        ck_assert_uint_eq(fetch_on_body(piece, 1, n, h.fetch),
                          CURL_WRITEFUNC_PAUSE);
        ck_assert_int_eq(h.fetch->waits, FETCH_WAITS_MEMORY);
        ck_assert_uint_eq(h.fetch->body.len, 0);
    }
    body_pool_give(h.o.bodies, &other, 2 * MEBIBYTE - 96 * 1024);
    body_pool_give(h.o.bodies, &third, 1024);
    ck_assert_uint_eq(fetch_on_body(piece, 1, n, h.fetch), n);
    ck_assert_uint_eq(h.fetch->body.len, blocks * MEBIBYTE / 8);
    hand_fed_fini(&h);
}
END_TEST

Suite *suite_fetch_turns(void)
{
    Suite *s = suite_create("fetch_turns");
    TCase *t = tcase_create("fetch_turns");

    tcase_add_test(t,
                   a_piece_that_decodes_to_much_has_a_turn_for_each_mebibyte);
    tcase_add_test(t,
                   a_window_waits_for_memory_and_then_the_body_is_decoded_anew);
    suite_add_tcase(s, t);
    return s;
}
