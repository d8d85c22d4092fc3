/*
 * text_fold.h - short texts of a page: white space folded, and cut.
 *
 * A title, or what stands between the tags of <a>, comes in pieces. They are
 * joined as they come; runs of white space become one space, those at both ends
 * go, and the text ends with the last whole character that has room. One
 * thread.
 */
#ifndef URLWEIR_CRAWLER_HTML_TEXT_FOLD_H
#define URLWEIR_CRAWLER_HTML_TEXT_FOLD_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/bytes.h"

#define ANCHOR_TEXT_MOST 200 /* octets of a text about a link */

struct text_fold {
    struct buf *out;
    size_t begin; /* of the text in `out` */
    size_t most;  /* octets */
    bool space;   /* white space came since the last word */
    bool full;
};

/* The text is appended to `out`, behind what is there, at most `most` octets.
 */
void text_fold_begin(struct text_fold *t, struct buf *out, size_t most);
/* Adds a piece of UTF-8; zero octets count as white space. */
void text_fold_add(struct text_fold *t, struct bytes piece);
/* What has come since text_fold_begin; lives until `out` changes. */
struct bytes text_fold_get(const struct text_fold *t);

/* Appends `text`, folded, to the list in `out`, behind ", " unless it is the
 * first; cut to the ceiling of `out`. */
void text_fold_list(struct buf *out, struct bytes text);

#endif
