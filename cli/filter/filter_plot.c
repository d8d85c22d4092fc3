/* SPDX-License-Identifier: MIT */
/*
 * filter_plot.c - plots the costs and rates of kinds of filters in one SVG.
 *
 *     rate as it fills       cost of a check by size
 *     bits a key by size     cost to add by size
 *
 * For every size a new filter of fixed size is made; one that grows is made for
 * a hundredth of it, as in the table of `filter bench`.
 */
#include "cli/filter/filter_plot.h"

#include <stdlib.h>

#include "base/file/file.h"
#include "base/logger.h"
#include "base/mem.h"
#include "cli/filter/filter_measure.h"
#include "cli/report/plot.h"
#include "filter/sizing.h"

#define QUESTIONS  (1 << 18)
#define MOST_SIZES 24
#define LEAST_SIZE 4096
#define GAP        24

/* Fractions of the filter's capacity. */
static const double fills[] = {0.1, 0.2, 0.4, 0.6, 0.8, 1,
                               1.2, 1.5, 2,   2.5, 3,   4};
#define FILLS (sizeof fills / sizeof *fills)

struct curves {
    const char *kind;
    struct plot_point rate[FILLS + 1];
    struct plot_point check[MOST_SIZES], bits[MOST_SIZES], add[MOST_SIZES];
    size_t sizes;
};

static enum status measure_rates(struct curves *c, uint64_t made_for,
                                 double fpr)
{
    struct filter_probe *p = NULL;
    enum status st = filter_probe_new(&p, c->kind, made_for, 4 * made_for, fpr);

    for (size_t i = 0; st == STATUS_OK && i < FILLS; i++) {
        double ns, ms;
        uint64_t maybes, keys = (uint64_t)(fills[i] * (double)made_for);
        struct sizing_interval w;

        st = filter_probe_fill(p, keys, &ns, &ms);
        if (st != STATUS_OK)
            break;
        filter_probe_miss(p, QUESTIONS, &maybes);
        w = sizing_wilson(maybes, QUESTIONS, SIZING_Z95);
        c->rate[i] = (struct plot_point){fills[i], (double)maybes / QUESTIONS,
                                         w.low, w.high};
    }
    filter_probe_free(p);
    return st;
}

static enum status measure_size(struct curves *c, uint64_t keys, double fpr)
{
    bool grows = filter_kind_named(c->kind)->grows;
    struct filter_probe *p = NULL;
    double add = 0, worst, check;
    struct filter_stats s;
    uint64_t maybes;
    enum status st =
        filter_probe_new(&p, c->kind, grows ? keys / 100 + 1 : keys, keys, fpr);

    if (st == STATUS_OK)
        st = filter_probe_fill(p, keys, &add, &worst);
    if (st == STATUS_OK) {
        check = filter_probe_miss(p, QUESTIONS, &maybes);
        filter_stats(filter_probe_filter(p), &s);
        c->check[c->sizes] = (struct plot_point){(double)keys, check, 0, 0};
        c->add[c->sizes] = (struct plot_point){(double)keys, add, 0, 0};
        c->bits[c->sizes++] =
            (struct plot_point){(double)keys, (double)s.bits / (double)keys, 0,
                                0};
    }
    filter_probe_free(p);
    return st;
}

static enum status measure(struct curves *c, uint64_t keys, double fpr)
{
    uint64_t size = keys, least = keys < LEAST_SIZE ? keys : LEAST_SIZE;
    enum status st = measure_rates(c, keys / 4 + 1, fpr);

    while (size / 4 >= least)
        size /= 4;
    for (; st == STATUS_OK && size <= keys && c->sizes < MOST_SIZES; size *= 4)
        st = measure_size(c, size, fpr);
    return st;
}

/* ---- drawing ---- */

enum panel { RATE, CHECK, BITS, ADD, PANELS };

static const struct plot panels[PANELS] = {
    [RATE] = {.title = "False-positive rate as it fills",
              .x = "keys, as a multiple of the number it was made for",
              .y = "fraction of new keys called maybe",
              .y_log = true},
    [CHECK] = {.title = "Cost of a check by size",
               .x = "keys held",
               .y = "ns of CPU for a new key, in batches",
               .x_log = true},
    [BITS] = {.title = "Memory by size",
              .x = "keys held",
              .y = "bits a key",
              .x_log = true,
              .y_log = true},
    [ADD] = {.title = "Cost to add by size",
             .x = "keys held",
             .y = "ns of CPU a key, growth included",
             .x_log = true,
             .y_log = true},
};

static struct plot_line line_of(const struct curves *c, enum panel which,
                                unsigned hue)
{
    const struct plot_point *at[PANELS] = {c->rate, c->check, c->bits, c->add};

    return (struct plot_line){.name = c->kind,
                              .at = at[which],
                              .count = which == RATE ? FILLS : c->sizes,
                              .hue = hue,
                              .band = which == RATE};
}

static double draw_panel(struct buf *out, const struct curves *c, size_t count,
                         enum panel which, double fpr, double left, double top)
{
    struct plot_point promise[] = {{0, fpr, 0, 0}, {4, fpr, 0, 0}};
    struct plot_line lines[PLOT_GREY + 1];
    struct plot p = panels[which];

    for (size_t i = 0; i < count; i++)
        lines[i] = line_of(&c[i], which, (unsigned)i);
    p.lines = lines;
    p.count = count;
    if (which == RATE)
        lines[p.count++] = (struct plot_line){.name = "promised",
                                              .at = promise,
                                              .count = 2,
                                              .hue = PLOT_GREY,
                                              .dashed = true};
    return plot_draw(out, &p, left, top);
}

static void draw(struct buf *out, const struct curves *c, size_t count,
                 double fpr)
{
    struct buf body;
    double top = 0;

    buf_init(&body, (size_t)16 << 20);
    for (enum panel row = RATE; row < PANELS; row += 2) {
        double a = draw_panel(&body, c, count, row, fpr, 0, top);
        double b =
            draw_panel(&body, c, count, row + 1, fpr, PLOT_WIDTH + GAP, top);

        top += (a > b ? a : b) + GAP;
    }
    plot_file_begin(out, "Kinds of filters: rate, cost and size",
                    2 * PLOT_WIDTH + GAP, top);
    buf_add_bytes(out, buf_bytes(&body));
    plot_file_end(out);
    buf_fini(&body);
}

enum status filter_plot_write(const char *path, const char *const *kinds,
                              size_t count, uint64_t keys, double fpr)
{
    enum log_level level = logger_level();
    struct curves *c = xcalloc(count, sizeof *c);
    enum status st = STATUS_OK;
    struct buf out;

    buf_init(&out, (size_t)16 << 20);
    logger_set_level(LOG_LEVEL_ERROR); /* overfull filters are intended here */
    for (size_t i = 0; st == STATUS_OK && i < count; i++) {
        c[i].kind = kinds[i];
        st = measure(&c[i], keys, fpr);
    }
    logger_set_level(level);
    if (st == STATUS_OK) {
        draw(&out, c, count, fpr);
        st = buf_failed(&out);
    }
    if (st == STATUS_OK)
        st = file_replace(path, buf_bytes(&out));
    buf_fini(&out);
    free(c);
    return st;
}
