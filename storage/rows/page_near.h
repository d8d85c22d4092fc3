/*
 * page_near.h - pages whose text is nearly that of an earlier one.
 *
 * For page_store.h alone: its index of fingerprints (near_index.h), kept up
 * with the rows of table fetch.
 */
#ifndef URLWEIR_STORAGE_ROWS_PAGE_NEAR_H
#define URLWEIR_STORAGE_ROWS_PAGE_NEAR_H

#include "storage/index/exact_set.h"
#include "storage/rows/page_store.h"

struct near_index;

/* Opens the index and adds the rows up to `last_seq` that it lacks; `rows`:
 * which there are. */
MUST_CHECK enum status page_near_open(struct near_index **out, struct db *d,
                                      uint64_t memory, uint64_t last_seq,
                                      const struct exact_set_rows *rows);
/* Checks the index, and that each row names the row it finds. `last_seq`: the
 * last row; of rows up to `thinned` others may have been removed.
 * STATUS_DAMAGED with one log line. */
MUST_CHECK enum status page_near_verify(struct near_index *x, struct db *d,
                                        uint64_t last_seq, uint64_t thinned);

#endif
