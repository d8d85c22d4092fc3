/* SPDX-License-Identifier: MIT */
/* test_url_life.c - the life of a URL: each cell of its table, and what no walk
 * through it can do. */
/* Promise (Commands and options): one table has the life of a URL, for our own
 * crawls and for URLs that other programs put; a URL that is completed with a
 * date is served again at that date, not before, also after a restart. See also
 * `make sim`. */
#include "frontier/url_view.h"
#include "tests/unit/unit.h"

#include <stdint.h>

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
