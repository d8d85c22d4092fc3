/* SPDX-License-Identifier: MIT */
/*
 * prom_check.c - a strict reader of Prometheus' text format 0.0.4, for pages of
 * urlweir.
 *
 * usage: prom_check page FILE             is it right, all of it?
 *        prom_check families FILE         NAME TYPE LABEL,LABEL of each
 *        prom_check sum FILE NAME [LABEL=VALUE ...]
 *                                         of the samples that have these labels
 *        prom_check rise BEFORE AFTER     no series of a counter or histogram
 *                                         has gone, or fell
 *
 * Stricter than the format: HELP and TYPE come before each family, names begin
 * with urlweir_ and end as type and unit demand, samples of a family have the
 * same labels, no time stamps, comments or empty lines. Status 1 and the line
 * where something is wrong; 2: cannot run.
 */
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/file/file.h"
#include "base/map.h"
#include "base/mem.h"

#define PAGE_MOST   ((size_t)64 << 20)
#define LABELS_MOST 8

enum type { COUNTER, GAUGE, HISTOGRAM, TYPES };
static const char *const type_names[TYPES] = {"counter", "gauge", "histogram"};

struct label {
    char *name, *value;
};

struct family {
    char *name, *help;
    enum type type;
    char *labels; /* their names, "a,b"; NULL: no sample yet */
};

struct sample {
    struct family *family;
    const char *suffix; /* "", "_bucket", "_sum", "_count" */
    struct label labels[LABELS_MOST];
    size_t count;
    char *le; /* of a bucket */
    double value;
    char *series; /* name{labels}, without le */
};

struct page {
    const char *path;
    size_t line;
    struct family **families;
    size_t family_count;
    struct sample *samples;
    size_t sample_count, room;
    struct map *names, *series;
    bool wants_type; /* a HELP line came just before */
};

__attribute__((format(printf, 2, 3), noreturn)) static void wrong(
    const struct page *p, const char *fmt, ...)
{
    va_list args;

    printf("%s:%zu: ", p->path, p->line);
    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);
    putchar('\n');
    exit(1);
}

/* ---- words --------------------------------------------------------------- */

static size_t word(const char *at, bool colon)
{
    size_t n = 0;

    while (isalpha((unsigned char)at[n]) || at[n] == '_' ||
           (colon && at[n] == ':') || (n > 0 && isdigit((unsigned char)at[n])))
        n++;
    return n;
}

/* Reads an escaped text up to `end`; *at moves past it. */
static char *text_until(const struct page *p, const char **at, char end,
                        bool quotes)
{
    struct buf out;
    size_t len;

    buf_init(&out, PAGE_MOST);
    for (; **at != end; ++*at) {
        char c = **at;

        if (c == '\0' || c == '\n')
            wrong(p, "a text does not end");
        if (c == '\\') {
            c = *++*at;
            if (c == 'n')
                c = '\n';
            else if (c != '\\' && !(quotes && c == '"'))
                wrong(p, "\\%c is no escape", c);
        }
        buf_add_char(&out, c);
    }
    ++*at;
    if (!bytes_is_utf8(buf_bytes(&out)))
        wrong(p, "not UTF-8");
    buf_add_char(&out, '\0');
    return buf_take(&out, &len);
}

static bool ends_in(const char *s, const char *end)
{
    size_t a = strlen(s), b = strlen(end);

    return a >= b && strcmp(s + a - b, end) == 0;
}

/* ---- families ------------------------------------------------------------ */

static void check_name(const struct page *p, const struct family *f)
{
    static const char *const reserved[] = {"_total", "_bucket", "_sum",
                                           "_count"};

    if (strncmp(f->name, "urlweir_", 8) != 0)
        wrong(p, "%s is not ours", f->name);
    for (const char *c = f->name; *c != '\0'; c++)
        if (!islower((unsigned char)*c) && !isdigit((unsigned char)*c) &&
            *c != '_')
            wrong(p, "%s has a %c", f->name, *c);
    if (f->type == COUNTER && !ends_in(f->name, "_total"))
        wrong(p, "the counter %s does not end in _total", f->name);
    if (f->type == HISTOGRAM && !ends_in(f->name, "_seconds") &&
        !ends_in(f->name, "_bytes"))
        wrong(p, "the histogram %s has no unit", f->name);
    for (size_t i = f->type == COUNTER; i < 4; i++)
        if (ends_in(f->name, reserved[i]))
            wrong(p, "%s ends in %s", f->name, reserved[i]);
}

