/* SPDX-License-Identifier: MIT */
/*
 * bench_refresh.c - for how much of the time copies are up to date, by a fixed
 * interval and by --refresh adaptive with the same requests.
 *
 * usage: bench_refresh [PAGES [SVG]]   200 by default; SVG: a file for the
 * curve
 *
 * Two populations of pages, with requests from plenty to scarce. `best` is what
 * the best schedule reaches that knows all rates, Cho and Garcia-Molina (2003).
 * Ends with 1 unless adaptive has 1.5 times the freshness of the fixed interval
 * where requests are scarce. The numbers repeat exactly.
 */
#include <unistd.h>

#include "bench/support/refresh_web.h"
#include "cli/report/plot.h"

#define LEAST  1.5
#define SCARCE 3.0 /* days between two requests for a page, and more */
#define DAYS   60  /* of a run, at least */
#define ROUNDS 60  /* so many intervals, at least */
#define POINTS 6

/* What one table shows. */
struct curve {
    const char *title;
    double slowest, fastest; /* changes a day */
    struct plot_point fixed[POINTS], adaptive[POINTS], best[POINTS];
};

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

/* One row, and the points `i` of `c`; returns adaptive's freshness over that of
 * the fixed interval, 0: a run failed. */
static double compare(const struct refresh_web *w, struct curve *c, size_t i)
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
    c->fixed[i] = (struct plot_point){.x = w->interval, .y = f.freshness};
    c->adaptive[i] = (struct plot_point){.x = w->interval, .y = a.freshness};
    c->best[i] =
        (struct plot_point){.x = w->interval, .y = refresh_web_best(w)};
    printf("%7.2f %9.3f %9.3f %9.3f %9.2f %9.2f %9.2f\n", w->interval,
           f.freshness, a.freshness, c->best[i].y, a.freshness / f.freshness,
           (double)a.requests / (double)f.requests,
           (double)a.changed / (double)a.requests);
    return a.freshness / f.freshness;
}

static bool table(uint32_t pages, struct curve *c)
{
    static const double intervals[POINTS] = {0.1, 0.3, 1, 3, 6, 10};
    bool ok = true;

    printf("\n%s\n\n%7s %9s %9s %9s %9s %9s %9s\n", c->title, "days", "fixed",
           "adaptive", "best", "to fixed", "requests", "changed");
    for (size_t i = 0; i < POINTS; i++) {
        const struct refresh_web w = {.pages = pages,
                                      .slowest = c->slowest,
                                      .fastest = c->fastest,
                                      .interval = intervals[i],
                                      .rounds =
                                          (uint32_t)fmax(ROUNDS,
                                                         DAYS / intervals[i]),
                                      .seed = 1};
        double gain = compare(&w, c, i);

        ok &= gain > 0 &&
              (intervals[i] < SCARCE || c->slowest < 0.1 || gain >= LEAST);
    }
    return ok;
}

/* ---- the curve as a picture ---- */

static double draw(struct buf *out, const struct curve *c, double left)
{
    const struct plot_line lines[] = {
        {.name = "best",
         .at = c->best,
         .count = POINTS,
         .hue = PLOT_GREY,
         .dashed = true},
        {.name = "adaptive", .at = c->adaptive, .count = POINTS, .hue = 0},
        {.name = "fixed", .at = c->fixed, .count = POINTS, .hue = 1},
    };
    const struct plot p = {.title = c->title,
                           .x = "days between two requests for a page",
                           .y = "part of the time up to date",
                           .x_log = true,
                           .y_most = 1,
                           .lines = lines,
                           .count = sizeof lines / sizeof *lines};

    return plot_draw(out, &p, left, 0);
}

static bool write_plots(const char *path, const struct curve *curves, size_t n)
{
    struct buf file, body;
    double height = 0;
    FILE *to = fopen(path, "w");
    bool ok = to != NULL;

    buf_init(&file, 1 << 20);
    buf_init(&body, 1 << 20);
    for (size_t i = 0; i < n; i++)
        height = fmax(height, draw(&body, &curves[i], (double)i * PLOT_WIDTH));
    plot_file_begin(&file, "How many copies are up to date",
                    (double)n * PLOT_WIDTH, height);
    buf_add_bytes(&file, buf_bytes(&body));
    plot_file_end(&file);
    ok = ok && fwrite(file.at, 1, file.len, to) == file.len;
    ok = to != NULL && fclose(to) == 0 && ok;
    buf_fini(&file);
    buf_fini(&body);
    return ok;
}

int main(int argc, char **argv)
{
    uint32_t pages = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 200;
    struct curve curves[] = {
        {.title = "a change in 90 seconds to one in 3 days",
         .slowest = 1 / 3.0,
         .fastest = 960},
        {.title = "a change in 15 minutes to one in 90 days",
         .slowest = 1 / 90.0,
         .fastest = 96},
    };
    bool ok = pages > 0;

    printf("up to date, of the time, by days between two requests for a page "
           "(%u pages)\n",
           pages);
    for (size_t i = 0; ok && i < sizeof curves / sizeof *curves; i++)
        ok = table(pages, &curves[i]);
    if (argc > 2 &&
        !write_plots(argv[2], curves, sizeof curves / sizeof *curves))
        return 1;
    return ok ? 0 : 1;
}
