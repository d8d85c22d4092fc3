/* SPDX-License-Identifier: MIT */
#include "crawler/transfer/in_hand.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/unit/storage/scratch.h"
#include "tests/unit/unit.h"

#define PATIENCE (30 * NS_PER_S)

static int64_t now;

static void set_up(void)
{
    now = 1000 * NS_PER_S;
}

/* Runs rounds of a tenth of a second for `ns` and returns the first news of
 * slot 0. */
static enum watchdog_news rounds(struct watchdog *w, int64_t ns, uint64_t id,
                                 uint64_t steps)
{
    for (int64_t until = now + ns; now < until;) {
        enum watchdog_news news;

        now += NS_PER_S / 10;
        watchdog_round(w, now);
        news = watchdog_check(w, 0, id, steps);
        if (news != WATCHDOG_NOTHING)
            return news;
    }
    return WATCHDOG_NOTHING;
}

FIXTURE(set_up, NULL);

TEST(one_url_without_a_step_for_the_patience_is_stuck_and_said_once)
{
    struct watchdog *w = watchdog_new(2, PATIENCE);

    ck_assert_int_eq(rounds(w, PATIENCE, 7, 3), WATCHDOG_NOTHING);
    ck_assert_uint_eq(watchdog_stuck(w), 0);
    ck_assert_int_eq(rounds(w, NS_PER_S, 7, 3), WATCHDOG_STUCK);
    ck_assert_uint_eq(watchdog_stuck(w), 1);
    ck_assert_int_ge(watchdog_waited(w, 0), PATIENCE);
    ck_assert_int_le(watchdog_waited(w, 0), PATIENCE + NS_PER_S);
    ck_assert_int_eq(rounds(w, 10 * PATIENCE, 7, 3), WATCHDOG_NOTHING);
    watchdog_free(w);
}

TEST(steps_another_url_and_empty_hands_are_signs_of_life)
{
    struct watchdog *w = watchdog_new(1, PATIENCE);
    const int64_t nearly = PATIENCE - NS_PER_S;

    for (uint64_t step = 1; step < 10; step++)
        ck_assert_int_eq(rounds(w, nearly, 7, step), WATCHDOG_NOTHING);
    ck_assert_int_eq(rounds(w, nearly, 8, 9), WATCHDOG_NOTHING);
    ck_assert_int_eq(rounds(w, nearly, 7, 9), WATCHDOG_NOTHING);
    ck_assert_int_eq(rounds(w, 100 * PATIENCE, 0, 9), WATCHDOG_NOTHING);
    watchdog_free(w);
}

TEST(a_report_of_its_url_is_a_sign_of_life)
{
    struct watchdog *w = watchdog_new(1, PATIENCE);

    for (int i = 0; i < 10; i++) {
        ck_assert_int_eq(rounds(w, PATIENCE - NS_PER_S, 7, 3),
                         WATCHDOG_NOTHING);
        watchdog_heard_of(w, 7);
    }
    watchdog_heard_of(w, 8); /* belongs to another */
    ck_assert_int_eq(rounds(w, PATIENCE + NS_PER_S, 7, 3), WATCHDOG_STUCK);
    watchdog_free(w);
}

/* The process was suspended, a debugger stopped it, or a disk held up the
 * watching thread. */
TEST(time_in_which_nobody_watched_makes_nobody_stuck)
{
    struct watchdog *w = watchdog_new(1, PATIENCE);

    ck_assert_int_eq(rounds(w, 2 * NS_PER_S, 7, 3), WATCHDOG_NOTHING);
    for (int i = 0; i < 20; i++) {
        now += 3600 * NS_PER_S;
        watchdog_round(w, now);
        ck_assert_int_eq(watchdog_check(w, 0, 7, 3), WATCHDOG_NOTHING);
    }
    ck_assert_int_eq(watchdog_waited(w, 0),
                     2 * NS_PER_S - NS_PER_S / 10 + 20 * WATCHDOG_GAP_MOST);
    watchdog_free(w);
}

/* ---- the marks it leaves behind ---- */

TEST(a_mark_holds_for_its_step_and_is_read_by_the_next_process)
{
    struct in_hand_left left[4];
    struct scratch s;
    struct in_hand *h;
    size_t n;

    s = scratch_make();
    h = in_hand_open(s.dir, 3);
    for (unsigned i = 0; i < 3; i++)
        in_hand_take(in_hand_slot(h, i), 10 + i, IN_HAND_PARSE);
    in_hand_mark_stuck(h, 1, 1);
    in_hand_mark_stuck(h, 2, 1);
    in_hand_take(in_hand_slot(h, 2), 20, IN_HAND_PARSE); /* it came back */
    in_hand_read(s.dir, left, 4, &n);
    ck_assert_uint_eq(n, 3);
    ck_assert(left[0].id == 10 && !left[0].stuck);
    ck_assert(left[1].id == 11 && left[1].stuck);
    ck_assert(left[2].id == 20 && !left[2].stuck);
    for (unsigned i = 0; i < 3; i++)
        in_hand_drop(in_hand_slot(h, i));
    in_hand_read(s.dir, left, 4, &n);
    ck_assert_uint_eq(n, 0);
    in_hand_close(h);
    scratch_remove(&s);
}

TEST(a_file_of_another_form_is_not_believed)
{
    static const char magic[] = "urlweir in hand\n";
    struct scratch s = scratch_make();
    struct in_hand_left left[4];
    char path[128], text[64 + 64 + 63] = "";
    size_t n = 9;

    in_hand_read(s.dir, left, 4, &n);
    ck_assert_uint_eq(n, 0);
    snprintf(path, sizeof path, "%s/in-hand", s.dir);
    memcpy(text, magic, sizeof magic - 1);
    text[64] = 5;      /* id */
    text[64 + 8] = 3;  /* steps */
    text[64 + 16] = 3; /* stuck */
    text[128] = 6;     /* a slot that was cut */
    ck_ok(file_replace(path, bytes_of(text, sizeof text)));
    in_hand_read(s.dir, left, 4, &n);
    ck_assert_uint_eq(n, 1);
    ck_assert(left[0].id == 5 && left[0].stuck);
    text[64 + 16] = text[64 + 8] = 0;
    ck_ok(file_replace(path, bytes_of(text, sizeof text)));
    in_hand_read(s.dir, left, 4, &n);
    ck_assert(n == 1 && !left[0].stuck); /* no step: not stuck in it */
    for (size_t len = 0; len <= 64; len += 16) {
        ck_ok(file_replace(path, bytes_of(text, len)));
        in_hand_read(s.dir, left, 4, &n);
        ck_assert_uint_eq(n, 0);
    }
    text[3] = 'x';
    ck_ok(file_replace(path, bytes_of(text, sizeof text)));
    in_hand_read(s.dir, left, 4, &n);
    ck_assert_uint_eq(n, 0);
    unlink(path);
    scratch_remove(&s);
}
