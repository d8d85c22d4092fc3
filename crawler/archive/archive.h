/*
 * archive.h - appends the records of a crawl's responses to WARC files.
 *
 * Takes what fetchers recorded (warc_capture.h), turns a response whose body
 * was recorded before into a revisit record, appends it, and stores file and
 * offset in the fetch row. archive_sync runs before each commit, so that every
 * row of the store points at a whole record, even after a crash. Threads: the
 * frontier thread, except for archive_info_id.
 */
#ifndef URLWEIR_CRAWLER_ARCHIVE_ARCHIVE_H
#define URLWEIR_CRAWLER_ARCHIVE_ARCHIVE_H

#include "base/status.h"
#include "frontier/engine.h"
#include "storage/warc/warc.h"
#include "storage/warc/warc_record.h"

struct archive;
struct warc_capture; /* warc_capture.h */

/* Repairs what a crash left in DIR/warc. See warc_open. */
MUST_CHECK enum status archive_open(struct archive **out,
                                    const struct warc_options *o);
/* Finishes the file being written. NULL is fine. */
MUST_CHECK enum status archive_close(struct archive *a);

/* The id of the warcinfo record in the current file. Any thread. */
void archive_info_id(struct archive *a, char out[WARC_ID_SIZE]);

/* Appends the records of a page and of the robots.txt that was fetched first;
 * either may be NULL. Sets in `row`, the page's row, where its record is. `e`
 * is the embedded engine that knows the bodies seen before. */
MUST_CHECK enum status archive_add(struct archive *a, struct engine *e,
                                   struct warc_capture *page,
                                   struct warc_capture *robots,
                                   struct fetch_row *row, int64_t wall_ms);
/* For seen_store_options.before_commit; `archive` is a struct archive. */
enum status archive_sync(void *archive);

#endif
