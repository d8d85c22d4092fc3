/*
 * css.h - links of style sheets and style attributes.
 *
 * Reads CSS as its tokenizer does (CSS Syntax Level 3, section 4): comments,
 * strings, escapes and bad urls end where a browser ends them, so text that
 * merely looks like url() is not a link. It finds url() and the strings of
 * @import, src() and image-set().
 *
 * Takes linear time and allocates nothing but `scratch`. One thread at a time.
 */
#ifndef URLWEIR_CRAWLER_HTML_CSS_H
#define URLWEIR_CRAWLER_HTML_CSS_H

#include "base/buf.h"
#include "base/bytes.h"

/* Passes each URL of `css` (UTF-8) to `visit`, unescaped. The URL may be in
 * `scratch`, whose ceiling bounds one URL, and lives until `visit` returns. */
void css_links(struct bytes css, struct buf *scratch,
               void (*visit)(void *ctx, struct bytes url), void *ctx);

#endif
