/*
 * recorded.h - the WARC record that holds the body of a fetch.
 *
 * It is the fetch's own record, or the one to which that refers: that of the
 * first fetch with the same body, or one in the files of an earlier crawl
 * (storage/rows/revisit_store.h). Frontier thread, or that of a reader.
 */
#ifndef URLWEIR_FRONTIER_RECORDED_H
#define URLWEIR_FRONTIER_RECORDED_H

#include "storage/frontier_store.h"
#include "storage/rows/page_store.h"
#include "storage/rows/revisit_store.h"

struct recorded {
    struct frontier_store *store;
    struct page_store *pages;
    struct revisit_store *revisits;
};

/* The record for `row`; out->url is empty if there is none, and points into
 * `text`. */
MUST_CHECK enum status recorded_find(const struct recorded *r,
                                     const struct fetch_row *row,
                                     struct record_name *out, struct buf *text);

#endif
