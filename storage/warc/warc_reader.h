/*
 * warc_reader.h - the records of a WARC file, one after another, strictly.
 *
 * A record counts as whole when its gzip member ends with a right checksum and
 * holds a WARC head, a block of just Content-Length octets, and two line ends.
 * That is how a torn tail is told from a record, and what `verify` asks of the
 * place a fetch row names. Everything in the file is taken as hostile: heads
 * are bounded, blocks are not kept but for their first octets. Reads files of
 * one record a member only. One thread.
 */
#ifndef URLWEIR_STORAGE_WARC_WARC_READER_H
#define URLWEIR_STORAGE_WARC_WARC_READER_H

#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"

#define WARC_HEAD_MOST  ((size_t)64 << 10)  /* of a record that is read */
#define WARC_FIRST_MOST ((size_t)320 << 10) /* kept of head and block */

struct warc_reader;

/* Bytes live until the next call. */
struct warc_found {
    uint64_t offset, length; /* of the gzip member */
    struct bytes head;       /* from "WARC/1.1" to the empty line */
    struct bytes block;      /* its first octets, as far as they were kept */
    uint64_t block_length;
};

/* Of an open file, which stays the caller's. */
struct warc_reader *warc_reader_new(int fd);
void warc_reader_free(struct warc_reader *r); /* NULL is fine */

/* The next call to warc_reader_next reads there. */
void warc_reader_seek(struct warc_reader *r, uint64_t offset);
/* STATUS_NOT_FOUND: the file ends here. STATUS_FORMAT: no whole record begins
 * here, found->offset says where. STATUS_IO. */
MUST_CHECK enum status warc_reader_next(struct warc_reader *r,
                                        struct warc_found *found);

/* The value of a field in a head of lines, HTTP's too; empty: none. The first
 * line is passed over; names are compared without case. */
struct bytes warc_field(struct bytes head, const char *name);

#endif
