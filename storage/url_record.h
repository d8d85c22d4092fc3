/*
 * url_record.h - all that a store can know about a URL: its row, a try to fetch
 * it, what a sitemap said, and the URLs that those name by their ids.
 *
 * A reader starts with url_record_empty() and fills in what it has. Bytes are
 * borrowed.
 */
#ifndef URLWEIR_STORAGE_URL_RECORD_H
#define URLWEIR_STORAGE_URL_RECORD_H

#include "storage/frontier_store.h"
#include "storage/rows/page_store.h"
#include "storage/rows/side_tables.h"

struct url_record {
    struct url_row url;
    struct fetch_row fetch; /* status 0: not fetched yet */
    struct url_hint hint;
    struct bytes queue; /* its key */
    struct bytes via, redirect_to, same_as, near_dup_of;
    int64_t in_links; /* pages that link to it; -1: not known */
};

static inline struct url_record url_record_empty(void)
{
    return (struct url_record){.hint = {.priority = HINT_NO_PRIORITY,
                                        .lastmod_ms = HINT_NO_LASTMOD},
                               .in_links = -1};
}

#endif
