/* SPDX-License-Identifier: MIT */
/*
 * plot.c - plots as SVG.
 *
 *     title
 *     words of the y axis
 *     ^
 *     |  lines, the bands below them
 *     +---------------------------->
 *          words of the x axis
 *     o name  x name  . name            the legend, as many rows as it takes
 *
 * Positions are written with one decimal: a tenth of a unit cannot be seen. The
 * words of the y axis are above it, so that they read without turning.
 */
#include "cli/report/plot.h"

#include <math.h>
#include <string.h>

#include "base/format.h"
#include "cli/report/plot_axis.h"

#define LEFT       58
#define RIGHT      20
#define TOP        50
#define INNER      190
#define BELOW      46 /* ticks and words of the x axis */
#define LEGEND_ROW 20
#define BAR_ROW    26
#define BAR_TOP    32
#define BAR_TEXT   64  /* room for a bar's number */
#define DECADES    1e5 /* between the ends of a logarithmic y axis, at most */
#define CHAR_WIDTH 6.9 /* of a letter of 13 units, a little more than most */

struct frame {
    struct buf *out;
    struct plot_axis x, y;
};

static void add_text(struct buf *out, const char *text)
{
    format_html(out, bytes_of_str(text));
}

static double text_width(const char *text)
{
    return (double)strlen(text) * CHAR_WIDTH;
}

static double x_of(const struct frame *f, double v)
{
    return LEFT + plot_axis_at(&f->x, v) * (PLOT_WIDTH - LEFT - RIGHT);
}

static double y_of(const struct frame *f, double v)
{
    return TOP + (1 - plot_axis_at(&f->y, v)) * INNER;
}

static void open_svg(struct buf *out, const char *title, double left,
                     double top, double height)
{
    buf_addf(out,
             "<svg class=\"plot\" xmlns=\"http://www.w3.org/2000/svg\" "
             "x=\"%.0f\" y=\"%.0f\" width=\"%d\" height=\"%.0f\" "
             "viewBox=\"0 0 %d %.0f\" role=\"img\" aria-label=\"",
             left, top, PLOT_WIDTH, height, PLOT_WIDTH, height);
    add_text(out, title);
    buf_add_str(out, "\">\n<text class=\"title\" x=\"8\" y=\"18\">");
    add_text(out, title);
    buf_add_str(out, "</text>\n");
}

/* ---- axes ---- */

/* Leaves some space above and below, and room for 0 on a logarithmic axis. */
static void fit_y(struct frame *f, const struct plot *p)
{
    double low = INFINITY, high = 0;

    for (size_t i = 0; i < p->count; i++)
        for (size_t j = 0; j < p->lines[i].count; j++) {
            const struct plot_point *a = &p->lines[i].at[j];
            double most = p->lines[i].band && a->high > a->y ? a->high : a->y;

            high = most > high ? most : high;
            if (a->y > 0 && a->y < low)
                low = a->y;
            if (p->lines[i].band && a->high > 0 && a->high < low)
                low = a->high;
        }
    low = fmax(isfinite(low) ? low / 3 : 0.1, high / DECADES);
    high = high > 0 ? high : 1;
    if (p->y_most > 0)
        high = p->y_most;
    else
        high *= p->y_log ? 1.3 : 1.05;
    plot_axis_fit(&f->y, p->y_log ? low : 0, high, p->y_log);
}

static void fit_x(struct frame *f, const struct plot *p)
{
    double low = INFINITY, high = -INFINITY;

    for (size_t i = 0; i < p->count; i++)
        for (size_t j = 0; j < p->lines[i].count; j++) {
            double x = p->lines[i].at[j].x;

            low = x < low ? x : low;
            high = x > high ? x : high;
        }
    if (!isfinite(low) || (p->x_log && low <= 0))
        low = high = 1;
    plot_axis_fit(&f->x, p->x_log ? low : 0, high, p->x_log);
}

static void draw_tick_label(struct buf *out, double x, double y,
                            const char *anchor, double value)
{
    buf_addf(out, "<text class=\"tick %s\" x=\"%.1f\" y=\"%.1f\">", anchor, x,
             y);
    plot_axis_label(out, value);
    buf_add_str(out, "</text>\n");
}

