/* SPDX-License-Identifier: MIT */
/*
 * progress.c - decides when to report what a running crawl does, and in which
 * form. The text is written here, and drawn on the terminal.
 */
#include "cli/report/progress.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/format.h"
#include "base/histogram.h"
#include "base/logger.h"
#include "base/mem.h"
#include "crawler/crawl_stats.h"

/*
 * One live line at the bottom of a terminal, on stderr.
 *
 * The caller that reports progress redraws it again and again; log lines pass
 * above it. A process has one at a time, since it has one stderr. One thread
 * draws; any thread may log meanwhile.
 *
 * The last line belongs to the process, like stderr itself, so its state is
 * static: a thread that logs while the line is removed still finds the state,
 * and it is empty. The logger's hook locks before a log line and unlocks after
 * it, so that nothing is drawn into its middle.
 */

#define LIVE_LINE_MOST 400 /* columns */

#define EVERY          (10 * NS_PER_S)
#define SLOWEST        (60 * NS_PER_S)
#define WIDTH          80 /* if the terminal does not say */

/* Moves to the first column and clears the line (ECMA-48 8.3.41). */
static const char erase[] = "\r\x1b[K";

/* The line as drawn, under mtx; "" if there is no line. */
static pthread_mutex_t mtx = PTHREAD_MUTEX_INITIALIZER;
static char live[LIVE_LINE_MOST + 256]; /* colours take no columns */

void live_line_put(struct bytes text)
{
    if (write(STDERR_FILENO, text.at, text.len) < 0) {
        /* stderr is gone: there is nowhere left to say so. */
    }
}

static void around_log_line(bool before)
{
    if (before) {
        pthread_mutex_lock(&mtx);
        if (live[0] != '\0')
            live_line_put(bytes_of_str(erase));
        return;
    }
    if (live[0] != '\0')
        live_line_put(bytes_of_str(live));
    pthread_mutex_unlock(&mtx);
}

bool live_line_possible(void)
{
    const char *term = getenv("TERM");

    return isatty(STDERR_FILENO) && term != NULL && term[0] != '\0' &&
           strcmp(term, "dumb") != 0;
}

/* https://no-color.org */
/* And may it have colours? Not if NO_COLOR is set. */
static bool live_line_colour(void)
{
    const char *no = getenv("NO_COLOR");

    return live_line_possible() && (no == NULL || no[0] == '\0');
}

void live_line_begin(void)
{
    logger_set_around(around_log_line);
}

void live_line_end(void)
{
    logger_set_around(NULL);
    pthread_mutex_lock(&mtx);
    if (live[0] != '\0')
        live_line_put(bytes_of_str(erase));
    live[0] = '\0';
    pthread_mutex_unlock(&mtx);
}

size_t live_line_width(void)
{
    struct winsize w = {0};

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) != 0 || w.ws_col < 2)
        return WIDTH - 1;
    /* The last column stays free: some terminals wrap when it is written. */
    return w.ws_col - 1u < LIVE_LINE_MOST ? w.ws_col - 1u : LIVE_LINE_MOST;
}

void live_line_draw(const char *text)
{
    char line[sizeof live];

    snprintf(line, sizeof line, "%s%s", erase, text);
    pthread_mutex_lock(&mtx);
    if (strcmp(line, live) != 0) {
        memcpy(live, line, strlen(line) + 1);
        live_line_put(bytes_of_str(live));
    }
    pthread_mutex_unlock(&mtx);
}

int64_t live_line_interval(int64_t elapsed_ns)
{
    int64_t every = elapsed_ns / 6;

    if (every < EVERY)
        every = EVERY;
    return every < SLOWEST ? every : SLOWEST;
}

/*
 * Samples of a crawl as text: no clock, no terminal.
 */

#define PART_MOST 160  /* octets of one part of the bar */
#define GRAPH     16   /* columns of its graph */
#define RATED_MS  5000 /* before that a rate tells little */
#define ETA_MOST  (INT64_C(30) * 86400 * 1000) /* no longer one is shown */

/* ---- rates ---- */

/* Time until `now` reaches `limit` at this rate; -1: never, or no limit. */
static int64_t time_to(uint64_t limit, uint64_t now, double rate)
{
    double ms;

    if (limit == 0 || rate <= 0)
        return -1;
    if (now >= limit)
        return 0;
    ms = (double)(limit - now) / rate * 1000.0;
    return ms <= (double)ETA_MOST ? (int64_t)ms : -1;
}

static int64_t sooner(int64_t a, int64_t b)
{
    return a < 0 ? b : b < 0 ? a : a < b ? a : b;
}

