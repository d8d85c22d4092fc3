/*
 * jsonl_tail.h - where to continue a file of --jsonl lines.
 *
 * A crash leaves whole lines and perhaps part of one; a power cut may leave
 * zero bytes instead of data. Both are cut off, and so are lines that the store
 * does not have because `verify --repair` has accepted the loss of its end. But
 * nothing is cut before a line is found that this crawl wrote: a file of
 * another kind, or of another crawl, is not changed.
 */
#ifndef URLWEIR_JOB_JSONL_TAIL_H
#define URLWEIR_JOB_JSONL_TAIL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"

/* Octets that are written without a sync, at most; twice that, since the writer
 * may have begun to. */
#define JSONL_SYNC_EVERY ((uint64_t)16 << 20)
#define JSONL_UNSYNCED   (2 * JSONL_SYNC_EVERY)
#define JSONL_LINE_MOST  ((size_t)4 << 20) /* octets of a line */

/* The seq at the start of `line`, which has no line end. False: not one of our
 * lines. */
bool jsonl_line_seq(struct bytes line, uint64_t *seq);

/* *keep: octets of the file that stay; *seq: that of their last line, or 0.
 * `last` is the newest seq of the store. `is_ours` says whether a line matches
 * the store's row. STATUS_FORMAT: the file is not this crawl's, and *keep is
 * the place that shows it. STATUS_IO: reading failed. */
MUST_CHECK enum status jsonl_tail(int fd, uint64_t last,
                                  bool (*is_ours)(void *ctx, uint64_t seq,
                                                  struct bytes line),
                                  void *ctx, uint64_t *keep, uint64_t *seq);

#endif
