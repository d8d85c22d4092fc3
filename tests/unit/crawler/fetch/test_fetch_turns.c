/* SPDX-License-Identifier: MIT */
/* test_fetch_turns.c - when decoding a body pauses its transfer. */
#include "tests/unit/crawler/fetch/hand_fed.h"

/* Its head has come: the body is coded with zstd. */
static void begin(struct hand_fed *h, uint64_t pool)
{
    hand_fed_init(h, pool);
    feed_head(h, "HTTP/1.1 200 OK\r\n");
    feed_head(h, "Content-Encoding: zstd\r\n");
    feed_head(h, "\r\n");
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
TEST(a_piece_that_decodes_to_much_has_a_turn_for_each_mebibyte)
{
    const unsigned blocks = 256;
    char piece[2048];
    size_t n = bomb(piece, blocks), turns = 0, taken;
    uint64_t before = 0;
    struct hand_fed h;

    begin(&h, 100 * MEBIBYTE);
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

/* Another body holds more than all memory: nothing is lost, nothing fails. */
TEST(a_window_waits_for_memory_and_then_the_body_is_decoded_anew)
{
    const unsigned blocks = 4;
    char piece[2048];
    size_t n = bomb(piece, blocks);
    struct hand_fed h;
    int other, third;

    begin(&h, 2 * MEBIBYTE);
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
