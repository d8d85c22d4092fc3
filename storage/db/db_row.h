/*
 * db_row.h - the numbers of a row, each within its bounds.
 *
 * A store may be damaged or malicious, so a number is not used before it is
 * known to be one that this program could have written. A db_row reads the
 * columns of a row one after the other and remembers the first that is out of
 * bounds; the caller asks once, at the end. A number out of bounds reads as the
 * least one allowed, so no check is needed in between.
 *
 *     struct db_row r = db_row(statement);
 *     uint64_t id = db_row_count(&r, 0, DB_ID_MOST);
 *     int64_t at_ms = db_row_time(&r, 1);
 *
 *     st = db_row_check(&r, "url");
 */
#ifndef URLWEIR_STORAGE_DB_ROW_H
#define URLWEIR_STORAGE_DB_ROW_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"

/* Ids of URLs and of fetches: five octets everywhere. */
#define DB_ID_MOST ((UINT64_C(1) << 40) - 1)
/* Totals: far from where adding to them could overflow. */
#define DB_TOTAL_MOST (UINT64_C(1) << 62)
/* Milliseconds before and after 1970, 140,000 years: more than a client of the
 * service may give, and far from overflowing. Too many to convert to
 * nanoseconds. */
#define DB_TIME_MOST (INT64_C(1) << 52)

struct db_row {
    sqlite3_stmt *s;
    int bad; /* the first column out of bounds; -1: none */
};

static inline struct db_row db_row(sqlite3_stmt *s)
{
    return (struct db_row){s, -1};
}

/* An integer in least..most. NULL is 0. */
int64_t db_row_number(struct db_row *r, int column, int64_t least,
                      int64_t most);
/* In 0..most; `most` is at most INT64_MAX. */
uint64_t db_row_count(struct db_row *r, int column, uint64_t most);
/* A moment in milliseconds since 1970. */
int64_t db_row_time(struct db_row *r, int column);
/* 0 or 1. */
bool db_row_flag(struct db_row *r, int column);
/* A number that is not NaN, in 0..most. */
double db_row_real(struct db_row *r, int column, double most);

/* Binds `v`; NULL, which takes one octet, if it is 0. */
void db_bind_number(sqlite3_stmt *s, int parameter, uint64_t v);
/* Binds a text, which may be empty. It stays as it is until `s` has run. */
void db_bind_text(sqlite3_stmt *s, int parameter, struct bytes text);
/* The same of octets; NULL if there are none. */
void db_bind_blob(sqlite3_stmt *s, int parameter, struct bytes octets);

/* STATUS_DAMAGED, with a log line that names table, key (the first column) and
 * column, if some number was out of bounds. */
MUST_CHECK enum status db_row_check(const struct db_row *r, const char *table);

#endif