static void draw_axes(const struct frame *f, const struct plot *p)
{
    struct buf *out = f->out;

    for (size_t i = 0; i < f->y.count; i++) {
        double y = y_of(f, f->y.tick[i]);

        buf_addf(out, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>\n", LEFT, y,
                 PLOT_WIDTH - RIGHT);
        draw_tick_label(out, LEFT - 6, y + 4, "end", f->y.tick[i]);
    }
    for (size_t i = 0; i < f->x.count; i++) {
        double x = x_of(f, f->x.tick[i]);

        buf_addf(out, "<path class=\"axis\" d=\"M%.1f %dv5\"/>\n", x,
                 TOP + INNER);
        draw_tick_label(out, x, TOP + INNER + 18, "mid", f->x.tick[i]);
    }
    buf_addf(out, "<path class=\"axis\" d=\"M%d %dv%dh%d\"/>\n", LEFT, TOP,
             INNER, PLOT_WIDTH - LEFT - RIGHT);
    buf_add_str(out, "<text class=\"words\" x=\"8\" y=\"38\">");
    add_text(out, p->y);
    buf_addf(out, "</text>\n<text class=\"words mid\" x=\"%d\" y=\"%d\">",
             (LEFT + PLOT_WIDTH - RIGHT) / 2, TOP + INNER + 36);
    add_text(out, p->x);
    buf_add_str(out, "</text>\n");
}

/* ---- lines ---- */

static void draw_marker(struct buf *out, unsigned hue, double x, double y,
                        bool empty)
{
    static const char *const shape[PLOT_HUES] = {
        "m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0z", /* disc */
        "m-3 -3h6v6h-6z",                               /* square */
        "m0 -4.2l4 7h-8z",                              /* triangle */
        "m0 -4.4l4.4 4.4l-4.4 4.4l-4.4-4.4z",           /* diamond */
        "m0 4.2l4-7h-8z",                               /* turned over */
        "m-1.4 -4h2.8v2.6h2.6v2.8h-2.6v2.6h-2.8v-2.6h-2.6v-2.8h2.6z",
        "m-2 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0z",
    };

    buf_addf(out, "<path class=\"h%u %s\" d=\"M%.1f %.1f%s\"/>\n", hue,
             empty ? "none" : "mark", x, y, shape[hue % PLOT_HUES]);
}

static bool has_value(const struct plot_point *a)
{
    return isfinite(a->x) && isfinite(a->y) && a->y >= 0;
}

static bool is_below(const struct frame *f, const struct plot_point *a)
{
    return f->y.log && a->y < f->y.low;
}

/* The upper edge from left to right, then the lower one back. */
static void draw_band(const struct frame *f, const struct plot_line *l)
{
    char letter = 'M';

    buf_addf(f->out, "<path class=\"h%u band\" d=\"", l->hue);
    for (size_t i = 0; i < l->count; i++)
        if (has_value(&l->at[i])) {
            buf_addf(f->out, "%c%.1f %.1f", letter, x_of(f, l->at[i].x),
                     y_of(f, l->at[i].high));
            letter = 'L';
        }
    for (size_t i = l->count; i-- > 0;)
        if (has_value(&l->at[i]))
            buf_addf(f->out, "L%.1f %.1f", x_of(f, l->at[i].x),
                     y_of(f, l->at[i].low));
    buf_add_str(f->out, letter == 'L' ? "z\"/>\n" : "\"/>\n");
}

/* Draws no line to points that lie below a logarithmic axis. */
static void draw_line(const struct frame *f, const struct plot_line *l)
{
    bool drawing = false;

    buf_addf(f->out, "<path class=\"h%u %s\" d=\"", l->hue,
             l->dashed ? "dash" : "line");
    for (size_t i = 0; i < l->count; i++) {
        bool there = has_value(&l->at[i]) && !is_below(f, &l->at[i]);

        if (there)
            buf_addf(f->out, "%c%.1f %.1f", drawing ? 'L' : 'M',
                     x_of(f, l->at[i].x), y_of(f, l->at[i].y));
        drawing = there;
    }
    buf_add_str(f->out, "\"/>\n");
    for (size_t i = 0; !l->dashed && i < l->count; i++)
        if (has_value(&l->at[i]))
            draw_marker(f->out, l->hue, x_of(f, l->at[i].x),
                        y_of(f, l->at[i].y), is_below(f, &l->at[i]));
}

