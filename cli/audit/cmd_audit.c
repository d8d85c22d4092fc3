/* SPDX-License-Identifier: MIT */
/*
 * cmd_audit.c - `urlweir audit`: what a Bloom-only crawler would have lost.
 *
 * Reads a crawl's directory, live or finished, or a list of URLs.
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file/file.h"
#include "base/file/line_input.h"
#include "base/mem.h"
#include "base/record.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/filter/filter_commands.h"
#include "cli/filter/filter_measure.h"
#include "cli/open_crawl.h"
#include "cli/report/plot.h"
#include "cli/shards/crawl_dirs.h"
#include "frontier/audit/audit.h"

/*
 * An audit as text for people, and as JSON for programs.
 */

static double audit_bits_per_key(const struct audit_step *s)
{
    return s->keys > 0 ? (double)s->bits / (double)s->keys : 0.0;
}

static void print_step(const char *label, const struct audit_step *s)
{
    printf("  %-12s %12" PRIu64 " %9" PRIu64 "  %9.3g  %9.3g .. %-9.3g "
           "%9.3g %9.3g %7.2f\n",
           label, s->asked, s->false_positives, s->measured, s->low, s->high,
           s->promised, s->predicted, audit_bits_per_key(s));
}

static void print_series(const struct audit_series *s)
{
    printf("\n%s\n  %-12s %12s %9s  %9s  %-22s %9s %9s %7s\n", s->name,
           "URLs up to", "new asked", "false +", "measured", "95 % interval",
           "promised", "predicted", "bits");
    for (size_t i = 0; i < s->count; i++) {
        char label[24];

        snprintf(label, sizeof label, "%" PRIu64, s->steps[i].upto);
        print_step(label, &s->steps[i]);
    }
    print_step("all", &s->total);
}

/* Prints all replays side by side, to choose from. */
static void print_replays(const struct audit *a)
{
    printf("\n%-32s %11s %9s  %9s  %-22s %9s %7s %7s %7s\n", "replayed",
           "made for", "lost", "measured", "95 % interval", "predicted", "bits",
           "add ns", "ask ns");
    for (size_t i = 0; i < a->what_if_count; i++) {
        const struct audit_series *s = &a->what_if[i];
        const struct audit_step *t = &s->total;

        printf("%-32s %11" PRIu64 " %9" PRIu64 "  %9.3g  %9.3g .. %-9.3g "
               "%9.3g %7.2f %7.1f %7.1f\n",
               s->name, s->made_for, t->false_positives, t->measured, t->low,
               t->high, t->predicted, audit_bits_per_key(t), s->add_ns,
               s->check_ns);
    }
}

/* `what`: the directory or file that was audited. */
static void audit_print_text(const struct audit *a, const char *what)
{
    const struct audit_step *t = &a->crawl.total;

    printf("audit of %s\n", what);
    print_series(&a->crawl);
    if (a->what_if_count > 0)
        print_replays(a);
    printf("\nA Bloom-only crawler would have lost %" PRIu64 " of %" PRIu64
           " URLs; the exact set caught them.\n",
           t->false_positives, t->asked);
    if (a->links_recorded)
        printf("%" PRIu64 " of %" PRIu64 " fetched URLs cannot be reached "
               "without those.\n",
               a->only_through_lost, a->fetched);
    else if (a->fetched > 0)
        printf("%" PRIu64 " of %" PRIu64 " fetched URLs were first found "
               "through one of those (a crawl with --record links knows the "
               "other ways to them).\n",
               a->found_through_lost, a->fetched);
    if (a->filter_checked)
        printf("False negatives: %" PRIu64 " (each of the %" PRIu64
               " URLs that the filter file covers was asked).\n",
               a->false_negatives, a->filter_covers);
    else
        printf("False negatives: not checked, there is no filter file.\n");
    printf("URLs missing from the exact set: %" PRIu64 " (it holds %" PRIu64
           ").\n",
           a->missing, a->exact_count);
    if (t->asked > 0 && t->promised > 0 && t->low > t->promised)
        printf("The measured rate is ABOVE the promise.\n");
}

