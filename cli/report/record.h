/*
 * record.h - rows of named fields, as JSON Lines or as CSV.
 *
 * Every row of one stream has the same fields in the same order; CSV gets its
 * head line from the first. An absent value is null in JSON, empty in CSV.
 */
#ifndef URLWEIR_CLI_REPORT_RECORD_H
#define URLWEIR_CLI_REPORT_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/bytes.h"

enum record_format { RECORD_JSONL, RECORD_CSV };

struct record {
    FILE *to;
    enum record_format format;
    struct buf line, head;
    bool started, head_done;
};

void record_init(struct record *r, FILE *to, enum record_format format);
void record_fini(struct record *r);

/* `at` NULL: absent. */
void record_text(struct record *r, const char *name, struct bytes text);
void record_str(struct record *r, const char *name, const char *text);
void record_uint(struct record *r, const char *name, uint64_t n);
/* Absent when n is 0. */
void record_some(struct record *r, const char *name, uint64_t n);
void record_bool(struct record *r, const char *name, bool b);
/* A fraction, given as thousandths; absent when < 0. */
void record_thousandths(struct record *r, const char *name, int n);
/* Seconds, given as milliseconds. */
void record_seconds(struct record *r, const char *name, int64_t ms);
/* ISO 8601; absent when 0. */
void record_time(struct record *r, const char *name, int64_t wall_ms);
/* JSON as it is; in CSV a field that holds it. */
void record_json(struct record *r, const char *name, struct bytes json);
/* False: writing failed. */
bool record_end(struct record *r);

#endif
