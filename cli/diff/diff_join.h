/*
 * diff_join.h - two crawls URL by URL: what is new, gone, changed, moved.
 *
 * Everything is sorted on disk: memory does not grow with the crawls. A page
 * that is gone has moved if the new crawl was redirected from it to a page, or
 * if a new page has its body, or its text; then the new page is not called new.
 * Where several have one body, they are paired in the order of their URLs.
 * One thread.
 */
#ifndef URLWEIR_CLI_DIFF_DIFF_JOIN_H
#define URLWEIR_CLI_DIFF_DIFF_JOIN_H

#include "cli/diff/diff_row.h"
#include "storage/db/line_sort.h"
#include "storage/rows/page_change.h"

struct diff_join_options {
    const char *dir; /* for files to sort in */
    size_t memory;   /* of all sorting */
    enum changed_by changed_by;
    /* A URL that this side lacks may still come: it is no difference. */
    bool before_unfinished, after_unfinished;
};

struct diff_counts {
    uint64_t kinds[DIFF_KINDS], whats[DIFF_WHATS]; /* of changed pages */
    uint64_t same;       /* pages of both that have not changed */
    uint64_t other_body; /* of these, with another body */
};

/* `lines` as diff_side.h makes them; every row comes to `visit` in order of its
 * URL. Returns its status, or that of reading and writing files. */
MUST_CHECK enum status diff_join(
    struct line_sort *lines, const struct diff_join_options *o,
    struct diff_counts *counts,
    enum status (*visit)(void *ctx, const struct diff_row *row), void *ctx);

#endif
