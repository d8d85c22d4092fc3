/* SPDX-License-Identifier: MIT */
/*
 * page_change.c - whether two fetches of a URL brought the same page.
 */
#include "storage/rows/page_change.h"

static bool has_text(const struct fetch_row *r)
{
    return (r->text_digest.hi | r->text_digest.lo) != 0;
}

bool page_texts_compare(const struct fetch_row *a, const struct fetch_row *b)
{
    return has_text(a) && has_text(b) &&
           (a->flags & FETCH_ROW_NO_NUMBERS) ==
               (b->flags & FETCH_ROW_NO_NUMBERS);
}

bool page_same_text(const struct fetch_row *a, const struct fetch_row *b)
{
    return page_texts_compare(a, b) &&
           digest_equal(a->text_digest, b->text_digest);
}

bool page_same_body(const struct fetch_row *a, const struct fetch_row *b)
{
    if (a->body_print != 0 && b->body_print != 0)
        return a->body_print == b->body_print;
    return a->body_bytes == b->body_bytes;
}

bool page_same_content(const struct fetch_row *a, const struct fetch_row *b,
                       enum changed_by by)
{
    if (by == CHANGED_BY_BODY || !page_texts_compare(a, b))
        return page_same_body(a, b);
    return page_same_text(a, b);
}
