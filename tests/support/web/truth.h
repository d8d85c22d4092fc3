/*
 * truth.h - every URL that a crawler should find, and what it should do with
 * it.
 *
 * Found by walking the web of web.h from its first page under the rules: robots
 * denies, nofollow hides, redirects are followed up to their limit.
 */
#ifndef URLWEIR_TESTS_SUPPORT_WEB_TRUTH_H
#define URLWEIR_TESTS_SUPPORT_WEB_TRUTH_H

#include <stdio.h>

#include "tests/support/web/web.h"

/* Visits each thing once, in breadth-first order. */
void truth_walk(const struct web *w,
                void (*visit)(void *ctx, uint32_t id, struct expect e),
                void *ctx);

/* One line per URL: canonical URL, expectation, least and most times asked,
 * separated by TABs. Lines that begin with `#` are about hosts:
 *   # delay ADDRESS SECONDS    its robots.txt asks for that much
 *   # trap PREFIX              URLs that begin so have no end */
void truth_print(const struct web *w, FILE *out);

/* The URLs that answer with a page, one a line. */
void truth_print_urls(const struct web *w, FILE *out);

#endif
