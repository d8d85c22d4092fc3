/*
 * crawl_files.h - removes the files of a crawl that did not start.
 */
#ifndef URLWEIR_JOB_CRAWL_FILES_H
#define URLWEIR_JOB_CRAWL_FILES_H

/* Removes store, filter, manifest and settings in `dir`, before any page was
 * fetched; ignores missing files. */
void crawl_remove_files(const char *dir);

#endif
