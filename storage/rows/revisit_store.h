/*
 * revisit_store.h - what the record of a fetch refers to.
 *
 * The record of an unchanged page has no body: it refers to an earlier record,
 * by URL and date (WARC/1.1 section 6.7), which may be in the files of another
 * crawl. The fetch after that needs to know it too, so table revisit keeps it.
 * Owned by the frontier thread; readers open the database read-only.
 */
#ifndef URLWEIR_STORAGE_ROWS_REVISIT_STORE_H
#define URLWEIR_STORAGE_ROWS_REVISIT_STORE_H

#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "storage/db/db.h"

struct revisit_store;

/* A record that holds a body. */
struct record_name {
    struct bytes url; /* WARC-Target-URI; empty: there is no such record */
    int64_t at_ms;    /* WARC-Date */
};

MUST_CHECK enum status revisit_store_open(struct revisit_store **out,
                                          struct db *d);
void revisit_store_close(struct revisit_store *s); /* NULL is fine */

/* The record of fetch `seq` refers to this one. */
MUST_CHECK enum status revisit_store_set(struct revisit_store *s, uint64_t seq,
                                         const struct record_name *to);
/* STATUS_NOT_FOUND: it refers to none, or to one that fetch.same names.
 * to->url points into `text`. */
MUST_CHECK enum status revisit_store_get(struct revisit_store *s, uint64_t seq,
                                         struct record_name *to,
                                         struct buf *text);

#endif
