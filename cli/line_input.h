/*
 * line_input.h - the lines of many files, one after the other, in batches.
 *
 * A line ends at LF and nowhere else; text after the last LF of a file is a
 * line too. Nothing is trimmed, and zero octets may occur. A file that begins
 * with gzip's magic is unpacked. A line longer than LINE_MOST octets comes in
 * pieces.
 *
 * A batch is handed over when it is full, and also when no more input is ready:
 * a program may write a line into a pipe and wait for the result.
 *
 * One thread at a time; line_input_stop() from any thread or signal handler.
 */
#ifndef URLWEIR_CLI_LINE_INPUT_H
#define URLWEIR_CLI_LINE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"

#define LINE_MOST        ((size_t)1 << 20)
#define LINE_BATCH_LINES 8192
#define LINE_BATCH_BYTES ((size_t)256 << 10) /* or one longer line */

enum line_kind {
    LINE_WHOLE,
    LINE_LONG_START, /* the first piece of a line that is too long */
    LINE_LONG_MORE   /* a further one; the last ends in LF */
};

struct line {
    uint32_t at, len; /* in `text`; len without the LF that ends it there */
    enum line_kind kind;
};

struct line_batch {
    char *text; /* every whole line ends in LF, added if it was missing */
    size_t len, room;
    struct line lines[LINE_BATCH_LINES];
    size_t count;
    uint64_t read; /* octets read from the files so far, before unpacking */
};

void line_batch_init(struct line_batch *b);
void line_batch_fini(struct line_batch *b);

struct line_input;

/* `files` are borrowed; "-" is stdin, and so is an empty list. A file that is
 * the same as `not_this`, a descriptor or -1, is refused: reading a file that
 * is being written would never end. */
struct line_input *line_input_new(const char *const *files, size_t count,
                                  int not_this);
void line_input_free(struct line_input *in); /* NULL is fine */

/* Can every file be opened? Call it before anything is printed. */
MUST_CHECK enum status line_input_check(struct line_input *in);

/* STATUS_OK: at least one line. STATUS_CLOSED: no more, or stopped. Any other,
 * STATUS_FORMAT if gzip data is cut short or damaged: line_input_error() has
 * the message; all lines before the error have been handed over. */
MUST_CHECK enum status line_input_fill(struct line_input *in,
                                       struct line_batch *b);
/* Stops reading; whole lines that were read already are still handed over. */
void line_input_stop(struct line_input *in);
/* "cannot read FILE: why", until the next call; "" if nothing went wrong. */
const char *line_input_error(const struct line_input *in);
/* Octets of all files together; 0 if one is not a regular file. */
uint64_t line_input_size(const struct line_input *in);

#endif
