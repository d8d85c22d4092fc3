/*
 * db_row.h - the numbers of a row, each within its bounds.
 *
 * A store may be damaged, or made by somebody who means harm, so a number that
 * was read is not used before it is known to be one that this program could
 * have written. A reader takes the columns of a row one after the other and
 * remembers the first that cannot be right; one question at the end tells. What
 * is out of bounds reads as the least number allowed, so nothing in between
 * needs to ask.
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

#include "base/status.h"

/* Ids of URLs and of fetches: five octets everywhere. */
#define DB_ID_MOST ((UINT64_C(1) << 40) - 1)
/* Totals: far from where adding to them could overflow. */
#define DB_TOTAL_MOST (UINT64_C(1) << 62)
/* Milliseconds before and after 1970, 140,000 years: more than a client of the
 * service may name, and far from overflowing. Too many for nanoseconds. */
#define DB_TIME_MOST (INT64_C(1) << 52)

struct db_row {
    sqlite3_stmt *s;
    int bad; /* the first column that cannot be right; -1: none */
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

/* STATUS_DAMAGED, with a log line that names table, key (the first column) and
 * column, if some number was out of bounds. */
MUST_CHECK enum status db_row_check(const struct db_row *r, const char *table);

#endif
