/* SPDX-License-Identifier: MIT */
/* trouble.c - what befalls the machine of a seed while an act runs. */
#include "tests/sim/trouble.h"

#include <inttypes.h>

#define MINUTE INT64_C(60000)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)

int64_t trouble_jump(struct dice *d)
{
    int64_t by = dice_chance(d, 50) ? dice_between(d, HOUR, DAY)
                                    : dice_between(d, DAY, 40 * DAY);

    return dice_chance(d, 50) ? by : -by;
}

void trouble_failure(struct sim_act *a, struct dice *d, unsigned percent)
{
    struct life_faults *f = &a->faults;

    if (!dice_chance(d, percent))
        return;
    switch (dice_below(d, 3)) {
    case 0:
        f->fail_at = dice_nth(d, 13);
        break;
    case 1:
        f->full_from = dice_nth(d, 13);
        f->full_to = f->full_from + dice_nth(d, 12);
        break;
    default:
        f->no_memory_at = dice_nth(d, 17);
    }
}

void trouble_clock(struct sim_act *a, struct dice *d)
{
    if (dice_chance(d, 3))
        a->jump_ms = trouble_jump(d);
    if (dice_chance(d, 3)) {
        a->faults.jump_after_ms = dice_between(d, 10, 60000);
        a->faults.jump_ms = trouble_jump(d);
    }
    if (dice_chance(d, 5)) {
        a->faults.pause_at = dice_nth(d, 12);
        a->faults.pause_ms = dice_chance(d, 70)
                                 ? dice_between(d, 1000, 10 * MINUTE)
                                 : dice_between(d, MINUTE, 12 * HOUR);
    }
}

void trouble_cut(struct sim_act *a, struct dice *d)
{
    if (!dice_chance(d, 20))
        return;
    a->end = dice_chance(d, 50) ? END_KILL : END_POWER_CUT;
    a->end_at_step = dice_nth(d, 10);
}

void trouble_describe(const struct sim_act *a, struct buf *out)
{
    if (a->faults.fail_at > 0)
        buf_addf(out, "  [operation %" PRIu64 " of the disk fails]",
                 a->faults.fail_at);
    if (a->faults.full_from > 0)
        buf_addf(out, "  [disk full from operation %" PRIu64 " to %" PRIu64 "]",
                 a->faults.full_from, a->faults.full_to);
    if (a->faults.no_memory_at > 0)
        buf_addf(out, "  [allocation %" PRIu64 " fails]",
                 a->faults.no_memory_at);
}
