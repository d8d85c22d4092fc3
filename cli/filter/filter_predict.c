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
    int64_t bits, hashes;
    uint8_t from[5];
};

enum { FPR_AT = 1 }; /* its row below */

/* clang-format off */
static const struct option_spec specs[] = {
    FILTER_CAPACITY_ROW(struct predict_settings, "keys, such as 10M"),
    FILTER_FPR_ROW(struct predict_settings),
    FILTER_JSON_ROW(struct predict_settings),
    {.name = "bits", .type = OPTION_COUNT,
     .at = offsetof(struct predict_settings, bits), .fallback = "0", .min = 0,
     .max = 0x1p44, .section = "Filter", .arg = "M",
     .help = "bits that there are: with --capacity, the rate they give; else "
             "the keys they hold at --fpr"},
    {.name = "hashes", .type = OPTION_COUNT,
     .at = offsetof(struct predict_settings, hashes), .fallback = "0",
     .min = 0, .max = 64, .section = "Filter", .arg = "K",
     .help = "bits that each key sets, of the `plain` filter; 0: the best"},
};
/* clang-format on */

static const struct option_table table =
    OPTION_TABLE(specs, struct predict_settings);

const struct usage filter_predict_usage = {
    .name = "filter predict",
    .synopsis = "filter predict --capacity N [--fpr P] [--json]\n"
                "filter predict --bits M [--hashes K] --capacity N [--json]\n"
                "filter predict --bits M [--hashes K] --fpr P [--json]",
    .about = "Prints what a filter for N keys takes in each kind, and the rate "
             "of a fixed one that gets more keys than that; or, with --bits, "
             "the rate of N keys in them, or the most keys they hold at P. "
             "`plain` is the textbook Bloom filter, as in most libraries and "
             "in Redis bitmaps: a little smaller than ours, at k cache misses "
             "a question instead of one.",
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

/* The rates of a `bloom` filter and of a plain one that were filled that many
 * times over. */
struct rates {
    double bloom[OVERFILLS], plain[OVERFILLS];
};

static void overfill_rates(struct rates *r, uint64_t n, double fpr)
{
    uint64_t bits = sizing_plain_bits(n, fpr);
    double load;
    unsigned k = sizing_block_best(64, fpr, &load);

    for (int i = 0; i < OVERFILLS; i++) {
        r->bloom[i] = sizing_block_rate(k, 64, load * overfill[i]);
        r->plain[i] =
            sizing_plain_rate(bits, sizing_plain_hashes(bits, n),
                              (uint64_t)llround(overfill[i] * (double)n));
    }
}

static void predict_print_json(const struct plan *plans, uint64_t n, double fpr,
                               const struct rates *rates)
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
        json_array_append_new(over, json_pack("{s:I, s:f, s:f}", "count",
                                              (json_int_t)llround(overfill[i] *
                                                                  (double)n),
                                              "fpr_predicted", rates->bloom[i],
                                              "fpr_plain", rates->plain[i]));
    o = json_pack("{s:I, s:f, s:o, s:o}", "capacity", (json_int_t)n,
                  "fpr_promised", fpr, "kinds", kinds, "overfill", over);
    json_dumpf(o, stdout, JSON_REAL_PRECISION(9));
    putchar('\n');
    json_decref(o);
}

static void predict_print_text(const struct plan *plans, uint64_t n, double fpr,
                               const struct rates *rates)
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
        buf_addf(&b,
                 "  %20s keys calls %8.4f %% of new keys `maybe`, a plain one "
                 "%8.4f %%\n",
                 buf_str(&c), 100 * rates->bloom[i], 100 * rates->plain[i]);
        buf_fini(&c);
    }
    buf_add_str(&b, "\nand says with every batch that its promise no longer "
                    "holds. `scalable` keeps\nit at any size, `stacked` too "
                    "(at more and more bits a key), `cuckoo` where it\nhas its "
                    "keys; k of `cuckoo` is the length of its fingerprints.\n");
    fputs(buf_str(&b), stdout);
    buf_fini(&b);
}

/* ---- what given bits do ---- */

/* One answer: bits and marks a key of a kind, and keys and rate of it. */
struct answer {
    const char *kind;
    unsigned k;
    uint64_t keys;
    double fpr;
};

/* The most keys of a plain filter at `fpr`: n = -(m / k) ln(1 - p^(1/k)), and
 * with the best k, -m (ln 2)^2 / ln p (Broder & Mitzenmacher, 2004). */
static struct answer plain_keys(uint64_t bits, unsigned k, double fpr)
{
    double m = (double)bits;