static void add_family(struct page *p, const char *at)
{
    size_t n = word(at, true);
    struct family *f = xcalloc(1, sizeof *f);

    if (n == 0 || at[n] != ' ')
        wrong(p, "HELP of what?");
    f->name = xstrndup(at, n);
    f->type = TYPES;
    at += n + 1;
    f->help = text_until(p, &at, '\n', false);
    if (strlen(f->help) < 6 || !ends_in(f->help, "."))
        wrong(p, "no sentence: %s", f->help);
    if (map_put(p->names, bytes_of_str(f->name), f) != NULL)
        wrong(p, "%s was there before", f->name);
    p->families =
        xrealloc(p->families, (p->family_count + 1) * sizeof(struct family *));
    p->families[p->family_count++] = f;
    p->wants_type = true;
}

static void add_type(struct page *p, const char *at)
{
    struct family *f = p->families[p->family_count - 1];
    size_t n = strlen(f->name);

    if (strncmp(at, f->name, n) != 0 || at[n] != ' ')
        wrong(p, "TYPE of something else than %s", f->name);
    for (unsigned t = 0; t < TYPES; t++)
        if (strncmp(at + n + 1, type_names[t], strlen(type_names[t])) == 0 &&
            at[n + 1 + strlen(type_names[t])] == '\n')
            f->type = (enum type)t;
    if (f->type == TYPES)
        wrong(p, "no type: %s", at);
    check_name(p, f);
    p->wants_type = false;
}

/* ---- samples ------------------------------------------------------------- */

static const char *suffix_of(const struct page *p, const struct family *f,
                             const char *at, size_t n)
{
    static const char *const suffixes[] = {"_bucket", "_sum", "_count"};
    size_t own = strlen(f->name);

    if (n >= own && strncmp(at, f->name, own) == 0) {
        if (n == own && f->type != HISTOGRAM)
            return "";
        for (size_t i = 0; i < 3 && f->type == HISTOGRAM; i++)
            if (n - own == strlen(suffixes[i]) &&
                strncmp(at + own, suffixes[i], n - own) == 0)
                return suffixes[i];
    }
    wrong(p, "a sample of another family than %s", f->name);
}

static void add_label(struct page *p, struct sample *s, const char **at)
{
    size_t n = word(*at, false);
    struct label l;

    if (n == 0 || (*at)[n] != '=' || (*at)[n + 1] != '"')
        wrong(p, "no label: %s", *at);
    l.name = xstrndup(*at, n);
    *at += n + 2;
    l.value = text_until(p, at, '"', true);
    if (strcmp(l.name, "le") == 0) {
        if (strcmp(s->suffix, "_bucket") != 0 || s->le != NULL)
            wrong(p, "an le too many");
        s->le = l.value;
        return;
    }
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->labels[i].name, l.name) == 0)
            wrong(p, "the label %s twice", l.name);
    if (s->count == LABELS_MOST)
        wrong(p, "too many labels");
    s->labels[s->count++] = l;
}

static void add_labels(struct page *p, struct sample *s, const char **at)
{
    if (**at != '{')
        return;
    do {
        ++*at;
        add_label(p, s, at);
    } while (**at == ',');
    if (**at != '}')
        wrong(p, "labels do not end: %s", *at);
    ++*at;
}

/* Like Go's ParseFloat, without forms that nobody writes. */
static double number(const struct page *p, const char *at)
{
    static const char *const words[] = {"+Inf\n", "-Inf\n", "NaN\n"};
    char *end;
    double d;

    for (size_t i = 0; i < 3; i++)
        if (strcmp(at, words[i]) == 0)
            return i == 2 ? (double)NAN : i == 1 ? -HUGE_VAL : HUGE_VAL;
    if (strspn(at, "0123456789.e+-") != strlen(at) - 1)
        wrong(p, "no number: %s", at);
    d = strtod(at, &end);
    if (end == at || *end != '\n')
        wrong(p, "no number: %s", at);
    return d;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct label *)a)->name,
                  ((const struct label *)b)->name);
}

