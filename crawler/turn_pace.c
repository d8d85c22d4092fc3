/* SPDX-License-Identifier: MIT */
/*
 * turn_pace.c - how long a turn of the frontier thread waits for its reports.
 *
 * In haste, a turn begins when a part of all that is out has come back, or a
 * millisecond after the first report: most fetches are still under way then,
 * and to a host on a network a millisecond is little. If few are out, each host
 * that waits is a good part of the crawl, and nothing is gained.
 *
 * At leisure all hosts have long delays, and neither a report nor a host that
 * is due minds some milliseconds. A turn then takes what comes in that time,
 * however little is out: thousands of hosts, each asked once a second, would
 * otherwise cost a turn and a wake-up for each report, and as much for each
 * lease.
 */
#include "crawler/turn_pace.h"

#include "base/clock.h"

#define PART        8 /* of all that is out */
#define LEAST       32
#define HASTE       NS_PER_MS

#define LEISURE     (2 * NS_PER_MS)
#define UNHURRIED   (250 * NS_PER_MS) /* a pause to which that adds little */
#define HASTE_LASTS NS_PER_S          /* longer than most responses take */

void turn_pace_leased(struct turn_pace *p, int64_t pause, int64_t now)
{
    if (pause < UNHURRIED)
        p->hurried = now;
}

struct turn_wait turn_pace_wait(const struct turn_pace *p, size_t out,
                                size_t most, int64_t until_due, int64_t now)
{
    size_t part = out >= LEAST ? out / PART : 0;

    if (now - p->hurried > HASTE_LASTS)
        return (struct turn_wait){.first = clock_later(until_due, LEISURE),
                                  .enough = most,
                                  .more = LEISURE};
    return (struct turn_wait){.first = until_due,
                              .enough = part < most ? part : most,
                              .more = HASTE};
}
