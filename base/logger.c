/* SPDX-License-Identifier: MIT */
/* logger.c - one event, one line, key=value, on stderr. */
#include "base/logger.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/format.h"

#define LINE_CEILING 8192 /* longer lines are truncated */

static _Atomic enum log_level level_now = LOG_LEVEL_WARN;
static pthread_mutex_t mtx = PTHREAD_MUTEX_INITIALIZER;
static void (*around_now)(bool);                       /* under mtx */
static void (*sink_now)(enum log_level, struct bytes); /* under mtx */

void logger_set_level(enum log_level level)
{
    atomic_store(&level_now, level);
}

enum log_level logger_level(void)
{
    return atomic_load(&level_now);
}

static bool logger_enabled(enum log_level level)
{
    return level <= atomic_load_explicit(&level_now, memory_order_relaxed);
}

void logger_set_around(void (*around)(bool before))
{
    /* A line being written does not know the new function: let it end first. */
    pthread_mutex_lock(&mtx);
    around_now = around;
    pthread_mutex_unlock(&mtx);
}

void logger_step_aside(bool before)
{
    if (before)
        pthread_mutex_lock(&mtx);
    if (around_now != NULL)
        around_now(before);
    if (!before)
        pthread_mutex_unlock(&mtx);
}

void logger_set_sink(void (*sink)(enum log_level level, struct bytes line))
{
    pthread_mutex_lock(&mtx);
    sink_now = sink;
    pthread_mutex_unlock(&mtx);
}

bool logger_is_on(enum log_level level)
{
    return logger_enabled(level);
}

static void put_on_stderr(struct buf *line)
{
    buf_add_char(line, '\n');
    if (around_now != NULL)
        around_now(true);
    if (write(STDERR_FILENO, buf_str(line), line->len) < 0) {
        /* stderr is gone: there is nowhere left to say so. */
    }
    if (around_now != NULL)
        around_now(false);
}

static void logger_put(enum log_level level, struct buf *line)
{
    pthread_mutex_lock(&mtx);
    if (sink_now != NULL)
        sink_now(level, buf_bytes(line));
    else
        put_on_stderr(line);
    pthread_mutex_unlock(&mtx);
}

void logger_line(enum log_level level, struct bytes text)
{
    struct buf line;

    if (!logger_enabled(level))
        return;
    buf_init(&line, 4 * LINE_CEILING + 1);
    format_terminal(&line,
                    bytes_of(text.at, text.len < LINE_CEILING ? text.len
                                                              : LINE_CEILING));
    logger_put(level, &line);
    buf_fini(&line);
}

void logger_write(enum log_level level, const char *event, const char *fmt, ...)
{
    static const char *const names[] = {"error", "warning", "info", "debug"};
    char details[LINE_CEILING / 2];
    struct buf line;
    va_list ap;

    if (!logger_enabled(level))
        return;
    va_start(ap, fmt);
    vsnprintf(details, sizeof details, fmt, ap);
    va_end(ap);
    buf_init(&line, 4 * LINE_CEILING);
    buf_addf(&line, "urlweir: %s: %s", names[level], event);
    if (details[0] != '\0') {
        buf_add_char(&line, ' ');
        format_terminal(&line, bytes_of_str(details));
    }
    logger_put(level, &line);
    buf_fini(&line);
}
