/*
 * diff_row.h - one difference between two crawls, and its form as a line.
 *
 * A URL's state is a fetch row of which a few fields count: status, reason,
 * http_status, at_ms, body_bytes, body_print, text_digest, flags, simhash,
 * title, redirect_url. Lines are sorted on disk (line_sort.h), so they hold no
 * LF, and no tab but those between fields; URLs hold neither. Any thread.
 */
#ifndef URLWEIR_CLI_DIFF_DIFF_ROW_H
#define URLWEIR_CLI_DIFF_DIFF_ROW_H

#include "base/buf.h"
#include "base/bytes.h"
#include "storage/rows/page_store.h"

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
MUST_CHECK enum status diff_state_get(struct fetch_row *out, struct bytes line,
                                      struct buf *text);
MUST_CHECK enum status diff_row_get(struct diff_row *out, struct bytes line,
                                    struct buf *text);
/* The next field of `line`, which is shortened by it and its tab. */
struct bytes diff_field(struct bytes *line);

#endif
