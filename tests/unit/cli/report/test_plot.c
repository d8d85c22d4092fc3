/* SPDX-License-Identifier: MIT */
#include "cli/report/plot.h"

#include <libxml/parser.h>
#include <math.h>
#include <string.h>

#include "tests/unit/unit.h"

static struct buf b;

static void setup(void)
{
    buf_init(&b, (size_t)1 << 20);
}

static void teardown(void)
{
    buf_fini(&b);
}

static void is(const char *want)
{
    ck_assert_str_eq(buf_str(&b), want);
    buf_clear(&b);
}

static void ticks_are(const struct plot_axis *a, const char *want)
{
    for (size_t i = 0; i < a->count; i++) {
        buf_add_str(&b, i > 0 ? " " : "");
        plot_axis_label(&b, a->tick[i]);
    }
    is(want);
}

FIXTURE(setup, teardown);

TEST(ticks_are_round_numbers)
{
    struct plot_axis a;

    plot_axis_fit(&a, 0, 97, false);
    ticks_are(&a, "0 20 40 60 80 100");
    plot_axis_fit(&a, 0, 0.31, false);
    ticks_are(&a, "0 0.1 0.2 0.3 0.4");
    plot_axis_fit(&a, 1024, 4e6, true);
    ticks_are(&a, "1k 10k 100k 1M");
    plot_axis_fit(&a, 1e-6, 0.02, true);
    ticks_are(&a, "1e-6 1e-5 0.0001 0.001 0.01");
    plot_axis_fit(&a, 3, 70, true);
    ticks_are(&a, "2 5 10 20 50 100");
    plot_axis_fit(&a, 1e-9, 1e9, true);
    ticks_are(&a, "1e-9 1e-6 0.001 1 1k 1M 1G");
}

TEST(a_number_is_short_to_read_and_whole_to_copy)
{
    plot_number(&b, 0.00123456789);
    is("<data value=\"0.00123456789\">0.001235</data>");
    plot_number(&b, 1234567);
    is("<data value=\"1234567\">1,234,567</data>");
    plot_number(&b, 12345678901);
    is("<data value=\"12345678901\">12,345,678,901</data>");
    plot_number(&b, 1e-7);
    is("<data value=\"1e-07\">1e-7</data>");
    plot_number(&b, 0);
    is("<data value=\"0\">0</data>");
}

static const struct plot_point points[] = {{1024, 0, 0, 0.004},
                                           {2048, 0.01, 0.005, 0.02},
                                           {4096, -1, 0, 0},
                                           {8192, 0.5, 0.4, 0.6}};

/* A separate XML parser must accept the drawing. */
static void is_well_formed(const char *text)
{
    xmlDocPtr doc = xmlReadMemory(text, (int)strlen(text), "plot.svg", NULL,
                                  XML_PARSE_NONET | XML_PARSE_NOERROR);

    ck_assert_msg(doc != NULL, "%s", text);
    xmlFreeDoc(doc);
}

TEST(a_plot_is_well_formed_whatever_its_words_are)
{
    static const char *const hostile = "</svg><script>a(1)</script>&\"'";
    struct plot_line l = {hostile, points, 4, 0, true, false};
    struct plot p = {.title = hostile,
                     .x = hostile,
                     .y = hostile,
                     .x_log = true,
                     .y_log = true,
                     .lines = &l,
                     .count = 1};
    struct plot_bar bar = {hostile, 3, 1};
    struct plot_bars bars = {hostile, hostile, hostile, &bar, 1};
    double height;

    plot_file_begin(&b, hostile, PLOT_WIDTH, 900);
    height = plot_draw(&b, &p, 0, 0);
    ck_assert_double_gt(plot_draw_bars(&b, &bars, 0, height), 0);
    plot_file_end(&b);
    is_well_formed(buf_str(&b));
    ck_assert_ptr_null(strstr(buf_str(&b), "<script"));
    buf_clear(&b);
    plot_table(&b, &p);
    is_well_formed(buf_str(&b));
    buf_clear(&b);
    plot_table_bars(&b, &bars);
    is_well_formed(buf_str(&b));
}

TEST(a_table_has_a_row_for_each_x_of_any_line)
{
    static const struct plot_point other[] = {{2048, 7, 0, 0}, {3000, 8, 0, 0}};
    struct plot_line l[] = {{"a", points, 4, 0, true, false},
                            {"b", other, 2, 1, false, false}};
    struct plot p = {
        .title = "t", .x = "keys", .y = "y", .lines = l, .count = 2};
    size_t rows = 0;

    plot_table(&b, &p);
    for (const char *at = buf_str(&b); (at = strstr(at, "<tr>")) != NULL; at++)
        rows++;
    ck_assert_uint_eq(rows, 1 + 5);
    ck_assert_ptr_nonnull(
        strstr(buf_str(&b),
               "<th scope=\"row\"><data value=\"2048\">2,048</data></th>"
               "<td><data value=\"0.01\">0.01</data></td><td class=\"range\">"
               "<data value=\"0.005\">0.005</data> to "
               "<data value=\"0.02\">0.02</data></td>"
               "<td><data value=\"7\">7</data></td></tr>"));
    ck_assert_ptr_nonnull(
        strstr(buf_str(&b), "<data value=\"3000\">3,000</data></th><td></td>"
                            "<td class=\"range\"></td><td>"));
}
