/*
 * warc_recorder.h - makes the records of what one fetcher fetched.
 *
 * Makes the records of pages and of robots.txt files, compressed, which travel
 * with a report to the frontier thread, which appends them (archive.h). While
 * they wait, the pool of bodies counts their memory in place of the body's. One
 * thread owns a recorder.
 */
#ifndef URLWEIR_CRAWLER_ARCHIVE_WARC_RECORDER_H
#define URLWEIR_CRAWLER_ARCHIVE_WARC_RECORDER_H

#include "crawler/archive/warc_capture.h"
#include "crawler/fetch/fetch.h"
#include "crawler/fetch/fetch_options.h"

struct warc_recorder;

/* `o` must outlive the recorder. */
struct warc_recorder *warc_recorder_new(const struct fetcher_options *o);
void warc_recorder_free(struct warc_recorder *w); /* NULL is fine */

/* NULL: there is nothing to record (see warc_capture_of), or `w` is NULL.
 * `done` has the links of the page. */
struct warc_capture *warc_recorder_page(struct warc_recorder *w,
                                        const struct assignment *a,
                                        const struct engine_done *done,
                                        const struct fetch_result *result);
/* Records a robots.txt at `url`, fetched before `a`, after `hop` redirects. */
struct warc_capture *warc_recorder_robots(struct warc_recorder *w,
                                          const struct assignment *a,
                                          struct bytes url, unsigned hop,
                                          const struct fetch_result *result);

#endif
