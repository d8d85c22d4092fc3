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
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/format.h"
#include "base/mem.h"

/*
 * The beginning and end of our HTML pages, which are self-contained.
 *
 * One file, readable offline and without scripts, on paper and on a telephone.
 * Its content security policy allows the page's own style sheet, by its hash,
 * and nothing else: should text from outside ever get past the escaping, it
 * still cannot run, load or send anything. So pages have no style attributes,
 * scripts, outside files or forms. Any thread.
 */

static const char page_style[] =
    ":root{color-scheme:light dark;--good:#1f7a4c;--bad:#b3263a;"
    "--panel:#f5f7fa}\n"
    "@media screen and (prefers-color-scheme:dark){"
    ":root{--good:#6fd09a;--bad:#f58a92;--panel:#1a2029}}\n"
    "*{box-sizing:border-box}\n"
    "html{-webkit-text-size-adjust:100%}\n"
    "body{margin:0;background:var(--ground);color:var(--ink);"
    "font:16px/1.5 system-ui,-apple-system,\"Segoe UI\",Roboto,"
    "\"DejaVu Sans\",sans-serif}\n"
    "main,footer{max-width:76rem;margin:0 auto;padding:1rem 1.25rem}\n"
    "h1{font-size:1.6rem;line-height:1.2;margin:.5rem 0;"
    "overflow-wrap:anywhere}\n"
    "h2{font-size:1.2rem;margin:2.2rem 0 .4rem}\n"
    "p{margin:.4rem 0;max-width:62rem}\n"
    ".soft,footer,dt,figcaption{color:var(--soft)}\n"
    ".lead{font-size:1.1rem}\n"
    ".good{color:var(--good)}.bad{color:var(--bad)}\n"
    ".good,.bad{font-weight:600}\n"
    ".figures{display:grid;gap:.75rem;margin:1rem 0;"
    "grid-template-columns:repeat(auto-fit,minmax(10.5rem,1fr))}\n"
    ".figures div{background:var(--panel);border-radius:.5rem;"
    "padding:.6rem .8rem}\n"
    "dt{font-size:.85rem;line-height:1.3}\n"
    "dd{margin:.1rem 0 0;font-size:1.25rem;font-weight:600;"
    "font-variant-numeric:tabular-nums}\n"
    ".plots{display:grid;gap:1.5rem;align-items:start;"
    "grid-template-columns:repeat(auto-fit,minmax(min(100%,28rem),1fr))}\n"
    "figure{margin:0;min-width:0;max-width:46rem}\n"
    "figcaption{font-size:.9rem;margin:.25rem 0 .5rem}\n"
    ".plot{display:block;width:100%;max-width:36rem;height:auto}\n";

static const char table_style[] =
    ".data{overflow:auto;max-height:15rem;border:1px solid var(--grid);"
    "border-radius:.4rem}\n"
    ".data.whole{max-height:none}\n"
    "table{border-collapse:collapse;width:100%;font-size:.85rem;"
    "font-variant-numeric:tabular-nums}\n"
    "th,td{padding:.25rem .6rem;text-align:right;"
    "border-top:1px solid var(--grid);white-space:nowrap}\n"
    "thead th{position:sticky;top:0;background:var(--panel);border-top:0;"
    "font-weight:600;vertical-align:bottom;white-space:normal}\n"
    "th:first-child{text-align:left}\n"
    "tbody th{font-weight:400}\n"
    ".range{color:var(--soft)}\n"
    ".lost{margin:.5rem 0;padding-left:3.5rem;font-size:.9rem}\n"
    ".lost li{overflow-wrap:anywhere}\n"
    ".lost code{font-family:ui-monospace,\"DejaVu Sans Mono\",monospace}\n"
    "footer{font-size:.85rem;padding-bottom:2rem}\n"
    ":focus-visible{outline:2px solid var(--hue0)}\n"
    "@media print{body{font-size:10pt}main,footer{max-width:none;padding:0}"
    ".data{max-height:none;overflow:visible;border:0}"
    "thead th{position:static}"
    "figure,.figures div,tr{break-inside:avoid}h2{break-after:avoid}"
    ".plots{grid-template-columns:1fr 1fr}"
    "th,td{padding:.1rem .3rem;white-space:normal}"
    ".figures div{border:1px solid var(--grid)}}\n";

