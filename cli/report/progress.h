/*
 * progress.h - what a crawl is doing, while it does it, on stderr.
 *
 *   bar    one live line on a terminal, at most five times a second, as wide as
 *          the terminal; log lines pass above it
 *   lines  one line of key=value every ten seconds, later up to every minute:
 *          what `auto` means where stderr is no terminal
 *   json   the same moments, and once at the end, as one JSON object a line
 *          (docs/formats/progress.md)
 *   none   nothing
 *
 * One at a time in a process, since there is one stderr. One thread updates;
 * any thread may log meanwhile.
 */
#ifndef URLWEIR_CLI_REPORT_PROGRESS_H
#define URLWEIR_CLI_REPORT_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "crawler/crawl.h"
#include "job/settings/options.h"

/* Where the crawl ends if it gets that far; 0: no such limit. */
struct progress_limits {
    uint64_t pages;
    int64_t time_ms;
    uint64_t bytes;
};

/* What two samples and a clock say. */
struct progress_rates {
    int64_t elapsed_ms;  /* of this run */
    double pages, bytes; /* a second, over the last ten or so */
    int64_t eta_ms;      /* until the first limit is met; -1: nobody knows */
    double done;         /* of --limit, or of the URLs known; 0 to 1 */
};

struct progress;

/* PROGRESS_AUTO is a bar where stderr is a terminal that can take one, else
 * lines. `first` is the crawl before this run does anything: what rates are
 * counted from. `now` is monotonic nanoseconds, as everywhere. */
struct progress *progress_new(enum progress_choice choice,
                              const struct progress_limits *limits,
                              const struct engine_stats *first, int64_t now);
/* Is it time for an update? Cheap; asked at every turn of the loop. */
bool progress_due(const struct progress *p, int64_t now);
void progress_update(struct progress *p, const struct crawl_stats *s,
                     int64_t now);
/* The last word, then frees: the bar is taken away, a last JSON object goes
 * out. `last` NULL: nothing more is said. NULL `p` is fine. */
void progress_free(struct progress *p, const struct crawl_stats *last,
                   int64_t now);

/* ---- the text of it, for any sample ---- */

/* The rates behind `before`, `ms` later; `r` holds those before that, 0 at
 * first, and the time that has passed in this run. */
void progress_rates(struct progress_rates *r,
                    const struct progress_limits *limits,
                    const struct engine_stats *before,
                    const struct engine_stats *now, int64_t ms);
/* At most `width` columns: what matters least is left out first. */
void progress_bar(struct buf *out, const struct crawl_stats *s,
                  const struct progress_rates *r, size_t width, bool colour);
/* "a.example backs off 2m43s after 503" */
void progress_wait(struct buf *out, const struct crawl_standstill *w);
void progress_line(struct buf *out, const struct crawl_stats *s,
                   const struct progress_rates *r);
/* All counters of the table (crawl_counters.h), and the rates. */
void progress_json(struct buf *out, const struct crawl_stats *s,
                   const struct progress_rates *r, bool last);

#endif
