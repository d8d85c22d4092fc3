/* SPDX-License-Identifier: MIT */
/* record.c - rows of named fields, as JSON Lines or as CSV. */
#include "cli/report/record.h"

#include "base/clock.h"
#include "base/format.h"

#define LINE_CEILING ((size_t)16 << 20)

void record_init(struct record *r, FILE *to, enum record_format format)
{
    *r = (struct record){.to = to, .format = format};
    buf_init(&r->line, LINE_CEILING);
    buf_init(&r->head, 65536);
}

void record_fini(struct record *r)
{
    buf_fini(&r->line);
    buf_fini(&r->head);
}

static void begin_field(struct record *r, const char *name)
{
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

void record_bool(struct record *r, const char *name, bool b)
{
    begin_field(r, name);
    buf_add_str(&r->line, b ? "true" : "false");
}

void record_thousandths(struct record *r, const char *name, int n)
{
    begin_field(r, name);
    if (n < 0)
        absent(r);
    else
        buf_addf(&r->line, "%.3g", n / 1000.0);
}

void record_seconds(struct record *r, const char *name, int64_t ms)
{
    begin_field(r, name);
    format_seconds(&r->line, ms);
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

bool record_end(struct record *r)
{
    bool json = r->format == RECORD_JSONL;

    if (!json && !r->head_done)
        fprintf(r->to, "%s\r\n", buf_str(&r->head));
    r->head_done = true;
    buf_add_str(&r->line, json ? "}\n" : "\r\n");
    fwrite(r->line.at, 1, r->line.len, r->to);
    buf_clear(&r->line);
    r->started = false;
    return ferror(r->to) == 0;
}
