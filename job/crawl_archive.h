/*
 * crawl_archive.h - the WARC files of a crawl, from --warc to --cdxj.
 *
 * Main thread, before and after the crawl, with the directory locked.
 */
#ifndef URLWEIR_JOB_CRAWL_ARCHIVE_H
#define URLWEIR_JOB_CRAWL_ARCHIVE_H

#include "base/status.h"
#include "job/crawl_setup.h"
#include "job/settings/options.h"

/* Opens setup->crawl.archive if the settings ask for one, and repairs files
 * after a crash. */
MUST_CHECK enum status crawl_archive_open(struct crawl_setup *setup,
                                          const struct crawl_settings *s);
/* Finishes the files, and updates the index if the settings ask for one. Does
 * nothing without an archive. */
MUST_CHECK enum status crawl_archive_close(struct crawl_setup *setup,
                                           const struct crawl_settings *s);
/* For seen_store_options.before_commit; `setup` is a struct crawl_setup. */
enum status crawl_archive_sync(void *setup);

#endif
