/*
 * cdxj.h - DIR/warc/index.cdxj: where each recorded URL is in the WARC files.
 *
 * One line per response and revisit record, sorted by octets:
 *
 *     KEY 20260131235959 {"url": ..., "mime": ..., "status": ...,
 *         "digest": ..., "length": ..., "offset": ..., "filename": ...}
 *
 * as cdxj-indexer writes it and pywb reads it; all values are strings, and
 * fields that the record lacks are left out. The key is the SURT of the URL,
 * which a callback of the caller makes (this layer does not know SURTs). The
 * index is made from the finished WARC files themselves, so it also covers
 * files that were moved in; files that it names already are not read again.
 * Threads: one, while no WARC is written.
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
    /* Appends the key of a URL. False: it has no key, and gets no line. */
    bool (*key_of)(void *ctx, struct bytes url, struct buf *out);
    void *ctx;
};

/* Brings the index up to date, whole or not at all. */
MUST_CHECK enum status cdxj_update(const struct cdxj_options *o);

/* Appends the line of a record, without its LF. False: such a record has no
 * line. */
bool cdxj_line(const struct cdxj_options *o, const struct warc_found *record,
               const char *filename, struct buf *out);

#endif
