/*
 * crawl_files.h - the files of a crawl that did not begin.
 */
#ifndef URLWEIR_JOB_CRAWL_FILES_H
#define URLWEIR_JOB_CRAWL_FILES_H

/* Removes store, filter, manifest and settings in `dir`, where no page was
 * fetched yet; what is not there is passed over. */
void crawl_remove_files(const char *dir);

#endif
