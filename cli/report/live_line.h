/*
 * live_line.h - one live line at the bottom of a terminal, on stderr.
 *
 * The caller that reports progress redraws it again and again; log lines pass
 * above it. A process has one at a time, since it has one stderr. One thread
 * draws; any thread may log meanwhile.
 */
#ifndef URLWEIR_CLI_REPORT_LIVE_LINE_H
#define URLWEIR_CLI_REPORT_LIVE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

#define LIVE_LINE_MOST 400 /* columns */

/* Is stderr a terminal that can take one? */
bool live_line_possible(void);
/* And may it have colours? Not if NO_COLOR is set. */
bool live_line_colour(void);
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
