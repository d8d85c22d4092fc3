/*
 * verify_warc.h - does every row of a crawl point at a whole record?
 *
 * For `urlweir verify`. Reads each record that a fetch row names. One thread.
 */
#ifndef URLWEIR_CLI_VERIFY_WARC_H
#define URLWEIR_CLI_VERIFY_WARC_H

#include <stdint.h>

#include "base/status.h"
#include "frontier/reader.h"

struct warc_verdict {
    uint64_t rows;    /* that name a record */
    uint64_t bad;     /* where there is no whole record of that length */
    uint64_t bad_seq; /* the first of them */
    uint64_t open;    /* files still with the suffix .open */
};

MUST_CHECK enum status verify_warc(struct reader *r, struct warc_verdict *out);

#endif
