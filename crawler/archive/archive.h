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
#include "crawler/archive/warc_capture.h"
#include "crawler/fetch/fetch.h"
#include "crawler/fetch/fetch_options.h"
#include "frontier/frontier.h"
#include "storage/warc/warc.h"

struct archive;
struct warc_capture; /* warc_capture.h */

/* Repairs what a crash left in DIR/warc. See warc_open. */
MUST_CHECK enum status archive_open(struct archive **out,
                                    const struct warc_options *o);
/* Finishes the file being written. NULL is fine. */
MUST_CHECK enum status archive_close(struct archive *a);

/* Appends the records of a page and of the robots.txt that was fetched first;
 * either may be NULL. Sets in `row`, the page's row, where its record is. `f`
 * is the frontier of a crawl that knows the bodies seen before. */
MUST_CHECK enum status archive_add(struct archive *a, struct frontier *f,
                                   struct warc_capture *page,
                                   struct warc_capture *robots,
                                   struct fetch_row *row, int64_t wall_ms);
/* For seen_store_options.before_commit; `archive` is a struct archive. */
enum status archive_sync(void *archive);

/* ---- makes the records of what one fetcher fetched ---- */

/*
 * Makes the records of pages and of robots.txt files, compressed, which travel
 * with a report to the frontier thread, which appends them (archive.h). While
 * they wait, the pool of bodies counts their memory in place of the body's. One
 * thread owns a recorder.
 */

struct warc_recorder;

/* `o` must outlive the recorder. */
struct warc_recorder *warc_recorder_new(const struct fetcher_options *o);
void warc_recorder_free(struct warc_recorder *w); /* NULL is fine */

/* NULL: there is nothing to record (see warc_capture_of), or `w` is NULL.
 * `done` has the links of the page. */
struct warc_capture *warc_recorder_page(struct warc_recorder *w,
                                        const struct assignment *a,
                                        const struct url_done *done,
                                        const struct fetch_result *result);
/* Records a robots.txt at `url`, fetched before `a`, after `hop` redirects. */
struct warc_capture *warc_recorder_robots(struct warc_recorder *w,
                                          const struct assignment *a,
                                          struct bytes url, unsigned hop,
                                          const struct fetch_result *result);

#endif
