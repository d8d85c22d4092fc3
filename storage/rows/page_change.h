/*
 * page_change.h - whether two fetches of a URL brought the same page.
 *
 * Works within a crawl and across crawls, since it goes by the digests that
 * have no secret. Any thread.
 */
#ifndef URLWEIR_STORAGE_ROWS_PAGE_CHANGE_H
#define URLWEIR_STORAGE_ROWS_PAGE_CHANGE_H

#include <stdbool.h>

#include "storage/rows/page_store.h"

/* What makes a page another one: its octets, its visible text, or that text
 * without numbers and dates. */
enum changed_by { CHANGED_BY_BODY, CHANGED_BY_TEXT, CHANGED_BY_WORDS };

/* Do both have a text digest, taken in the same way? */
bool page_texts_compare(const struct fetch_row *a, const struct fetch_row *b);
bool page_same_text(const struct fetch_row *a, const struct fetch_row *b);
/* A row without body_print is compared by its length. */
bool page_same_body(const struct fetch_row *a, const struct fetch_row *b);

/* Is the content of `a` that of `b`? Where texts cannot be compared, bodies
 * are. */
bool page_same_content(const struct fetch_row *a, const struct fetch_row *b,
                       enum changed_by by);

#endif
