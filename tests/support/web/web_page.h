/*
 * web_page.h - writes HTML pages of the web.
 *
 * Markup of the usual kind around the links of web.h, as many octets as the
 * spec asks for. Made anew for each request, in a few microseconds: text comes
 * from a small stock of paragraphs that is made once.
 */
#ifndef URLWEIR_TESTS_SUPPORT_WEB_WEB_PAGE_H
#define URLWEIR_TESTS_SUPPORT_WEB_WEB_PAGE_H

#include "tests/support/web/answer.h"
#include "tests/support/web/web.h"

struct page_options {
    const char *head;  /* markup for <head>, or NULL */
    const char *field; /* a whole header field with its CRLF, or NULL */
    const char *tail;  /* markup before </body>, or NULL */
    size_t size;       /* least octets; 0: from the spec */
};

/* Append the page of `id`. */
void page_write(const struct web *w, uint32_t id, const struct page_options *o,
                struct buf *out);

/* Answer with it: 200, ETag, 304 where If-None-Match names it, and in profile
 * compress coded as the client can take it. */
void answer_page(const struct web *w, uint32_t id, const struct request *rq,
                 struct answer *an);
void answer_page_with(const struct web *w, uint32_t id,
                      const struct page_options *o, const struct request *rq,
                      struct answer *an);

/* A paragraph of text from the stock. */
struct bytes page_paragraph(uint64_t dice);

#endif
