/*
 * logger.h - one event, one line, key=value, on stderr.
 *
 * Data goes to stdout, never through here. Any thread may log; a line is
 * written whole. Text in a line is escaped as by format_terminal, so that no
 * page can write to a terminal, reverse its writing direction or forge a line.
 */
#ifndef URLWEIR_BASE_LOGGER_H
#define URLWEIR_BASE_LOGGER_H

#include <stdbool.h>

#include "base/bytes.h"
#include "base/status.h"

enum log_level {
    LOG_LEVEL_ERROR,
    LOG_LEVEL_WARN,
    LOG_LEVEL_INFO,
    LOG_LEVEL_DEBUG
};

/* Default: LOG_LEVEL_WARN. */
void logger_set_level(enum log_level level);
enum log_level logger_level(void);
/* Sets a function that is called before and after each line, so that a progress
 * bar on the terminal's last line can be removed and drawn again. NULL:
 * none. */
void logger_set_around(void (*around)(bool before));
/* For those who write to the terminal themselves, such as data on stdout: calls
 * that function before and after, and keeps log lines out meanwhile. */
void logger_step_aside(bool before);

/* Sets a function that gets each line instead of stderr, without the LF, one
 * line at a time. NULL: stderr again. */
void logger_set_sink(void (*sink)(enum log_level level, struct bytes line));

/* True if a line of this level would be written; ask before building a costly
 * one. */
bool logger_is_on(enum log_level level);
/* Writes a line without level and event, escaped and truncated after some 8,000
 * octets. */
void logger_line(enum log_level level, struct bytes text);

/* `event`: a short phrase; then `fmt` gives key=value pairs, or "". */
void logger_write(enum log_level level, const char *event, const char *fmt, ...)
    PRINTF_LIKE(3, 4);

#define log_error(event, ...) logger_write(LOG_LEVEL_ERROR, event, __VA_ARGS__)
#define log_warn(event, ...)  logger_write(LOG_LEVEL_WARN, event, __VA_ARGS__)
#define log_info(event, ...)  logger_write(LOG_LEVEL_INFO, event, __VA_ARGS__)
#define log_debug(event, ...) logger_write(LOG_LEVEL_DEBUG, event, __VA_ARGS__)

#endif
