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

#include "base/buf.h"
#include "base/bytes.h"
#include "frontier/reader.h"
#include "storage/db/line_sort.h"
#include "storage/rows/page_store.h"

/*
 * One difference between two crawls, and its form as a line.
 *
 * A URL's state is a fetch row of which a few fields count: status, reason,
 * http_status, at_ms, body_bytes, body_print, text_digest, flags, simhash,
 * title, redirect_url. Lines are sorted on disk (line_sort.h), so they hold no
 * LF, and no tab but those between fields; URLs hold neither. Any thread.
 */

/* A line with a few URLs and two titles; links have a ceiling of their own. */
#define DIFF_LINE_MOST ((size_t)16 << 20)

enum diff_kind {
    DIFF_NEW,
    DIFF_GONE,
    DIFF_CHANGED,
    DIFF_MOVED,
    DIFF_UNFETCHED, /* one of the crawls has not come to it yet */
    DIFF_KINDS
};
extern const char *const diff_kind_names[DIFF_KINDS];

/* How a page was recognized under another URL. */
enum diff_by { DIFF_BY_NONE, DIFF_BY_REDIRECT, DIFF_BY_BODY, DIFF_BY_TEXT };
const char *diff_by_name(enum diff_by by); /* NULL: DIFF_BY_NONE */

/* What of a page has changed: bits of diff_row.what. */
enum {
    DIFF_STATUS = 1,
    DIFF_REDIRECT = 2,
    DIFF_TITLE = 4,
    DIFF_BODY = 8,
    DIFF_TEXT = 16,
    DIFF_LINKS = 32
};
#define DIFF_WHATS 6
extern const char *const diff_what_names[DIFF_WHATS]; /* by bit */

struct diff_row {
    enum diff_kind kind;
    enum diff_by by;
    unsigned what;
    struct bytes url, to; /* `to`: the URL it has now, if it moved */
    bool has_before, has_after;
    struct fetch_row before, after;
    uint64_t links_added, links_removed;
    struct bytes added, removed; /* the first of them, a space between two */
};

/* Append a state, a whole row. */
void diff_state_put(struct buf *out, const struct fetch_row *state);
void diff_row_put(struct buf *out, const struct diff_row *row);
/* Read one; bytes are borrowed from `line`, but for titles and redirects, which
 * are unescaped into `text`, which must have room for the line: it must not
 * move while rows point into it. STATUS_FORMAT, STATUS_NOMEM. */
MUST_CHECK enum status diff_row_get(struct diff_row *out, struct bytes line,
                                    struct buf *text);
/* The next field of `line`, which is shortened by it and its tab. */
struct bytes diff_field(struct bytes *line);

/*
 * A crawl as one side of a difference: lines that sort by URL.
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

enum diff_tag { DIFF_STATE = '1', DIFF_FROM = '2', DIFF_LINK = '3' };

struct diff_side {
    struct reader *r;
    char name;     /* '0': old, '1': new */
    int64_t until; /* as the crawl was then, wall clock; 0: as it is */
};

/* STATUS_DAMAGED: a row names no URL, or one that cannot be sorted. */
MUST_CHECK enum status diff_side_read(const struct diff_side *side,
                                      struct line_sort *into);

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

/* `lines` as diff_side_lines makes them; every row comes to `visit` in order of its
 * URL. Returns its status, or that of reading and writing files. */
MUST_CHECK enum status diff_join(
    struct line_sort *lines, const struct diff_join_options *o,
    struct diff_counts *counts,
    enum status (*visit)(void *ctx, const struct diff_row *row), void *ctx);

#endif
