/*
 * warc_walk.h - the whole records of a crawl's WARC file, even after damage.
 *
 * warc_reader.h stops at the first octets that are not a record, since nothing
 * says where the next one begins. This module searches for it: something that
 * begins as a gzip member, is a whole record, and names the warcinfo record of
 * its file, as each of our records does (docs/formats/warc.md). So if a crawled
 * page is itself a WARC file, its records are not taken for ours. The search
 * tries a bounded number of places that look like a member, more than chance
 * produces, and then gives up. Threads: one.
 */
#ifndef URLWEIR_STORAGE_WARC_WARC_WALK_H
#define URLWEIR_STORAGE_WARC_WARC_WALK_H

#include "storage/warc/warc_reader.h"

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
