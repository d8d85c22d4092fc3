/* SPDX-License-Identifier: MIT */
/*
 * bench_refresh.c - for how much of the time copies are up to date, by a fixed
 * interval and by --refresh adaptive with the same requests.
 *
 * usage: bench_refresh [PAGES]   200 by default
 *
 * Two populations of pages, with requests from plenty to scarce. `best` is what
 * the best schedule reaches that knows all rates, Cho and Garcia-Molina (2003).
 * Ends with 1 unless adaptive has 1.5 times the freshness of the fixed interval
 * where requests are scarce. The numbers repeat exactly.
 */
#include <unistd.h>

#include "bench/refresh_web.h"

#define LEAST  1.5
#define SCARCE 3.0 /* days between two requests for a page, and more */
#define DAYS   60  /* of a run, at least */
#define ROUNDS 60  /* so many intervals, at least */

static bool run_in(const struct refresh_web *w,
                   const struct refresh_rules *rules, struct refresh_run *run)
{
    char dir[] = "/tmp/bench-refresh-XXXXXX", command[64];
    enum status st;

    if (mkdtemp(dir) == NULL)
        return false;
    st = refresh_web_run(w, rules, dir, run);
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command) == 0 && st == STATUS_OK;
}

/* One row; returns adaptive's freshness over that of the fixed interval, 0: a
 * run failed. */
static double compare(const struct refresh_web *w)
{
    const struct refresh_rules fixed = {.every_ms = (int64_t)(w->interval *
                                                              REFRESH_WEB_DAY),
                                        .min_ms = 1000,
                                        .share = 1};
    const struct refresh_rules adaptive = {.every_ms = REFRESH_ADAPTIVE,
                                           .min_ms =
                                               (int64_t)(REFRESH_WEB_HOUR / 4),
                                           .max_ms =
                                               (int64_t)(90 * REFRESH_WEB_DAY),
                                           .share = 1};
    struct refresh_run f, a;

    if (!run_in(w, &fixed, &f) || !run_in(w, &adaptive, &a))
        return 0;
    printf("%7.2f %9.3f %9.3f %9.3f %9.2f %9.2f %9.2f\n", w->interval,
           f.freshness, a.freshness, refresh_web_best(w),
           a.freshness / f.freshness, (double)a.requests / (double)f.requests,
           (double)a.changed / (double)a.requests);
    return a.freshness / f.freshness;
}

static bool table(uint32_t pages, double slowest, double fastest,
                  const char *title)
{
    static const double intervals[] = {0.1, 0.3, 1, 3, 6, 10};
    bool ok = true;

    printf("\n%s\n\n%7s %9s %9s %9s %9s %9s %9s\n", title, "days", "fixed",
           "adaptive", "best", "to fixed", "requests", "changed");
    for (size_t i = 0; i < sizeof intervals / sizeof *intervals; i++) {
        const struct refresh_web w = {.pages = pages,
                                      .slowest = slowest,
                                      .fastest = fastest,
                                      .interval = intervals[i],
                                      .rounds =
                                          (uint32_t)fmax(ROUNDS,
                                                         DAYS / intervals[i]),
                                      .seed = 1};
        double gain = compare(&w);

        ok &= gain > 0 &&
              (intervals[i] < SCARCE || slowest < 0.1 || gain >= LEAST);
    }
    return ok;
}

int main(int argc, char **argv)
{
    uint32_t pages = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 200;
    bool ok = pages > 0;

    printf("up to date, of the time, by days between two requests for a page "
           "(%u pages)\n",
           pages);
    ok = ok &&
         table(pages, 1 / 3.0, 960, "a change in 90 seconds to one in 3 days");
    ok = ok &&
         table(pages, 1 / 90.0, 96, "a change in 15 minutes to one in 90 days");
    return ok ? 0 : 1;
}
