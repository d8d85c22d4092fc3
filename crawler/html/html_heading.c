/* SPDX-License-Identifier: MIT */
/* html_heading.c - the text of a page's first <h1>. */
#include "crawler/html/html_heading.h"

void html_heading_init(struct html_heading *h)
{
    h->open = false;
    buf_init(&h->text, HEADING_MOST);
}

void html_heading_fini(struct html_heading *h)
{
    buf_fini(&h->text);
}

bool html_is_heading(enum html_word w)
{
    return w >= WORD_H1 && w <= WORD_H6;
}

void html_heading_clear(struct html_heading *h)
{
    buf_clear(&h->text);
    h->open = false;
}

void html_heading_begin(struct html_heading *h, enum html_word w)
{
    h->open = w == WORD_H1 && h->text.len == 0;
    if (h->open)
        text_fold_begin(&h->fold, &h->text, HEADING_MOST);
}

void html_heading_add(struct html_heading *h, struct bytes text)
{
    if (h->open)
        text_fold_add(&h->fold, text);
}

void html_heading_alt(struct html_heading *h, struct bytes alt)
{
    static const struct bytes space = {" ", 1};

    html_heading_add(h, space);
    html_heading_add(h, alt);
    html_heading_add(h, space);
}

void html_heading_end(struct html_heading *h)
{
    h->open = false;
}

struct bytes html_heading_get(const struct html_heading *h)
{
    return buf_bytes(&h->text);
}
