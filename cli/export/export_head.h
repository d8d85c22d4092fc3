/*
 * export_head.h - what `urlweir export` writes, and the names of its fields.
 *
 * The first row brings the head line of CSV (base/record.h); where there is no
 * row, a program still wants to know the fields.
 */
#ifndef URLWEIR_CLI_EXPORT_EXPORT_HEAD_H
#define URLWEIR_CLI_EXPORT_EXPORT_HEAD_H

#include "base/buf.h"

enum export_what { /* in the order of the words of --what */
                   EXPORT_URLS,
                   EXPORT_PAGES,
                   EXPORT_FETCHES,
                   EXPORT_LINKS,
                   EXPORT_BROKEN,
                   EXPORT_ERRORS,
                   EXPORT_DROPS,
                   EXPORT_EXAMPLES,
                   EXPORT_DROPPED,
                   EXPORT_HOSTS,
                   EXPORT_QUEUES
};

/* Adds the head line of a crawl's rows. */
void export_head(enum export_what what, struct buf *out);

#endif
