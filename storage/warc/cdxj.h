/*
 * cdxj.h - DIR/warc/index.cdxj: where each recorded URL stands.
 *
 * One line per response and revisit record, sorted by octets:
 *
 *     KEY 20260131235959 {"url": ..., "mime": ..., "status": ...,
 *         "digest": ..., "length": ..., "offset": ..., "filename": ...}
 *
 * as cdxj-indexer writes it and pywb reads it; all values are strings, a field
 * the record has not is left out. The key is the SURT of the URL, which is
 * above this layer and comes from the caller. Made from the finished WARC
 * files themselves, so it also holds for files that were moved in; files it
 * names already are not read again. One thread, while no WARC is written.
 */
#ifndef URLWEIR_STORAGE_WARC_CDXJ_H
#define URLWEIR_STORAGE_WARC_CDXJ_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"
#include "storage/warc/warc_reader.h"

struct cdxj_options {
    const char *dir; /* the crawl's */
    size_t memory;   /* for sorting */
    /* Appends the key of a URL. False: it has none, and no line. */
    bool (*key_of)(void *ctx, struct bytes url, struct buf *out);
    void *ctx;
};

/* Brings the index up to date, whole or not at all. */
MUST_CHECK enum status cdxj_update(const struct cdxj_options *o);

/* Appends the line of a record, without its end. False: it has none. */
bool cdxj_line(const struct cdxj_options *o, const struct warc_found *record,
               const char *filename, struct buf *out);

#endif