    if (k == 0) {
        uint64_t n = (uint64_t)(-m * M_LN2 * M_LN2 / log(fpr));

        k = sizing_plain_hashes(bits, n);
    }
    return (struct answer){"plain", k,
                           (uint64_t)(-m / k * log1p(-pow(fpr, 1.0 / k))), fpr};
}

static struct answer plain_rate(uint64_t bits, unsigned k, uint64_t n)
{
    if (k == 0)
        k = sizing_plain_hashes(bits, n);
    return (struct answer){"plain", k, n, sizing_plain_rate(bits, k, n)};
}

/* A `bloom` filter in so many bits, with the k that is best for it. */
static struct answer bloom_keys(uint64_t bits, double fpr)
{
    uint64_t blocks = bits / 512; /* whole ones */
    double load;
    unsigned k = sizing_block_best(64, fpr, &load);

    return (struct answer){"bloom", k, (uint64_t)(load * (double)blocks), fpr};
}

static struct answer bloom_rate(uint64_t bits, uint64_t n)
{
    struct answer best = {"bloom", 0, n, 2};
    uint64_t blocks = bits < 512 ? 1 : bits / 512;
    double load = (double)n / (double)blocks;

    for (unsigned k = 4; k <= SIZING_MOST_K; k += 4) {
        double rate = sizing_block_rate(k, 64, load);

        if (rate < best.fpr) {
            best.k = k;
            best.fpr = rate;
        }
    }
    return best;
}

static void print_answers(uint64_t bits, const struct answer *a, size_t n,
                          bool json)
{
    json_t *kinds = json_array(), *o;
    struct buf b;

    buf_init(&b, 4096);
    format_count(&b, bits);
    buf_add_str(&b, " bits, ");
    format_size(&b, (bits + 7) / 8);
    buf_add_str(&b, ":\n\n  kind    k                  keys  false maybe\n");
    for (size_t i = 0; i < n; i++) {
        struct buf count;

        buf_init(&count, 64);
        format_count(&count, a[i].keys);
        buf_addf(&b, "  %-6s %2u  %20s  %.4g\n", a[i].kind, a[i].k,
                 buf_str(&count), a[i].fpr);
        buf_fini(&count);
        json_array_append_new(kinds, json_pack("{s:s, s:i, s:I, s:f}", "kind",
                                               a[i].kind, "k", (int)a[i].k,
                                               "count", (json_int_t)a[i].keys,
                                               "fpr_predicted", a[i].fpr));
    }
    o = json_pack("{s:I, s:o}", "bits", (json_int_t)bits, "kinds", kinds);
    if (json) {
        json_dumpf(o, stdout, JSON_REAL_PRECISION(9));
        putchar('\n');
    } else {
        fputs(buf_str(&b), stdout);
    }
    json_decref(o);
    buf_fini(&b);
}

/* A `bloom` filter has a k of its own, so one that is given is of a plain
 * filter alone. */
static int predict_bits(const struct predict_settings *s)
{
    uint64_t bits = (uint64_t)s->bits, n = (uint64_t)s->capacity;
    unsigned k = (unsigned)s->hashes;
    struct answer a[2];

    if (n > 0 && s->from[FPR_AT] == OPTION_FROM_LINE)
        return usage_error(&filter_predict_usage,
                           "--bits and --capacity give the rate: leave --fpr "
                           "out, or one of the two");
    a[0] = n > 0 ? plain_rate(bits, k, n) : plain_keys(bits, k, s->fpr);
    a[1] = n > 0 ? bloom_rate(bits, n) : bloom_keys(bits, s->fpr);
    print_answers(bits, a, k == 0 && bits >= 512 ? 2 : 1, s->json);
    return EXIT_DONE;
}

int filter_predict_command(int argc, char **argv)
{
    struct predict_settings s;
    struct option_list operands = {0};
    struct plan plans[PLANS];
    struct rates rates;
    uint64_t n;
    int code = EXIT_DONE;

    if (!command_line_parse(&filter_predict_usage, argc, argv, &s, &operands,
                            &code))
        return code;
    option_list_free(&operands);
    if (s.bits > 0)
        return predict_bits(&s);
    if (s.hashes > 0)
        return usage_error(&filter_predict_usage, "--hashes needs --bits");
    if (s.capacity < 1)
        return usage_error(&filter_predict_usage,
                           "--capacity or --bits is needed, at least 1");
    n = (uint64_t)s.capacity;
    make_plans(plans, n, s.fpr);
    overfill_rates(&rates, n, s.fpr);
    (s.json ? predict_print_json : predict_print_text)(plans, n, s.fpr, &rates);
    return EXIT_DONE;
}
