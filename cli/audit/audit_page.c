/* SPDX-License-Identifier: MIT */
/*
 * audit_page.c - an audit as one HTML page with plots.
 *
 * The page begins with the verdict in a sentence and the figures. The crawl's
 * own filter follows, then for each rate the filters that were replayed with
 * it, and last the lost URLs.
 */
#include "cli/audit/audit_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/audit/audit_text.h"
#include "cli/report/page.h"
#include "cli/report/plot.h"

/* ---- lines from steps ---- */

enum curve { MEASURED, PROMISED, PREDICTED, FILL };

static double y_of(const struct audit_step *s, enum curve c)
{
    switch (c) {
    case MEASURED:
        return s->measured;
    case PROMISED:
        return s->promised > 0 ? s->promised : -1;
    case PREDICTED:
        return s->promised > 0 ? s->predicted : -1;
    case FILL:
        return s->fill;
    }
    return -1;
}

/* The caller frees the points. */
static struct plot_line line_of(const struct audit_series *s, enum curve c,
                                const char *name, unsigned hue)
{
    struct plot_point *at = xcalloc(s->count, sizeof *at);

    for (size_t i = 0; i < s->count; i++)
        at[i] = (struct plot_point){.x = (double)s->steps[i].upto,
                                    .y = y_of(&s->steps[i], c),
                                    .low = s->steps[i].low,
                                    .high = s->steps[i].high};
    return (struct plot_line){.name = name,
                              .at = at,
                              .count = s->count,
                              .hue = hue,
                              .dashed = c == PROMISED};
}

static void free_lines(struct plot_line *lines, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free((void *)lines[i].at);
}

/* ---- figures ---- */

/* Opens the box that scrolls below a plot, with its name for screen readers. */
static void open_data(struct buf *out, const char *title)
{
    buf_add_str(out, "<div class=\"data\" role=\"region\" tabindex=\"0\" "
                     "aria-label=\"Numbers: ");
    page_text(out, title);
    buf_add_str(out, "\">\n");
}

static void add_plot(struct buf *out, const struct plot *p, const char *about)
{
    buf_add_str(out, "<figure>\n");
    plot_draw(out, p, 0, 0);
    buf_add_str(out, "<figcaption>");
    page_text(out, about);
    buf_add_str(out, "</figcaption>\n");
    open_data(out, p->title);
    plot_table(out, p);
    buf_add_str(out, "</div>\n</figure>\n");
}

static void add_bars(struct buf *out, const struct plot_bars *p,
                     const char *about)
{
    buf_add_str(out, "<figure>\n");
    plot_draw_bars(out, p, 0, 0);
    buf_add_str(out, "<figcaption>");
    page_text(out, about);
    buf_add_str(out, "</figcaption>\n");
    open_data(out, p->title);
    plot_table_bars(out, p);
    buf_add_str(out, "</div>\n</figure>\n");
}

/* ---- the head ---- */

static const char *judgement(const struct audit_step *t)
{
    if (t->low > t->promised)
        return ". <span class=\"bad\">Above the promise.</span>";
    if (t->high <= t->promised)
        return ". <span class=\"good\">Promise kept.</span>";
    return ": too few URLs to tell them apart.";
}

static void verdict(struct buf *out, const struct audit *a)
{
    const struct audit_step *t = &a->crawl.total;

    buf_add_str(out, "<p class=\"lead\">");
    if (t->asked == 0) {
        buf_add_str(out, "No URL was checked yet.</p>\n");
        return;
    }
    buf_add_str(out, "Of ");
    plot_number(out, (double)t->asked);
    buf_add_str(out, " new URLs the filter called ");
    plot_number(out, (double)t->false_positives);
    buf_add_str(out, " seen before: a rate of ");
    plot_number(out, t->measured);
    buf_add_str(out, " (95\u00a0% interval ");
    plot_number(out, t->low);
    buf_add_str(out, " to ");
    plot_number(out, t->high);
    if (t->promised > 0) {
        buf_add_str(out, ") against a promise of ");
        plot_number(out, t->promised);
        buf_add_str(out, judgement(t));
    } else {
        buf_add_str(out, "). This crawl had no filter.");
    }
    buf_add_str(out, "</p>\n");
    if (t->false_positives > 0)
        buf_add_str(out, "<p>A Bloom-only crawler would have lost those; the "
                         "exact set caught them.</p>\n");
}

static void figures(struct buf *out, const struct audit *a)
{
    const struct audit_step *t = &a->crawl.total;

    buf_add_str(out, "<dl class=\"figures\">\n");
    page_figure(out, "new URLs checked", (double)t->asked);
    page_figure(out, "URLs a Bloom-only crawler would have lost",
                (double)t->false_positives);
    if (a->filter_checked)
        page_figure(out, "false negatives (must be 0)",
                    (double)a->false_negatives);
    page_figure(out, "URLs missing from the exact set (must be 0)",
                (double)a->missing);
    if (t->keys > 0 && t->bits > 0)
        page_figure(out, "bits a URL", audit_bits_per_key(t));
    if (a->fetched > 0)
        page_figure(out, "URLs fetched", (double)a->fetched);
    if (a->links_recorded)
        page_figure(out, "of them reachable only through lost URLs",
                    (double)a->only_through_lost);
    else if (a->fetched > 0)
        page_figure(out, "of them first found through lost URLs",
                    (double)a->found_through_lost);
    buf_add_str(out, "</dl>\n");
}

