/*
 * coding.h - takes content codings off a body (RFC 9110 section 8.4).
 *
 * gzip (RFC 1952; many members are one stream, and what stands behind them and
 * is no member is dropped), deflate (RFC 1950, or RFC 1951 as some servers mean
 * it), br (RFC 7932, windows to 16 MiB), zstd (RFC 8878, windows to 8 MiB as
 * RFC 9659 has it), at most two of them one over the other. What the inner one
 * takes must come to something: streams of nothing within a stream are refused
 * after a mebibyte, so that a few kilobytes do not keep a thread for minutes.
 *
 * The caller pulls: no more comes out than there is room for, so whoever has no
 * memory now can stop in the middle of a piece. And a stream that is cut short
 * is told from one that is whole, however right its Content-Length was. One
 * thread at a time.
 */
#ifndef URLWEIR_CRAWLER_FETCH_CODING_H
#define URLWEIR_CRAWLER_FETCH_CODING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"
#include "base/status.h"

/* What we can take off, as a value of Accept-Encoding. */
#define CODING_ACCEPTED "deflate, gzip, br, zstd"

struct coding;

/* Is asked for what decoders want to hold beyond CODING_FREE octets. False:
 * there is none; coding_read then says STATUS_NOMEM and the coding is lost. All
 * of it is the asker's again after coding_free. */
struct coding_memory {
    bool (*take)(void *ctx, size_t octets); /* NULL: never refused */
    void *ctx;
};
#define CODING_FREE ((size_t)128 << 10) /* two inflates, and more */

/* Takes the next element off the front of a list of codings (RFC 9110 section
 * 5.6.1), without white space around it; it may be empty. */
struct bytes coding_next_name(struct bytes *list);

/* `value` is that of Content-Encoding; codings stand in it in the order they
 * were applied. Names that nobody knows, which servers send for bodies that are
 * not coded at all ("utf-8", "none", "binary"), are passed over: *unknown.
 * *out = NULL: nothing is to be taken off. STATUS_FORMAT: too many. */
MUST_CHECK enum status coding_new(struct coding **out, struct bytes value,
                                  const struct coding_memory *memory,
                                  bool *unknown);
void coding_free(struct coding *c); /* NULL is fine */

/* Takes octets off the front of *in and writes at most `room`, at least 1, of
 * what they mean to `to`: *got. *got = 0: all of *in was taken, and more of it
 * has to come. STATUS_FORMAT: damaged; *got octets came before. STATUS_NOMEM.
 */
MUST_CHECK enum status coding_read(struct coding *c, struct bytes *in, void *to,
                                   size_t room, size_t *got);

/* No more will come: was it all there? A body of no octets at all is. */
bool coding_is_whole(const struct coding *c);

#endif
