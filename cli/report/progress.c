/* SPDX-License-Identifier: MIT */
/*
 * progress.c - decides when to report what a running crawl does, and in which
 * form. progress_text.c writes the text, live_line.c draws on the terminal.
 */
#include "cli/report/progress.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/report/live_line.h"

#define BAR_EVERY (NS_PER_S / 5)

enum mode { MODE_BAR, MODE_LINES, MODE_JSON, MODE_NONE };

struct progress {
    enum mode mode;
    int64_t start, due; /* monotonic */
    int64_t sampled;    /* when `before` was taken */
    struct frontier_counts before;
    struct progress_limits limits;
    struct progress_rates rates;
};

static enum mode resolve(enum progress_choice choice)
{
    switch (choice) {
    case PROGRESS_BAR:
        return MODE_BAR;
    case PROGRESS_JSON:
        return MODE_JSON;
    case PROGRESS_NONE:
        return MODE_NONE;
    default:
        return live_line_possible() ? MODE_BAR : MODE_LINES;
    }
}

struct progress *progress_new(enum progress_choice choice,
                              const struct progress_limits *limits,
                              const struct frontier_counts *first, int64_t now)
{
    struct progress *p = xcalloc(1, sizeof *p);

    p->mode = resolve(choice);
    p->start = now;
    p->sampled = now;
    p->before = *first;
    p->limits = *limits;
    p->due = p->mode == MODE_NONE  ? INT64_MAX
             : p->mode == MODE_BAR ? now
                                   : now + live_line_interval(0);
    if (p->mode == MODE_BAR)
        live_line_begin();
    return p;
}

bool progress_due(const struct progress *p, int64_t now)
{
    return now >= p->due;
}

static void write_progress(struct progress *p, const struct crawl_stats *s,
                           bool last)
{
    struct buf b;

    buf_init(&b, 4096);
    if (p->mode == MODE_BAR) {
        progress_bar(&b, s, &p->rates, live_line_width(), live_line_colour());
        live_line_draw(buf_str(&b));
    } else if (p->mode == MODE_LINES) {
        progress_line(&b, s, &p->rates);
        live_line_put(buf_bytes(&b));
    } else {
        progress_json(&b, s, &p->rates, last);
        live_line_put(buf_bytes(&b));
    }
    buf_fini(&b);
}

static void update_rates(struct progress *p, const struct frontier_counts *s,
                         int64_t now)
{
    p->rates.elapsed_ms = (now - p->start) / NS_PER_MS;
    progress_rates(&p->rates, &p->limits, &p->before, s,
                   (now - p->sampled) / NS_PER_MS);
    p->before = *s;
    p->sampled = now;
}

void progress_update(struct progress *p, const struct crawl_stats *s,
                     int64_t now)
{
    if (!progress_due(p, now))
        return;
    update_rates(p, &s->counts, now);
    write_progress(p, s, false);
    p->due = now + (p->mode == MODE_BAR ? BAR_EVERY
                                        : live_line_interval(now - p->start));
}

void progress_free(struct progress *p, const struct crawl_stats *last,
                   int64_t now)
{
    if (p == NULL)
        return;
    if (p->mode == MODE_BAR)
        live_line_end();
    if (p->mode == MODE_JSON && last != NULL) {
        update_rates(p, &last->counts, now);
        write_progress(p, last, true);
    }
    free(p);
}
