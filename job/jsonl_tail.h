/*
 * jsonl_tail.h - where a file of --jsonl lines is to be gone on with.
 *
 * A crash leaves whole lines and perhaps part of one; a power cut may leave
 * zero bytes where the system had promised octets. Both are cut, and so are
 * lines that the store knows nothing of, after `verify --repair` has accepted
 * that its end is lost. But nothing is cut before a line was found that the
 * crawl did write: a file of another kind, or of another crawl, is left alone.
 */
#ifndef URLWEIR_JOB_JSONL_TAIL_H
#define URLWEIR_JOB_JSONL_TAIL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"

#define JSONL_LINE_MOST ((size_t)4 << 20) /* of a line that is read back */

/* The seq that a line, without its end, begins with. False: it is no line of
 * ours. */
bool jsonl_line_seq(struct bytes line, uint64_t *seq);

/* *keep: octets of the file that stay; *seq: of the last line in them, 0: there
 * is none. `last`: the newest seq of the store. `is_ours` is asked of the line
 * whether it is just what the store has. STATUS_FORMAT: the file is not this
 * crawl's, and *keep is where that shows. STATUS_IO. */
MUST_CHECK enum status jsonl_tail(int fd, uint64_t last,
                                  bool (*is_ours)(void *ctx, uint64_t seq,
                                                  struct bytes line),
                                  void *ctx, uint64_t *keep, uint64_t *seq);

#endif
