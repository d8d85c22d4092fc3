/* SPDX-License-Identifier: MIT */
/* filter_bench.c - `urlweir filter bench`: one table of all kinds. */
#include <inttypes.h>
#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/filter/filter_commands.h"
#include "cli/filter/filter_measure.h"
#include "cli/filter/filter_plot.h"
#include "cli/report/plot.h"
#include "filter/block.h"

struct bench_settings {
    double keys, start, fpr;
    struct option_list kinds;
    char *plot;
    bool json;
    uint8_t from[6];
};

#define AT(f) .at = offsetof(struct bench_settings, f)

/* clang-format off */
static const struct option_spec specs[] = {
    {.name = "keys", .type = OPTION_FRACTION, AT(keys), .fallback = "1000000",
     .min = 1000, .max = 0x1p36, .section = "What", .arg = "N",
     .help = "number of keys to put into each filter"},
    {.name = "start", .type = OPTION_FRACTION, AT(start), .fallback = "0",
     .min = 0, .max = 0x1p36, .section = "What", .arg = "N",
     .help = "first size of filters that grow, in keys; 0: a hundredth of "
             "--keys"},
    {.name = "fpr", .type = OPTION_FRACTION, AT(fpr), .fallback = "0.001",
     .min = 1e-9, .max = 0.5, .section = "What", .arg = "P",
     .help = "the false-positive rate they promise"},
    {.name = "kind", .type = OPTION_LIST, AT(kinds), .words = filter_kind_words,
     .flags = OPTION_COMMAS, .section = "What", .arg = "KIND,...",
     .help = "measure only these kinds; default all"},
    {.name = "plot", .type = OPTION_TEXT, AT(plot), .section = "Output",
     .arg = "FILE",
     .help = "also measure each kind as it fills and at every size up to "
             "--keys, and draw the results as SVG"},
    {.name = "json", .type = OPTION_FLAG, AT(json), .section = "Output",
     .help = "one JSON object a line (docs/formats/filter.md)"},
};
/* clang-format on */

static const struct option_table table =
    OPTION_TABLE(specs, struct bench_settings);

const struct usage filter_bench_usage = {
    .name = "filter bench",
    .synopsis = "filter bench [--keys N] [--start N] [--fpr P] "
                "[--kind KIND,...] [--plot FILE] [--json]",
    .about = "Fills a filter of each kind and asks it for two million keys "
             "that it has and two million that it has not. Times are "
             "nanoseconds a key, in batches of 1024 and one by one; one "
             "thread.",
    .table = &table,
    .most = 0,
    .operand = "nothing else",
};

static bool wanted(const struct option_list *kinds, const char *kind)
{
    for (size_t i = 0; i < kinds->count; i++)
        if (strcmp(kinds->item[i], kind) == 0)
            return true;
    return kinds->count == 0;
}

static void print_json(const struct filter_measured *m)
{
    const struct filter_stats *s = &m->stats;
    json_t *o = json_pack(
        "{s:s, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, "
        "s:f, s:f, s:I, s:s, s:b, s:I}",
        "kind", s->kind, "count", (json_int_t)s->count, "insert_ns", m->insert,
        "insert_single_ns", m->insert_single, "insert_worst_ms",
        m->insert_worst_ms, "hit_ns", m->hit, "miss_ns", m->miss,
        "hit_single_ns", m->hit_single, "miss_single_ns", m->miss_single,
        "bits_per_key", (double)s->bits / (double)s->count, "fpr_promised",
        s->fpr_promised, "fpr_measured",
        (double)m->false_positives / (double)m->asked, "fpr_low", m->fpr.low,
        "fpr_high", m->fpr.high, "fpr_predicted", s->fpr_predicted,
        "false_negatives", (json_int_t)m->false_negatives, "instructions",
        block_isa_name(), "huge_pages", s->huge_pages, "huge_bytes",
        (json_int_t)m->huge_bytes);

    json_dumpf(o, stdout, JSON_REAL_PRECISION(6));
    putchar('\n');
    fflush(stdout);
    json_decref(o);
}

static void print_head(const struct bench_settings *s)
{
    printf("%.0f keys, %g promised, %s; ns a key\n\n", s->keys, s->fpr,
           block_isa_name());
    printf("%-9s %6s %6s %6s %8s %8s %8s %6s  %-9s %s\n", "kind", "insert",
           "hit", "miss", "1 insert", "1 hit", "1 miss", "bits", "rate",
           "95 % interval");
}

static void print_row(const struct filter_measured *m)
{
    const struct filter_stats *s = &m->stats;

    printf("%-9s %6.1f %6.1f %6.1f %8.1f %8.1f %8.1f %6.2f  %-9.3g %.3g to "
           "%.3g\n",
           s->kind, m->insert, m->hit, m->miss, m->insert_single, m->hit_single,
           m->miss_single, (double)s->bits / (double)s->count,
           (double)m->false_positives / (double)m->asked, m->fpr.low,
           m->fpr.high);
    fflush(stdout);
}

static int bench_kind(const struct bench_settings *s, const char *name)
{
    const struct filter_traits *kind = filter_kind_named(name);
    uint64_t keys = (uint64_t)s->keys;
    uint64_t start = s->start > 0 ? (uint64_t)s->start : keys / 100;
    struct filter_measured m;
    enum status st =
        filter_measure(&m, name, kind->grows ? start : keys, keys, s->fpr);

    if (st != STATUS_OK) {
        fprintf(stderr, "urlweir filter bench: %s: %s\n", name,
                status_text(st));
        return EXIT_CANNOT;
    }
    (s->json ? print_json : print_row)(&m);
    return m.false_negatives > 0 ? EXIT_DAMAGED : EXIT_DONE; /* never seen */
}

static int draw_kinds(const struct bench_settings *s, const char *const *kinds,
                      size_t count)
{
    enum status st =
        filter_plot_write(s->plot, kinds, count, (uint64_t)s->keys, s->fpr);

    if (st == STATUS_OK)
        return EXIT_DONE;
    fprintf(stderr, "urlweir filter bench: cannot make %s: %s\n", s->plot,
            status_text(st));
    return EXIT_CANNOT;
}

static int bench(const struct bench_settings *s)
{
    const char *kinds[PLOT_GREY];
    size_t count = 0;
    int code = EXIT_DONE;

    if (!s->json)
        print_head(s);
    for (size_t i = 0; filter_kind_words[i] != NULL; i++) {
        int one;

        if (!wanted(&s->kinds, filter_kind_words[i]))
            continue;
        one = bench_kind(s, filter_kind_words[i]);
        code = one > code ? one : code;
        if (one == EXIT_DONE && count < PLOT_GREY)
            kinds[count++] = filter_kind_words[i];
    }
    if (s->plot != NULL && code == EXIT_DONE)
        code = draw_kinds(s, kinds, count);
    return code;
}

int filter_bench_command(int argc, char **argv)
{
    struct bench_settings s;
    struct option_list operands = {0};
    int code = EXIT_DONE;

    if (!command_line_parse(&filter_bench_usage, argc, argv, &s, &operands,
                            &code))
        return code;
    code = bench(&s);
    option_list_free(&operands);
    option_fini(&table, &s);
    return code;
}