/* Makes the names of labels, and the series, independent of their order. */
static char *names_and_series(struct sample *s)
{
    struct buf names, series;
    size_t len;

    qsort(s->labels, s->count, sizeof *s->labels, by_name);
    buf_init(&names, PAGE_MOST);
    buf_init(&series, PAGE_MOST);
    buf_addf(&series, "%s{", s->family->name);
    for (size_t i = 0; i < s->count; i++) {
        buf_addf(&names, "%s%s", i > 0 ? "," : "", s->labels[i].name);
        buf_addf(&series, "%s=%s;", s->labels[i].name, s->labels[i].value);
    }
    buf_add_str(&series, "}");
    s->series = buf_take(&series, &len);
    return names.at != NULL ? buf_take(&names, &len) : xstrdup("");
}

static void check_once(struct page *p, const struct sample *s)
{
    struct buf key;

    buf_init(&key, PAGE_MOST);
    buf_addf(&key, "%s %s %s", s->series, s->suffix,
             s->le != NULL ? s->le : "");
    if (map_put(p->series, buf_bytes(&key), p) != NULL)
        wrong(p, "twice: %s", buf_str(&key));
    buf_fini(&key);
}

static void add_sample(struct page *p, const char *at)
{
    size_t n = word(at, true);
    struct sample s = {.family = NULL};
    char *names;

    if (p->family_count == 0 || p->wants_type)
        wrong(p, "a sample without HELP and TYPE");
    s.family = p->families[p->family_count - 1];
    s.suffix = suffix_of(p, s.family, at, n);
    at += n;
    add_labels(p, &s, &at);
    if (*at != ' ')
        wrong(p, "no space before the value");
    s.value = number(p, at + 1);
    if (s.family->type != GAUGE && !(s.value >= 0 && isfinite(s.value)))
        wrong(p, "a count of %g", s.value);
    if (strcmp(s.suffix, "_bucket") == 0 && s.le == NULL)
        wrong(p, "a bucket without le");
    names = names_and_series(&s);
    check_once(p, &s);
    if (s.family->labels != NULL && strcmp(s.family->labels, names) != 0)
        wrong(p, "labels %s, others have %s", names, s.family->labels);
    free(s.family->labels);
    s.family->labels = names;
    if (p->sample_count == p->room) {
        p->room = p->room > 0 ? 2 * p->room : 256;
        p->samples = xrealloc(p->samples, p->room * sizeof *p->samples);
    }
    p->samples[p->sample_count++] = s;
}

/* ---- histograms ---------------------------------------------------------- */

static bool is(const struct sample *s, const char *suffix)
{
    return strcmp(s->suffix, suffix) == 0;
}

/* Checks the samples of one histogram, from samples[i] on; returns where they
 * end. */
static size_t check_histogram(struct page *p, size_t i)
{
    const struct sample *s = &p->samples[i],
                        *end = p->samples + p->sample_count;
    const char *series = s->series;
    double le = -HUGE_VAL, count = 0;

    for (; s < end && is(s, "_bucket") && strcmp(s->series, series) == 0; s++) {
        double bound = strcmp(s->le, "+Inf") == 0 ? HUGE_VAL : atof(s->le);

        if (bound <= le)
            wrong(p, "%s: bounds do not rise at %s", series, s->le);
        if (s->value < count)
            wrong(p, "%s: not cumulative at %s", series, s->le);
        le = bound;
        count = s->value;
    }
    if (isfinite(le))
        wrong(p, "%s: no bucket +Inf", series);
    if (s + 1 >= end || !is(s, "_sum") || !is(s + 1, "_count") ||
        strcmp(s->series, series) != 0 || strcmp(s[1].series, series) != 0)
        wrong(p, "%s: _sum and _count do not follow", series);
    if (s[1].value != count)
        wrong(p, "%s: count %g, +Inf %g", series, s[1].value, count);
    return (size_t)(s - p->samples) + 2;
}

static void check_histograms(struct page *p)
{
    for (size_t i = 0; i < p->sample_count;)
        i = p->samples[i].family->type == HISTOGRAM ? check_histogram(p, i)
                                                    : i + 1;
}

/* ---- pages --------------------------------------------------------------- */

static void add_line(struct page *p, const char *line)
{
    p->line++;
    if (strncmp(line, "# HELP ", 7) == 0 && !p->wants_type)
        add_family(p, line + 7);
    else if (strncmp(line, "# TYPE ", 7) == 0 && p->wants_type)
        add_type(p, line + 7);
    else
        add_sample(p, line);
}

