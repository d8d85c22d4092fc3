/*
 * run_growth.h - how a file of runs grows.
 */
#ifndef URLWEIR_STORAGE_DB_RUN_GROWTH_H
#define URLWEIR_STORAGE_DB_RUN_GROWTH_H

#include <sys/types.h>

/* Lengthens a file that needs `pages` pages (RUN_PAGE octets each), if it is
 * large, by zeroes up to the next multiple of a step of about a sixteenth of
 * it. Steps are written at once, and a kernel that can (ext4 since Linux 6.16,
 * XFS since 5.18) then has their pages in its cache as large folios, in which
 * it finds a block sooner; the pages of runs, which lie here and there, it
 * would have one by one. Returns the pages that need no call any more, at least
 * `pages`, or 0 if nothing was done. If writing fails, the write that needs the
 * room meets the error too. */
off_t run_growth(int fd, off_t pages);

#endif
