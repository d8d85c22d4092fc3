/*
 * warc_walk.h - the whole records of a crawl's WARC file, also past damage.
 *
 * warc_reader.h stops at the first octets that are no record, as nothing says
 * where the next one begins. Here it is looked for: what begins as a gzip
 * member, is a whole record, and names the warcinfo record of its file, as
 * each of ours does (docs/formats/warc.md). So a crawled page that is a WARC
 * file itself brings no records into the one that was being written. Of places
 * that only look like the beginning of a member a bounded number is tried in a
 * file, which chance does not bring; behind them nothing is found. One thread.
 */
#ifndef URLWEIR_STORAGE_WARC_WARC_WALK_H
#define URLWEIR_STORAGE_WARC_WARC_WALK_H

#include "storage/warc/warc_reader.h"

struct warc_walk;

/* From the beginning of an open file, which stays the caller's. */
struct warc_walk *warc_walk_new(int fd);
void warc_walk_free(struct warc_walk *w); /* NULL is fine */

/* The next whole record. *end is where the one before it ended: octets from
 * there to found->offset are damaged. STATUS_NOT_FOUND: no other follows, and
 * the file ends at found->offset. STATUS_IO. */
MUST_CHECK enum status warc_walk_next(struct warc_walk *w,
                                      struct warc_found *found, uint64_t *end);

#endif
