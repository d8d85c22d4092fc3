/* SPDX-License-Identifier: MIT */
/* fetch_columns.c - a row of table fetch as it is read. */
#include "storage/rows/fetch_columns.h"

#include "storage/db/db_row.h"
#include "storage/db/packed.h"
#include "storage/rows/page_meta.h"

struct digest fetch_digest(sqlite3_stmt *q, int column)
{
    struct bytes b = db_column(q, column);
    const unsigned char *at = (const unsigned char *)b.at;

    if (b.len != 16)
        return (struct digest){0, 0};
    return (struct digest){packed_get(at, 8), packed_get(at + 8, 8)};
}

enum status fetch_row_take(const struct string_table *words, sqlite3_stmt *q,
                           struct fetch_row *row)
{
    struct db_row r = db_row(q);
    bool to_row = sqlite3_column_type(q, 12) != SQLITE_TEXT;
    struct page_meta meta;

    *row = (struct fetch_row){
        .seq = db_row_count(&r, 0, DB_ID_MOST),
        .url = db_row_count(&r, 1, DB_ID_MOST),
        .final = db_row_flag(&r, 2),
        .status = (uint8_t)db_row_count(&r, 3, UINT8_MAX),
        .reason = (uint8_t)db_row_count(&r, 4, UINT8_MAX),
        .tries = (uint8_t)db_row_count(&r, 5, UINT8_MAX),
        .http_status = (uint16_t)db_row_count(&r, 6, UINT16_MAX),
        .at_ms = db_row_time(&r, 7),
        .elapsed_ms = (uint32_t)db_row_count(&r, 8, UINT32_MAX),
        .wire_bytes = db_row_count(&r, 9, DB_TOTAL_MOST),
        .body_bytes = db_row_count(&r, 10, DB_TOTAL_MOST),
        .body_digest = fetch_digest(q, 11),
        .redirect_to = to_row ? db_row_count(&r, 12, DB_ID_MOST) : 0,
        .redirect_url = to_row ? bytes_of(NULL, 0) : db_column(q, 12),
        .links = (uint32_t)db_row_count(&r, 13, UINT32_MAX),
        .mime = string_table_column(words, q, 14),
        .charset = string_table_column(words, q, 15),
        .lang = string_table_column(words, q, 16),
        .ip = string_table_column(words, q, 17),
        .title = db_column(q, 18),
        .detail = db_column(q, 19),
        .etag = db_column(q, 20),
        .last_modified = db_column(q, 21),
        .warc_file = string_table_column(words, q, 22),
        .warc_offset = db_row_count(&r, 23, DB_TOTAL_MOST),
        .warc_length = db_row_count(&r, 24, DB_TOTAL_MOST),
        .first_byte_ms = (uint32_t)db_row_count(&r, 25, UINT32_MAX),
        .same_as = db_row_count(&r, 26, DB_ID_MOST),
        .flags = (uint16_t)db_row_count(&r, 27, UINT16_MAX),
        .simhash = (uint64_t)sqlite3_column_int64(q, 28),
        .near_dup_of = db_row_count(&r, 29, DB_ID_MOST),
        .text_digest = fetch_digest(q, 30),
        .body_print = (uint64_t)sqlite3_column_int64(q, 31),
        .meta = db_column(q, 32),
    };
    if (row->meta.len > 0 && !page_meta_get(row->meta, &meta))
        return db_damaged("fetch", (int64_t)row->seq, "has no valid meta");
    return db_row_check(&r, "fetch");
}
