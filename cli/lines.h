/*
 * lines.h - the lines of a stream, for commands that answer line by line.
 *
 * A line ends at LF and nowhere else; what the last one holds counts without
 * one. Nothing is trimmed, zero bytes are bytes.
 */
#ifndef URLWEIR_CLI_LINES_H
#define URLWEIR_CLI_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"
#include "base/status.h"

/* Calls `visit` for each line of file descriptor `fd`, once and in order. Of a
 * line with more than `ceiling` octets nothing is kept: `too_long`, and `line`
 * is empty. STATUS_IO: reading failed, errno says why. */
MUST_CHECK enum status lines_each(int fd, size_t ceiling,
                                  void (*visit)(void *ctx, struct bytes line,
                                                bool too_long),
                                  void *ctx);

#endif
