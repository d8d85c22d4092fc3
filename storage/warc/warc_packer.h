/*
 * warc_packer.h - octets as one gzip member of a WARC file.
 *
 * A member is compressed at ISA-L's level 1, or, if it is a small record of
 * fields and lines alone (request, metadata, a revisit), by Huffman tables made
 * beforehand for such text: making tables of its own takes most of the time
 * for a few hundred octets. Both are plain gzip, and equal octets always give
 * equal members. One thread at a time; some 450 KB, whatever is packed.
 */
#ifndef URLWEIR_STORAGE_WARC_WARC_PACKER_H
#define URLWEIR_STORAGE_WARC_WARC_PACKER_H

#include <stddef.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"

/* A record of lines that is larger takes level 1: it gains more by it. */
#define WARC_LINES_MOST ((size_t)4 << 10)

struct warc_packer;

/* Ends the process if there is no memory, as xmalloc does. */
struct warc_packer *warc_packer_new(void);
void warc_packer_free(struct warc_packer *p); /* NULL is fine */

/* Appends `n` pieces as one member. STATUS_LIMIT: over the ceiling of `out`,
 * which then holds part of it, or a piece has 2 GiB and more. */
MUST_CHECK enum status warc_pack(struct warc_packer *p,
                                 const struct bytes *pieces, size_t n,
                                 struct buf *out);

/* Appends a record of WARC_LINES_MOST octets at most; any octets will do, those
 * of fields and URLs become small. STATUS_LIMIT: over the ceiling of `out`,
 * which is as it was. */
MUST_CHECK enum status warc_pack_lines(struct warc_packer *p,
                                       struct bytes record, struct buf *out);

#endif
