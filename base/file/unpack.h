/*
 * unpack.h - unpacks a file that may be gzip, zstd or bzip2, step by step.
 *
 * The packing is recognised by the file's first octets, not by its name.
 * Members (gzip), frames (zstd) or streams (bzip2) that follow each other are
 * one text, and zeros behind one are padding; anything else there is damage:
 * what follows would be lost without a word. The caller owns the output, so a
 * bomb takes no more memory than a step has room. A zstd file also takes its
 * window, of 128 MiB at most.
 *
 * gunzip below is for what comes from the web, where gzip alone is expected and
 * rubbish behind it is common. One thread at a time.
 */
#ifndef URLWEIR_BASE_FILE_UNPACK_H
#define URLWEIR_BASE_FILE_UNPACK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"

enum packing { PACKING_NONE, PACKING_GZIP, PACKING_ZSTD, PACKING_BZIP2 };

/* The packing of a file that begins with `head`. *more: it may be packed, but
 * `head` is too short to tell. */
enum packing packing_of(struct bytes head, bool *more);
const char *packing_name(enum packing p); /* "gzip"; static */

struct unpack;

struct unpack *unpack_new(enum packing p); /* not PACKING_NONE */
void unpack_free(struct unpack *u);        /* NULL is fine */

/* Unpacks from the front of *in to `to`, at most `room` octets (not 0); *got
 * says how many. When *in is used up and *got < room, it needs more input.
 * STATUS_FORMAT: damaged; STATUS_LIMIT: its window is over 128 MiB;
 * STATUS_NOMEM. */
MUST_CHECK enum status unpack_step(struct unpack *u, struct bytes *in, char *to,
                                   size_t room, size_t *got);
/* Could the file end here? Otherwise it is cut short. */
bool unpack_is_whole(const struct unpack *u);

/* ---- decompresses octets that may be gzipped ----
 *
 * gzip is recognised by the magic at the start, not by a name or a header;
 * anything else passes through unchanged. Consecutive members are one stream;
 * bytes after them that are not a member are dropped. A truncated or damaged
 * stream gives what could be read. One thread at a time.
 */

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
