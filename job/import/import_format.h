/*
 * import_format.h - reads what other crawlers leave of their state.
 *
 * A format is read line by line; a reader says of each line that it says
 * nothing of a URL, completes a record, or is refused, and why. A record may
 * have several lines. Lines are hostile: they are bounded by the caller, and
 * nothing of a line is kept but what the record that is open has.
 *
 *   list              URL [TAB waiting|done|failed|known [TAB HTTP status]]
 *   cdx               CDX of 9 or 11 fields, or as its header says, and CDXJ
 *                     (https://iipc.github.io/warc-specifications/)
 *   nutch-dump        `nutch readdb CRAWLDB -dump`, its text form
 *   heritrix-recover  the journal logs/frontier.recover.gz
 *   wget2-log         what `wget2 -o FILE` writes
 *   urlfrontier       DumpURLs and ListURLs of the client of URLFrontier
 *   urlweir           no lines: directories of crawls (import_sink.h)
 *
 * One reader belongs to one thread.
 */
#ifndef URLWEIR_JOB_IMPORT_IMPORT_FORMAT_H
#define URLWEIR_JOB_IMPORT_IMPORT_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "frontier/outcome.h"
#include "storage/rows/page_store.h"
#include "storage/rows/side_tables.h"

/* How another crawl of ours found a URL, and fetched it last. */
struct import_row {
    uint32_t depth;
    uint16_t hops;
    uint8_t kind;
    bool seed;
    bool unjudged;                 /* its crawl has not asked the scope yet */
    const struct url_hint *hint;   /* NULL: none */
    const struct fetch_row *fetch; /* NULL: it waits */
};

/* What another crawler knew of a URL. */
struct import_record {
    struct bytes url; /* as written; valid until the next line */
    /* OUTCOME_QUEUED: it waits. FETCHED, REDIRECT, FAILED: it is done. SKIPPED:
     * it is known and not to be fetched. */
    enum outcome_status status;
    uint16_t http_status; /* 0: not told */
    int64_t at_ms;        /* when it was fetched, wall clock; 0: not told */
    bool embedded;        /* a part of a page of maybe another host */
    const char *word;     /* as the tool has its state: "db_gone"; static */
    uint64_t line;        /* where it is, 1 is the first */
    const struct import_row *row; /* NULL: of a crawler that is not ours */
};

enum import_said {
    IMPORT_NOTHING, /* no URL: a header, a comment, a part of a record */
    IMPORT_RECORD,
    IMPORT_OTHER,  /* a record of something else than a page: a POST, say */
    IMPORT_REFUSED /* import_reader_why says why */
};

/* The names of all formats, in the order of help; ends in NULL. */
extern const char *const import_formats[];

/* "urlweir": it has directories, no lines. */
bool import_is_of_crawls(unsigned format);

struct import_reader;

/* `format`: an index into import_formats, not of crawls; `now_ms`, wall clock, tells which
 * dates are to come. */
struct import_reader *import_reader_new(unsigned format, int64_t now_ms);
void import_reader_free(struct import_reader *r); /* NULL is fine */

/* Takes the next line, without its LF. */
enum import_said import_reader_line(struct import_reader *r, struct bytes line,
                                    struct import_record *out);
/* Counts a line that was too long to be read. */
void import_reader_skip(struct import_reader *r);
/* The file has ended, and the next line is the first of another one.
 * IMPORT_REFUSED if a record was not complete, else IMPORT_NOTHING. */
enum import_said import_reader_end(struct import_reader *r);
/* Why the last line was refused; static. */
const char *import_reader_why(const struct import_reader *r);
/* The line that was taken last. */
uint64_t import_reader_at(const struct import_reader *r);

#endif
