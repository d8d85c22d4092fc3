/*
 * record.h - rows of named fields, as JSON Lines or as CSV.
 *
 * Every row of one stream has the same fields in the same order; the first row
 * gives the header line of CSV. An absent value is null in JSON, empty in CSV.
 */
#ifndef URLWEIR_BASE_RECORD_H
#define URLWEIR_BASE_RECORD_H

#include <jansson.h>
#include <stdbool.h>
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

#endif
