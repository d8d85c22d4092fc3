/*
 * page_body.h - pages whose body an earlier one had.
 *
 * For page_store.h alone: its index of bodies (body_index.h), kept up with the
 * rows of table fetch.
 */
#ifndef URLWEIR_STORAGE_ROWS_PAGE_BODY_H
#define URLWEIR_STORAGE_ROWS_PAGE_BODY_H

#include "storage/index/exact_set.h"
#include "storage/rows/page_store.h"

struct body_index;

/* Opens the index and adds the rows up to `last_seq` that it lacks; `rows`:
 * which there are; `removed`: some may have been removed. */
MUST_CHECK enum status page_body_open(struct body_index **out, struct db *d,
                                      uint64_t memory, uint64_t last_seq,
                                      const struct exact_set_rows *rows,
                                      bool removed);
/* Checks the index, and that it has each row with a body, or the row that it
 * names. STATUS_DAMAGED with one log line. */
MUST_CHECK enum status page_body_verify(struct body_index *x, struct db *d);

#endif