/* The part done of --limit, or else of the known URLs. */
static double part_done(const struct progress_limits *limits,
                        const struct frontier_counts *now)
{
    if (limits->pages > 0)
        return fmin((double)now->pages / (double)limits->pages, 1);
    if (now->urls == 0 || now->queued > now->urls)
        return 0;
    return (double)(now->urls - now->queued) / (double)now->urls;
}

void progress_rates(struct progress_rates *r,
                    const struct progress_limits *limits,
                    const struct frontier_counts *before,
                    const struct frontier_counts *now, int64_t ms)
{
    int64_t time_left = -1;

    rate_follow(&r->pages, frontier_counts_fetches(before),
                frontier_counts_fetches(now), ms);
    rate_follow(&r->counted, before->pages, now->pages, ms);
    rate_follow(&r->bytes, before->bytes, now->bytes, ms);
    if (limits->time_ms > 0)
        time_left = limits->time_ms > r->elapsed_ms
                        ? limits->time_ms - r->elapsed_ms
                        : 0;
    r->eta_ms = time_left;
    r->done = part_done(limits, now);
    if (r->elapsed_ms < RATED_MS)
        return;
    r->eta_ms =
        sooner(r->eta_ms, time_to(limits->pages, now->pages, r->counted));
    r->eta_ms = sooner(r->eta_ms, time_to(limits->bytes, now->bytes, r->bytes));
}

/* ---- the bar ---- */

/* A part of the bar; if the bar is narrow, parts of the highest rank are left
 * out first. */
struct part {
    int rank;
    const char *colour; /* "": none */
    char text[PART_MOST];
};

enum { PARTS = 10 };

/* SGR (ECMA-48 8.3.117) */
static const char green[] = "\x1b[32m", yellow[] = "\x1b[33m",
                  red[] = "\x1b[31m", plain[] = "\x1b[0m";