static void read_page(struct page *p, const char *path)
{
    struct buf text;
    const char *at;

    *p = (struct page){.path = path, .names = map_new(), .series = map_new()};
    buf_init(&text, PAGE_MOST);
    if (file_read(path, &text) != STATUS_OK) {
        fprintf(stderr, "prom_check: cannot read %s\n", path);
        exit(2);
    }
    if (text.len == 0 || strlen(buf_str(&text)) != text.len ||
        text.at[text.len - 1] != '\n' || strchr(text.at, '\r') != NULL)
        wrong(p, "empty, cut short, or with odd octets");
    for (at = text.at; *at != '\0';) {
        size_t n = (size_t)(strchr(at, '\n') - at) + 1;
        char *line = xstrndup(at, n);

        add_line(p, line);
        free(line);
        at += n;
    }
    if (p->wants_type)
        wrong(p, "HELP without TYPE");
    check_histograms(p);
    buf_fini(&text);
}

/* ---- commands ------------------------------------------------------- */

static int say_families(const struct page *p)
{
    for (size_t i = 0; i < p->family_count; i++)
        printf("%s %s %s\n", p->families[i]->name,
               type_names[p->families[i]->type],
               p->families[i]->labels != NULL && p->families[i]->labels[0]
                   ? p->families[i]->labels
                   : "-");
    return 0;
}

static bool has_labels(const struct sample *s, char **wanted, int n)
{
    for (int w = 0; w < n; w++) {
        bool found = false;

        for (size_t i = 0; i < s->count; i++) {
            size_t len = strlen(s->labels[i].name);

            found |= strncmp(wanted[w], s->labels[i].name, len) == 0 &&
                     wanted[w][len] == '=' &&
                     strcmp(wanted[w] + len + 1, s->labels[i].value) == 0;
        }
        if (!found)
            return false;
    }
    return true;
}

/* For a histogram, sums its counts. */
static int say_sum(const struct page *p, const char *name, char **labels, int n)
{
    double sum = 0;
    bool any = false;

    for (size_t i = 0; i < p->sample_count; i++) {
        const struct sample *s = &p->samples[i];

        if (strcmp(s->family->name, name) != 0 || is(s, "_bucket") ||
            is(s, "_sum") || !has_labels(s, labels, n))
            continue;
        sum += s->value;
        any = true;
    }
    if (!any) {
        fprintf(stderr, "prom_check: no such sample of %s\n", name);
        return 1;
    }
    printf("%.15g\n", sum);
    return 0;
}

static bool same(const struct sample *a, const struct sample *b)
{
    return strcmp(a->series, b->series) == 0 && is(a, b->suffix) &&
           (a->le == NULL || strcmp(a->le, b->le) == 0);
}

static int check_rise(struct page *before, const struct page *after)
{
    size_t rose = 0;

    for (size_t i = 0; i < before->sample_count; i++) {
        const struct sample *a = &before->samples[i], *b = NULL;

        for (size_t k = 0; k < after->sample_count && b == NULL; k++)
            if (same(a, &after->samples[k]))
                b = &after->samples[k];
        if (a->family->type == GAUGE)
            continue;
        if (b == NULL || b->value < a->value) {
            printf("%s%s fell from %.15g to %.15g\n", a->series, a->suffix,
                   a->value, b != NULL ? b->value : 0);
            return 1;
        }
        rose += b->value > a->value;
    }
    printf("%zu rose\n", rose);
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[1] : "";
    struct page page, other;

    if (argc > 2)
        read_page(&page, argv[2]);
    if (strcmp(what, "page") == 0) {
        printf("%zu families, %zu samples\n", page.family_count,
               page.sample_count);
        return 0;
    }
    if (strcmp(what, "families") == 0)
        return say_families(&page);
    if (strcmp(what, "sum") == 0 && argc > 3)
        return say_sum(&page, argv[3], argv + 4, argc - 4);
    if (strcmp(what, "rise") == 0 && argc == 4) {
        read_page(&other, argv[3]);
        return check_rise(&page, &other);
    }
    fprintf(stderr, "usage: prom_check page|families|sum|rise FILE ...\n");
    return 2;
}