/* ---- the crawl's own filter ---- */

static void rate_plot(struct buf *out, const struct audit_series *s)
{
    struct plot_line lines[3];
    size_t n = 0;
    struct plot p = {.title = "False-positive rate as the crawl grew",
                     .x = "URLs known",
                     .y = "share of new URLs called seen, each step",
                     .x_log = true,
                     .y_log = true,
                     .lines = lines};

    lines[n] = line_of(s, MEASURED, "measured", 0);
    lines[n++].band = true;
    if (s->total.promised > 0) {
        lines[n++] = line_of(s, PROMISED, "promised", 4);
        lines[n++] = line_of(s, PREDICTED, "predicted from the fill", 2);
    }
    p.count = n;
    add_plot(
        out, &p,
        "Each point is a step of growth, the URLs since the one before; "
        "the band is its 95\u00a0% Wilson interval. An empty marker on the "
        "lower edge: none, or less than can be shown.");
    free_lines(lines, n);
}

static void answers_plot(struct buf *out, const struct audit_answers *a)
{
    const struct plot_bar bars[] = {
        {"seen on the page or just now", (double)a->repeats, PLOT_GREY},
        {"filter: certainly new", (double)a->fresh, 0},
        {"filter: maybe; it was known", (double)a->known, 2},
        {"filter: maybe; it was new", (double)a->false_positives, 4},
    };
    struct plot_bars p = {.title = "Who answered",
                          .name = "answer",
                          .value = "URLs asked",
                          .bars = bars,
                          .count = sizeof bars / sizeof *bars};

    add_bars(out, &p,
             "What a \"maybe\" means is settled by the exact set. The last row "
             "is what a Bloom-only crawler loses.");
}

static void own_section(struct buf *out, const struct audit *a)
{
    buf_add_str(out, "<h2>As it happened</h2>\n<div class=\"plots\">\n");
    if (a->crawl.count > 0)
        rate_plot(out, &a->crawl);
    answers_plot(out, &a->answers);
    buf_add_str(out, "</div>\n");
}

/* ---- other filters, one rate ---- */

/* Series first .. first + n - 1 of what_if share their rate. */
struct group {
    const struct audit_series *at;
    size_t n;
};

/* Writes the name of a series without the rate, which its group shares. */
static void short_name(char *out, size_t size, const struct audit_series *s)
{
    const char *rest = strstr(s->name, " for ");

    snprintf(out, size, "%s%s", s->kind, rest != NULL ? rest : "");
}

static void compare_plot(struct buf *out, const struct group *g, enum curve c,
                         struct plot *p, const char *about)
{
    struct plot_line *lines = xcalloc(g->n + 1, sizeof *lines);
    char(*names)[AUDIT_NAME] = xcalloc(g->n, sizeof *names);
    size_t n = 0;

    for (; n < g->n; n++) {
        short_name(names[n], sizeof names[n], &g->at[n]);
        lines[n] = line_of(&g->at[n], c, names[n], (unsigned)n % PLOT_GREY);
    }
    if (c == MEASURED)
        lines[n++] = line_of(&g->at[0], PROMISED, "promised", PLOT_GREY);
    p->x = "URLs known";
    p->x_log = true;
    p->lines = lines;
    p->count = n;
    add_plot(out, p, about);
    free_lines(lines, n);
    free(lines);
    free(names);
}

static double check_ns(const struct audit_series *s)
{
    return s->check_ns;
}

static double bits(const struct audit_series *s)
{
    return audit_bits_per_key(&s->total);
}

static void cost_bars(struct buf *out, const struct group *g,
                      double (*value)(const struct audit_series *s),
                      struct plot_bars *p, const char *about)
{
    struct plot_bar *bars = xcalloc(g->n, sizeof *bars);
    char(*names)[AUDIT_NAME] = xcalloc(g->n, sizeof *names);

    for (size_t i = 0; i < g->n; i++) {
        short_name(names[i], sizeof names[i], &g->at[i]);
        bars[i] = (struct plot_bar){.name = names[i],
                                    .value = value(&g->at[i]),
                                    .hue = (unsigned)i % PLOT_GREY};
    }
    p->name = "filter";
    p->bars = bars;
    p->count = g->n;
    add_bars(out, p, about);
    free(bars);
    free(names);
}

