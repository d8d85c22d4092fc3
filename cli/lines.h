/*
 * lines.h - the lines of a stream, for commands that answer line by line.
 *
 * A line ends at LF and nowhere else; the last line needs no LF. Nothing is
 * trimmed, and zero bytes may occur.
 */
#ifndef URLWEIR_CLI_LINES_H
#define URLWEIR_CLI_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"
#include "base/status.h"

/* Calls `visit` for each line of file descriptor `fd`, once and in order. If a
 * line has more than `ceiling` octets, `too_long` is true and `line` is empty.
 * STATUS_IO: reading failed, errno says why. */
MUST_CHECK enum status lines_each(int fd, size_t ceiling,
                                  void (*visit)(void *ctx, struct bytes line,
                                                bool too_long),
                                  void *ctx);

#endif
