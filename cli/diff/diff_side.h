/*
 * diff_side.h - a crawl as one side of a difference: lines that sort by URL.
 *
 *   URL TAB 1 side TAB row TAB state   of the URL, by its last fetch
 *   URL TAB 2 TAB FROM                 the new crawl was redirected here by FROM
 *   URL TAB 3 TAB side TAB row         all links of its page are known
 *   URL TAB 3 TO TAB side TAB row      and it links to TO
 *
 * A URL that is known but not fetched has a state of status `queued`. One that
 * was queued again has several rows, and a state of each: that of the last row,
 * which sorts last, is the URL's, and so are its links. Memory:
 * a bit for each URL. One thread.
 */
#ifndef URLWEIR_CLI_DIFF_DIFF_SIDE_H
#define URLWEIR_CLI_DIFF_DIFF_SIDE_H

#include "frontier/reader.h"
#include "storage/db/line_sort.h"

enum diff_tag { DIFF_STATE = '1', DIFF_FROM = '2', DIFF_LINK = '3' };

/* Octets of a row: its id in hex. */
#define DIFF_ROW_ID 16

struct diff_side {
    struct reader *r;
    char name;     /* '0': old, '1': new */
    int64_t until; /* as the crawl was then, wall clock; 0: as it is */
};

/* STATUS_DAMAGED: a row names no URL, or one that cannot be sorted. */
MUST_CHECK enum status diff_side_read(const struct diff_side *side,
                                      struct line_sort *into);

#endif
