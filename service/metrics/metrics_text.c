/* SPDX-License-Identifier: MIT */
/* metrics_text.c - writes Prometheus' text format 0.0.4. */
#include "service/metrics/metrics_text.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"

void metrics_text_init(struct metrics_text *m, struct buf *out)
{
    *m = (struct metrics_text){.out = out};
}

/* Escapes line feeds and backslashes, and quotes in label values. */
static void add_escaped(struct buf *out, const char *s, bool quotes)
{
    for (; *s != '\0'; s++) {
        if (*s == '\n') {
            buf_add_str(out, "\\n");
            continue;
        }
        if (*s == '\\' || (quotes && *s == '"'))
            buf_add_char(out, '\\');
        buf_add_char(out, *s);
    }
}

void metrics_family(struct metrics_text *m, const char *prefix,
                    const char *name, enum metrics_type type, const char *help)
{
    static const char *const types[] = {
        [METRICS_COUNTER] = "counter",
        [METRICS_GAUGE] = "gauge",
        [METRICS_HISTOGRAM] = "histogram",
    };

    snprintf(m->name, sizeof m->name, "urlweir_%s_%s", prefix, name);
    buf_addf(m->out, "# HELP %s ", m->name);
    add_escaped(m->out, help, false);
    buf_addf(m->out, "\n# TYPE %s %s\n", m->name, types[type]);
}

static void add_label(struct buf *out, char before, const char *name,
                      const char *value)
{
    buf_add_char(out, before);
    buf_add_str(out, name);
    buf_add_str(out, "=\"");
    add_escaped(out, value, true);
    buf_add_char(out, '"');
}

/* "name_suffix{labels,le="..."} "; `le` may be NULL. */
static void begin_sample(struct metrics_text *m, const char *suffix,
                         const struct metrics_label *labels, const char *le)
{
    char before = '{';

    buf_add_str(m->out, m->name);
    buf_add_str(m->out, suffix);
    for (; labels != NULL && labels->name != NULL; labels++) {
        add_label(m->out, before, labels->name, labels->value);
        before = ',';
    }
    if (le != NULL) {
        add_label(m->out, before, "le", le);
        before = ',';
    }
    buf_add_str(m->out, before == ',' ? "} " : " ");
}

static void end_sample(struct metrics_text *m, uint64_t value)
{
    buf_add_uint(m->out, value);
    buf_add_char(m->out, '\n');
}

static void end_seconds(struct metrics_text *m, uint64_t ns)
{
    buf_addf(m->out, "%llu.%09llu\n",
             (unsigned long long)(ns / (uint64_t)NS_PER_S),
             (unsigned long long)(ns % (uint64_t)NS_PER_S));
}

void metrics_uint(struct metrics_text *m, const struct metrics_label *labels,
                  uint64_t value)
{
    begin_sample(m, "", labels, NULL);
    end_sample(m, value);
}

void metrics_double(struct metrics_text *m, const struct metrics_label *labels,
                    double value)
{
    begin_sample(m, "", labels, NULL);
    buf_addf(m->out, "%.9g\n", value);
}

void metrics_seconds(struct metrics_text *m, const struct metrics_label *labels,
                     uint64_t ns)
{
    begin_sample(m, "", labels, NULL);
    end_seconds(m, ns);
}

void metrics_histogram(struct metrics_text *m,
                       const struct metrics_label *labels,
                       const struct histogram_stats *h)
{
    uint64_t so_far = 0;

    for (unsigned i = 0; i < HISTOGRAM_BOUNDS; i++) {
        char le[32];

        snprintf(le, sizeof le, "%g",
                 (double)histogram_bounds[i] / (double)NS_PER_S);
        so_far += h->buckets[i];
        begin_sample(m, "_bucket", labels, le);
        end_sample(m, so_far);
    }
    so_far += h->buckets[HISTOGRAM_BOUNDS];
    begin_sample(m, "_bucket", labels, "+Inf");
    end_sample(m, so_far);
    begin_sample(m, "_sum", labels, NULL);
    end_seconds(m, h->sum);
    begin_sample(m, "_count", labels, NULL);
    end_sample(m, so_far);
}

void metrics_one(struct metrics_text *m, const char *prefix, const char *name,
                 enum metrics_type type, const char *help, uint64_t value)
{
    metrics_family(m, prefix, name, type, help);
    metrics_uint(m, NULL, value);
}
