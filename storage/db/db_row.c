/* SPDX-License-Identifier: MIT */
/*
 * db_row.c - the numbers of a row, each within its bounds.
 *
 * A value is found once and then read, which costs half of asking for the type
 * and the number of a column by turns. It may be, as no connection of ours is
 * shared by threads (sqlite.org/c3ref/value.html, "unprotected").
 */
#include "storage/db/db_row.h"

#include <stddef.h>

#include "base/logger.h"

static void set_bad(struct db_row *r, int column)
{
    if (r->bad < 0)
        r->bad = column;
}

int64_t db_row_number(struct db_row *r, int column, int64_t least, int64_t most)
{
    sqlite3_value *v = sqlite3_column_value(r->s, column);
    int type = sqlite3_value_type(v);
    int64_t n = type == SQLITE_INTEGER ? sqlite3_value_int64(v) : 0;

    if ((type == SQLITE_INTEGER || type == SQLITE_NULL) && n >= least &&
        n <= most)
        return n;
    set_bad(r, column);
    return least;
}

uint64_t db_row_count(struct db_row *r, int column, uint64_t most)
{
    return (uint64_t)db_row_number(r, column, 0, (int64_t)most);
}

int64_t db_row_time(struct db_row *r, int column)
{
    return db_row_number(r, column, -DB_TIME_MOST, DB_TIME_MOST);
}

bool db_row_flag(struct db_row *r, int column)
{
    return db_row_number(r, column, 0, 1) != 0;
}

double db_row_real(struct db_row *r, int column, double most)
{
    int type = sqlite3_column_type(r->s, column);
    double v = 0;

    if (type == SQLITE_FLOAT || type == SQLITE_INTEGER)
        v = sqlite3_column_double(r->s, column);
    if (type != SQLITE_TEXT && type != SQLITE_BLOB && v >= 0 && v <= most)
        return v;
    set_bad(r, column);
    return 0;
}

void db_bind_number(sqlite3_stmt *s, int parameter, uint64_t v)
{
    if (v != 0)
        sqlite3_bind_int64(s, parameter, (int64_t)v);
    else
        sqlite3_bind_null(s, parameter);
}

void db_bind_text(sqlite3_stmt *s, int parameter, struct bytes text)
{
    sqlite3_bind_text64(s, parameter, text.len > 0 ? text.at : "", text.len,
                        SQLITE_STATIC, SQLITE_UTF8);
}

void db_bind_blob(sqlite3_stmt *s, int parameter, struct bytes octets)
{
    sqlite3_bind_blob64(s, parameter, octets.len > 0 ? octets.at : NULL,
                        octets.len, SQLITE_STATIC);
}

enum status db_row_check(const struct db_row *r, const char *table)
{
    const char *name;

    if (r->bad < 0)
        return STATUS_OK;
    name = sqlite3_column_name(r->s, r->bad);
    log_error("store is damaged",
              "table=%s key=%lld column=%s reason=\"out of bounds\"", table,
              (long long)sqlite3_column_int64(r->s, 0),
              name != NULL ? name : "?");
    return STATUS_DAMAGED;
}
