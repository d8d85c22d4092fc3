/* SPDX-License-Identifier: MIT */
/*
 * dedupe_report.c - progress and summary of `urlweir dedupe`, on stderr.
 */
#include "cli/dedupe/dedupe_report.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file/file.h"
#include "base/format.h"
#include "base/mem.h"
#include "base/record.h"
#include "cli/report/progress.h"

#define BAR_EVERY (NS_PER_S / 5)
#define TEXT_MOST 4096

struct dedupe_report {
    bool bar;
    int64_t start, due, sampled; /* monotonic */
    uint64_t lines;              /* at the last sample */
    double rate;
};

struct dedupe_report *dedupe_report_new(int64_t now)
{
    struct dedupe_report *r = xcalloc(1, sizeof *r);

    r->bar = live_line_possible();
    r->start = r->sampled = now;
    r->due = now + (r->bar ? BAR_EVERY : live_line_interval(0));
    if (r->bar)
        live_line_begin();
    return r;
}

static bool dedupe_report_due(const struct dedupe_report *r, int64_t now)
{
    return now >= r->due;
}

void dedupe_report_free(struct dedupe_report *r)
{
    if (r == NULL)
        return;
    if (r->bar)
        live_line_end();
    free(r);
}

/* A moving average: half the weight is on the last five samples or so. */
static void take_rate(struct dedupe_report *r, uint64_t lines, int64_t now)
{
    double lately = (double)(lines - r->lines) * (double)NS_PER_S /
                    (double)(now - r->sampled);
    double weight = r->bar && r->rate > 0 ? 0.15 : 1;

    r->rate += (lately - r->rate) * weight;
    r->lines = lines;
    r->sampled = now;
}

void dedupe_report_update(struct dedupe_report *r,
                          const struct dedupe_progress *s, int64_t now)
{
    struct buf b;

    if (!dedupe_report_due(r, now))
        return;
    buf_init(&b, TEXT_MOST);
    take_rate(r, s->lines, now);
    if (r->bar) {
        dedupe_report_bar(&b, s, r->rate, live_line_width());
        live_line_draw(buf_str(&b));
    } else {
        dedupe_report_line(&b, s, r->rate);
        live_line_put(buf_bytes(&b));
    }
    buf_fini(&b);
    r->due = now + (r->bar ? BAR_EVERY : live_line_interval(now - r->start));
}

/* ---- the text of it ---- */

