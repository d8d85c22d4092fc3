/* SPDX-License-Identifier: MIT */
/* test_url_life.c - the life of a URL: each cell of its table, and what no walk
 * through it can do. */
#include "frontier/url_life.h"
#include "tests/unit/unit.h"

#include <stdint.h>
#include <string.h>

static const char *const names[LIFE_STATES_] = {"-",    "queued", "leased",
                                                "done", "due",    "again",
                                                "gone"};

/* As the header has it. */
static const struct {
    enum life_event event;
    const char *after[LIFE_STATES_ - 1];
} cells[] = {
    {LIFE_LEASE, {"leased", "-", "-", "again", "-", "-"}},
    {LIFE_GIVE_BACK, {"-", "queued", "-", "-", "due", "-"}},
    {LIFE_RETRY, {"-", "queued", "-", "-", "due", "-"}},
    {LIFE_END, {"done", "done", "done", "done", "done", "-"}},
    {LIFE_DATE, {"due", "due", "due", "due", "due", "-"}},
    {LIFE_MISS, {"-", "-", "-", "-", "gone", "-"}},
    {LIFE_ASK, {"-", "-", "due", "due", "-", "due"}},
    {LIFE_UNDATE, {"-", "-", "-", "done", "-", "-"}},
};

TEST(each_event_makes_of_each_state_what_the_table_says)
{
    ck_assert_uint_eq(sizeof cells / sizeof *cells, LIFE_EVENTS_);
    for (size_t i = 0; i < LIFE_EVENTS_; i++)
        for (unsigned s = LIFE_QUEUED; s < LIFE_STATES_; s++)
            ck_assert_str_eq(
                names[url_life_after((enum url_life)s, cells[i].event)],
                cells[i].after[s - 1]);
    for (unsigned e = 0; e < LIFE_EVENTS_; e++)
        ck_assert_int_eq(url_life_after(LIFE_NONE, (enum life_event)e),
                         LIFE_NONE);
}

/* A URL that was done once, dated or not, is never taken for a new one. */
TEST(no_walk_leads_back_to_queued_from_a_url_that_was_done)
{
    uint64_t state = 1;

    for (int walk = 0; walk < 1000; walk++) {
        enum url_life is = LIFE_QUEUED;
        int was_done = 0;

        for (int i = 0; i < 60; i++) {
            enum url_life next;

            state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
            next = url_life_after(is, (enum life_event)((state >> 33) %
                                                        LIFE_EVENTS_));
            if (next == LIFE_NONE)
                continue;
            is = next;
            was_done |= is == LIFE_DONE || is == LIFE_DUE;
            ck_assert(!was_done || (is != LIFE_QUEUED && is != LIFE_LEASED));
        }
        ck_assert(was_done);
    }
}

/* An event that leaves a URL leased would be a lease that nobody ends. */
TEST(whatever_ends_a_lease_ends_it_in_both_kinds)
{
    static const enum life_event ends[] = {LIFE_GIVE_BACK, LIFE_RETRY, LIFE_END,
                                           LIFE_DATE};

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        enum url_life first = url_life_after(LIFE_LEASED, ends[i]);
        enum url_life later = url_life_after(LIFE_AGAIN, ends[i]);

        ck_assert(first != LIFE_NONE && later != LIFE_NONE);
        ck_assert_int_eq(first == LIFE_QUEUED ? LIFE_DUE : first, later);
        ck_assert_int_ne(url_life_after(first, LIFE_LEASE) == LIFE_NONE,
                         first == LIFE_QUEUED || first == LIFE_DUE);
    }
}
