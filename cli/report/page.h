/*
 * page.h - a self-contained HTML page: what all pages of ours begin and end
 * with.
 *
 * One file, readable offline and without scripts, on paper and on a telephone.
 * Its content security policy allows the page's own style sheet, by its hash,
 * and nothing else: should an octet of a stranger ever get past the escaping,
 * it still cannot run, load or send anything. So no style attributes, no
 * scripts, no outside files, no forms. Any thread.
 */
#ifndef URLWEIR_CLI_REPORT_PAGE_H
#define URLWEIR_CLI_REPORT_PAGE_H

#include "base/buf.h"
#include "base/bytes.h"

/* From <!doctype> to the opening of <main>. */
void page_begin(struct buf *out, const char *title);
void page_end(struct buf *out);

/* Escaped text; `s` may be anything that a stranger wrote. */
void page_text(struct buf *out, const char *text);
void page_bytes(struct buf *out, struct bytes s);
/* <dt> and <dd> of a list of figures (<dl class="figures">). */
void page_figure(struct buf *out, const char *name, double value);

#endif
