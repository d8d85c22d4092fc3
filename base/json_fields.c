/* SPDX-License-Identifier: MIT */
/* json_fields.c - members of a JSON object that are also printed for people. */
#include "base/json_fields.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/format.h"

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

static void print_text(const json_t *v)
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
        print_text(v);
    else if (json_is_integer(v))
        printf("%lld", (long long)json_integer_value(v));
    else if (json_is_real(v))
        printf("%g", json_real_value(v));
    else
        fputs(json_is_true(v) ? "yes" : "no", stdout);
}

void json_print(const json_t *o)
{
    json_dumpf(o, stdout, JSON_INDENT(2));
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
