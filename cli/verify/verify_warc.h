/*
 * verify_warc.h - are the WARC files of a crawl whole, and do its rows agree?
 *
 * For `urlweir verify`. Reads every record of every file, including those that
 * no row names (requests, metadata, robots.txt). In a file that a crawl is
 * writing, or that a crash left open, reads up to the last record that a row
 * names. One thread.
 */
#ifndef URLWEIR_CLI_VERIFY_VERIFY_WARC_H
#define URLWEIR_CLI_VERIFY_VERIFY_WARC_H

#include <stdint.h>

#include "base/status.h"
#include "frontier/reader.h"

struct warc_verdict {
    uint64_t rows;           /* that name a record */
    uint64_t bad;            /* rows without a whole record of that length */
    uint64_t bad_seq;        /* the first of them */
    uint64_t files, records; /* read, and whole */
    uint64_t damaged;        /* places in files that hold no record */
    char damaged_file[256];  /* the first of them, "warc/NAME.warc.gz" */
    uint64_t damaged_at;
    uint64_t open; /* files still with the suffix .open */
};

MUST_CHECK enum status verify_warc(struct reader *r, struct warc_verdict *out);

#endif
