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
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/bytes.h"
#include "base/mem.h"
#include "config/quantity.h"

/*
 * Finds the word that a user may have meant.
 *
 * Plain dynamic programming over three rows; option names are short, and it
 * runs once, before an error message.
 */

#define LONGEST 64

static char fold(char c)
{
    return c == '_' ? '-' : ascii_lower(c);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t nearest_distance(struct bytes a, struct bytes b)
{
    size_t rows[3][LONGEST + 1];
    size_t *before = rows[0], *last = rows[1], *now = rows[2];

    if (a.len > LONGEST || b.len > LONGEST)
        return a.len > b.len ? a.len : b.len;
    for (size_t j = 0; j <= b.len; j++)
        last[j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        size_t *spare = before;

        now[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            char x = fold(a.at[i - 1]), y = fold(b.at[j - 1]);

            now[j] =
                least(last[j - 1] + (x != y), least(last[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && x == fold(b.at[j - 2]) &&
                y == fold(a.at[i - 2]))
                now[j] = least(now[j], before[j - 2] + 1);
        }
        before = last;
        last = now;
        now = spare;
    }
    return last[b.len];
}

bool nearest_is_alike(struct bytes text, struct bytes word)
{
    size_t d = nearest_distance(text, word);
    size_t longer = text.len > word.len ? text.len : word.len;

    if (text.len >= 3 && text.len < word.len &&
        memcmp(text.at, word.at, text.len) == 0)
        return true;
    return d <= 1 || d <= longer / 3;
}

/*
 * The value of one option, read from text and written as text.
 *
 * An error always says what was found and what would be accepted, with the
 * bounds in the option's own units: the user should not need the manual.
 */

_Static_assert(sizeof(enum option_source) == sizeof(int),
               "choices are stored as int through their enum's field");

/* ---- texts and lists ---- */

void option_list_free(struct option_list *l)
{
    for (size_t i = 0; i < l->count; i++)
        free((char *)l->item[i]);
    free(l->item);
    *l = (struct option_list){0};
}

void option_list_add(struct option_list *l, struct bytes text)
{
    l->item = xrealloc(l->item, (l->count + 1) * sizeof *l->item);
    l->item[l->count++] = xstrndup(text.at, text.len);
}

static void text_set(char **at, struct bytes text)
{
    free(*at);
    *at = text.len > 0 ? xstrndup(text.at, text.len) : NULL;
}

/* For texts and lists: frees and empties the value; makes a copy in *to, which
 * is overwritten. Other types: do nothing. */
static void value_free(const struct option_spec *s, void *at)
{
    if (s->type == OPTION_TEXT)
        text_set(at, bytes_of("", 0));
    else if (s->type == OPTION_LIST)
        option_list_free(at);
}

static void value_copy(const struct option_spec *s, void *to, const void *from)
{
    const struct option_list *l = from;
    char *const *text = from;

    if (s->type == OPTION_TEXT) {
        *(char **)to = *text != NULL ? xstrdup(*text) : NULL;
    } else if (s->type == OPTION_LIST) {
        struct option_list copy = {0};

        for (size_t i = 0; i < l->count; i++)
            option_list_add(&copy, bytes_of_str(l->item[i]));
        *(struct option_list *)to = copy;
    }
}

/* ---- text to value ---- */

/* A bound, written like a value of the option. */
static void add_bound(const struct option_spec *s, double bound,
                      struct buf *out)
{
    if (s->type == OPTION_SIZE)
        quantity_add_size(out, (uint64_t)bound);
    else if (s->type == OPTION_TIME)
        quantity_add_time(out, (int64_t)bound);
    else if (s->type == OPTION_COUNT)
        buf_addf(out, "%" PRId64, (int64_t)bound);
    else
        quantity_add_fraction(out, bound);
}

static void add_words(const struct option_spec *s, struct buf *out)
{
    if (s->bare != NULL && s->other != NULL)
        buf_addf(out, ", %s or %s", s->bare, s->other);
    else if (s->bare != NULL)
        buf_addf(out, ", or %s", s->bare);
}

static void add_expected(const struct option_spec *s, struct buf *out)
{
    switch (s->type) {
    case OPTION_COUNT:
        buf_add_str(out, "a whole number");
        break;
    case OPTION_SIZE:
        buf_add_str(out, "bytes, or a number with K, M or G, such as 64M");
        break;
    case OPTION_TIME:
        buf_add_str(out, "seconds, or a number with ms, s, m, h or d, such as "
                         "1.5s");
        break;
    case OPTION_FRACTION:
        buf_add_str(out, "a fraction, such as 0.001");
        break;
    case OPTION_FLAG:
        buf_add_str(out, "true or false");
        break;
    case OPTION_CHOICE:
    case OPTION_LIST:
        for (size_t i = 0; s->words != NULL && s->words[i] != NULL; i++)
            buf_addf(out, "%s%s", i == 0 ? "one of " : ", ", s->words[i]);
        break;
    case OPTION_TEXT:
        buf_add_str(out, "text");
        break;
    }
    add_words(s, out);
}

static enum status refuse_form(const struct option_spec *s, struct bytes text,
                               struct buf *error)
{
    static const char *const kinds[] = {
        [OPTION_FLAG] = "is neither",
        [OPTION_COUNT] = "is not a count",
        [OPTION_SIZE] = "is not a size",
        [OPTION_TIME] = "is not a time",
        [OPTION_FRACTION] = "is not a number",
        [OPTION_CHOICE] = "is not known",
        [OPTION_TEXT] = "is not a text",
        [OPTION_LIST] = "is not known",
    };

    buf_add_char(error, '\'');
    buf_add(error, text.at, text.len < 100 ? text.len : 100);
    buf_addf(error, "' %s; it takes ", kinds[s->type]);
    add_expected(s, error);
    return STATUS_FORMAT;
}

static enum status refuse_range(const struct option_spec *s, struct bytes text,
                                struct buf *error)
{
    buf_add_char(error, '\'');
    buf_add(error, text.at, text.len < 100 ? text.len : 100);
    buf_add_str(error, "' is out of range; it takes ");
    add_bound(s, s->min, error);
    buf_add_str(error, " to ");
    add_bound(s, s->max, error);
    add_words(s, error);
    return STATUS_FORMAT;
}

/* A number in all of its types. */
struct number {
    int64_t i;
    uint64_t u;
    double f;
};

static enum status read_number(const struct option_spec *s, struct bytes text,
                               struct number *n)
{
    enum status st = STATUS_FORMAT;

    *n = (struct number){0};
    if (s->type == OPTION_COUNT)
        st = quantity_count(text, &n->i);
    else if (s->type == OPTION_TIME)
        st = quantity_time(text, &n->i);
    else if (s->type == OPTION_SIZE)
        st = quantity_size(text, &n->u);
    else
        return quantity_fraction(text, &n->f);
    n->f = s->type == OPTION_SIZE ? (double)n->u : (double)n->i;
    return st;
}

static enum status set_number(const struct option_spec *s, void *at,
                              struct bytes text, struct buf *error)
{
    struct number n;

    if (s->bare != NULL && bytes_is(text, s->bare)) {
        n = (struct number){(int64_t)s->min - 1, (uint64_t)s->min - 1,
                            s->min - 1};
    } else if (s->other != NULL && bytes_is(text, s->other)) {
        n = (struct number){.i = (int64_t)s->min - 2};
    } else {
        enum status st = read_number(s, text, &n);

        if (st == STATUS_LIMIT)
            return refuse_range(s, text, error);
        if (st != STATUS_OK)
            return refuse_form(s, text, error);
        if (n.f < s->min || n.f > s->max)
            return refuse_range(s, text, error);
    }
    if (s->type == OPTION_SIZE)
        *(uint64_t *)at = n.u;
    else if (s->type == OPTION_FRACTION)
        *(double *)at = n.f;
    else
        *(int64_t *)at = n.i;
    return STATUS_OK;
}

static bool find_word(const struct option_spec *s, struct bytes text, int *i)
{
    for (*i = 0; s->words[*i] != NULL; (*i)++)
        if (bytes_is(text, s->words[*i]))
            return true;
    return false;
}

static bool read_switch(struct bytes text, bool *on)
{
    static const char *const words[] = {"true",  "yes", "on",
                                        "false", "no",  "off"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (bytes_equal_nocase(text, bytes_of_str(words[i]))) {
            *on = i < 3;
            return true;
        }
    return false;
}

static enum status set_choice(const struct option_spec *s, void *at,
                              struct bytes text, struct buf *error)
{
    int i;
    bool on;

    if (!find_word(s, text, &i)) {
        if ((s->flags & OPTION_SWITCH) == 0 || !read_switch(text, &on))
            return refuse_form(s, text, error);
        i = on;
    }
    memcpy(at, &i, sizeof i); /* every enum has the size of an int */
    return STATUS_OK;
}

/* Is there a line end at `at`, or a code point that YAML cannot hold (C0, C1,
 * U+2028, U+2029, U+FEFF, U+FFFE, U+FFFF)? */
static bool is_control(const char *at, size_t left)
{
    static const char *const longer[] = {"\xe2\x80\xa8", "\xe2\x80\xa9",
                                         "\xef\xbb\xbf", "\xef\xbf\xbe",
                                         "\xef\xbf\xbf"};

    if ((unsigned char)at[0] < 0x20 || at[0] == 0x7f)
        return true;
    if (left >= 2 && at[0] == '\xc2' && (unsigned char)at[1] < 0xa0)
        return true;
    for (size_t i = 0; i < sizeof longer / sizeof *longer; i++)
        if (left >= 3 && memcmp(at, longer[i], 3) == 0)
            return true;
    return false;
}

/* Values go into HTTP heads, logs and YAML, so they must not contain a line
 * end. */
static enum status check_text(struct bytes text, struct buf *error)
{
    if (!bytes_is_utf8(text)) {
        buf_add_str(error, "the value is not UTF-8");
        return STATUS_FORMAT;
    }
    for (size_t i = 0; i < text.len; i++)
        if (is_control(text.at + i, text.len - i)) {
            buf_addf(error, "it holds a control character (at offset %zu)", i);
            return STATUS_FORMAT;
        }
    return STATUS_OK;
}

static enum status add_items(const struct option_spec *s, struct option_list *l,
                             struct bytes text, struct buf *error)
{
    while (text.len > 0) {
        const char *comma = (s->flags & OPTION_COMMAS) != 0
                                ? memchr(text.at, ',', text.len)
                                : NULL;
        size_t n = comma != NULL ? (size_t)(comma - text.at) : text.len;
        struct bytes item = bytes_of(text.at, n);
        int unused;

        if ((s->flags & OPTION_COMMAS) != 0)
            item = bytes_trim(item);
        if (item.len > 0 && s->words != NULL && !find_word(s, item, &unused))
            return refuse_form(s, item, error);
        if (item.len > 0)
            option_list_add(l, item);
        n += comma != NULL;
        text = bytes_of(text.at + n, text.len - n);
    }
    return STATUS_OK;
}

static enum status set_list(const struct option_spec *s, struct option_list *at,
                            bool fresh, struct bytes text, struct buf *error)
{
    struct option_list more = {0};
    enum status st = add_items(s, &more, text, error);

    if (st == STATUS_OK && (fresh || text.len == 0))
        option_list_free(at);
    for (size_t i = 0; st == STATUS_OK && i < more.count; i++)
        option_list_add(at, bytes_of_str(more.item[i]));
    option_list_free(&more);
    return st;
}

/* `fresh`: a list drops its old items. STATUS_FORMAT as in option_set. */
static enum status value_set(const struct option_spec *s, void *at, bool fresh,
                             struct bytes text, struct buf *error)
{
    enum status st = check_text(text, error);

    if (st != STATUS_OK)
        return st;
    switch (s->type) {
    case OPTION_FLAG:
        return read_switch(text, at) ? STATUS_OK : refuse_form(s, text, error);
    case OPTION_CHOICE:
        return set_choice(s, at, text, error);
    case OPTION_TEXT:
        text_set(at, text);
        return STATUS_OK;
    case OPTION_LIST:
        return set_list(s, at, fresh, text, error);
    default:
        return set_number(s, at, text, error);
    }
}

/* ---- value to text ---- */

/* The word that stands for the value; NULL: it is a plain one. */
static const char *word_of(const struct option_spec *s, const void *at)
{
    double bare = s->min - 1;

    if (s->bare == NULL)
        return NULL;
    if (s->type == OPTION_SIZE)
        return *(const uint64_t *)at == (uint64_t)bare ? s->bare : NULL;
    if (*(const int64_t *)at == (int64_t)bare)
        return s->bare;
    return *(const int64_t *)at == (int64_t)bare - 1 ? s->other : NULL;
}

static size_t value_items(const struct option_spec *s, const void *at)
{
    const struct option_list *l = at;

    return s->type == OPTION_LIST ? l->count : 1;
}

static void value_text(const struct option_spec *s, const void *at, size_t item,
                       struct buf *out)
{
    const char *bare = word_of(s, at);
    int word;

    if (bare != NULL) {
        buf_add_str(out, bare);
        return;
    }
    switch (s->type) {
    case OPTION_FLAG:
        buf_add_str(out, *(const bool *)at ? "true" : "false");
        break;
    case OPTION_COUNT:
        buf_addf(out, "%" PRId64, *(const int64_t *)at);
        break;
    case OPTION_SIZE:
        quantity_add_size(out, *(const uint64_t *)at);
        break;
    case OPTION_TIME:
        quantity_add_time(out, *(const int64_t *)at);
        break;
    case OPTION_FRACTION:
        quantity_add_fraction(out, *(const double *)at);
        break;
    case OPTION_CHOICE:
        memcpy(&word, at, sizeof word);
        buf_add_str(out, s->words[word]);
        break;
    case OPTION_TEXT:
        if (*(char *const *)at != NULL)
            buf_add_str(out, *(char *const *)at);
        break;
    case OPTION_LIST:
        buf_add_str(out, ((const struct option_list *)at)->item[item]);
        break;
    }
}

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
        [OPTION_CHOICE] = sizeof(int), /* any enum; see above */
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