static json_t *step_json(const struct audit_step *s)
{
    return json_pack("{s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:I, s:o}",
                     "upto", (json_int_t)s->upto, "new", (json_int_t)s->asked,
                     "fpr_measured", s->measured, "fpr_low", s->low, "fpr_high",
                     s->high, "fpr_promised", s->promised, "fpr_predicted",
                     s->predicted, "bits_per_key", audit_bits_per_key(s),
                     "false_positives", (json_int_t)s->false_positives, "fill",
                     s->fill >= 0 ? json_real(s->fill) : json_null());
}

/* Adds the figures that only a replay has. */
static void add_replay(json_t *o, const struct audit_series *s)
{
    json_object_set_new(o, "kind", json_string(s->kind));
    json_object_set_new(o, "fpr", json_real(s->fpr));
    json_set_uint(o, "made_for", s->made_for);
    json_set_uint(o, "would_have_lost", s->total.false_positives);
    json_object_set_new(o, "add_ns", json_real(s->add_ns));
    json_object_set_new(o, "check_ns", json_real(s->check_ns));
}

static json_t *answers_json(const struct audit_answers *a)
{
    return json_pack("{s:I, s:I, s:I, s:I}", "repeats", (json_int_t)a->repeats,
                     "new", (json_int_t)a->fresh, "maybe_known",
                     (json_int_t)a->known, "maybe_new",
                     (json_int_t)a->false_positives);
}

static json_t *series_json(const struct audit_series *s)
{
    json_t *o = step_json(&s->total), *steps = json_array();

    for (size_t i = 0; i < s->count; i++)
        json_array_append_new(steps, step_json(&s->steps[i]));
    json_object_set_new(o, "name", json_string(s->name));
    json_object_set_new(o, "steps", steps);
    if (s->kind != NULL)
        add_replay(o, s);
    return o;
}

/* docs/formats/audit.md */
static void audit_print_json(const struct audit *a, const char *what)
{
    json_t *o = series_json(&a->crawl), *list = json_array();

    for (size_t i = 0; i < a->what_if_count; i++)
        json_array_append_new(list, series_json(&a->what_if[i]));
    json_object_set_new(o, "name", json_string(what));
    json_object_set_new(o, "what_if", list);
    json_object_set_new(o, "answers", answers_json(&a->answers));
    json_set_uint(o, "false_negatives", a->false_negatives);
    json_object_set_new(o, "filter_checked", json_boolean(a->filter_checked));
    json_set_uint(o, "filter_covers", a->filter_covers);
    json_set_uint(o, "missing", a->missing);
    json_set_uint(o, "exact_count", a->exact_count);
    json_set_uint(o, "would_have_lost", a->crawl.total.false_positives);
    json_set_uint(o, "fetched", a->fetched);
    json_set_uint(o, "fetched_found_through_lost", a->found_through_lost);
    json_object_set_new(o, "fetched_only_through_lost",
                        a->links_recorded
                            ? json_integer((json_int_t)a->only_through_lost)
                            : json_null());
    json_print(o);
    json_decref(o);
}

/*
 * An audit as one HTML page with plots (docs/formats/audit.md).
 *
 * Every number stands in a <data value="..."> with the digits of --json.
 *
 * The page begins with the verdict in a sentence and the figures. The crawl's
 * own filter follows, then for each rate the filters that were replayed with
 * it, and last the lost URLs.
 */

#define AUDIT_PAGE_LOST 1000 /* most lost URLs that it lists */

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

static void filters_table(struct buf *out, const struct audit *a)
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
    filters_table(out, a);
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

/* `what`: the directory or file that was audited. `lost`: the first lost URLs,
 * each followed by LF. */
