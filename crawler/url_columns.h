/*
 * url_columns.h - the columns of a URL's row: one table.
 *
 * `urlweir export`, explain, --jsonl and the HTTP API tell of a URL what
 * struct url_record holds. Each column is described once: its name, its unit,
 * what it means and where it is; each view is a list of columns. The views and
 * the documents are made of both. Any thread.
 */
#ifndef URLWEIR_CRAWLER_URL_COLUMNS_H
#define URLWEIR_CRAWLER_URL_COLUMNS_H

#include <stddef.h>

#include "base/record.h"
#include "storage/url_record.h"

struct url_column {
    const char *name; /* in JSON and in CSV's head line */
    const char *unit; /* "octets", "time"; "text" */
    const char *help;
    void (*get)(const void *member, struct record_value *out);
    size_t at; /* of the member in struct url_record */
};

struct row_view {
    const char *name;       /* for people */
    const uint8_t *columns; /* places in url_columns */
    size_t count;
};

enum row_view_id {
    ROW_VIEW_URLS,    /* export --what urls */
    ROW_VIEW_PAGES,   /* export --what pages */
    ROW_VIEW_ERRORS,  /* export --what errors */
    ROW_VIEW_LINES,   /* --jsonl */
    ROW_VIEW_EXPLAIN, /* explain --json */
    ROW_VIEW_HISTORY, /* its tries */
    ROW_VIEW_RECENT,  /* GET /v1/crawls/{crawl}/recent */
    ROW_VIEWS
};
extern const struct row_view row_views[ROW_VIEWS];

#define URL_COLUMNS 43
extern const struct url_column url_columns[URL_COLUMNS];

void url_column_value(const struct url_column *c, const struct url_record *f,
                      struct record_value *out);
/* The columns of a view as one row; see record_end. */
MUST_CHECK enum status row_view_write(enum row_view_id view,
                                      const struct url_record *f,
                                      struct record *to, struct bytes *row);

#endif
