/* SPDX-License-Identifier: MIT */
/*
 * live_line.c - one live line at the bottom of a terminal, on stderr.
 *
 * The last line belongs to the process, like stderr itself, so its state is
 * static: a thread that logs while the line is removed still finds the state,
 * and it is empty. The logger's hook locks before a log line and unlocks after
 * it, so that nothing is drawn into its middle.
 */
#include "cli/report/live_line.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/logger.h"

#define EVERY   (10 * NS_PER_S)
#define SLOWEST (60 * NS_PER_S)
#define WIDTH   80 /* if the terminal does not say */

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
bool live_line_colour(void)
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
