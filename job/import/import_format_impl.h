/*
 * import_format_impl.h - the inside of a reader, shared by the formats' files.
 */
#ifndef URLWEIR_JOB_IMPORT_IMPORT_FORMAT_IMPL_H
#define URLWEIR_JOB_IMPORT_IMPORT_FORMAT_IMPL_H

#include "base/buf.h"
#include "job/import/import_format.h"

#define IMPORT_CDX_FIELDS 32 /* most letters of a CDX header that are read */

struct import_reader {
    const struct import_format *format;
    uint64_t line;
    const char *why;
    struct buf
        text;     /* the URL of the record, if the line has it not as it is */
    bool is_open; /* a record of several lines has begun */
    /* urlfrontier */
    struct buf object;  /* what there is of such a record */
    uint64_t opened_at; /* its first line */
    int64_t now_ms;
    /* cdx: what the header says */
    char fields[IMPORT_CDX_FIELDS + 1];
    char delimiter;
};

struct import_format {
    const char *name;
    enum import_said (*line)(struct import_reader *r, struct bytes line,
                             struct import_record *out);
    /* The file has ended; NULL: a record never spans lines. */
    enum import_said (*end)(struct import_reader *r);
};

extern const struct import_format import_list, import_cdx, import_nutch,
    import_heritrix, import_wget2, import_urlfrontier;

static inline enum import_said import_refuse(struct import_reader *r,
                                             const char *why)
{
    r->why = why;
    return IMPORT_REFUSED;
}

/* Splits off what precedes the first `c`, or all of it; *rest is what follows.
 */
struct bytes import_cut(struct bytes *rest, char c);
/* False: it is not a number of three digits from 100 to 599. */
bool import_http_status(struct bytes text, uint16_t *out);
/* The status of a URL whose response had this HTTP status; 0: not told. */
enum outcome_status import_status_of(uint16_t http_status);

#endif
