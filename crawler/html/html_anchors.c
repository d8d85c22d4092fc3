/* SPDX-License-Identifier: MIT */
/* html_anchors.c - what stands between the tags of <a>. */
#include "crawler/html/html_anchors.h"

#include <string.h>

void html_anchors_init(struct html_anchors *a, size_t ceiling)
{
    *a = (struct html_anchors){.open = false};
    buf_init(&a->texts, ceiling);
}

void html_anchors_fini(struct html_anchors *a)
{
    buf_fini(&a->texts);
}

void html_anchors_clear(struct html_anchors *a)
{
    buf_clear(&a->texts);
    a->body_at = 0;
    a->open = false;
}

void html_anchors_body(struct html_anchors *a)
{
    a->body_at = a->texts.len;
}

void html_anchors_drop_body(struct html_anchors *a)
{
    buf_truncate(&a->texts, a->body_at);
    a->open = false;
}

void html_anchors_begin(struct html_anchors *a)
{
    text_fold_begin(&a->fold, &a->texts, ANCHOR_TEXT_MOST);
    a->open = true;
}

void html_anchors_add(struct html_anchors *a, struct bytes text)
{
    if (a->open)
        text_fold_add(&a->fold, text);
}

void html_anchors_alt(struct html_anchors *a, struct bytes alt)
{
    static const struct bytes space = {" ", 1};

    html_anchors_add(a, space);
    html_anchors_add(a, alt);
    html_anchors_add(a, space);
}

void html_anchors_end(struct html_anchors *a)
{
    if (a->open)
        buf_add_char(&a->texts, '\0');
    a->open = false;
}

struct bytes html_anchors_next(const struct html_anchors *a, size_t *at)
{
    const char *begin = a->texts.at + *at;
    const char *end =
        *at < a->texts.len ? memchr(begin, '\0', a->texts.len - *at) : NULL;

    if (end == NULL)
        return bytes_of("", 0);
    *at += (size_t)(end - begin) + 1;
    return bytes_of(begin, (size_t)(end - begin));
}
