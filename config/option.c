/* SPDX-License-Identifier: MIT */
/*
 * option.c - tables of options over plain structs, and their values as text.
 *
 * Fields are accessed by offset, so one table serves every reader and writer.
 * The price is that a type in the table must match its field; the tests check
 * the whole table.
 */
#include "config/option.h"

#include <assert.h>
#include <string.h>

#include "config/nearest.h"
#include "config/value.h"

/* ---- fields ---- */

static void *field(const struct option_spec *s, void *settings)
{
    return (char *)settings + s->at;
}

static const void *field_of(const struct option_spec *s, const void *settings)
{
    return (const char *)settings + s->at;
}

static uint8_t *source_of(const struct option_table *t, size_t i,
                          void *settings)
{
    return (uint8_t *)settings + t->from + i;
}

void option_fini(const struct option_table *t, void *settings)
{
    for (size_t i = 0; i < t->count; i++)
        value_free(&t->spec[i], field(&t->spec[i], settings));
}

void option_copy(const struct option_table *t, void *out, const void *settings,
                 size_t size)
{
    memcpy(out, settings, size);
    for (size_t i = 0; i < t->count; i++)
        value_copy(&t->spec[i], field(&t->spec[i], out),
                   field_of(&t->spec[i], settings));
}

/* ---- finding ---- */

size_t option_find(const struct option_table *t, struct bytes name)
{
    size_t i = 0;

    while (i < t->count && !bytes_is(name, t->spec[i].name))
        i++;
    return i;
}

size_t option_find_letter(const struct option_table *t, char letter)
{
    size_t i = 0;

    while (i < t->count && (letter == 0 || t->spec[i].letter != letter))
        i++;
    return i;
}

const char *option_nearest(const struct option_table *t, struct bytes text,
                           unsigned without, bool *alike)
{
    const char *best = NULL;
    size_t best_distance = SIZE_MAX;

    *alike = false;
    for (size_t i = 0; i < t->count; i++) {
        struct bytes name = bytes_of_str(t->spec[i].name);
        bool a = nearest_is_alike(text, name);
        size_t d = nearest_distance(text, name);

        if ((t->spec[i].flags & without) != 0 || (*alike && !a))
            continue;
        if ((a && !*alike) || d < best_distance) {
            best = t->spec[i].name;
            best_distance = d;
            *alike = a;
        }
    }
    return best;
}

/* ---- setting ---- */

enum status option_set(const struct option_table *t, size_t i, void *settings,
                       struct bytes text, enum option_source from,
                       struct buf *error)
{
    const struct option_spec *s = &t->spec[i];
    uint8_t *source = source_of(t, i, settings);
    enum status st =
        value_set(s, field(s, settings), *source != (uint8_t)from, text, error);

    if (st == STATUS_OK)
        *source = (uint8_t)from;
    return st;
}

void option_clear(const struct option_table *t, size_t i, void *settings,
                  enum option_source from)
{
    value_free(&t->spec[i], field(&t->spec[i], settings));
    *source_of(t, i, settings) = (uint8_t)from;
}

enum option_source option_source(const struct option_table *t, size_t i,
                                 const void *settings)
{
    return (enum option_source)((const uint8_t *)settings)[t->from + i];
}

bool option_given(const struct option_table *t, size_t i, const void *settings)
{
    return option_source(t, i, settings) >= OPTION_FROM_FILE;
}

static size_t field_size(const struct option_spec *s)
{
    static const size_t size[] = {
        [OPTION_FLAG] = sizeof(bool),
        [OPTION_COUNT] = sizeof(int64_t),
        [OPTION_SIZE] = sizeof(uint64_t),
        [OPTION_TIME] = sizeof(int64_t),
        [OPTION_FRACTION] = sizeof(double),
        [OPTION_CHOICE] = sizeof(int), /* any enum; see value.c */
        [OPTION_TEXT] = sizeof(char *),
        [OPTION_LIST] = sizeof(struct option_list),
    };

    return size[s->type];
}

void option_assign(const struct option_table *t, size_t i, void *settings,
                   const void *other, enum option_source from)
{
    const struct option_spec *s = &t->spec[i];
    void *at = field(s, settings);

    value_free(s, at);
    memcpy(at, field_of(s, other), field_size(s));
    value_copy(s, at, field_of(s, other));
    *source_of(t, i, settings) = (uint8_t)from;
}

void option_defaults(const struct option_table *t, void *settings)
{
    struct buf error;

    buf_init(&error, 1000);
    for (size_t i = 0; i < t->count; i++) {
        const struct option_spec *s = &t->spec[i];
        enum status st;

        /* The value of an option without a default that nobody set. */
        memset(field(s, settings), 0, field_size(s));
        *source_of(t, i, settings) = OPTION_FROM_DEFAULT;
        if (s->fallback == NULL)
            continue;
        st = option_set(t, i, settings, bytes_of_str(s->fallback),
                        OPTION_FROM_DEFAULT, &error);
        assert(st == STATUS_OK); /* the table is ours */
    }
    buf_fini(&error);
}

/* ---- showing ---- */

void option_text(const struct option_spec *s, const void *settings, size_t item,
                 struct buf *out)
{
    value_text(s, field_of(s, settings), item, out);
}

size_t option_items(const struct option_spec *s, const void *settings)
{
    return value_items(s, field_of(s, settings));
}

void option_show(const struct option_spec *s, const void *settings,
                 struct buf *out)
{
    size_t n = option_items(s, settings), before = out->len;

    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            buf_add_str(out, ", ");
        option_text(s, settings, i, out);
    }
    if (out->len == before)
        buf_add_str(out, "none");
}

bool option_equal(const struct option_spec *s, const void *a, const void *b)
{
    size_t n = option_items(s, a);
    struct buf x, y;
    bool same = n == option_items(s, b);

    buf_init(&x, SIZE_MAX);
    buf_init(&y, SIZE_MAX);
    for (size_t i = 0; same && i < n; i++) {
        buf_clear(&x);
        buf_clear(&y);
        option_text(s, a, i, &x);
        option_text(s, b, i, &y);
        same = bytes_equal(buf_bytes(&x), buf_bytes(&y));
    }
    buf_fini(&x);
    buf_fini(&y);
    return same;
}
