/*
 * warc_recorder.h - a fetcher's hand in the archive: records of what it
 * fetched.
 *
 * Makes the records of pages and of robots.txt files, compressed, to travel
 * with a report to the frontier thread, which appends them (archive.h). While
 * they wait their memory counts in the pool of bodies, in the place of the body
 * they were made of. One thread owns a recorder.
 */
#ifndef URLWEIR_CRAWLER_ARCHIVE_WARC_RECORDER_H
#define URLWEIR_CRAWLER_ARCHIVE_WARC_RECORDER_H

#include "crawler/archive/warc_capture.h"
#include "crawler/fetch/fetch.h"
#include "crawler/fetch/fetch_options.h"

struct warc_recorder;

/* `o` outlives it. */
struct warc_recorder *warc_recorder_new(const struct fetcher_options *o);
void warc_recorder_free(struct warc_recorder *w); /* NULL is fine */

/* NULL: nothing that could be recorded, see warc_capture_of, or `w` is NULL.
 * `done` has the links of the page. */
struct warc_capture *warc_recorder_page(struct warc_recorder *w,
                                        const struct assignment *a,
                                        const struct engine_done *done,
                                        const struct fetch_result *result);
/* A robots.txt at `url` that was needed before `a`, `hop` redirects on. */
struct warc_capture *warc_recorder_robots(struct warc_recorder *w,
                                          const struct assignment *a,
                                          struct bytes url, unsigned hop,
                                          const struct fetch_result *result);

#endif
