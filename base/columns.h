/*
 * columns.h - tables that describe the members of a struct as columns.
 *
 * A column has a name, a unit, a meaning, and a member that it shows; a view is
 * a list of columns in some order. Lines of JSON and CSV, members of JSON
 * objects and the pages of documentation are made of the same table, so that
 * two of them cannot disagree. Any thread.
 */
#ifndef URLWEIR_BASE_COLUMNS_H
#define URLWEIR_BASE_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

#include "base/record.h"

struct column {
    const char *name; /* in JSON and in CSV's head line */
    const char *unit; /* "octets", "time"; "text" */
    const char *help;
    void (*get)(const void *member, struct record_value *out);
    size_t at; /* of the member in the struct */
};

struct column_view {
    const char *name; /* for people */
    const struct column *table;
    const uint8_t *columns; /* places in the table */
    size_t count;
};

/* The nth column of a view. */
static inline const struct column *column_of(const struct column_view *v,
                                             size_t n)
{
    return &v->table[v->columns[n]];
}

/* The columns of a view as one row; see record_end. */
MUST_CHECK enum status column_view_write(const struct column_view *v,
                                         const void *row, struct record *to,
                                         struct bytes *line);
/* The same as members of an object, null where a value is absent. */
void column_view_set(const struct column_view *v, const void *row, json_t *o);
/* One after the other. */
void column_view_each(const struct column_view *v, const void *row,
                      void (*visit)(void *ctx, const char *name,
                                    const struct record_value *value),
                      void *ctx);

/* ---- values of members, for `get` ---- */

/* `there`: else it is absent. */
void column_number(struct record_value *out, enum record_type type, bool there,
                   uint64_t n);
void column_text(struct record_value *out, struct bytes text, bool there);
void column_time(struct record_value *out, int64_t ms, bool there);

void column_get_text(const void *bytes, struct record_value *out); /* some */
void column_get_any_text(const void *bytes, struct record_value *out);
void column_get_flag(const void *flag, struct record_value *out);
void column_get_uint8(const void *n, struct record_value *out);
void column_get_uint16(const void *n, struct record_value *out);
void column_get_uint32(const void *n, struct record_value *out);
void column_get_uint64(const void *n, struct record_value *out);
void column_get_some(const void *uint64, struct record_value *out); /* not 0 */
void column_get_time(const void *ms, struct record_value *out);     /* not 0 */

#endif
