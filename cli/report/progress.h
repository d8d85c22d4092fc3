/*
 * progress.h - reports on stderr what a running crawl does.
 *
 *   bar    one live line on a terminal, at most five times a second, as wide as
 *          the terminal; log lines pass above it
 *   lines  one line of key=value every ten seconds, later up to every minute:
 *          `auto` means this if stderr is not a terminal
 *   json   one JSON object a line, at the same times and once at the end
 *          (docs/formats/counters.md)
 *   none   nothing
 *
 * A process has one at a time, since it has one stderr. One thread updates; any
 * thread may log meanwhile.
 */
#ifndef URLWEIR_CLI_REPORT_PROGRESS_H
#define URLWEIR_CLI_REPORT_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "crawler/crawl.h"
#include "job/settings/options.h"

/* Limits at which the crawl ends; 0: no such limit. */
struct progress_limits {
    uint64_t pages;
    int64_t time_ms;
    uint64_t bytes;
};

/* Computed from two samples and the time between them. */
struct progress_rates {
    int64_t elapsed_ms;  /* of this run */
    double pages, bytes; /* a second, over the last ten or so; pages that are
                            fetched again too */
    int64_t eta_ms;      /* until the first limit is met; -1: not known */
    double done;         /* of --limit, or of the URLs known; 0 to 1 */
    double counted;      /* pages a second that count for --limit */
};

struct progress;

/* PROGRESS_AUTO is a bar if stderr is a terminal that can show one, else lines.
 * `first` has the counters before this run does anything; rates count from
 * there. `now` is monotonic nanoseconds, as everywhere. */
struct progress *progress_new(enum progress_choice choice,
                              const struct progress_limits *limits,
                              const struct frontier_counts *first, int64_t now);
/* Is it time for an update? Cheap; asked at every turn of the loop. */
bool progress_due(const struct progress *p, int64_t now);
void progress_update(struct progress *p, const struct crawl_stats *s,
                     int64_t now);
/* Removes the bar, or prints a last JSON object unless `last` is NULL; then
 * frees. NULL `p` is fine. */
void progress_free(struct progress *p, const struct crawl_stats *last,
                   int64_t now);

/* ---- the text of it, for any sample ---- */

/* Computes the rates from `before` to `now`, `ms` later; `r` holds the previous
 * rates, 0 at first, and the time that has passed in this run. */
void progress_rates(struct progress_rates *r,
                    const struct progress_limits *limits,
                    const struct frontier_counts *before,
                    const struct frontier_counts *now, int64_t ms);
/* Appends at most `width` columns; the least important parts are left out
 * first. */
void progress_bar(struct buf *out, const struct crawl_stats *s,
                  const struct progress_rates *r, size_t width, bool colour);
/* "a.example backs off 2m43s after 503" */
void progress_wait(struct buf *out, const struct crawl_standstill *w);
void progress_line(struct buf *out, const struct crawl_stats *s,
                   const struct progress_rates *r);
/* All counters of the table (crawl_stats.h), and the rates. */
void progress_json(struct buf *out, const struct crawl_stats *s,
                   const struct progress_rates *r, bool last);

/* ---- one live line at the bottom of a terminal, on stderr ---- */

/* Is stderr a terminal that can take one? */
bool live_line_possible(void);

/* From here to live_line_end() log lines make way for it. */
void live_line_begin(void);

void live_line_end(void); /* removes it */

/* Columns for live_line_draw(), at most LIVE_LINE_MOST. */
size_t live_line_width(void);

/* `text`: printable but for colours, no line end. Does nothing if the line
 * shows it already. */
void live_line_draw(const char *text);

/* Writes straight to stderr, for callers that print lines of their own. */
void live_line_put(struct bytes text);

/* How often, `elapsed_ns` after the start: every ten seconds in the first
 * minute, every minute after six. */
int64_t live_line_interval(int64_t elapsed_ns);

#endif
