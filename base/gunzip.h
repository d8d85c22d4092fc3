/*
 * gunzip.h - octets that may be gzipped, in; the octets themselves, out.
 *
 * Told by the magic at the start, not by a name or a header: anything else
 * passes through as it is. Many members one after the other are one stream;
 * what stands behind them and is no member is dropped. A stream that is cut
 * short or damaged gives what could be read. One thread at a time.
 */
#ifndef URLWEIR_BASE_GUNZIP_H
#define URLWEIR_BASE_GUNZIP_H

#include <stddef.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"

struct gunzip;

/* Octets go to `take`, at most `most` of them; a status other than STATUS_OK
 * from it ends the stream and is passed on. */
struct gunzip *gunzip_new(size_t most,
                          enum status (*take)(void *ctx, struct bytes octets),
                          void *ctx);
void gunzip_free(struct gunzip *g); /* NULL is fine */

/* STATUS_LIMIT: more than `most` came out. STATUS_NOMEM. After a failure more
 * of the stream is ignored, with the same status. */
MUST_CHECK enum status gunzip_push(struct gunzip *g, struct bytes in);
/* No more will come. STATUS_FORMAT: the stream was cut short or damaged; what
 * could be read went out. */
MUST_CHECK enum status gunzip_finish(struct gunzip *g);

/* Reads one whole member from the front of *in and appends to `out` what is in
 * it. STATUS_FORMAT: it is cut short or damaged. STATUS_LIMIT: `out` is full.
 * STATUS_NOMEM. */
MUST_CHECK enum status gunzip_member(struct bytes *in, struct buf *out);

#endif
