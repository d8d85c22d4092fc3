/*
 * coding.h - removes content codings from a body (RFC 9110 section 8.4).
 *
 * gzip (RFC 1952; many members are one stream, and anything else after them is
 * dropped), deflate (RFC 1950, or RFC 1951 as some servers mean it), br (RFC
 * 7932, windows to 16 MiB), zstd (RFC 8878, windows to 8 MiB by RFC 9659), at
 * most two of them nested. An inner stream must yield output: if a mebibyte of
 * its input yields almost nothing, it is refused, so that a few kilobytes
 * cannot occupy a thread for minutes.
 *
 * The caller pulls: it gets no more than it has room for, so a caller without
 * memory can stop in the middle of a piece. A truncated stream is recognised
 * even if its Content-Length was right. Threads: one at a time.
 */
#ifndef URLWEIR_CRAWLER_FETCH_CODING_H
#define URLWEIR_CRAWLER_FETCH_CODING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"
#include "base/status.h"

/* The codings we can remove, as a value of Accept-Encoding. */
#define CODING_ACCEPTED "deflate, gzip, br, zstd"

struct coding;

/* Called when decoders need more than CODING_FREE octets. False: there is no
 * memory; coding_read then returns STATUS_NOMEM and the coding is lost. The
 * caller has all of it back after coding_free. */
struct coding_memory {
    bool (*take)(void *ctx, size_t octets); /* NULL: never refused */
    void *ctx;
};
#define CODING_FREE ((size_t)128 << 10) /* two inflates, and more */

/* Takes the next element off the front of a list of codings (RFC 9110 section
 * 5.6.1), without white space around it; it may be empty. */
struct bytes coding_next_name(struct bytes *list);

/* `value` is that of Content-Encoding, with codings in the order in which they
 * were applied. Unknown names, which servers send for bodies that are not coded
 * at all ("utf-8", "none", "binary"), are ignored: *unknown. *out = NULL: there
 * is no coding to remove. STATUS_FORMAT: too many. */
MUST_CHECK enum status coding_new(struct coding **out, struct bytes value,
                                  const struct coding_memory *memory,
                                  bool *unknown);
void coding_free(struct coding *c); /* NULL is fine */

/* Reads octets off the front of *in and writes at most `room`, at least 1,
 * decoded octets to `to`; *got is their number. *got = 0: all of *in was read,
 * and more is needed. STATUS_FORMAT: damaged, after *got octets. STATUS_NOMEM.
 */
MUST_CHECK enum status coding_read(struct coding *c, struct bytes *in, void *to,
                                   size_t room, size_t *got);

#define CODING_SIGNATURE_MOST 4 /* octets that it looks at */
/* Does the body begin as any in the coding that was applied last does? False
 * also if that coding has no signature (deflate, br). */
bool coding_has_signature(const struct coding *c, struct bytes body);

/* At the end of the input: was the stream complete? A body without any octets
 * is. */
bool coding_is_whole(const struct coding *c);

#endif