static void group_plots(struct buf *out, const struct group *g)
{
    struct plot rate = {.title = "Measured rate, by filter",
                        .y = "share of new URLs called seen, each step",
                        .y_log = true};
    struct plot fill = {.title = "Fill",
                        .y = "share of bits or slots taken",
                        .y_most = 1};
    struct plot_bars time = {.title = "Cost of a check",
                             .value = "ns of CPU for a new URL, in batches"};
    struct plot_bars size = {.title = "Memory", .value = "bits a URL"};

    buf_add_str(out, "<div class=\"plots\">\n");
    compare_plot(out, g, MEASURED, &rate,
                 "Each point is a step of growth. A filter that cannot grow "
                 "leaves its promise behind where it holds more than it was "
                 "made for.");
    compare_plot(out, g, FILL, &fill,
                 "At the end of each step. Those that grow keep theirs between "
                 "two bounds.");
    if (g->at[0].check_ns > 0)
        cost_bars(out, g, check_ns, &time,
                  "Measured after the replay, on this machine, which may have "
                  "had other work.");
    cost_bars(out, g, bits, &size, "Of the memory that answers, at the end.");
    buf_add_str(out, "</div>\n");
}

/* ---- all filters in one table ---- */

static void number_cell(struct buf *out, double value)
{
    buf_add_str(out, "<td>");
    plot_number(out, value);
    buf_add_str(out, "</td>");
}

static void series_row(struct buf *out, const struct audit_series *s)
{
    const struct audit_step *t = &s->total;

    buf_add_str(out, "<tr><th scope=\"row\">");
    page_text(out, s->name);
    buf_add_str(out, "</th>");
    number_cell(out, (double)s->made_for);
    number_cell(out, (double)t->false_positives);
    number_cell(out, t->measured);
    buf_add_str(out, "<td class=\"range\">");
    plot_number(out, t->low);
    buf_add_str(out, " to ");
    plot_number(out, t->high);
    buf_add_str(out, t->low > s->fpr ? "</td><td class=\"bad\">" : "</td><td>");
    plot_number(out, t->promised);
    buf_add_str(out, "</td>");
    number_cell(out, t->predicted);
    number_cell(out, t->fill);
    number_cell(out, audit_bits_per_key(t));
    number_cell(out, s->add_ns);
    number_cell(out, s->check_ns);
    buf_add_str(out, "</tr>\n");
}

static void table(struct buf *out, const struct audit *a)
{
    static const char *const heads[] = {"filter",
                                        "made for",
                                        "would have lost",
                                        "measured",
                                        "95\u00a0% interval",
                                        "promised",
                                        "predicted",
                                        "fill",
                                        "bits a URL",
                                        "ns to add",
                                        "ns to check"};

    buf_add_str(out, "<div class=\"data whole\" role=\"region\" "
                     "tabindex=\"0\" aria-label=\"All filters\">\n"
                     "<table>\n<thead><tr>");
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        buf_addf(out, "<th scope=\"col\">%s</th>", heads[i]);
    buf_add_str(out, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < a->what_if_count; i++)
        series_row(out, &a->what_if[i]);
    buf_add_str(out, "</tbody>\n</table>\n</div>\n");
}

static void others(struct buf *out, const struct audit *a)
{
    size_t i = 0;

    if (a->what_if_count == 0)
        return;
    buf_add_str(out, "<h2>The same URLs through other filters</h2>\n"
                     "<p>Each was told every URL in the order in which the "
                     "crawl met them, with no exact set behind it. A promise "
                     "in red was broken.</p>\n");
    table(out, a);
    while (i < a->what_if_count) {
        struct group g = {.at = &a->what_if[i]};

        while (i + g.n < a->what_if_count && !(g.at[g.n].fpr < g.at->fpr) &&
               !(g.at[g.n].fpr > g.at->fpr))
            g.n++;
        buf_addf(out, "<h2>Promised: %g</h2>\n", g.at->fpr);
        group_plots(out, &g);
        i += g.n;
    }
}

/* ---- the lost URLs ---- */

static void lost_urls(struct buf *out, const struct audit *a,
                      const struct buf *lost)
{
    const char *at = buf_str(lost), *end;
    uint64_t listed = 0;

    if (a->crawl.total.false_positives == 0)
        return;
    buf_add_str(out, "<h2>URLs a Bloom-only crawler would have lost</h2>\n"
                     "<ol class=\"lost\">\n");
    for (; (end = strchr(at, '\n')) != NULL; at = end + 1) {
        buf_add_str(out, "<li><code>");
        page_bytes(out, bytes_of(at, (size_t)(end - at)));
        buf_add_str(out, "</code></li>\n");
        listed++;
    }
    buf_add_str(out, "</ol>\n");
    if (listed < a->crawl.total.false_positives) {
        buf_add_str(out, "<p class=\"soft\">And ");
        plot_number(out, (double)(a->crawl.total.false_positives - listed));
        buf_add_str(out, " more: <code>urlweir audit --lost FILE</code> writes "
                         "all of them.</p>\n");
    }
}

void audit_page(struct buf *out, const struct audit *a, const char *what,
                const struct buf *lost)
{
    struct buf title;

    buf_init(&title, 8192);
    buf_addf(&title, "Audit of %s", what);
    page_begin(out, buf_str(&title));
    buf_add_str(out, "<h1>");
    page_text(out, buf_str(&title));
    buf_add_str(out, "</h1>\n");
    buf_fini(&title);
    verdict(out, a);
    figures(out, a);
    own_section(out, a);
    others(out, a);
    lost_urls(out, a, lost);
    page_end(out);
}
