/*
 * fetch_columns.h - reads a row of table fetch, for modules that query it with
 * SQL of their own.
 */
#ifndef URLWEIR_STORAGE_ROWS_FETCH_COLUMNS_H
#define URLWEIR_STORAGE_ROWS_FETCH_COLUMNS_H

#include <sqlite3.h>

#include "storage/db/string_table.h"
#include "storage/rows/page_store.h"

/* The columns of table fetch, alias f, that fetch_row_take reads. WORD wraps a
 * column that may hold a number instead of its text, and yields the text. */
/* clang-format off */
#define FETCH_COLUMNS(WORD)                                                    \
    "f.seq, f.url, f.final, f.status, f.reason, f.tries, f.http, f.at,"        \
    " f.elapsed, f.wire, f.body, f.digest, f.redirect, f.links, "              \
    WORD("f.mime") ", " WORD("f.charset") ", " WORD("f.lang") ", "             \
    WORD("f.ip") ", f.title, f.detail, f.etag, f.modified, " WORD("f.warc")    \
    ", f.warc_offset, f.warc_length, f.first_byte, f.same, f.flags,"           \
    " f.text_print, f.near, f.text_digest, f.body_print, f.meta"
/* clang-format on */
#define FETCH_COLUMN_COUNT 33
/* Such a WORD. */
#define FETCH_WORD(column)                                                     \
    "CASE typeof(" column ") WHEN 'integer'"                                   \
    " THEN (SELECT text FROM word WHERE id = " column ") ELSE " column " END"

/* A column of 16 octets; all zero if it is anything else. */
struct digest fetch_digest(sqlite3_stmt *q, int column);

/* Bytes are borrowed from `q` and `words`, which may be NULL if WORD leaves no
 * numbers. STATUS_DAMAGED with one log line. */
MUST_CHECK enum status fetch_row_take(const struct string_table *words,
                                      sqlite3_stmt *q, struct fetch_row *row);

#endif
