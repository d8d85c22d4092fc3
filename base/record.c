/* SPDX-License-Identifier: MIT */
/* record.c - rows of named fields, as JSON Lines or as CSV. */
#include "base/record.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/format.h"

#define LINE_CEILING ((size_t)16 << 20)

void record_init(struct record *r, enum record_format format)
{
    *r = (struct record){.format = format};
    buf_init(&r->line, LINE_CEILING);
    buf_init(&r->head, LINE_CEILING + 65536); /* also holds the first row */
}

void record_fini(struct record *r)
{
    buf_fini(&r->line);
    buf_fini(&r->head);
}

static void begin_field(struct record *r, const char *name)
{
    if (!r->started)
        buf_clear(&r->line);
    if (r->format == RECORD_JSONL) {
        buf_add_str(&r->line, r->started ? ", " : "{");
        format_json(&r->line, bytes_of_str(name));
        buf_add_str(&r->line, ": ");
    } else {
        if (r->started)
            buf_add_char(&r->line, ',');
        if (!r->head_done) {
            if (r->started)
                buf_add_char(&r->head, ',');
            buf_add_str(&r->head, name);
        }
    }
    r->started = true;
}

static void absent(struct record *r)
{
    if (r->format == RECORD_JSONL)
        buf_add_str(&r->line, "null");
}

void record_text(struct record *r, const char *name, struct bytes text)
{
    begin_field(r, name);
    if (text.at == NULL)
        absent(r);
    else if (r->format == RECORD_JSONL)
        format_json(&r->line, text);
    else
        format_csv(&r->line, text);
}

void record_str(struct record *r, const char *name, const char *text)
{
    record_text(r, name, bytes_of_str(text));
}

void record_uint(struct record *r, const char *name, uint64_t n)
{
    begin_field(r, name);
    buf_add_uint(&r->line, n);
}

void record_some(struct record *r, const char *name, uint64_t n)
{
    if (n != 0) {
        record_uint(r, name, n);
        return;
    }
    begin_field(r, name);
    absent(r);
}

void record_time(struct record *r, const char *name, int64_t wall_ms)
{
    char text[CLOCK_ISO_SIZE];

    clock_iso(text, wall_ms);
    record_str(r, name, wall_ms != 0 ? text : NULL);
}

void record_json(struct record *r, const char *name, struct bytes json)
{
    begin_field(r, name);
    if (r->format == RECORD_JSONL)
        buf_add_bytes(&r->line, json);
    else
        format_csv(&r->line, json);
}

enum status record_end(struct record *r, struct bytes *row)
{
    buf_add_str(&r->line, r->format == RECORD_JSONL ? "}\n" : "\r\n");
    if (r->format == RECORD_CSV && !r->head_done) {
        buf_add_str(&r->head, "\r\n");
        buf_add_bytes(&r->head, buf_bytes(&r->line));
        *row = buf_bytes(&r->head);
    } else {
        *row = buf_bytes(&r->line);
    }
    r->head_done = true;
    r->started = false;
    return buf_failed(&r->line);
}

bool record_has_rows(const struct record *r)
{
    return r->head_done;
}

/* ---- values ---- */

static void json_as_text(struct record *r, const char *name, const json_t *json)
{
    char *text = json_dumps(json, JSON_ENSURE_ASCII | JSON_ENCODE_ANY);

    record_json(r, name, bytes_of_str(text != NULL ? text : "null"));
    free(text);
}

void record_value(struct record *r, const char *name,
                  const struct record_value *v)
{
    if (v->type == RECORD_TEXT) {
        record_text(r, name, v->text);
        return;
    }
    if (v->type == RECORD_JSON) {
        json_as_text(r, name, v->json);
        return;
    }
    begin_field(r, name);
    switch (v->type) {
    case RECORD_UINT:
        buf_add_uint(&r->line, v->n);
        break;
    case RECORD_FLAG:
        buf_add_str(&r->line, v->n != 0 ? "true" : "false");
        break;
    case RECORD_SECONDS:
        format_seconds(&r->line, (int64_t)v->n);
        break;
    case RECORD_THOUSANDTHS:
        buf_addf(&r->line, "%.3g", (double)v->n / 1000.0);
        break;
    case RECORD_TEXT:
    case RECORD_JSON:
    case RECORD_ABSENT:
        absent(r);
        break;
    }
}

json_t *record_value_json(const struct record_value *v)
{
    json_t *text;

    switch (v->type) {
    case RECORD_TEXT:
        text = json_stringn(v->text.at, v->text.len);
        return text != NULL ? text : json_null();
    case RECORD_UINT:
        return json_integer((json_int_t)v->n);
    case RECORD_FLAG:
        return json_boolean(v->n != 0);
    case RECORD_SECONDS:
    case RECORD_THOUSANDTHS:
        return json_real((double)v->n / 1000.0);
    case RECORD_JSON:
        return json_incref(v->json);
    case RECORD_ABSENT:
        break;
    }
    return json_null();
}
