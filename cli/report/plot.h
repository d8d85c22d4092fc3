/*
 * plot.h - plots as SVG, and the numbers behind them as HTML tables.
 *
 * A plot is some 400 units wide and as high as it needs: beside another one on
 * a desk, alone on a phone, its text can be read. Colours are classes: the
 * style (plot_style) holds them for light and dark, and each line has a marker
 * of its own shape, so that a print without colours can be read too. No script
 * and nothing from outside.
 *
 * Every text is escaped here. What a plot shows is its caller's while it is
 * drawn. Any thread.
 */
#ifndef URLWEIR_CLI_REPORT_PLOT_H
#define URLWEIR_CLI_REPORT_PLOT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define PLOT_WIDTH 420
#define PLOT_HUES  7 /* colours and markers there are; the last one is grey */
#define PLOT_GREY  (PLOT_HUES - 1)

struct plot_point {
    double x, y;
    double low, high; /* an interval, where the line has a band */
};

struct plot_line {
    const char *name;
    const struct plot_point *at; /* in order of x; y below 0: no value */
    size_t count;
    unsigned hue;
    bool band, dashed;
};

struct plot {
    const char *title, *x, *y; /* the axes' words */
    bool x_log, y_log;
    double y_most; /* where the y axis ends; 0: where the values do */
    const struct plot_line *lines;
    size_t count;
};

/* Bars lie; `value` is written behind each. */
struct plot_bar {
    const char *name;
    double value;
    unsigned hue;
};

struct plot_bars {
    const char *title, *name, *value; /* the words of the two columns */
    const struct plot_bar *bars;
    size_t count;
};

/* An <svg> element at (left, top) of the one around it, if any; its height. A
 * logarithmic y axis goes down five decades at most: what is less, or 0, is an
 * empty marker on its lower edge. */
double plot_draw(struct buf *out, const struct plot *p, double left,
                 double top);
double plot_draw_bars(struct buf *out, const struct plot_bars *p, double left,
                      double top);

/* A <table> of the same numbers, each in full as <data value="...">. */
void plot_table(struct buf *out, const struct plot *p);
void plot_table_bars(struct buf *out, const struct plot_bars *p);
/* <data value="0.00123456">0.001235</data>: short to read, whole to copy. */
void plot_number(struct buf *out, double value);

/* Style sheet of all the above, and of nothing else. */
const char *plot_style(void);

/* A file of its own: begin, draw, end. `height` is that of all that is drawn.
 */
void plot_file_begin(struct buf *out, const char *title, double width,
                     double height);
void plot_file_end(struct buf *out);

#endif
