/*
 * html_heading.h - the text of a page's first <h1>.
 *
 * Its text with the alt of images, folded and cut (text_fold.h), up to the end
 * tag of any heading, which is what ends it in a browser too. An <h1> without
 * text does not count. One thread.
 */
#ifndef URLWEIR_CRAWLER_HTML_HTML_HEADING_H
#define URLWEIR_CRAWLER_HTML_HTML_HEADING_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "crawler/html/html_words.h"
#include "crawler/html/text_fold.h"

#define HEADING_MOST 512 /* octets */

struct html_heading {
    struct buf text;
    struct text_fold fold;
    bool open;
};

void html_heading_init(struct html_heading *h);
void html_heading_fini(struct html_heading *h);

/* <h1> to <h6>. */
bool html_is_heading(enum html_word w);

void html_heading_clear(struct html_heading *h); /* another page begins */
/* The start tag of a heading, which ends one that is open. */
void html_heading_begin(struct html_heading *h, enum html_word w);
/* Text in it, if it is open. */
void html_heading_add(struct html_heading *h, struct bytes text);
/* The alt of an image, likewise: a word of its own. */
void html_heading_alt(struct html_heading *h, struct bytes alt);
void html_heading_end(struct html_heading *h);
/* Lives until the next page. */
struct bytes html_heading_get(const struct html_heading *h);

#endif
