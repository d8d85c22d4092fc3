/* SPDX-License-Identifier: MIT */
/*
 * progress_text.c - samples of a crawl as text: no clock, no terminal.
 *
 * Rates are smoothed exponentially over the time that passed, not over the
 * number of samples, so that a bar and lines show the same ones.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "cli/report/progress.h"
#include "crawler/crawl_counters.h"

#define SMOOTH_MS 10000.0 /* time constant of the rates */
#define PART_MOST 64      /* octets of one part of the bar */

/* ---- rates ---- */

static void smooth(double *rate, uint64_t before, uint64_t now, int64_t ms)
{
    double weight = *rate > 0 ? 1 - exp(-(double)ms / SMOOTH_MS) : 1;
    double lately;

    if (now < before)
        return;
    lately = (double)(now - before) * 1000.0 / (double)ms;
    *rate += (lately - *rate) * weight;
}

/* Time until `now` reaches `limit` at this rate; -1: never, or no limit. */
static int64_t time_to(uint64_t limit, uint64_t now, double rate)
{
    if (limit == 0 || rate <= 0)
        return -1;
    if (now >= limit)
        return 0;
    return (int64_t)fmin((double)(limit - now) / rate * 1000.0, 1e15);
}

static int64_t sooner(int64_t a, int64_t b)
{
    return a < 0 ? b : b < 0 ? a : a < b ? a : b;
}

void progress_rates(struct progress_rates *r,
                    const struct progress_limits *limits,
                    const struct engine_stats *before,
                    const struct engine_stats *now, int64_t ms)
{
    int64_t time_left = -1;

    if (ms > 0) {
        smooth(&r->pages, before->pages, now->pages, ms);
        smooth(&r->bytes, before->bytes, now->bytes, ms);
    }
    if (limits->time_ms > 0)
        time_left = limits->time_ms > r->elapsed_ms
                        ? limits->time_ms - r->elapsed_ms
                        : 0;
    r->eta_ms = sooner(time_left, time_to(limits->pages, now->pages, r->pages));
    r->eta_ms = sooner(r->eta_ms, time_to(limits->bytes, now->bytes, r->bytes));
}

/* ---- the bar ---- */

/* A part of the bar; those of the highest rank go first when it is narrow. */
struct part {
    int rank;
    char text[PART_MOST];
};

enum { PARTS = 9 };

static double percent(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static void keep(struct part *p, int rank, struct buf *text)
{
    p->rank = rank;
    snprintf(p->text, sizeof p->text, "%s", buf_str(text));
    buf_clear(text);
}

static void add_parts(struct part parts[PARTS], const struct crawl_stats *s,
                      const struct progress_rates *r)
{
    const struct engine_stats *n = &s->engine;
    struct buf b;

    buf_init(&b, PART_MOST - 1);
    format_count(&b, n->pages);
    buf_add_str(&b, n->pages == 1 ? " page" : " pages");
    keep(&parts[0], 0, &b);
    if (s->paused) {
        buf_add_str(&b, "paused");
    } else {
        format_rate(&b, r->pages);
        buf_add_str(&b, "/s");
    }
    keep(&parts[1], 1, &b);
    format_count(&b, n->queued);
    buf_add_str(&b, " queued");
    keep(&parts[2], 2, &b);
    format_count(&b, n->queues_active);
    buf_add_str(&b, n->queues_active == 1 ? " host" : " hosts");
    keep(&parts[3], 5, &b);
    format_count(&b, n->failed);
    buf_add_str(&b, " failed");
    keep(&parts[4], 4, &b);
    buf_addf(&b, "%.0f%% seen before", percent(n->duplicates, n->links));
    keep(&parts[5], 7, &b);
    format_size(&b, (uint64_t)r->bytes);
    buf_add_str(&b, "/s");
    keep(&parts[6], 6, &b);
    format_duration(&b, r->elapsed_ms);
    keep(&parts[7], 8, &b);
    if (r->eta_ms >= 0 && !s->paused) {
        buf_add_str(&b, "ends in ");
        format_duration(&b, r->eta_ms);
    }
    keep(&parts[8], 3, &b);
    buf_fini(&b);
}

static void join(struct buf *out, const struct part parts[PARTS], int rank)
{
    const char *between = "";

    for (size_t i = 0; i < PARTS; i++) {
        if (parts[i].rank > rank || parts[i].text[0] == '\0')
            continue;
        buf_addf(out, "%s%s", between, parts[i].text);
        between = "  ";
    }
}

void progress_bar(struct buf *out, const struct crawl_stats *s,
                  const struct progress_rates *r, size_t width)
{
    struct part parts[PARTS];
    size_t start = out->len;

    add_parts(parts, s, r);
    for (int rank = PARTS; rank >= 0; rank--) {
        buf_truncate(out, start);
        join(out, parts, rank);
        if (out->len - start <= width)
            return;
    }
    buf_truncate(out, start + width);
}

/* ---- lines ---- */

void progress_line(struct buf *out, const struct crawl_stats *s,
                   const struct progress_rates *r)
{
    const struct engine_stats *n = &s->engine;

    buf_add_str(out, "urlweir: progress: elapsed=");
    format_duration(out, r->elapsed_ms);
    if (s->paused)
        buf_add_str(out, " paused=yes");
    buf_addf(out, " pages=%" PRIu64 " pages_per_second=%.1f", n->pages,
             r->pages);
    buf_addf(out,
             " queued=%" PRIu64 " hosts_active=%" PRIu64 " failed=%" PRIu64,
             n->queued, n->queues_active, n->failed);
    buf_addf(out, " duplicates=%.1f%% bytes=%" PRIu64,
             percent(n->duplicates, n->links), n->bytes);
    if (r->eta_ms >= 0) {
        buf_add_str(out, " eta=");
        format_duration(out, r->eta_ms);
    }
    buf_add_char(out, '\n');
}

void progress_json(struct buf *out, const struct crawl_stats *s,
                   const struct progress_rates *r, bool last)
{
    buf_add_str(out, "{\"elapsed\":");
    format_seconds(out, r->elapsed_ms);
    for (size_t i = 0; i < CRAWL_COUNTERS; i++)
        buf_addf(out, ",\"%s\":%" PRIu64, crawl_counters[i].name,
                 crawl_counter_value(&crawl_counters[i], s));
    buf_addf(out, ",\"pages_per_second\":%.3f,\"bytes_per_second\":%.0f,",
             r->pages, r->bytes);
    buf_add_str(out, "\"eta\":");
    if (r->eta_ms >= 0)
        format_seconds(out, r->eta_ms);
    else
        buf_add_str(out, "null");
    buf_addf(out, ",\"paused\":%s,\"last\":%s}\n", s->paused ? "true" : "false",
             last ? "true" : "false");
}
