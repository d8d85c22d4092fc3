/*
 * css.h - links of style sheets and style attributes.
 *
 * Reads CSS as its tokenizer does (CSS Syntax Level 3, section 4): comments,
 * strings, escapes and bad urls end where a browser ends them, so text that
 * merely looks like url() is none. What is found: url(), the strings of
 * @import and of src(), and image-set()'s strings.
 *
 * Linear time, no allocation but `scratch`. One thread at a time.
 */
#ifndef URLWEIR_CRAWLER_HTML_CSS_H
#define URLWEIR_CRAWLER_HTML_CSS_H

#include "base/buf.h"
#include "base/bytes.h"

/* Hands each URL of `css` (UTF-8) to `visit`, unescaped; it may stand in
 * `scratch`, whose ceiling bounds one URL, and lives until visit returns. */
void css_links(struct bytes css, struct buf *scratch,
               void (*visit)(void *ctx, struct bytes url), void *ctx);

#endif
