/*
 * plot.h - plots as SVG, and the numbers behind them as HTML tables.
 *
 * A plot is some 400 units wide and as high as it needs, so its text can be
 * read beside another plot on a desktop screen, or alone on a phone. Colours
 * are classes: the style sheet (plot_style) defines them for light and dark,
 * and each line has a marker of its own shape, so that a printout without
 * colours can be read too. A plot uses no script and nothing from outside.
 *
 * All text is escaped here. The caller owns what a plot shows and keeps it
 * until the plot is drawn. Any thread.
 */
#ifndef URLWEIR_CLI_REPORT_PLOT_H
#define URLWEIR_CLI_REPORT_PLOT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define PLOT_WIDTH 420
#define PLOT_HUES  7 /* number of colours and markers; the last one is grey */
#define PLOT_GREY  (PLOT_HUES - 1)

struct plot_point {
    double x, y;
    double low, high; /* an interval, if the line has a band */
};

struct plot_line {
    const char *name;
    const struct plot_point *at; /* in order of x; y below 0: no value */
    size_t count;
    unsigned hue;
    bool band, dashed;
};

struct plot {
    const char *title, *x, *y; /* labels of the axes */
    bool x_log, y_log;
    double y_most; /* end of the y axis; 0: it ends where the values do */
    const struct plot_line *lines;
    size_t count;
};

/* Bars are horizontal; `value` is written after each. */
struct plot_bar {
    const char *name;
    double value;
    unsigned hue;
};

struct plot_bars {
    const char *title, *name, *value; /* headings of the two columns */
    const struct plot_bar *bars;
    size_t count;
};

/* Append an <svg> element at (left, top) of the one around it, if any; return
 * its height. A logarithmic y axis spans five decades at most: a smaller value,
 * or 0, is an empty marker on its lower edge. */
double plot_draw(struct buf *out, const struct plot *p, double left,
                 double top);
double plot_draw_bars(struct buf *out, const struct plot_bars *p, double left,
                      double top);

/* Append a <table> of the same numbers, each in full as <data value="...">. */
void plot_table(struct buf *out, const struct plot *p);
void plot_table_bars(struct buf *out, const struct plot_bars *p);
/* <data value="0.00123456">0.001235</data>: short to read, whole to copy. */
void plot_number(struct buf *out, double value);

/* The style sheet for all of the above, and for nothing else. */
const char *plot_style(void);

/* Write a file that holds only plots: begin, draw, end. `height` is the total
 * height of what is drawn.
 */
void plot_file_begin(struct buf *out, const char *title, double width,
                     double height);
void plot_file_end(struct buf *out);

/*
 * An axis: its range, its ticks, and where a value lies on it.
 *
 * Ranges end at round numbers. A logarithmic axis has no place for 0 and less:
 * such values lie at its lower end. Pure arithmetic, any thread.
 */

#define PLOT_TICKS 16

struct plot_axis {
    bool log;
    double low, high;
    double tick[PLOT_TICKS];
    size_t count;
};

/* Makes an axis that holds all of [low, high]; for a logarithmic axis, both are
 * above 0. An empty range is widened. */
void plot_axis_fit(struct plot_axis *a, double low, double high, bool log);

/* Short: "20k", "1M", "0.001", "1e-6". */
void plot_axis_label(struct buf *out, double value);

/* From <!doctype> to the opening of <main>. */
void page_begin(struct buf *out, const char *title);

void page_end(struct buf *out);

/* Append escaped text; `s` may be any bytes from outside. */
void page_text(struct buf *out, const char *text);

void page_bytes(struct buf *out, struct bytes s);

/* Appends <dt> and <dd> of a list of figures (<dl class="figures">). */
void page_figure(struct buf *out, const char *name, double value);

#endif
