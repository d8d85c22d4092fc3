/*
 * html_anchors.h - what stands between the tags of <a>.
 *
 * html_filter.h writes tags without their content; this keeps, beside them and
 * in their order, the text of each <a> that it writes: up to the next <a> or
 * </a>, with the alt of images, folded and cut (text_fold.h). One thread.
 */
#ifndef URLWEIR_CRAWLER_HTML_HTML_ANCHORS_H
#define URLWEIR_CRAWLER_HTML_HTML_ANCHORS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "crawler/html/text_fold.h"

struct html_anchors {
    struct buf texts; /* for each <a>: its text, and a zero octet */
    struct text_fold fold;
    bool open;
    size_t body_at; /* where those of the page's body begin */
};

void html_anchors_init(struct html_anchors *a, size_t ceiling);
void html_anchors_fini(struct html_anchors *a);

void html_anchors_clear(struct html_anchors *a); /* another page begins */
void html_anchors_body(struct html_anchors *a);  /* so does its body */
void html_anchors_drop_body(struct html_anchors *a);
/* An <a> was written. */
void html_anchors_begin(struct html_anchors *a);
/* Text in it, if it is open. */
void html_anchors_add(struct html_anchors *a, struct bytes text);
/* The alt of an image, likewise: a word of its own. */
void html_anchors_alt(struct html_anchors *a, struct bytes alt);
void html_anchors_end(struct html_anchors *a);

/* The text at *at, in the order in which they were begun; moves *at on. Empty
 * behind the last. */
struct bytes html_anchors_next(const struct html_anchors *a, size_t *at);

#endif