static void audit_page(struct buf *out, const struct audit *a, const char *what,
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

struct audit_settings {
    char *urls, *lost, *html;
    double fpr;
    struct option_list what_if, filters;
    bool json;
    uint8_t from[7];
};

#define AT(f) .at = offsetof(struct audit_settings, f)

/* clang-format off */
static const struct option_spec specs[] = {
    {.name = "urls", .type = OPTION_TEXT, AT(urls), .section = "What",
     .arg = "FILE",
     .help = "use a list of URLs, one a line, packed or not, instead of a "
             "crawl; `-` is stdin"},
    {.name = "fpr", .type = OPTION_FRACTION, AT(fpr), .fallback = "0.001",
     .min = 1e-9, .max = 0.5, .section = "What", .arg = "P",
     .help = "with --urls: the false-positive rate to promise"},
    {.name = "what-if", .type = OPTION_LIST, AT(what_if),
     .flags = OPTION_COMMAS, .section = "What", .arg = "P,...",
     .help = "replay the same URLs through filters of these rates"},
    {.name = "filters", .type = OPTION_LIST, AT(filters),
     .words = filter_kind_words, .flags = OPTION_COMMAS, .section = "What",
     .arg = "KIND,...",
     .help = "replay them through filters of these kinds, at each rate of "
             "--what-if or at that of the crawl"},
    {.name = "lost", .type = OPTION_TEXT, AT(lost), .section = "Output",
     .arg = "FILE",
     .help = "write the URLs that a Bloom-only crawler would have lost"},
    {.name = "html", .type = OPTION_TEXT, AT(html), .section = "Output",
     .arg = "FILE",
     .help = "write one page with plots; replays all kinds unless --filters "
             "names some"},
    {.name = "json", .type = OPTION_FLAG, AT(json), .section = "Output",
     .help = "one JSON object (docs/formats/audit.md)"},
};
/* clang-format on */

static const struct option_table table =
    OPTION_TABLE(specs, struct audit_settings);

/* Writes the URLs that would have been lost. */
struct lost {
    FILE *to;        /* all of them; NULL: not wanted */
    struct buf page; /* the first of them, for --html */
    uint64_t listed; /* in the page */
};

static void put_lost(struct lost *l, struct bytes url)
{
    if (l->to != NULL)
        fprintf(l->to, "%.*s\n", (int)url.len, url.at);
    if (l->listed < AUDIT_PAGE_LOST) {
        l->listed++;
        buf_add_bytes(&l->page, url);
        buf_add_char(&l->page, '\n');
    }
}

static void visit_lost(void *ctx, const struct url_row *row)
{
    put_lost(ctx, row->url);
}

static int write_page(const char *path, const struct audit *a, const char *what,
                      const struct lost *lost)
{
    struct buf out;
    enum status st;

    buf_init(&out, (size_t)256 << 20);
    audit_page(&out, a, what, &lost->page);
    st = buf_failed(&out);
    if (st == STATUS_OK)
        st = file_replace(path, buf_bytes(&out));
    buf_fini(&out);
    if (st == STATUS_OK)
        return EXIT_DONE;
    fprintf(stderr, "urlweir audit: cannot write %s: %s\n", path,
            status_text(st));
    return EXIT_CANNOT;
}

/* Writes all that was asked for. The exit status tells what the audit found. */
static int write_result(const struct audit_settings *s, const struct audit *a,
                        const char *what, const struct lost *lost)
{
    int code = EXIT_DONE;

    if (s->json)
        audit_print_json(a, what);
    else
        audit_print_text(a, what);
    if (s->html != NULL)
        code = write_page(s->html, a, what, lost);
    if (a->false_negatives > 0 || a->missing > 0)
        code = EXIT_SEEDS; /* 5: a false negative was found */
    return code;
}

/* Returns --what-if as numbers; NULL with *code set if one is not a valid rate.
 */
static double *rates_of(const struct option_list *l, int *code)
{
    double *rates = calloc(l->count + 1, sizeof *rates);

    for (size_t i = 0; rates != NULL && i < l->count; i++) {
        char *end = NULL;

        rates[i] = strtod(l->item[i], &end);
        if (end == l->item[i] || *end != '\0' || !(rates[i] >= 1e-9) ||
            rates[i] > 0.5) {
            *code = usage_error(&audit_usage,
                                "--what-if '%s': it takes rates between 1e-9 "
                                "and 0.5, such as 1e-3",
                                l->item[i]);
            free(rates);
            return NULL;
        }
    }
    return rates;
}

static int audit_a_crawl(const char *dir, const struct audit_settings *s,
                         const struct audit_options *o, const struct lost *lost)
{
    struct audit a;
    struct reader r;
    int code = EXIT_DONE;
    enum status st;

    if (!open_crawl(&r, "audit", dir, &code))
        return code;
    st = audit_crawl(&a, &r, o);
    if (st != STATUS_OK) {
        fprintf(stderr, "urlweir audit: cannot read %s: %s\n", dir,
                status_text(st));
        code = st == STATUS_DAMAGED ? EXIT_DAMAGED : EXIT_CANNOT;
    } else {
        code = write_result(s, &a, dir, lost);
        audit_fini(&a);
    }
    reader_close(&r);
    return code;
}

/* A list being read. */
struct list {
    struct audit_list *audit;
    struct line_input *in;
    struct url url;
    struct lost *lost;
    uint64_t bad; /* lines that are not a URL */
};

static enum status add_line(void *ctx, struct bytes line, bool too_long)
{
    struct list *l = ctx;
    bool fresh, would_be_lost;
    enum status st;

    if (too_long)
        return STATUS_OK; /* line_input counts it */
    line = line_entry(line);
    if (line.len == 0)
        return STATUS_OK;
    if (url_canonical(&l->url, line, NULL, NULL) != URL_OK) {
        l->bad++;
        return STATUS_OK;
    }
    st = audit_list_add(l->audit, url_text(&l->url), &fresh, &would_be_lost);
    if (st == STATUS_OK && would_be_lost)
        put_lost(l->lost, url_text(&l->url));
    return st;
}

static int audit_a_list(const struct audit_settings *s,
                        const struct audit_options *o, struct lost *lost)
{
    const char *file = s->urls;
    struct list l = {.lost = lost, .in = line_input_new(&file, 1)};
    struct audit a;
    int code = EXIT_DONE;
    enum status st;

    url_init(&l.url);
    st = line_input_check(l.in);
    if (st == STATUS_OK)
        st = audit_list_new(&l.audit, s->fpr, o);
    if (st == STATUS_OK)
        st = line_input_each(l.in, add_line, &l);
    if (st == STATUS_OK)
        st = audit_list_finish(l.audit, &a);
    if (st == STATUS_OK) {
        code = write_result(s, &a, s->urls, lost);
        audit_fini(&a);
    } else {
        const char *why = line_input_error(l.in);

        fprintf(stderr, "urlweir audit: %s%s\n",
                why[0] != '\0' ? "cannot read " : "",
                why[0] != '\0' ? why : status_text(st));
        code = EXIT_CANNOT;
    }
    if (l.bad > 0)
        fprintf(stderr,
                "urlweir audit: %" PRIu64 " lines are not http(s) URLs and "
                "were skipped\n",
                l.bad);
    if (line_input_too_long(l.in) > 0) {
        fprintf(stderr,
                "urlweir audit: %" PRIu64 " lines are over 1 MiB and were "
                "skipped\n",
                line_input_too_long(l.in));
        code = code == EXIT_DONE ? EXIT_CANNOT : code;
    }
    audit_list_free(l.audit);
    url_fini(&l.url);
    line_input_free(l.in);
    return code;
}

/* Chooses the kinds that --filters names; without it a page shows all kinds. */
static void choose_kinds(struct audit_options *o,
                         const struct audit_settings *s)
{
    o->kinds = (const char *const *)s->filters.item;
    o->kind_count = s->filters.count;
    if (s->html == NULL || o->kind_count > 0)
        return;
    o->kinds = filter_kind_words;
    while (filter_kind_words[o->kind_count] != NULL)
        o->kind_count++;
}

static int open_and_audit(const struct audit_settings *s, const char *dir,
                          const struct audit_options *without_lost)
{
    struct lost lost = {.to = NULL};
    struct audit_options o = *without_lost;
    int code;

    if (s->lost != NULL && (lost.to = fopen(s->lost, "we")) == NULL) {
        fprintf(stderr, "urlweir audit: cannot write %s: %s\n", s->lost,
                strerror(errno));
        return EXIT_CANNOT;
    }
    buf_init(&lost.page, (size_t)64 << 20);
    o.lost = visit_lost;
    o.ctx = &lost;
    code = s->urls != NULL ? audit_a_list(s, &o, &lost)
                           : audit_a_crawl(dir, s, &o, &lost);
    if (lost.to != NULL && fclose(lost.to) != 0) {
        fprintf(stderr, "urlweir audit: cannot write %s: %s\n", s->lost,
                strerror(errno));
        code = EXIT_CANNOT;
    }
    buf_fini(&lost.page);
    return code;
}

struct auditing {
    const struct audit_settings *s;
    const struct audit_options *o;
};

/* Of a shard also what went to others: their URLs are in their audits. */
static int audit_dir(void *ctx, const struct crawl_dir *d)
{
    const struct auditing *x = ctx;

    if (d->is_shard && !x->s->json)
        printf("shard %" PRIu32 ": %" PRIu64
               " URLs sent to other shards, %" PRIu64 " received\n",
               d->shard, d->sent, d->received);
    return open_and_audit(x->s, d->path, x->o);
}

static int audit_dirs(const struct audit_settings *s, const char *where,
                      const struct audit_options *o)
{
    struct auditing x = {s, o};

    if ((s->html != NULL || s->lost != NULL) && crawl_dirs_are_shards(where))
        return usage_error(&audit_usage,
                           "--html and --lost are of one directory: of "
                           "DIR/shards/N");
    return crawl_dirs_each("audit", where, bytes_of("", 0), audit_dir, &x);
}

static int audit_run(const struct usage *u, void *settings,
                     const struct option_list *dirs)
{
    const struct audit_settings *s = settings;
    struct audit_options o = {.what_if_count = s->what_if.count,
                              .now = filter_measure_now};
    double *rates;
    int code = EXIT_DONE;

    if ((s->urls != NULL) == (dirs->count > 0))
        return usage_error(u, s->urls != NULL
                                  ? "give a directory or --urls, not both"
                                  : "which crawl? give its directory, or "
                                    "--urls FILE");
    rates = rates_of(&s->what_if, &code);
    if (rates == NULL)
        return code;
    o.what_if = rates;
    choose_kinds(&o, s);
    code = s->urls != NULL ? open_and_audit(s, NULL, &o)
                           : audit_dirs(s, dirs->item[0], &o);
    free(rates);
    return code;
}

const struct usage audit_usage = {
    .name = "audit",
    .synopsis = "audit DIR|kafka://HOST/NAME [--what-if P,...] [--filters "
                "KIND,...] [options]\n"
                "audit --urls FILE [--fpr P] [options]",
    .about = "Measures the dedupe miss rate of the filter against what it "
             "promised, for each growth step, with a 95 % Wilson interval, and "
             "checks that it has no false negative.",
    .table = &table,
    .least = 0,
    .most = 1,
    .operand = "a crawl's directory, or the URL of a crawl in Kafka",
    .run = audit_run,
};
