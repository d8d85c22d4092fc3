/*
 * record.h - rows of named fields, as JSON Lines, CSV or a JSON object.
 *
 * Every row of one stream has the same fields in the same order; the first row
 * gives the header line of CSV. An absent value is null in JSON, empty in CSV.
 */
#ifndef URLWEIR_BASE_RECORD_H
#define URLWEIR_BASE_RECORD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"

enum record_format { RECORD_JSONL, RECORD_CSV };

struct record {
    enum record_format format;
    struct buf line, head;
    bool started, head_done;
};

void record_init(struct record *r, enum record_format format);
void record_fini(struct record *r);

/* `at` NULL: absent. */
void record_text(struct record *r, const char *name, struct bytes text);
void record_str(struct record *r, const char *name, const char *text);
void record_uint(struct record *r, const char *name, uint64_t n);
/* Absent when n is 0. */
void record_some(struct record *r, const char *name, uint64_t n);
/* ISO 8601; absent when 0. */
void record_time(struct record *r, const char *name, int64_t wall_ms);
/* A JSON value, unchanged; in CSV a field that holds its text. */
void record_json(struct record *r, const char *name, struct bytes json);
/* The whole row, after the header line if it is the first of CSV; borrowed
 * until the next field. STATUS_LIMIT: it is too long. */
MUST_CHECK enum status record_end(struct record *r, struct bytes *row);
/* Was a row ended? */
bool record_has_rows(const struct record *r);

/* ---- values that are written in several ways ---- */

enum record_type {
    RECORD_ABSENT,
    RECORD_TEXT,
    RECORD_UINT,
    RECORD_FLAG,
    RECORD_SECONDS,     /* n is in milliseconds */
    RECORD_THOUSANDTHS, /* n of them */
    RECORD_JSON         /* in CSV as its text */
};

struct record_value {
    enum record_type type;
    struct bytes text; /* may point to `room` */
    json_t *json;      /* borrowed */
    uint64_t n;
    char room[40];
};

void record_value(struct record *r, const char *name,
                  const struct record_value *v);
/* The value as JSON; null if it is absent or not UTF-8. */
json_t *record_value_json(const struct record_value *v);

/* ---- tables that describe the members of a struct as columns ----
 *
 * A column has a name, a unit, a meaning, and a member that it shows; a view is
 * a list of columns in some order. Lines of JSON and CSV, members of JSON
 * objects and the pages of documentation are made of the same table, so that
 * two of them cannot disagree. Any thread.
 */

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

/* ---- members of a JSON object that are also printed for people ----
 *
 * Empty texts and absent values are left out. Any thread.
 */

/* Text from outside, escaped as for a terminal. */
void json_set_text(json_t *o, const char *name, struct bytes b);
void json_set_str(json_t *o, const char *name, const char *s);
void json_set_uint(json_t *o, const char *name, uint64_t n);
/* ISO 8601; `ms` since 1970. */
void json_set_time(json_t *o, const char *name, int64_t ms);
/* Sets seconds; `ms` is in milliseconds. */
void json_set_seconds(json_t *o, const char *name, int64_t ms);
/* A text is escaped as by json_set_text. */
void json_set_value(json_t *o, const char *name, const struct record_value *v);

/* Prints it on stdout, indented, with a newline at the end. */
void json_print(const json_t *o);
/* Prints " name=value" on stdout, for a terminal, for each text, number and
 * boolean; leaves out nested members and nulls. */
void json_print_fields(json_t *o);

#endif
