/*
 * gunzip.h - decompresses octets that may be gzipped.
 *
 * gzip is recognised by the magic at the start, not by a name or a header;
 * anything else passes through unchanged. Consecutive members are one stream;
 * bytes after them that are not a member are dropped. A truncated or damaged
 * stream gives what could be read. One thread at a time.
 */
#ifndef URLWEIR_BASE_FILE_GUNZIP_H
#define URLWEIR_BASE_FILE_GUNZIP_H

#include <stddef.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"

struct gunzip;

/* Passes at most `most` octets to `take`; a status from it other than STATUS_OK
 * ends the stream and is returned. */
struct gunzip *gunzip_new(size_t most,
                          enum status (*take)(void *ctx, struct bytes octets),
                          void *ctx);
void gunzip_free(struct gunzip *g); /* NULL is fine */

/* STATUS_LIMIT: the output is longer than `most`. STATUS_NOMEM. After a failure
 * further input is ignored, with the same status. */
MUST_CHECK enum status gunzip_push(struct gunzip *g, struct bytes in);
/* Ends the input. STATUS_FORMAT: the stream was truncated or damaged; what
 * could be read was output. */
MUST_CHECK enum status gunzip_finish(struct gunzip *g);

/* Reads one whole member from the front of *in and appends its content to
 * `out`. STATUS_FORMAT: it is truncated or damaged. STATUS_LIMIT: `out` is
 * full. STATUS_NOMEM. */
MUST_CHECK enum status gunzip_member(struct bytes *in, struct buf *out);

#endif
