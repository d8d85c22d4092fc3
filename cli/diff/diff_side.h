/*
 * diff_side.h - a crawl as one side of a difference: lines that sort by URL.
 *
 *   URL TAB 1 side TAB state   of the URL, by its last fetch
 *   URL TAB 2 TAB FROM         the new crawl was redirected here by FROM
 *   URL TAB 3 TAB side         all links of its page are known
 *   URL TAB 3 TO TAB side      and it links to TO
 *
 * A URL that is known but not fetched has a state of status `queued`; one that
 * was queued again is what its last row says. Memory: a bit for each URL, and
 * 16 octets for each that was queued again. One thread.
 */
#ifndef URLWEIR_CLI_DIFF_DIFF_SIDE_H
#define URLWEIR_CLI_DIFF_DIFF_SIDE_H

#include "frontier/reader.h"
#include "storage/db/line_sort.h"

enum diff_tag { DIFF_STATE = '1', DIFF_FROM = '2', DIFF_LINK = '3' };

struct diff_side {
    struct reader *r;
    char name;     /* '0': old, '1': new */
    int64_t until; /* as the crawl was then, wall clock; 0: as it is */
};

/* STATUS_DAMAGED: a row names no URL, or one that cannot be sorted. */
MUST_CHECK enum status diff_side_read(const struct diff_side *side,
                                      struct line_sort *into);

#endif
