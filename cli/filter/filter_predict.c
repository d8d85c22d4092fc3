/* SPDX-License-Identifier: MIT */
/*
 * filter_predict.c - `urlweir filter predict`: sizes and rates before a filter
 * is made, and what happens when it gets more keys than it was made for.
 *
 * Nothing is allocated: the arithmetic of filter/sizing.h alone, so a billion
 * keys are as quick as ten.
 */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "base/format.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/filter/filter_commands.h"
#include "filter/sizing.h"

struct predict_settings {
    int64_t capacity;
    double fpr;
    bool json;
    uint8_t from[3];
};

static const struct option_spec specs[] = {
    FILTER_CAPACITY_ROW(struct predict_settings, "keys, such as 10M"),
    FILTER_FPR_ROW(struct predict_settings),
    FILTER_JSON_ROW(struct predict_settings),
};

static const struct option_table table =
    OPTION_TABLE(specs, struct predict_settings);

const struct usage filter_predict_usage = {
    .name = "filter predict",
    .synopsis = "filter predict --capacity N [--fpr P] [--json]",
    .about = "Prints what a filter for N keys takes in each kind, and the rate "
             "of a fixed one that gets more keys than that. `plain` is the "
             "textbook Bloom filter, for comparison: a little smaller than "
             "ours, at k cache misses a question instead of one.",
    .table = &table,
    .most = 0,
    .operand = "nothing else",
};

struct plan {
    const char *kind;
    unsigned k; /* marks a key, or bits of a fingerprint */
    double bits_per_key;
    double growing; /* bits a key after growing; 0: it cannot grow */
};

enum { PLANS = 6, OVERFILLS = 6 };

static const double overfill[OVERFILLS] = {0.5, 1, 1.5, 2, 4, 10};

static void make_plans(struct plan plans[PLANS], uint64_t n, double fpr)
{
    uint64_t plain = sizing_plain_bits(n, fpr);
    double load, counted;
    unsigned k = sizing_block_best(64, fpr, &load);
    unsigned kc = sizing_block_best(16, fpr, &counted);
    unsigned shortest = sizing_cuckoo_bits(4, fpr, n);
    unsigned f = shortest != 0 ? shortest : 32;
    double blocked = 512 / load;
    /* Segments are between just grown and just full: 1.061 on average. */
    double scalable =
        512 / sizing_growing_load(k, 64, 0.84 * fpr, 1.125) * 1.061;
    double first, stacked;
    unsigned ks = sizing_block_best(64, fpr / 2, &first);

    stacked = 512 / first;
    plans[0] = (struct plan){"plain", sizing_plain_hashes(plain, n),
                             (double)plain / (double)n, 0};
    plans[1] = (struct plan){"scalable", k, scalable, scalable};
    plans[2] = (struct plan){"bloom", k, blocked, 0};
    plans[3] = (struct plan){"stacked", ks, stacked, 0};
    plans[4] = (struct plan){"counting", kc, 512 / counted, 0};
    plans[5] = (struct plan){"cuckoo", f, f / sizing_cuckoo_load(4), 0};
}

static void print_json(const struct plan *plans, uint64_t n, double fpr,
                       const double *rates)
{
    json_t *kinds = json_array(), *over = json_array(), *o;

    for (int i = 0; i < PLANS; i++)
        json_array_append_new(
            kinds,
            json_pack("{s:s, s:i, s:f, s:I}", "kind", plans[i].kind, "k",
                      (int)plans[i].k, "bits_per_key", plans[i].bits_per_key,
                      "bytes",
                      (json_int_t)ceil(plans[i].bits_per_key * (double)n / 8)));
    for (int i = 0; i < OVERFILLS; i++)
        json_array_append_new(over, json_pack("{s:I, s:f}", "count",
                                              (json_int_t)llround(overfill[i] *
                                                                  (double)n),
                                              "fpr_predicted", rates[i]));
    o = json_pack("{s:I, s:f, s:o, s:o}", "capacity", (json_int_t)n,
                  "fpr_promised", fpr, "kinds", kinds, "overfill", over);
    json_dumpf(o, stdout, JSON_REAL_PRECISION(9));
    putchar('\n');
    json_decref(o);
}

static void print_text(const struct plan *plans, uint64_t n, double fpr,
                       const double *rates)
{
    struct buf b;

    buf_init(&b, 16384);
    buf_add_str(&b, "For ");
    format_count(&b, n);
    buf_addf(&b, " keys at a false-positive rate of %g:\n\n", fpr);
    buf_add_str(&b, "  kind       k  bits a key  size\n");
    for (int i = 0; i < PLANS; i++) {
        buf_addf(&b, "  %-9s %2u  %10.2f  ", plans[i].kind, plans[i].k,
                 plans[i].bits_per_key);
        format_size(&b, (uint64_t)ceil(plans[i].bits_per_key * (double)n / 8));
        buf_add_str(&b, "\n");
    }
    buf_add_str(&b, "\nA `bloom` of this size that holds\n\n");
    for (int i = 0; i < OVERFILLS; i++) {
        struct buf c;

        buf_init(&c, 64);
        format_count(&c, (uint64_t)llround(overfill[i] * (double)n));
        buf_addf(&b, "  %20s keys calls %8.4f %% of new keys `maybe`\n",
                 buf_str(&c), 100 * rates[i]);
        buf_fini(&c);
    }
    buf_add_str(&b, "\nand says with every batch that its promise no longer "
                    "holds. `scalable` keeps\nit at any size, `stacked` too "
                    "(at more and more bits a key), `cuckoo` where it\nhas its "
                    "keys; k of `cuckoo` is the length of its fingerprints.\n");
    fputs(buf_str(&b), stdout);
    buf_fini(&b);
}

int filter_predict_command(int argc, char **argv)
{
    struct predict_settings s;
    struct option_list operands = {0};
    struct plan plans[PLANS];
    double rates[OVERFILLS], load;
    uint64_t n;
    unsigned k;
    int code = EXIT_DONE;

    if (!command_line_parse(&filter_predict_usage, argc, argv, &s, &operands,
                            &code))
        return code;
    option_list_free(&operands);
    if (s.capacity < 1)
        return usage_error(&filter_predict_usage,
                           "--capacity is needed, at least 1");
    n = (uint64_t)s.capacity;
    make_plans(plans, n, s.fpr);
    k = sizing_block_best(64, s.fpr, &load);
    for (int i = 0; i < OVERFILLS; i++)
        rates[i] = sizing_block_rate(k, 64, load * overfill[i]);
    (s.json ? print_json : print_text)(plans, n, s.fpr, rates);
    return EXIT_DONE;
}
