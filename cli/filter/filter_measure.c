/* SPDX-License-Identifier: MIT */
/*
 * filter_measure.c - what one kind of filter costs on this machine, and
 * `urlweir filter bench`, one table of all kinds.
 *
 * Making keys is not timed. Checks hit the whole filter in random order;
 * otherwise we would measure caches instead of memory.
 */
#include "cli/filter/filter_measure.h"

#include <inttypes.h>
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/file/file.h"
#include "base/logger.h"
#include "base/mem.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/filter/filter_commands.h"
#include "cli/report/plot.h"
#include "filter/block.h"
#include "filter/sizing.h"

#define BATCH 1024
#define ASKED UINT64_C(2000000)

int64_t filter_measure_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* proc(5), smaps_rollup: "AnonHugePages:    2048 kB". */
uint64_t filter_measure_huge(void)
{
    static const char name[] = "AnonHugePages:";
    FILE *f = fopen("/proc/self/smaps_rollup", "re");
    char line[256];
    uint64_t kib = 0;

    if (f == NULL)
        return 0;
    while (fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, name, sizeof name - 1) == 0)
            kib = strtoull(line + sizeof name - 1, NULL, 10);
    fclose(f);
    return kib << 10;
}

uint64_t filter_measure_key(uint64_t n)
{
    uint64_t x = (n + 1) * UINT64_C(0x9e3779b97f4a7c15); /* SplitMix64 */

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Stands in for the exact set: the filter's keys by prefix, found without
 * delay. */
struct known {
    uint64_t *keys[4096];
    uint32_t count[4096], cap[4096];
};

static void known_add(struct known *k, uint64_t key)
{
    uint32_t p = (uint32_t)(key >> 52);

    if (k->count[p] == k->cap[p]) {
        k->cap[p] = k->cap[p] + k->cap[p] / 2 + 64;
        k->keys[p] = xrealloc(k->keys[p], k->cap[p] * sizeof(uint64_t));
    }
    k->keys[p][k->count[p]++] = key;
}

static enum status known_keys(void *ctx, uint64_t first, uint64_t last,
                              void (*visit)(void *to, const uint64_t *keys,
                                            size_t n),
                              void *to)
{
    struct known *k = ctx;

    for (uint64_t p = first >> 52; p <= last >> 52; p++)
        if (k->count[p] > 0)
            visit(to, k->keys[p], k->count[p]);
    return STATUS_OK;
}

static void known_free(struct known *k)
{
    for (size_t i = 0; i < 4096; i++)
        free(k->keys[i]);
    free(k);
}

struct filter_probe {
    struct filter *filter;
    struct known *known; /* NULL: the kind needs none */
    uint64_t keys;       /* keys 0 .. keys - 1 are in it */
};

enum status filter_probe_new(struct filter_probe **out, const char *kind,
                             uint64_t start, uint64_t most, double fpr)
{
    struct filter_options o = {.kind = kind, .expect = start, .fpr = fpr};
    const struct filter_traits *traits = filter_kind_named(kind);
    struct filter_probe *p;
    enum status st;

    if (traits == NULL)
        return STATUS_ARG;
    p = xcalloc(1, sizeof *p);
    if (traits->needs_keys && start < most) {
        p->known = xcalloc(1, sizeof *p->known);
        o.source = (struct filter_source){known_keys, p->known};
    }
    o.keep_nothing = p->known == NULL;
    st = filter_new(&p->filter, &o);
    if (st != STATUS_OK) {
        filter_probe_free(p);
        return st;
    }
    *out = p;
    return STATUS_OK;
}

void filter_probe_free(struct filter_probe *p)
{
    if (p == NULL)
        return;
    filter_free(p->filter);
    if (p->known != NULL)
        known_free(p->known);
    free(p);
}

struct filter *filter_probe_filter(struct filter_probe *p)
{
    return p->filter;
}

struct filter_source filter_probe_source(const struct filter_probe *p)
{
    return (struct filter_source){p->known != NULL ? known_keys : NULL,
                                  p->known};
}

enum status filter_probe_fill(struct filter_probe *p, uint64_t upto,
                              double *insert_ns, double *worst_ms)
{
    uint64_t keys[BATCH], n = upto - p->keys;
    int64_t all = 0, worst = 0;

    while (p->keys < upto) {
        uint64_t left = upto - p->keys;
        size_t m = left < BATCH ? (size_t)left : BATCH;
        enum status st;
        int64_t t;

        for (size_t j = 0; j < m; j++) {
            keys[j] = filter_measure_key(p->keys + j);
            if (p->known != NULL)
                known_add(p->known, keys[j]);
        }
        t = filter_measure_now();
        st = filter_add(p->filter, keys, m, NULL);
        t = filter_measure_now() - t;
        all += t;
        worst = t > worst ? t : worst;
        if (st != STATUS_OK && st != STATUS_LIMIT)
            return st;
        p->keys += m;
    }
    *insert_ns = n > 0 ? (double)all / (double)n : 0;
    *worst_ms = (double)worst / 1e6;
    return STATUS_OK;
}

/* Returns ns a check; `held` > 0: of keys 0 .. held - 1, else of new ones.
 * *maybes: how many were "maybe". `asked` is a multiple of BATCH. */
static double ask_batched(const struct filter *f, uint64_t asked, uint64_t held,
                          uint64_t *maybes)
{
    uint64_t keys[BATCH];
    bool maybe[BATCH];
    int64_t all = 0;

    *maybes = 0;
    for (uint64_t i = 0; i < asked; i += BATCH) {
        int64_t t;

        for (uint64_t j = 0; j < BATCH; j++)
            keys[j] =
                filter_measure_key(held > 0 ? filter_measure_key(i + j) % held
                                            : (UINT64_C(1) << 62) + i + j);
        t = filter_measure_now();
        filter_check(f, keys, BATCH, maybe);
        all += filter_measure_now() - t;
        for (size_t j = 0; j < BATCH; j++)
            *maybes += maybe[j];
    }
    return (double)all / (double)asked;
}

static double filter_probe_miss(const struct filter_probe *p, uint64_t asked,
                                uint64_t *maybes)
{
    return ask_batched(p->filter, (asked + BATCH - 1) / BATCH * BATCH, 0,
                       maybes);
}

static double ask_single(const struct filter *f, uint64_t held)
{
    const size_t rounds = 200000;
    uint64_t *keys = xmalloc(rounds * sizeof *keys);
    unsigned seen = 0;
    int64_t t;

    for (uint64_t i = 0; i < rounds; i++)
        keys[i] =
            filter_measure_key(held > 0 ? filter_measure_key(i + ASKED) % held
                                        : (UINT64_C(1) << 61) + i);
    t = filter_measure_now();
    for (size_t i = 0; i < rounds; i++)
        seen += filter_check_one(f, keys[(i + seen % 2) % rounds]);
    t = filter_measure_now() - t;
    free(keys);
    return (double)t / (double)rounds;
}

/* Adds the last keys one by one; growth among them counts. */
static enum status insert_singly(struct filter_probe *p, uint64_t upto,
                                 double *ns)
{
    uint64_t n = upto - p->keys, *keys = xmalloc((n + 1) * sizeof *keys);
    enum status st = STATUS_OK;
    int64_t t;

    for (uint64_t i = 0; i < n; i++) {
        keys[i] = filter_measure_key(p->keys + i);
        if (p->known != NULL)
            known_add(p->known, keys[i]);
    }
    t = filter_measure_now();
    for (uint64_t i = 0; i < n; i++) {
        st = filter_add(p->filter, &keys[i], 1, NULL);
        if (st != STATUS_OK && st != STATUS_LIMIT)
            break;
    }
    t = filter_measure_now() - t;
    p->keys = upto;
    *ns = n > 0 ? (double)t / (double)n : 0;
    free(keys);
    return st == STATUS_LIMIT ? STATUS_OK : st;
}

enum status filter_measure(struct filter_measured *out, const char *kind,
                           uint64_t start, uint64_t keys, double fpr)
{
    struct filter_probe *p = NULL;
    uint64_t maybes, singly = keys / 10 < 100000 ? keys / 10 : 100000;
    enum status st = filter_probe_new(&p, kind, start, keys, fpr);

    memset(out, 0, sizeof *out);
    if (st == STATUS_OK)
        st = filter_probe_fill(p, keys - singly, &out->insert,
                               &out->insert_worst_ms);
    if (st == STATUS_OK)
        st = insert_singly(p, keys, &out->insert_single);
    if (st == STATUS_OK) {
        const struct filter *f = p->filter;

        out->asked = (ASKED + BATCH - 1) / BATCH * BATCH;
        out->miss = ask_batched(f, out->asked, 0, &out->false_positives);
        out->hit = ask_batched(f, out->asked, keys, &maybes);
        out->false_negatives = out->asked - maybes;
        out->miss_single = ask_single(f, 0);
        out->hit_single = ask_single(f, keys);
        out->fpr = sizing_wilson(out->false_positives, out->asked, SIZING_Z95);
        filter_stats(f, &out->stats);
        out->huge_bytes = filter_measure_huge();
    }
    filter_probe_free(p);
    return st;
}

/* ---- `urlweir filter bench`: one table of all kinds ---- */

/*
 * Plots the costs and rates of kinds of filters in one SVG.
 *
 * Measures the rate of each kind as it fills, up to four times its capacity,
 * and its cost and bits at every size. Takes some seconds a kind for a million
 * keys.
 *
 * rate as it fills       cost of a check by size
 *     bits a key by size     cost to add by size
 *
 * For every size a new filter of fixed size is made; one that grows is made for
 * a hundredth of it, as in the table of `filter bench`.
 */

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

static struct plot_line bench_line_of(const struct curves *c, enum panel which,
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
        lines[i] = bench_line_of(&c[i], which, (unsigned)i);
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

/* `kinds`: at most PLOT_GREY of them (cli/report/plot.h); `keys`: the largest
 * size. STATUS_IO, STATUS_FULL: the file could not be written; others as
 * filter_new(). */
static enum status filter_plot_write(const char *path, const char *const *kinds,
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

static bool wanted(const struct option_list *kinds, const char *kind)
{
    for (size_t i = 0; i < kinds->count; i++)
        if (strcmp(kinds->item[i], kind) == 0)
            return true;
    return kinds->count == 0;
}

static void bench_print_json(const struct filter_measured *m)
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
    (s->json ? bench_print_json : print_row)(&m);
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

static int bench_run(const struct usage *u, void *settings,
                     const struct option_list *operands)
{
    (void)u, (void)operands;
    return bench(settings);
}

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
    .run = bench_run,
};
