/* SPDX-License-Identifier: MIT */
/* record.c - rows of named fields, as JSON Lines, CSV or a JSON object. */
#include "base/record.h"

#include <stdio.h>
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

/* ---- rows made of a table of columns ---- */

void column_view_each(const struct column_view *v, const void *row,
                      void (*visit)(void *ctx, const char *name,
                                    const struct record_value *value),
                      void *ctx)
{
    struct record_value value;

    for (size_t i = 0; i < v->count; i++) {
        const struct column *c = column_of(v, i);

        c->get((const char *)row + c->at, &value);
        visit(ctx, c->name, &value);
    }
}

static void write_value(void *to, const char *name,
                        const struct record_value *value)
{
    record_value(to, name, value);
}

enum status column_view_write(const struct column_view *v, const void *row,
                              struct record *to, struct bytes *line)
{
    column_view_each(v, row, write_value, to);
    return record_end(to, line);
}

static void record_set_value(void *o, const char *name,
                             const struct record_value *value)
{
    json_object_set_new(o, name, record_value_json(value));
}

void column_view_set(const struct column_view *v, const void *row, json_t *o)
{
    column_view_each(v, row, record_set_value, o);
}

/* ---- values of members ---- */

void column_number(struct record_value *out, enum record_type type, bool there,
                   uint64_t n)
{
    out->type = there ? type : RECORD_ABSENT;
    out->n = n;
}

void column_text(struct record_value *out, struct bytes text, bool there)
{
    out->type = there ? RECORD_TEXT : RECORD_ABSENT;
    out->text = text.at != NULL ? text : bytes_of_str("");
}

void column_time(struct record_value *out, int64_t ms, bool there)
{
    out->room[0] = '\0';
    if (there)
        clock_iso(out->room, ms);
    column_text(out, bytes_of_str(out->room), there);
}

void column_get_text(const void *bytes, struct record_value *out)
{
    const struct bytes *text = bytes;

    column_text(out, *text, text->len > 0);
}

void column_get_any_text(const void *bytes, struct record_value *out)
{
    column_text(out, *(const struct bytes *)bytes, true);
}

void column_get_flag(const void *flag, struct record_value *out)
{
    column_number(out, RECORD_FLAG, true, *(const bool *)flag);
}

void column_get_uint8(const void *n, struct record_value *out)
{
    column_number(out, RECORD_UINT, true, *(const uint8_t *)n);
}

void column_get_uint16(const void *n, struct record_value *out)
{
    column_number(out, RECORD_UINT, true, *(const uint16_t *)n);
}

void column_get_uint32(const void *n, struct record_value *out)
{
    column_number(out, RECORD_UINT, true, *(const uint32_t *)n);
}

void column_get_uint64(const void *n, struct record_value *out)
{
    column_number(out, RECORD_UINT, true, *(const uint64_t *)n);
}

void column_get_some(const void *uint64, struct record_value *out)
{
    uint64_t n = *(const uint64_t *)uint64;

    column_number(out, RECORD_UINT, n != 0, n);
}

void column_get_time(const void *ms, struct record_value *out)
{
    int64_t at = *(const int64_t *)ms;

    column_time(out, at, at != 0);
}

/* ---- members of a JSON object that are also printed for people ---- */

#define TEXT_CEILING ((size_t)32 << 20)

void json_set_text(json_t *o, const char *name, struct bytes b)
{
    struct buf clean;

    if (b.len == 0)
        return;
    buf_init(&clean, TEXT_CEILING);
    format_terminal(&clean, b);
    json_object_set_new(o, name, json_stringn(buf_str(&clean), clean.len));
    buf_fini(&clean);
}

void json_set_str(json_t *o, const char *name, const char *s)
{
    if (s != NULL && s[0] != '\0')
        json_object_set_new(o, name, json_string(s));
}

void json_set_uint(json_t *o, const char *name, uint64_t n)
{
    json_object_set_new(o, name, json_integer((json_int_t)n));
}

void json_set_time(json_t *o, const char *name, int64_t ms)
{
    char text[CLOCK_ISO_SIZE];

    clock_iso(text, ms);
    json_object_set_new(o, name, json_string(text));
}

void json_set_seconds(json_t *o, const char *name, int64_t ms)
{
    json_object_set_new(o, name, json_real((double)ms / 1000.0));
}

void json_set_value(json_t *o, const char *name, const struct record_value *v)
{
    if (v->type == RECORD_TEXT)
        json_set_text(o, name, v->text);
    else if (v->type != RECORD_ABSENT)
        json_object_set_new(o, name, record_value_json(v));
}

static void record_print_text(const json_t *v)
{
    struct buf clean;

    buf_init(&clean, TEXT_CEILING);
    format_terminal(&clean,
                    bytes_of(json_string_value(v), json_string_length(v)));
    fputs(buf_str(&clean), stdout);
    buf_fini(&clean);
}

static void print_value(const json_t *v)
{
    if (json_is_string(v))
        record_print_text(v);
    else if (json_is_integer(v))
        printf("%lld", (long long)json_integer_value(v));
    else if (json_is_real(v))
        printf("%g", json_real_value(v));
    else
        fputs(json_is_true(v) ? "yes" : "no", stdout);
}

void json_print(const json_t *o)
{
    json_dumpf(o, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    putchar('\n');
}

void json_print_fields(json_t *o)
{
    const char *name;
    json_t *v;

    /* cppcheck-suppress unknownMacro */
    json_object_foreach(o, name, v)
    {
        if (json_is_object(v) || json_is_array(v) || json_is_null(v))
            continue;
        printf(" %s=", name);
        print_value(v);
    }
}
