/*
 * lost_records.h - which fetch rows name a WARC record that is not in the
 * crawl's directory: `urlweir refresh --lost-archives`.
 *
 * Looks into DIR/warc as it is when a row is asked about. One thread.
 */
#ifndef URLWEIR_JOB_LOST_RECORDS_H
#define URLWEIR_JOB_LOST_RECORDS_H

#include <stdbool.h>

#include "storage/rows/page_store.h"

struct lost_records;

struct lost_records *lost_records_new(const char *dir); /* borrowed */
void lost_records_free(struct lost_records *l);         /* NULL is fine */

/* For refresh_request.is_lost; `records` is a struct lost_records. A record
 * without a body is as good as lost if what it refers to is. That may be a
 * later one than the first with its body; then the page is fetched once more
 * than it has to be. */
bool lost_records_have(void *records, const struct page_record *r);

#endif
