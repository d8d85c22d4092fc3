/*
 * line_input.h - the lines of many files, one after the other: the one reader
 * of all lists of URLs.
 *
 * A line ends at LF and nowhere else; text after the last LF of a file is a
 * line too. Nothing is trimmed, and zero octets may occur: line_entry() is for
 * lists that know comments. A byte order mark at the start of a file belongs to
 * no line. A file whose first octets are those of gzip, zstd or bzip2 is
 * unpacked. A line longer than LINE_MOST octets comes in pieces.
 *
 * A batch is handed over when it is full, and also when no more input is ready:
 * a program may write a line into a pipe and wait for the result.
 *
 * One thread at a time; line_input_stop() from any thread or signal handler.
 */
#ifndef URLWEIR_BASE_FILE_LINE_INPUT_H
#define URLWEIR_BASE_FILE_LINE_INPUT_H

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

/* `files` are borrowed; "-" is stdin, and so is an empty list. */
struct line_input *line_input_new(const char *const *files, size_t count);
/* The lines are octets, not text: a byte order mark is a part of the first. */
void line_input_take_octets(struct line_input *in);
/* Refuses a file that is the same as this descriptor: reading a file that is
 * being written would never end. */
void line_input_refuse(struct line_input *in, int written);
void line_input_free(struct line_input *in); /* NULL is fine */

/* Can every file be opened? Call it before anything is printed.
 * STATUS_NOT_FOUND, STATUS_IO: line_input_error() has the message. */
MUST_CHECK enum status line_input_check(struct line_input *in);

/* STATUS_OK: at least one line. STATUS_CLOSED: no more, or stopped. Any other,
 * STATUS_FORMAT if packed data is cut short or damaged: line_input_error() has
 * the message; all lines before the error have been handed over. */
MUST_CHECK enum status line_input_fill(struct line_input *in,
                                       struct line_batch *b);
/* Visits each line once, in order; of one that is too long only the first
 * piece. Returns what ended it: STATUS_OK at the end, the visitor's status, or,
 * with a message in line_input_error(), a failure as above. */
MUST_CHECK enum status line_input_each(struct line_input *in,
                                       enum status (*visit)(void *ctx,
                                                            struct bytes line,
                                                            bool too_long),
                                       void *ctx);
/* Stops reading; whole lines that were read already are still handed over. */
void line_input_stop(struct line_input *in);
/* "FILE: why", until the next call; "" if nothing went wrong. */
const char *line_input_error(const struct line_input *in);
/* Number of the current file's line that came last, from 1 on; a line in pieces
 * is one. */
uint64_t line_input_number(const struct line_input *in);
/* How many lines of all files were too long. */
uint64_t line_input_too_long(const struct line_input *in);
/* How the current file is packed: "plain", "gzip", "zstd", "bzip2". */
const char *line_input_packing(const struct line_input *in);
/* Octets of all files together; 0 if one is not a regular file. */
uint64_t line_input_size(const struct line_input *in);

/* What a line of a list with comments holds: without blanks around it and
 * without a comment, which begins with # at the start or behind a blank (a #
 * right behind text begins a fragment). */
struct bytes line_entry(struct bytes line);

#endif
