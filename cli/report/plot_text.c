/* SPDX-License-Identifier: MIT */
/* plot_text.c - the numbers behind plots as tables, their style, their file. */
#include <math.h>
#include <stdlib.h>

#include "base/format.h"
#include "base/mem.h"
#include "cli/report/plot.h"
#include "cli/report/plot_axis.h"

static void add_text(struct buf *out, const char *text)
{
    format_html(out, bytes_of_str(text));
}

void plot_number(struct buf *out, double value)
{
    bool whole = value < 1e15 && value >= floor(value) && value <= floor(value);

    buf_addf(out, whole ? "<data value=\"%.0f\">" : "<data value=\"%.9g\">",
             value);
    if (value >= 1000 && value < 1e15)
        format_count(out, (uint64_t)(value + 0.5));
    else
        plot_axis_label(out, value);
    buf_add_str(out, "</data>");
}

/* ---- tables ---- */

static void head_cell(struct buf *out, const char *text)
{
    buf_add_str(out, "<th scope=\"col\">");
    add_text(out, text);
    buf_add_str(out, "</th>");
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* All x of all lines, each once, in order; the caller frees. */
static double *all_x(const struct plot *p, size_t *count)
{
    size_t n = 0, kept = 0;
    double *x;

    for (size_t i = 0; i < p->count; i++)
        n += p->lines[i].count;
    x = xcalloc(n, sizeof *x);
    n = 0;
    for (size_t i = 0; i < p->count; i++)
        for (size_t j = 0; j < p->lines[i].count; j++)
            x[n++] = p->lines[i].at[j].x;
    qsort(x, n, sizeof *x, by_value);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || x[i] > x[kept - 1])
            x[kept++] = x[i];
    *count = kept;
    return x;
}

static void cell(struct buf *out, const struct plot_line *l, double x)
{
    const struct plot_point *found = NULL;

    for (size_t i = 0; i < l->count; i++)
        if (!(l->at[i].x < x) && !(l->at[i].x > x))
            found = &l->at[i];
    buf_add_str(out, "<td>");
    if (found != NULL && found->y >= 0)
        plot_number(out, found->y);
    buf_add_str(out, "</td>");
    if (!l->band)
        return;
    buf_add_str(out, "<td class=\"range\">");
    if (found != NULL && found->y >= 0) {
        plot_number(out, found->low);
        buf_add_str(out, " to ");
        plot_number(out, found->high);
    }
    buf_add_str(out, "</td>");
}

void plot_table(struct buf *out, const struct plot *p)
{
    size_t count;
    double *x = all_x(p, &count);

    buf_add_str(out, "<table>\n<thead><tr>");
    head_cell(out, p->x);
    for (size_t i = 0; i < p->count; i++) {
        head_cell(out, p->lines[i].name);
        if (p->lines[i].band)
            head_cell(out, "95\u00a0% interval");
    }
    buf_add_str(out, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < count; i++) {
        buf_add_str(out, "<tr><th scope=\"row\">");
        plot_number(out, x[i]);
        buf_add_str(out, "</th>");
        for (size_t k = 0; k < p->count; k++)
            cell(out, &p->lines[k], x[i]);
        buf_add_str(out, "</tr>\n");
    }
    buf_add_str(out, "</tbody>\n</table>\n");
    free(x);
}

void plot_table_bars(struct buf *out, const struct plot_bars *p)
{
    buf_add_str(out, "<table>\n<thead><tr>");
    head_cell(out, p->name);
    head_cell(out, p->value);
    buf_add_str(out, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < p->count; i++) {
        buf_add_str(out, "<tr><th scope=\"row\">");
        add_text(out, p->bars[i].name);
        buf_add_str(out, "</th><td>");
        plot_number(out, p->bars[i].value);
        buf_add_str(out, "</td></tr>\n");
    }
    buf_add_str(out, "</tbody>\n</table>\n");
}

/* ---- style ---- */

/* Hues have a contrast of at least 4.5 to the background, light or dark, and
 * differ in lightness if they are similar in colour. */
const char *plot_style(void)
{
    return ":root{--ink:#1b2330;--soft:#556070;--ground:#fff;--grid:#dfe3ea;"
           "--hue0:#1863b0;--hue1:#b9500b;--hue2:#1f7a4c;--hue3:#7a3fb5;"
           "--hue4:#b3263a;--hue5:#6b6300;--hue6:#5c6674}\n"
           "@media screen and (prefers-color-scheme:dark){"
           ":root{--ink:#e6eaf0;--soft:#a3adbb;--ground:#12161d;"
           "--grid:#2c3440;--hue0:#6cb0f5;--hue1:#f5a363;--hue2:#6fd09a;"
           "--hue3:#c49bf2;--hue4:#f58a92;--hue5:#dacb5a;--hue6:#9aa5b4}}\n"
           ".h0{--h:var(--hue0)}.h1{--h:var(--hue1)}.h2{--h:var(--hue2)}"
           ".h3{--h:var(--hue3)}.h4{--h:var(--hue4)}.h5{--h:var(--hue5)}"
           ".h6{--h:var(--hue6)}\n"
           ".plot text{font:13px system-ui,-apple-system,\"Segoe UI\",Roboto,"
           "\"DejaVu Sans\",sans-serif;fill:var(--ink)}\n"
           ".plot .title{font-size:15px;font-weight:600}\n"
           ".plot .words,.plot .tick{fill:var(--soft)}\n"
           ".plot .tick{font-size:12px;font-variant-numeric:tabular-nums}\n"
           ".plot .mid{text-anchor:middle}.plot .end{text-anchor:end}\n"
           ".plot path{fill:none}\n"
           ".plot .grid{stroke:var(--grid)}.plot .axis{stroke:var(--soft)}\n"
           ".plot .line,.plot .dash{stroke:var(--h);stroke-width:1.8;"
           "stroke-linejoin:round}\n"
           ".plot .dash{stroke-dasharray:5 4}\n"
           ".plot .band{fill:var(--h);opacity:.2}\n"
           ".plot .mark,.plot .bar{fill:var(--h)}\n"
           ".ground{fill:var(--ground)}\n.plot "
           ".none{fill:var(--ground);stroke:var(--h);"
           "stroke-width:1.4}\n";
}

void plot_file_begin(struct buf *out, const char *title, double width,
                     double height)
{
    buf_addf(out,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
             "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" "
             "aria-label=\"",
             width, height, width, height);
    add_text(out, title);
    buf_addf(out,
             "\">\n<style>\n%s</style>\n<rect width=\"100%%\" "
             "height=\"100%%\" class=\"ground\"/>\n",
             plot_style());
}

void plot_file_end(struct buf *out)
{
    buf_add_str(out, "</svg>\n");
}
