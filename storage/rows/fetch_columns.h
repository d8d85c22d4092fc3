/*
 * fetch_columns.h - how a row of table fetch is read; for those that ask for
 * rows with SQL of their own.
 */
#ifndef URLWEIR_STORAGE_ROWS_FETCH_COLUMNS_H
#define URLWEIR_STORAGE_ROWS_FETCH_COLUMNS_H

#include <sqlite3.h>

#include "storage/db/string_table.h"
#include "storage/rows/page_store.h"

/* The columns of table fetch, known as f, that fetch_row_take reads. WORD is
 * how the text of a column that may hold its number is had. */
/* clang-format off */
#define FETCH_COLUMNS(WORD)                                                    \
    "f.seq, f.url, f.final, f.status, f.reason, f.tries, f.http, f.at,"        \
    " f.elapsed, f.wire, f.body, f.digest, f.redirect, f.links, "              \
    WORD("f.mime") ", " WORD("f.charset") ", " WORD("f.lang") ", "             \
    WORD("f.ip") ", f.title, f.detail, f.etag, f.modified, " WORD("f.warc")    \
    ", f.warc_offset, f.warc_length, f.first_byte, f.same, f.flags"
/* clang-format on */
#define FETCH_COLUMN_COUNT 28

/* Bytes are borrowed from `q` and `words`, which may be NULL where WORD left no
 * numbers. STATUS_DAMAGED with one log line. */
MUST_CHECK enum status fetch_row_take(const struct string_table *words,
                                      sqlite3_stmt *q, struct fetch_row *row);

#endif
