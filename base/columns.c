/* SPDX-License-Identifier: MIT */
/* columns.c - rows made of a table of columns. */
#include "base/columns.h"

#include "base/clock.h"

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

static void set_value(void *o, const char *name,
                      const struct record_value *value)
{
    json_object_set_new(o, name, record_value_json(value));
}

void column_view_set(const struct column_view *v, const void *row, json_t *o)
{
    column_view_each(v, row, set_value, o);
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
