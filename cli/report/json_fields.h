/*
 * json_fields.h - members of a JSON object that are told to people as well.
 *
 * Nothing is set where there is nothing to say. Any thread.
 */
#ifndef URLWEIR_CLI_REPORT_JSON_FIELDS_H
#define URLWEIR_CLI_REPORT_JSON_FIELDS_H

#include <jansson.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/record.h"

/* A stranger's text, escaped as on a terminal. */
void json_set_text(json_t *o, const char *name, struct bytes b);
void json_set_str(json_t *o, const char *name, const char *s);
void json_set_uint(json_t *o, const char *name, uint64_t n);
/* ISO 8601; `ms` since 1970. */
void json_set_time(json_t *o, const char *name, int64_t ms);
/* The same; nothing for 0. */
void json_set_some_time(json_t *o, const char *name, int64_t ms);
/* Given as milliseconds. */
void json_set_seconds(json_t *o, const char *name, int64_t ms);
/* A text is a stranger's. */
void json_set_value(json_t *o, const char *name, const struct record_value *v);

/* To stdout, for a terminal: " name=value" for each text, number and truth;
 * what is nested or null is left out. */
void json_print_fields(json_t *o);

#endif