static double percent(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

/* Adds a part if there is room for it. */
static void add_part(struct buf *out, size_t start, size_t width,
                     struct buf *part)
{
    size_t between = out->len > start ? 2 : 0;

    if (out->len - start + between + part->len <= width) {
        buf_add(out, "  ", between);
        buf_add_bytes(out, buf_bytes(part));
    }
    buf_clear(part);
}

void dedupe_report_bar(struct buf *out, const struct dedupe_progress *s,
                       double rate, size_t width)
{
    size_t start = out->len;
    struct buf part;

    buf_init(&part, 64);
    buf_addf(&part, "%s line%s", COUNT(s->lines), s->lines == 1 ? "" : "s");
    add_part(out, start, width, &part);
    buf_addf(&part, "%s/s", RATE(rate));
    add_part(out, start, width, &part);
    if (s->size > 0) {
        buf_addf(&part, "%.0f%% read", percent(s->bytes, s->size));
        add_part(out, start, width, &part);
    }
    buf_addf(&part, "%s unique", COUNT(s->unique));
    add_part(out, start, width, &part);
    buf_addf(&part, "%.0f%% duplicates", percent(s->duplicates, s->lines));
    add_part(out, start, width, &part);
    if (s->invalid > 0) {
        buf_addf(&part, "%s invalid", COUNT(s->invalid));
        add_part(out, start, width, &part);
    }
    format_duration(&part, s->elapsed_ms);
    add_part(out, start, width, &part);
    buf_fini(&part);
}

void dedupe_report_line(struct buf *out, const struct dedupe_progress *s,
                        double rate)
{
    buf_add_str(out, "urlweir: progress: elapsed=");
    format_duration(out, s->elapsed_ms);
    buf_addf(out,
             " lines=%" PRIu64 " lines_per_second=%.0f unique=%" PRIu64
             " duplicates=%" PRIu64 " invalid=%" PRIu64 " bytes=%" PRIu64,
             s->lines, rate, s->unique, s->duplicates, s->invalid, s->bytes);
    if (s->size > 0)
        buf_addf(out, " read=%.1f%%", percent(s->bytes, s->size));
    buf_add_char(out, '\n');
}

/* ---- the end ---- */

static double lines_a_second(const struct dedupe_progress *s)
{
    return s->elapsed_ms > 0 ? (double)s->lines * 1000 / (double)s->elapsed_ms
                             : 0;
}

/* "  duplicates    1,234   REST" */
static void row(struct buf *out, const char *name, uint64_t n)
{
    buf_addf(out, "  %-10s %15s", name, COUNT(n));
}

void dedupe_summary_text(struct buf *out, const struct dedupe_summary *s)
{
    const struct dedupe_progress *a = &s->all;

    buf_addf(out, "urlweir dedupe: %s\n",
             s->interrupted ? "interrupted" : "finished");
    row(out, "lines", a->lines);
    buf_addf(out, "   in %s", DURATION(a->elapsed_ms));
    if (a->elapsed_ms > 0)
        buf_addf(out, ", %s a second", RATE(lines_a_second(a)));
    buf_add_char(out, '\n');
    row(out, "unique", a->unique);
    if (s->dir != NULL)
        buf_addf(out, "   known before: %s, now: %s", COUNT(s->known_before),
                 COUNT(s->known));
    buf_add_char(out, '\n');
    row(out, "duplicates", a->duplicates);
    buf_addf(out, "   %.1f %%\n", percent(a->duplicates, a->lines));
    row(out, "invalid", a->invalid);
    buf_addf(out, "\n  memory     %s, disk %s\n", SIZE(s->memory),
             SIZE(s->disk));
}

enum status dedupe_summary_json(struct buf *out, const struct dedupe_summary *s)
{
    const struct dedupe_progress *a = &s->all;
    json_t *o = json_object();
    char *text;

    json_set_uint(o, "lines", a->lines);
    json_set_uint(o, "unique", a->unique);
    json_set_uint(o, "duplicates", a->duplicates);
    json_set_uint(o, "invalid", a->invalid);
    json_set_uint(o, "bytes", a->bytes);
    json_object_set_new(o, "elapsed", json_real((double)a->elapsed_ms / 1000));
    json_object_set_new(o, "lines_per_second", json_real(lines_a_second(a)));
    json_set_uint(o, "known_before", s->known_before);
    json_set_uint(o, "known", s->known);
    json_set_uint(o, "memory", s->memory);
    json_set_uint(o, "disk", s->disk);
    json_object_set_new(o, "state",
                        s->dir != NULL ? json_string(s->dir) : json_null());
    json_object_set_new(o, "interrupted", json_boolean(s->interrupted));
    text = json_dumps(o, JSON_INDENT(2) | JSON_REAL_PRECISION(10));
    json_decref(o);
    if (text == NULL)
        return STATUS_NOMEM;
    buf_add_str(out, text);
    buf_add_char(out, '\n');
    free(text);
    return STATUS_OK;
}

/* VmHWM of proc(5), in kB. getrusage(2) would include the program that this
 * process ran before exec. */
uint64_t dedupe_peak_memory(void)
{
    uint64_t kib = 0;
    const char *at;
    struct buf b;

    buf_init(&b, 1 << 16);
    if (file_read("/proc/self/status", &b) == STATUS_OK &&
        (at = strstr(buf_str(&b), "\nVmHWM:")) != NULL)
        kib = strtoull(at + strlen("\nVmHWM:"), NULL, 10);
    buf_fini(&b);
    return kib * 1024;
}
