/*
 * url_columns.h - the columns of a URL's row: one table.
 *
 * `urlweir export`, explain, --jsonl and the HTTP API print what struct
 * url_record holds. Each column is described once: its name, its unit, its
 * meaning and its offset; each view is a list of columns. The output and the
 * documents are generated from both tables. Any thread.
 */
#ifndef URLWEIR_CRAWLER_URL_COLUMNS_H
#define URLWEIR_CRAWLER_URL_COLUMNS_H

#include "base/record.h"
#include "storage/url_record.h"

enum row_view_id {
    ROW_VIEW_URLS,    /* export --what urls */
    ROW_VIEW_PAGES,   /* export --what pages */
    ROW_VIEW_ERRORS,  /* export --what errors */
    ROW_VIEW_LINES,   /* --jsonl */
    ROW_VIEW_EXPLAIN, /* explain --json */
    ROW_VIEW_HISTORY, /* its tries */
    ROW_VIEW_FETCHES, /* export --what fetches */
    ROW_VIEW_RECENT,  /* GET /v1/crawls/{crawl}/recent */
    ROW_VIEWS
};
extern const struct column_view row_views[ROW_VIEWS];

#define URL_COLUMNS 56
extern const struct column url_columns[URL_COLUMNS];

#endif
