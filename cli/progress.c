/* SPDX-License-Identifier: MIT */
/*
 * progress.c - what a crawl is doing, while it does it, on stderr.
 *
 * The bar's last line belongs to the process, like stderr itself, so its state
 * is static: a thread that logs while the bar is taken down finds it still
 * there, and empty. The logger's hook locks before a log line and unlocks after
 * it, so that no bar is drawn into its middle.
 */
#include "cli/progress.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/logger.h"
#include "base/mem.h"

#define BAR_EVERY    (NS_PER_S / 5)
#define LINE_EVERY   (10 * NS_PER_S)
#define LINE_SLOWEST (60 * NS_PER_S)
#define BAR_WIDTH    80 /* where the terminal does not say */
#define BAR_MOST     400

enum mode { MODE_BAR, MODE_LINES, MODE_JSON, MODE_NONE };

struct progress {
    enum mode mode;
    int64_t start, due; /* monotonic */
    int64_t sampled;    /* when `before` was taken */
    struct progress_sample before;
    struct progress_rates rates;
};

/* The live line, under mtx; "" while there is none. */
static pthread_mutex_t mtx = PTHREAD_MUTEX_INITIALIZER;
static char live[BAR_MOST + 16];

static void put(const char *text, size_t len)
{
    if (write(STDERR_FILENO, text, len) < 0) {
        /* stderr is gone: there is nowhere left to say so. */
    }
}

/* To the first column, and clear what stands behind it (ECMA-48 8.3.41). */
static const char erase[] = "\r\x1b[K";

static void around_log_line(bool before)
{
    if (before) {
        pthread_mutex_lock(&mtx);
        if (live[0] != '\0')
            put(erase, sizeof erase - 1);
        return;
    }
    if (live[0] != '\0')
        put(live, strlen(live));
    pthread_mutex_unlock(&mtx);
}

static bool can_draw(void)
{
    const char *term = getenv("TERM");

    return isatty(STDERR_FILENO) && term != NULL && term[0] != '\0' &&
           strcmp(term, "dumb") != 0;
}

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
        return can_draw() ? MODE_BAR : MODE_LINES;
    }
}

struct progress *progress_new(enum progress_choice choice,
                              const struct progress_sample *first, int64_t now)
{
    struct progress *p = xcalloc(1, sizeof *p);

    p->mode = resolve(choice);
    p->start = now;
    p->sampled = now;
    p->before = *first;
    p->due = p->mode == MODE_NONE  ? INT64_MAX
             : p->mode == MODE_BAR ? now
                                   : now + LINE_EVERY;
    if (p->mode == MODE_BAR)
        logger_set_around(around_log_line);
    return p;
}

bool progress_due(const struct progress *p, int64_t now)
{
    return now >= p->due;
}

static size_t terminal_width(void)
{
    struct winsize w = {0};

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) != 0 || w.ws_col < 2)
        return BAR_WIDTH - 1;
    /* The last column stays free: some terminals wrap when it is written. */
    return w.ws_col - 1u < BAR_MOST ? w.ws_col - 1u : BAR_MOST;
}

static void draw(const char *text)
{
    pthread_mutex_lock(&mtx);
    if (strcmp(text, live) != 0) {
        snprintf(live, sizeof live, "%s", text);
        put(live, strlen(live));
    }
    pthread_mutex_unlock(&mtx);
}

static void erase_bar(void)
{
    logger_set_around(NULL);
    pthread_mutex_lock(&mtx);
    if (live[0] != '\0')
        put(erase, sizeof erase - 1);
    live[0] = '\0';
    pthread_mutex_unlock(&mtx);
}

/* Every ten seconds in the first minute, every minute after six. */
static int64_t next_line(const struct progress *p, int64_t now)
{
    int64_t every = (now - p->start) / 6;

    if (every < LINE_EVERY)
        every = LINE_EVERY;
    return now + (every < LINE_SLOWEST ? every : LINE_SLOWEST);
}

static void say(struct progress *p, const struct progress_sample *s, bool last)
{
    struct buf b;

    buf_init(&b, 4096);
    if (p->mode == MODE_BAR) {
        buf_add_str(&b, erase);
        progress_bar(&b, s, &p->rates, terminal_width());
        draw(buf_str(&b));
    } else if (p->mode == MODE_LINES) {
        progress_line(&b, s, &p->rates);
        put(buf_str(&b), b.len);
    } else {
        progress_json(&b, s, &p->rates, last);
        put(buf_str(&b), b.len);
    }
    buf_fini(&b);
}

static void take(struct progress *p, const struct progress_sample *s,
                 int64_t now)
{
    progress_rates(&p->rates, &p->before, s, (now - p->sampled) / NS_PER_MS);
    p->before = *s;
    p->sampled = now;
}

void progress_update(struct progress *p, const struct progress_sample *s,
                     int64_t now)
{
    if (!progress_due(p, now))
        return;
    take(p, s, now);
    say(p, s, false);
    p->due = p->mode == MODE_BAR ? now + BAR_EVERY : next_line(p, now);
}

void progress_free(struct progress *p, const struct progress_sample *last,
                   int64_t now)
{
    if (p == NULL)
        return;
    if (p->mode == MODE_BAR)
        erase_bar();
    if (p->mode == MODE_JSON && last != NULL) {
        take(p, last, now);
        say(p, last, true);
    }
    free(p);
}
