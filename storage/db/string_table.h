/*
 * string_table.h - numbers for short texts that repeat (table word).
 *
 * MIME types, encodings, addresses and WARC file names repeat in most fetch
 * rows; as numbers they cost two octets instead of forty. There are at most
 * 32,768 words of 64 octets, since strangers choose them; further words are
 * stored in the row itself, so a column holds a number or a text.
 */
#ifndef URLWEIR_STORAGE_DB_STRING_TABLE_H
#define URLWEIR_STORAGE_DB_STRING_TABLE_H

#include "base/bytes.h"
#include "storage/db/db.h"

#define STRING_TABLE_MOST 32768
#define STRING_LEN_MOST   64

struct string_table;

MUST_CHECK enum status string_table_open(struct string_table **out,
                                         struct db *d);
void string_table_close(struct string_table *w); /* NULL is fine */

/* Binds `word` to a parameter, as number or text, or as NULL if it is empty.
 * Adds a new word to the table. `word` must live until the statement has
 * run. */
MUST_CHECK enum status string_table_bind(struct string_table *w,
                                         sqlite3_stmt *s, int parameter,
                                         struct bytes word);
/* The text in a column, empty if that is NULL; lives as long as the row. `w`
 * may be NULL if no column holds a number. */
struct bytes string_table_column(const struct string_table *w, sqlite3_stmt *s,
                                 int column);

#endif
