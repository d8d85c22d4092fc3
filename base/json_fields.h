/*
 * json_fields.h - members of a JSON object that are also printed for people.
 *
 * Empty texts and absent values are left out. Any thread.
 */
#ifndef URLWEIR_BASE_JSON_FIELDS_H
#define URLWEIR_BASE_JSON_FIELDS_H

#include <jansson.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/record.h"

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
