/*
 * page.h - the beginning and end of our HTML pages, which are self-contained.
 *
 * One file, readable offline and without scripts, on paper and on a telephone.
 * Its content security policy allows the page's own style sheet, by its hash,
 * and nothing else: should text from outside ever get past the escaping, it
 * still cannot run, load or send anything. So pages have no style attributes,
 * scripts, outside files or forms. Any thread.
 */
#ifndef URLWEIR_CLI_REPORT_PAGE_H
#define URLWEIR_CLI_REPORT_PAGE_H

#include "base/buf.h"
#include "base/bytes.h"

/* From <!doctype> to the opening of <main>. */
void page_begin(struct buf *out, const char *title);
void page_end(struct buf *out);

/* Append escaped text; `s` may be any bytes from outside. */
void page_text(struct buf *out, const char *text);
void page_bytes(struct buf *out, struct bytes s);
/* Appends <dt> and <dd> of a list of figures (<dl class="figures">). */
void page_figure(struct buf *out, const char *name, double value);

#endif
