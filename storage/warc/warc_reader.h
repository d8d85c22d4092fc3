/*
 * warc_reader.h - the records of a WARC file, one after another, strictly.
 *
 * A record is whole if its gzip member has a correct checksum and holds a WARC
 * head, a block of exactly Content-Length octets, and two line ends. This tells
 * a record from a torn tail, and `verify` checks it at the offset that a fetch
 * row names. The file is not trusted: heads are bounded, and only the first
 * octets of a block are kept. Reads only files with one record a member.
 * Threads: one.
 */
#ifndef URLWEIR_STORAGE_WARC_WARC_READER_H
#define URLWEIR_STORAGE_WARC_WARC_READER_H

#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"

#define WARC_HEAD_MOST  ((size_t)64 << 10)  /* longest head that is accepted */
#define WARC_FIRST_MOST ((size_t)320 << 10) /* kept of head and block */

struct warc_reader;

/* Bytes live until the next call. */
struct warc_found {
    uint64_t offset, length; /* of the gzip member */
    struct bytes head;       /* from "WARC/1.1" to the empty line */
    struct bytes block;      /* its first octets, as far as they were kept */
    uint64_t block_length;
};

/* Reads an open file, which the caller still owns. */
struct warc_reader *warc_reader_new(int fd);
void warc_reader_free(struct warc_reader *r); /* NULL is fine */

/* Sets where the next call to warc_reader_next reads. */
void warc_reader_seek(struct warc_reader *r, uint64_t offset);
/* STATUS_NOT_FOUND: the file ends here. STATUS_FORMAT: no whole record begins
 * here, found->offset says where. STATUS_IO. */
MUST_CHECK enum status warc_reader_next(struct warc_reader *r,
                                        struct warc_found *found);

/* The value of a field in a WARC or HTTP head; empty if there is none. The
 * first line is skipped; case does not matter in names. */
struct bytes warc_field(struct bytes head, const char *name);

/*
 * The whole records of a crawl's WARC file, even after damage.
 *
 * warc_reader.h stops at the first octets that are not a record, since nothing
 * says where the next one begins. This module searches for it: something that
 * begins as a gzip member, is a whole record, and names the warcinfo record of
 * its file, as each of our records does (docs/formats/warc.md). So if a crawled
 * page is itself a WARC file, its records are not taken for ours. The search
 * tries a bounded number of places that look like a member, more than chance
 * produces, and then gives up. Threads: one.
 */

struct warc_walk;

/* Starts at the beginning of an open file, which the caller still owns. */
struct warc_walk *warc_walk_new(int fd);
void warc_walk_free(struct warc_walk *w); /* NULL is fine */

/* Finds the next whole record. *end is where the previous one ended: octets
 * from there to found->offset are damaged. STATUS_NOT_FOUND: there are no more,
 * and the file ends at found->offset. STATUS_IO. */
MUST_CHECK enum status warc_walk_next(struct warc_walk *w,
                                      struct warc_found *found, uint64_t *end);

#endif