/* CSP Level 3, 6.7.3.2: the base64 form of a digest of the element's text. */
static void add_hash(struct buf *out, const struct buf *style)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned char text[EVP_MAX_MD_SIZE * 2];
    unsigned int len = 0;

    if (EVP_Digest(style->at, style->len, digest, &len, EVP_sha256(), NULL) !=
        1)
        return; /* the page then has no style */
    EVP_EncodeBlock(text, digest, (int)len);
    buf_addf(out, "'sha256-%s'", (const char *)text);
}

void page_text(struct buf *out, const char *text)
{
    format_html(out, bytes_of_str(text));
}

void page_bytes(struct buf *out, struct bytes s)
{
    format_html(out, s);
}

void page_begin(struct buf *out, const char *title)
{
    struct buf style;

    buf_init(&style, 65536);
    buf_addf(&style, "\n%s%s%s", plot_style(), page_style, table_style);
    buf_add_str(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n"
                     "<meta charset=\"utf-8\">\n"
                     "<meta http-equiv=\"Content-Security-Policy\" "
                     "content=\"default-src 'none'; style-src ");
    add_hash(out, &style);
    buf_add_str(out,
                "; base-uri 'none'; form-action 'none'\">\n"
                "<meta name=\"viewport\" "
                "content=\"width=device-width, initial-scale=1\">\n"
                "<meta name=\"referrer\" content=\"no-referrer\">\n<title>");
    page_text(out, title);
    buf_add_str(out, "</title>\n<style>");
    buf_add_bytes(out, buf_bytes(&style));
    buf_add_str(out, "</style>\n</head>\n<body>\n<main>\n");
    buf_fini(&style);
}

void page_end(struct buf *out)
{
    char now[CLOCK_ISO_SIZE];

    clock_iso(now, clock_wall_ms());
    buf_addf(out,
             "</main>\n<footer>urlweir " URLWEIR_VERSION ", %s. One file: no "
             "script, nothing from outside.</footer>\n</body>\n</html>\n",
             now);
}

void page_figure(struct buf *out, const char *name, double value)
{
    buf_add_str(out, "<div><dt>");
    page_text(out, name);
    buf_add_str(out, "</dt><dd>");
    plot_number(out, value);
    buf_add_str(out, "</dd></div>\n");
}

/* ---- an axis: its range, its ticks, and where a value lies on it ---- */

/* Ends of a range, tick to tick: whole multiples of `step`. */
static void fit_linear(struct plot_axis *a, double low, double high)
{
    static const double nice[] = {1, 2, 2.5, 5, 10};
    double rough = (high - low) / 5, power = pow(10, floor(log10(rough)));
    double step = 10 * power;

    for (size_t i = 0; i < sizeof nice / sizeof *nice; i++)
        if (nice[i] * power >= rough * (1 - 1e-9)) {
            step = nice[i] * power;
            break;
        }
    a->low = floor(low / step + 1e-9) * step;
    a->high = ceil(high / step - 1e-9) * step;
    for (double i = 0; a->count < PLOT_TICKS; i++) {
        double v = a->low + i * step;

        if (v > a->high + step / 2)
            break;
        a->tick[a->count++] = fabs(v) < step / 1e6 ? 0 : v;
    }
}

/* ..., 1, 2, 5, 10, 20, ...: the value of a place in that row. */
static double step_value(long place)
{
    static const double step[] = {1, 2, 5};
    long i = (place % 3 + 3) % 3, decade = (place - i) / 3;

    return step[i] * pow(10, (double)decade);
}