/* ---- legend ---- */

/* Draws the legend from `top` down, unless `out` is NULL; returns its
 * height. */
static double legend(struct buf *out, const struct plot *p, double top)
{
    double x = 8, y = top + 14;

    for (size_t i = 0; i < p->count; i++) {
        const struct plot_line *l = &p->lines[i];
        double width = 30 + text_width(l->name) + 12;

        if (x > 8 && x + width > PLOT_WIDTH) {
            x = 8;
            y += LEGEND_ROW;
        }
        if (out != NULL) {
            buf_addf(out, "<path class=\"h%u %s\" d=\"M%.1f %.1fh22\"/>\n",
                     l->hue, l->dashed ? "dash" : "line", x, y - 4);
            if (!l->dashed)
                draw_marker(out, l->hue, x + 11, y - 4, false);
            buf_addf(out, "<text class=\"name\" x=\"%.1f\" y=\"%.1f\">", x + 28,
                     y);
            add_text(out, l->name);
            buf_add_str(out, "</text>\n");
        }
        x += width;
    }
    return y + 8 - top;
}

double plot_draw(struct buf *out, const struct plot *p, double left, double top)
{
    struct frame f = {.out = out};
    double below = TOP + INNER + BELOW;
    double height = below + legend(NULL, p, below);

    fit_x(&f, p);
    fit_y(&f, p);
    open_svg(out, p->title, left, top, height);
    draw_axes(&f, p);
    for (size_t i = 0; i < p->count; i++)
        if (p->lines[i].band)
            draw_band(&f, &p->lines[i]);
    for (size_t i = 0; i < p->count; i++)
        draw_line(&f, &p->lines[i]);
    legend(out, p, below);
    buf_add_str(out, "</svg>\n");
    return height;
}

/* ---- bars ---- */

static double name_width(const struct plot_bars *p)
{
    double most = 0;

    for (size_t i = 0; i < p->count; i++)
        most = fmax(most, text_width(p->bars[i].name));
    return fmin(most + 14, PLOT_WIDTH / 2.0);
}

static double most_value(const struct plot_bars *p)
{
    double most = 0;

    for (size_t i = 0; i < p->count; i++)
        most = fmax(most, p->bars[i].value);
    return most > 0 ? most : 1;
}

double plot_draw_bars(struct buf *out, const struct plot_bars *p, double left,
                      double top)
{
    double from = name_width(p), most = most_value(p);
    double height = BAR_TOP + (double)p->count * BAR_ROW + 30;

    open_svg(out, p->title, left, top, height);
    for (size_t i = 0; i < p->count; i++) {
        const struct plot_bar *b = &p->bars[i];
        double y = BAR_TOP + (double)i * BAR_ROW;
        double width = b->value / most * (PLOT_WIDTH - from - BAR_TEXT);

        buf_addf(out, "<text class=\"name end\" x=\"%.1f\" y=\"%.1f\">",
                 from - 6, y + 16);
        add_text(out, b->name);
        buf_addf(out,
                 "</text>\n<rect class=\"h%u bar\" x=\"%.1f\" y=\"%.1f\" "
                 "width=\"%.1f\" height=\"%d\"/>\n",
                 b->hue, from, y + 3, fmax(width, b->value > 0 ? 1 : 0),
                 BAR_ROW - 8);
        buf_addf(out, "<text class=\"name\" x=\"%.1f\" y=\"%.1f\">",
                 from + width + 6, y + 16);
        plot_axis_label(out, b->value);
        buf_add_str(out, "</text>\n");
    }
    buf_addf(out,
             "<path class=\"axis\" d=\"M%.1f %dv%.1f\"/>\n"
             "<text class=\"words\" x=\"%.1f\" y=\"%.1f\">",
             from, BAR_TOP, (double)p->count * BAR_ROW, from, height - 12);
    add_text(out, p->value);
    buf_add_str(out, "</text>\n</svg>\n");
    return height;
}
