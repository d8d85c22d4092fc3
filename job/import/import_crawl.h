/*
 * import_crawl.h - reads what a crawl of ours knows, for another one.
 *
 * Every URL comes as it is: found at its depth and by its kind, waiting or with
 * its last outcome and the facts of that fetch; then the links that a setting
 * keeps out for now, and what a person has set for hosts. What is not told: the
 * fetches before the last, the link graph, and where WARC files are.
 *
 * The crawl is read as it is on disk, and nothing of it is changed; one that
 * runs is refused, since it would go on.
 */
#ifndef URLWEIR_JOB_IMPORT_IMPORT_CRAWL_H
#define URLWEIR_JOB_IMPORT_IMPORT_CRAWL_H

#include "job/import/import_sink.h"
#include "job/settings/options.h"

/* Puts the crawl of `dir` into the sink. *why says what is wrong with it; other
 * errors are the frontier's. */
MUST_CHECK enum status import_crawl(struct import_sink *k, const char *dir,
                                    struct buf *why);

#endif