static double percent(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static void keep(struct part *p, int rank, struct buf *text)
{
    p->rank = rank;
    p->colour = "";
    snprintf(p->text, sizeof p->text, "%s", buf_str(text));
    buf_clear(text);
}

static bool is_silence(const char *why)
{
    static const char *const words[] = {"dns", "connect", "tls", "timeout",
                                        "reset"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(why, words[i]) == 0)
            return true;
    return false;
}

/* Writes the text about a host before and after the time. */
static void words_of(const struct crawl_standstill *w, struct buf *before,
                     struct buf *behind)
{
    bool failed = w->http_status == 429 || w->http_status >= 500;

    if (strcmp(w->why, "back_off") == 0 || (w->why[0] == '\0' && failed)) {
        buf_add_str(before, " backs off ");
        if (w->http_status != 0)
            buf_addf(behind, " after %u", w->http_status);
    } else if (w->why[0] == '\0') {
        buf_add_str(before, " is asked again in ");
    } else if (strcmp(w->why, "operator") == 0) {
        buf_add_str(before, " is blocked for ");
    } else if (is_silence(w->why)) {
        buf_addf(before, " does not respond (%s); next try in ", w->why);
    } else if (strcmp(w->why, "retry_after") == 0) {
        buf_add_str(before, " waits ");
        buf_add_str(behind, ", as it asked for (Retry-After)");
    } else {
        buf_add_str(before, " waits ");
        buf_addf(behind, " (%s)", w->why);
    }
}

void progress_wait(struct buf *out, const struct crawl_standstill *w)
{
    struct buf before, behind;

    buf_init(&before, 256);
    buf_init(&behind, 256);
    words_of(w, &before, &behind);
    format_terminal(out, bytes_of_str(w->host));
    buf_addf(out, "%s%s%s", buf_str(&before), DURATION(w->ns / NS_PER_MS),
             buf_str(&behind));
    buf_fini(&before);
    buf_fini(&behind);
}

static void add_pace(struct buf *b, const struct crawl_stats *s,
                     const struct progress_rates *r)
{
    if (s->paused) {
        buf_add_str(b, "paused");
    } else if (s->standstill.host[0] != '\0') {
        progress_wait(b, &s->standstill);
    } else {
        buf_addf(b, "%s/s", RATE(r->pages));
    }
}

/* "[######----------] 42%" */
static void add_graph(struct buf *b, double done)
{
    size_t full = (size_t)(done * GRAPH);

    if (done <= 0)
        return;
    buf_add_char(b, '[');
    for (size_t i = 0; i < GRAPH; i++)
        buf_add_char(b, i < full ? '#' : '-');
    buf_addf(b, "] %.0f%%", floor(done * 100));
}

static void add_parts(struct part parts[PARTS], const struct crawl_stats *s,
                      const struct progress_rates *r)
{
    const struct frontier_counts *n = &s->counts;
    struct buf b;

    buf_init(&b, PART_MOST - 1);
    buf_addf(&b, "%s %s", COUNT(n->pages), n->pages == 1 ? "page" : "pages");
    keep(&parts[0], 0, &b);
    add_pace(&b, s, r);
    keep(&parts[1], 1, &b);
    if (s->paused || s->standstill.host[0] != '\0')
        parts[1].colour = yellow;
    buf_addf(&b, "%s queued", COUNT(n->queued));
    keep(&parts[2], 2, &b);
    buf_addf(&b, "%s %s", COUNT(n->queues_active),
             n->queues_active == 1 ? "host" : "hosts");
    keep(&parts[3], 5, &b);
    buf_addf(&b, "%s failed", COUNT(n->failed));
    keep(&parts[4], 4, &b);
    if (n->failed > 0)
        parts[4].colour = red;
    buf_addf(&b, "%.0f%% seen before", percent(n->duplicates, n->links));
    keep(&parts[5], 7, &b);
    buf_addf(&b, "%s/s", SIZE((uint64_t)r->bytes));
    keep(&parts[6], 6, &b);
    format_duration(&b, r->elapsed_ms);
    keep(&parts[7], 8, &b);
    if (r->eta_ms >= 0 && !s->paused && s->standstill.host[0] == '\0')
        buf_addf(&b, "ends in %s", DURATION(r->eta_ms));
    keep(&parts[8], 3, &b);
    add_graph(&b, r->done);
    keep(&parts[9], 5, &b);
    parts[9].colour = green;
    buf_fini(&b);
}

/* Columns that the parts up to this rank take. */
static size_t join(struct buf *out, const struct part parts[PARTS], int rank,
                   bool colour)
{
    size_t columns = 0;

    for (size_t i = 0; i < PARTS; i++) {
        const struct part *p = &parts[i];
        bool coloured = colour && p->colour[0] != '\0';

        if (p->rank > rank || p->text[0] == '\0')
            continue;
        if (columns > 0)
            buf_add_str(out, "  ");
        columns += (columns > 0 ? 2 : 0) + strlen(p->text);
        buf_addf(out, "%s%s%s", coloured ? p->colour : "", p->text,
                 coloured ? plain : "");
    }
    return columns;
}

void progress_bar(struct buf *out, const struct crawl_stats *s,
                  const struct progress_rates *r, size_t width, bool colour)
{
    struct part parts[PARTS];
    size_t start = out->len;

    add_parts(parts, s, r);
    for (int rank = PARTS; rank >= 0; rank--) {
        buf_truncate(out, start);
        if (join(out, parts, rank, colour) <= width)
            return;
    }
    buf_truncate(out, start);
    buf_add(out, parts[0].text,
            strlen(parts[0].text) < width ? strlen(parts[0].text) : width);
}

/* ---- lines ---- */

void progress_line(struct buf *out, const struct crawl_stats *s,
                   const struct progress_rates *r)
{
    const struct frontier_counts *n = &s->counts;

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
    if (s->standstill.host[0] != '\0') {
        buf_add_str(out, " waiting=\"");
        progress_wait(out, &s->standstill);
        buf_add_char(out, '"');
    } else if (r->eta_ms >= 0) {
        buf_add_str(out, " eta=");
        format_duration(out, r->eta_ms);
    }
    buf_add_char(out, '\n');
}

static void add_waiting_json(struct buf *out, const struct crawl_standstill *w)
{
    if (w->host[0] == '\0') {
        buf_add_str(out, "null");
        return;
    }
    buf_add_str(out, "{\"host\":");
    format_json(out, bytes_of_str(w->host));
    buf_add_str(out, ",\"why\":");
    if (w->why[0] != '\0')
        format_json(out, bytes_of_str(w->why));
    else
        buf_add_str(out, "null");
    buf_add_str(out, ",\"seconds\":");
    format_seconds(out, w->ns / NS_PER_MS);
    buf_add_char(out, '}');
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
    buf_add_str(out, "\"waiting\":");
    add_waiting_json(out, &s->standstill);
    buf_add_str(out, ",\"eta\":");
    if (r->eta_ms >= 0 && s->standstill.host[0] == '\0')
        format_seconds(out, r->eta_ms);
    else
        buf_add_str(out, "null");
    buf_addf(out, ",\"paused\":%s,\"last\":%s}\n", s->paused ? "true" : "false",
             last ? "true" : "false");
}

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