/* The last place whose value is not above `v`. */
static long step_below(double v)
{
    long place = 3 * (long)floor(log10(v)) + 3;

    while (step_value(place) > v * (1 + 1e-9))
        place--;
    return place;
}

/* The range ends at a 1, 2 or 5. All of these are ticks if there are few, else
 * only powers of ten, or every second or third power if there are many. */
static void fit_log(struct plot_axis *a, double low, double high)
{
    long first = step_below(low), last = step_below(high), every;

    last += step_value(last) < high * (1 - 1e-9);
    every = last - first > 36 ? 9 : last - first > 21 ? 6 : 3;
    every = last - first <= 7 ? 1 : every;
    a->low = step_value(first);
    a->high = step_value(last);
    for (long p = first; p <= last && a->count < PLOT_TICKS; p++)
        if (p % every == 0)
            a->tick[a->count++] = step_value(p);
}

void plot_axis_fit(struct plot_axis *a, double low, double high, bool log)
{
    *a = (struct plot_axis){.log = log};
    if (log) {
        if (!(high > low * 1.0001)) {
            low /= 2;
            high *= 2;
        }
        fit_log(a, low, high);
        return;
    }
    if (!(high > low))
        high = low + (low != 0 ? fabs(low) : 1);
    fit_linear(a, low, high);
}

/* 0 at the lower end, 1 at the upper; clamped. */
static double plot_axis_at(const struct plot_axis *a, double value)
{
    double at;

    if (a->log)
        at = value > a->low ? log(value / a->low) / log(a->high / a->low) : 0;
    else
        at = (value - a->low) / (a->high - a->low);
    return at < 0 ? 0 : at > 1 ? 1 : at;
}

/* "%g" writes 1e-06; this leaves out the zero. */
static void add_short(struct buf *out, double value)
{
    char text[32];
    char *e;

    snprintf(text, sizeof text, "%.4g", value);
    e = strchr(text, 'e');
    if (e == NULL) {
        buf_add_str(out, text);
        return;
    }
    buf_add(out, text, (size_t)(e - text));
    buf_addf(out, "e%ld", strtol(e + 1, NULL, 10));
}

void plot_axis_label(struct buf *out, double value)
{
    static const char units[] = "kMGT";
    size_t unit = 0;

    if (fabs(value) < 1000) {
        add_short(out, value);
        return;
    }
    value /= 1000;
    while (fabs(value) >= 1000 && unit + 2 < sizeof units) {
        value /= 1000;
        unit++;
    }
    add_short(out, value);
    buf_add_char(out, units[unit]);
}

/* ---- the numbers behind plots as tables, their style, their file ---- */

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

#define LEFT        58
#define RIGHT       20
#define TOP         50
#define INNER       190
#define BELOW       46 /* ticks and words of the x axis */
#define LEGEND_ROW  20
#define BAR_ROW     26
#define BAR_TOP     32
#define BAR_TEXT    64  /* room for a bar's number */
#define DECADES     1e5 /* between the ends of a logarithmic y axis, at most */
#define LABEL_WIDTH 6.9 /* of a letter of 13 units, a little more than most */

struct frame {
    struct buf *out;
    struct plot_axis x, y;
};

static void plot_add_text(struct buf *out, const char *text)
{
    format_html(out, bytes_of_str(text));
}

static double text_width(const char *text)
{
    return (double)strlen(text) * LABEL_WIDTH;
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
    plot_add_text(out, title);
    buf_add_str(out, "\">\n<text class=\"title\" x=\"8\" y=\"18\">");
    plot_add_text(out, title);
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
    plot_add_text(out, p->y);
    buf_addf(out, "</text>\n<text class=\"words mid\" x=\"%d\" y=\"%d\">",
             (LEFT + PLOT_WIDTH - RIGHT) / 2, TOP + INNER + 36);
    plot_add_text(out, p->x);
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
            plot_add_text(out, l->name);
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
        plot_add_text(out, b->name);
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
    plot_add_text(out, p->value);
    buf_add_str(out, "</text>\n</svg>\n");
    return height;
}
