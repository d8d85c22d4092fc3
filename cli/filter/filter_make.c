/* SPDX-License-Identifier: MIT */
/* filter_make.c - `urlweir filter` and its parts `create`, `merge` and
 * `info`. */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/format.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/filter/filter_commands.h"
#include "cli/filter/filter_file.h"
#include "filter/checkpoint.h"
#include "filter/sizing.h"

#define ROW(name, summary)                                                     \
    {                                                                          \
#name, &filter_##name##_usage, NULL, summary, NULL, NULL               \
    }

const struct command filter_parts[] = {
    ROW(create, "make an empty filter"),
    ROW(add, "add keys, one a line of stdin"),
    ROW(check, "print `new` or `maybe`, tab, key for each"),
    ROW(remove, "remove keys from a counting or cuckoo filter"),
    ROW(merge, "write a filter that holds the keys of all files"),
    ROW(info, "show what a filter holds and promises"),
    ROW(predict, "show sizes and rates before making one"),
    ROW(rebuild, "resize a filter in Redis while others use it"),
    ROW(drop, "delete a filter in Redis"),
    ROW(bench, "measure each kind on this machine"),
    {NULL, NULL, NULL, NULL, NULL, NULL},
};

const struct usage filter_usage = {
    .name = "filter",
    .synopsis = "filter PART ...",
    .about =
        "A filter answers `new` for a key that was certainly never added, and "
        "`maybe` for all others, in a few bits a key. Here it lives in a file; "
        "keys are lines, of any octets. Changes to a file are atomic. FILE may "
        "be a Redis URL, such as redis://localhost/0?key=NAME: create, add, "
        "check and info then work on a filter that processes share.",
    .table = &no_options, /* its options are those of its parts */
};

static void help(FILE *to)
{
    usage_print_about(&filter_usage, to);
    fputc('\n', to);
    command_list(filter_parts, to);
    fputs("\n`urlweir filter PART --help` tells more.\n", to);
}

static int not_known(const char *word)
{
    const char *meant = command_nearest(filter_parts, word);

    if (meant != NULL)
        return command_usage_error("filter", "no part '%s'; did you mean '%s'?",
                                   word, meant);
    return command_usage_error("filter", "no part '%s'", word);
}

int cmd_filter(int argc, char **argv)
{
    const struct command *part;

    if (argc < 2) {
        help(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        help(stdout);
        return EXIT_DONE;
    }
    part = command_find(filter_parts, argv[1]);
    return part != NULL ? command_run(part, argc - 1, argv + 1)
                        : not_known(argv[1]);
}

const char *const filter_kind_words[] = {"scalable", "bloom",  "stacked",
                                         "counting", "cuckoo", NULL};

/* For Redis the operand is enough, but the word is accepted too. */
static const char *const create_words[] = {"scalable", "bloom",  "stacked",
                                           "counting", "cuckoo", "redis",
                                           NULL};

/* ---- create ---- */

static const char *const bucket_words[] = {"1", "2", "4", "8", NULL};

struct create_settings {
    int kind;
    int64_t capacity, fingerprint;
    double fpr, growth, tightening;
    int bucket;
    char *seed;
    bool fixed;
    int64_t ttl, generations;
    uint8_t from[11];
};

enum { FPR_AT = 2 }; /* its row below */

#define AT(f) .at = offsetof(struct create_settings, f)

/* clang-format off */
static const struct option_spec create_specs[] = {
    {.name = "kind", .type = OPTION_CHOICE, AT(kind), .fallback = "scalable",
     .words = create_words, .section = "Filter",
     .help = "kind of filter; redis: FILE is a Redis URL"},
    FILTER_CAPACITY_ROW(struct create_settings,
                        "number of keys it is made for; kinds that grow start "
                        "at this size"),
    FILTER_FPR_ROW(struct create_settings),
    {.name = "seed", .type = OPTION_TEXT, AT(seed), .section = "Filter",
     .arg = "TEXT",
     .help = "seed of the hash; filters with different seeds cannot be merged, "
             "and keys that collide cannot be made without knowing it"},
    {.name = "fixed", .type = OPTION_FLAG, AT(fixed), .section = "Filter",
     .help = "scalable, counting, cuckoo: keep no keys in the file; do not "
             "grow then, and do not know what was never added"},
    {.name = "growth", .type = OPTION_FRACTION, AT(growth), .fallback = "2",
     .min = 1, .max = 16, .section = "Filter", .arg = "S",
     .help = "stacked: size of each layer relative to the one before"},
    {.name = "tightening", .type = OPTION_FRACTION, AT(tightening),
     .fallback = "0.5", .min = 0.01, .max = 0.99, .section = "Filter",
     .arg = "R",
     .help = "stacked: rate of each layer relative to the one before"},
    {.name = "fingerprint", .type = OPTION_COUNT, AT(fingerprint),
     .fallback = "0", .min = 0, .max = 32, .section = "Filter", .arg = "BITS",
     .help = "cuckoo: 8, 12, 16 or 32; 0: as --fpr needs; without --fpr, the "
             "rate is what they keep"},
    {.name = "bucket", .type = OPTION_CHOICE, AT(bucket), .fallback = "4",
     .words = bucket_words, .section = "Filter", .arg = "SLOTS",
     .help = "cuckoo: slots of a bucket; 50, 84, 95 or 98 % of them can be "
             "filled, and a question compares twice as many"},
    {.name = "ttl", .type = OPTION_TIME, AT(ttl), .fallback = "0",
     .min = 0, .max = FILTER_TTL_MOST * 1000.0, .section = "Filter",
     .arg = "T",
     .help = "forget each key between T and T x (1 + 1/generations) after it "
             "was added last; 0: never"},
    {.name = "generations", .type = OPTION_COUNT, AT(generations),
     .fallback = "2", .min = 1, .max = FILTER_GENERATIONS_MOST,
     .section = "Filter", .arg = "N",
     .help = "with --ttl: parts that are dropped one by one"},
};
/* clang-format on */

static const struct option_table create_table =
    OPTION_TABLE(create_specs, struct create_settings);

/* False, with a message: there is something at `path`. */
static bool filter_is_free(const struct usage *u, const char *path)
{
    if (access(path, F_OK) != 0)
        return true;
    fprintf(stderr, "urlweir %s: %s exists already\n", u->name, path);
    return false;
}

static int create_in_redis(const char *url, const struct create_settings *s)
{
    unsigned char seed[DIGEST_SEED_SIZE];

    if (s->from[0] == OPTION_FROM_LINE &&
        strcmp(create_words[s->kind], "redis") != 0)
        return usage_error(&filter_create_usage,
                           "Redis has one kind of filter; leave --kind %s out",
                           create_words[s->kind]);
    if (s->ttl > 0 && s->ttl < 1000)
        return usage_error(&filter_create_usage, "--ttl is a second at least");
    seeded_from_text(seed, s->seed);
    return filter_redis_create(
        filter_create_usage.name, url,
        (struct redis_bloom_options){.expect = (uint64_t)s->capacity,
                                     .fpr = s->fpr,
                                     .ttl_ms = s->ttl,
                                     .generations = (unsigned)s->generations,
                                     .seed = seed});
}

static unsigned bucket_slots(const struct create_settings *s)
{
    return 1u << s->bucket;
}

/* An option that another kind of filter has would be ignored. */
static int check_kind_options(const struct create_settings *s)
{
    static const struct {
        enum { FIXED_AT = 4, GROWTH_AT, TIGHTENING_AT, PRINT_AT, BUCKET_AT } at;
        const char *kinds[4];
    } own[] = {
        {FIXED_AT, {"scalable", "counting", "cuckoo"}},
        {GROWTH_AT, {"stacked"}},
        {TIGHTENING_AT, {"stacked"}},
        {PRINT_AT, {"cuckoo"}},
        {BUCKET_AT, {"cuckoo"}},
    };
    const char *kind = create_words[s->kind];

    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        bool has = false;

        for (size_t k = 0; own[i].kinds[k] != NULL; k++)
            has |= strcmp(own[i].kinds[k], kind) == 0;
        if (!has && s->from[own[i].at] == OPTION_FROM_LINE)
            return usage_error(&filter_create_usage,
                               "a filter of kind %s has no --%s", kind,
                               create_specs[own[i].at].name);
    }
    return EXIT_DONE;
}

/* The rate that `fingerprint` bits keep in a full table is the default of
 * --fpr; less than that is refused. */
static int fit_fingerprint(struct create_settings *s)
{
    unsigned slots = bucket_slots(s), bits = (unsigned)s->fingerprint;
    double rate;

    if (bits == 0)
        return EXIT_DONE;
    if (bits != 8 && bits != 12 && bits != 16 && bits != 32)
        return usage_error(&filter_create_usage,
                           "--fingerprint is 8, 12, 16 or 32");
    if (!sizing_cuckoo_fills(bits, slots, (uint64_t)s->capacity))
        return usage_error(&filter_create_usage,
                           "buckets of one slot do not fill with fingerprints "
                           "of %u bits and more than %llu keys: too many keys "
                           "share both of their buckets; take --bucket 2, 4 or "
                           "8, or a longer fingerprint",
                           bits, 1ULL << (bits + 8));
    rate = sizing_cuckoo_rate(bits, slots, sizing_cuckoo_load(slots));
    if (s->from[FPR_AT] != OPTION_FROM_LINE)
        fprintf(stderr,
                "urlweir filter create: fingerprints of %u bits call %.2g of "
                "new keys `maybe` in a full table\n",
                bits, rate);
    if (rate <= s->fpr)
        return EXIT_DONE;
    if (s->from[FPR_AT] == OPTION_FROM_LINE)
        return usage_error(&filter_create_usage,
                           "--fingerprint %d cannot keep --fpr %g: a full "
                           "table calls %.2g of new keys `maybe`; leave one "
                           "of the two out",
                           (int)s->fingerprint, s->fpr, rate);
    s->fpr = rate;
    return EXIT_DONE;
}

static int filter_create(const char *path, const struct create_settings *s)
{
    struct filter_options o = {.kind = create_words[s->kind],
                               .expect = (uint64_t)s->capacity,
                               .fpr = s->fpr,
                               .keep_nothing = s->fixed,
                               .growth = s->growth,
                               .tightening = s->tightening,
                               .fingerprint_bits = (unsigned)s->fingerprint,
                               .bucket_slots = bucket_slots(s),
                               .ttl_s = (s->ttl + 999) / 1000,
                               .generations = (unsigned)s->generations,
                               .born_s = clock_wall_ms() / 1000};
    struct filter_file f;
    int code = EXIT_DONE;

    if (s->capacity < 1)
        return usage_error(&filter_create_usage,
                           "--capacity is needed, at least 1");
    if (redis_address_is_url(path))
        return create_in_redis(path, s);
    if (strcmp(create_words[s->kind], "redis") == 0)
        return usage_error(&filter_create_usage,
                           "--kind redis needs a Redis URL in place of FILE, "
                           "such as redis://localhost/0?key=NAME");
    if (!filter_is_free(&filter_create_usage, path))
        return EXIT_CANNOT;
    if (!filter_file_new(&f, filter_create_usage.name, path, &o, s->seed,
                         &code))
        return code;
    code = filter_file_save(&f);
    filter_file_close(&f);
    return code;
}

static int create_run(const struct usage *u, void *settings,
                      const struct option_list *operands)
{
    struct create_settings *s = settings;
    int code = check_kind_options(s);

    (void)u;
    if (code == EXIT_DONE)
        code = fit_fingerprint(s);
    return code == EXIT_DONE ? filter_create(operands->item[0], s) : code;
}

const struct usage filter_create_usage = {
    .name = "filter create",
    .synopsis = "filter create FILE [--kind KIND] --capacity N [--fpr P] "
                "[--seed S]",
    .about = "Makes an empty filter in FILE, which must not exist yet. The "
             "seed is the same for all files unless given, so that they can "
             "be merged. FILE may be a Redis URL, "
             "redis://host:port/db?key=NAME: then the filter is a string "
             "there, shared by processes (docs/formats/redis-filter.md).",
    .table = &create_table,
    .least = 1,
    .most = 1,
    .operand = "a file",
    .run = create_run,
};

/* ---- merge ---- */

static int cannot_merge(const char *a, const char *b, const char *why)
{
    fprintf(stderr, "urlweir filter merge: %s and %s differ: %s\n", a, b, why);
    return EXIT_USAGE;
}

static int merge_one(struct filter_file *into, const char *path)
{
    struct filter_file from;
    enum status st;
    int code = EXIT_DONE;

    if (!filter_file_open(&from, filter_merge_usage.name, path, false, &code))
        return code;
    if (from.info.id.seed_print != into->info.id.seed_print) {
        code = cannot_merge(into->path, path, "the seed of their hash");
    } else if (strcmp(filter_options(from.filter)->kind,
                      filter_options(into->filter)->kind) != 0) {
        code = cannot_merge(into->path, path, "their kind");
    } else if (filter_options(from.filter)->ttl_s > 0 ||
               filter_options(into->filter)->ttl_s > 0) {
        fprintf(stderr,
                "urlweir filter merge: a filter that forgets is not merged: "
                "nobody knows how old its keys are\n");
        code = EXIT_USAGE;
    } else {
        into->info.id.keys =
            checkpoint_keys_of(into->info.id.keys, from.info.id.keys);
        st = filter_merge(into->filter, from.filter);
        if (st == STATUS_ARG) {
            code = cannot_merge(into->path, path, "their size or rate");
        } else if (st != STATUS_OK && st != STATUS_LIMIT) {
            fprintf(stderr, "urlweir filter merge: %s: %s\n", path,
                    status_text(st));
            code = EXIT_CANNOT;
        }
    }
    filter_file_close(&from);
    return code;
}

static int merge_run(const struct usage *u, void *settings,
                     const struct option_list *files)
{
    struct filter_file into;
    int code = EXIT_DONE;

    (void)settings;
    if (!filter_is_free(u, files->item[0]))
        return EXIT_CANNOT;
    if (!filter_file_open(&into, u->name, files->item[1], false, &code))
        return code;
    for (size_t i = 2; i < files->count && code == EXIT_DONE; i++)
        code = merge_one(&into, files->item[i]);
    into.path = files->item[0];
    if (code == EXIT_DONE)
        code = filter_file_save(&into);
    if (code == EXIT_DONE)
        code = filter_file_verdict(&into);
    filter_file_close(&into);
    return code;
}

const struct usage filter_merge_usage = {
    .name = "filter merge",
    .synopsis = "filter merge OUT FILE FILE...",
    .about = "Writes to OUT, which must not exist yet, a filter that holds "
             "the keys of every FILE. All must have the same kind, rate, hash "
             "and seed, and kinds that keep no keys also the same size.",
    .table = &no_options,
    .least = 3,
    .most = 10000,
    .operand = "a filter's file",
    .run = merge_run,
};

/* ---- info ---- */

struct info_settings {
    bool json;
    uint8_t from[1];
};

/* clang-format off */
static const struct option_spec info_specs[] = {
    FILTER_JSON_ROW(struct info_settings),
};
/* clang-format on */

static const struct option_table info_table =
    OPTION_TABLE(info_specs, struct info_settings);

static double bits_per_key(const struct filter_stats *s)
{
    return s->count > 0 ? (double)s->bits / (double)s->count : 0;
}

/* By what the file says its keys are: in JSON, and for people. */
static const char *const keys_words[][2] = {
    [CHECKPOINT_KEYS_UNKNOWN] = {"unknown", "not known"},
    [CHECKPOINT_KEYS_URLS] = {"canonical_urls", "canonical URLs"},
    [CHECKPOINT_KEYS_OTHER] = {"other", "not canonical URLs, or not all"},
};

static void filter_print_json(const struct filter_file *f,
                              const struct filter_stats *s)
{
    json_t *o = json_pack(
        "{s:s, s:I, s:o, s:I, s:f, s:I, s:f, s:f, s:f, s:i, s:I, s:I, s:I, "
        "s:b, s:b, s:I, s:s, s:o}",
        "kind", s->kind, "count", (json_int_t)s->count, "capacity",
        s->capacity > 0 ? json_integer((json_int_t)s->capacity) : json_null(),
        "bits", (json_int_t)s->bits, "bits_per_key", bits_per_key(s),
        "key_bits", (json_int_t)s->key_bits, "fill", s->fill, "fpr_promised",
        s->fpr_promised, "fpr_predicted", s->fpr_predicted, "k", (int)s->k,
        "segments", (json_int_t)s->segments, "stuck", (json_int_t)s->stuck,
        "lost", (json_int_t)s->lost, "overfull", s->overfull, "reduced",
        s->reduced, "file_bytes", (json_int_t)f->info.bytes, "keys_are",
        keys_words[f->info.id.keys][0], "ttl",
        s->ttl_s > 0 ? json_integer((json_int_t)s->ttl_s) : json_null());

    json_dumpf(o, stdout, JSON_REAL_PRECISION(9));
    putchar('\n');
    json_decref(o);
}

static void filter_print_text(const struct filter_file *f,
                              const struct filter_stats *s)
{
    struct buf b;

    buf_init(&b, 4096);
    buf_addf(&b,
             "kind           %s\nkeys           %s\nkeys are       %s\n"
             "capacity       %s\nsize           %s, %.2f bits a key",
             s->kind, COUNT(s->count),
             s->count > 0 ? keys_words[f->info.id.keys][1] : "none yet",
             s->capacity > 0 ? COUNT(s->capacity) : "grows", SIZE(s->bits / 8),
             bits_per_key(s));
    if (s->key_bits > 0)
        buf_addf(&b, "\nkept keys      %s%s", SIZE(s->key_bits / 8),
                 s->capacity == 0 ? ", to grow from" : "");
    if (s->ttl_s > 0)
        buf_addf(&b, "\nforgets after  %s, in %u generations",
                 DURATION(s->ttl_s * 1000), s->generations);
    buf_addf(&b, "\nfill           %.1f %%", 100 * s->fill);
    buf_addf(&b, "\nfalse maybe    %.3g promised, %.3g now", s->fpr_promised,
             s->fpr_predicted);
    buf_addf(&b, "\nsegments       %" PRIu64, s->segments);
    if (s->stuck > 0)
        buf_addf(&b,
                 "\nstuck          %" PRIu64 ", which removal no longer "
                 "changes",
                 s->stuck);
    buf_addf(&b, "\nfile           %s\n", SIZE(f->info.bytes));
    if (s->overfull)
        buf_add_str(&b, "It is overfull: its promise no longer holds.\n");
    fputs(buf_str(&b), stdout);
    buf_fini(&b);
}

static int info_run(const struct usage *u, void *settings,
                    const struct option_list *operands)
{
    const struct info_settings *set = settings;
    const char *path = operands->item[0];
    struct filter_file f;
    struct filter_stats s;
    int code = EXIT_DONE;

    if (redis_address_is_url(path))
        return filter_redis_info(u->name, path, set->json);
    if (!filter_file_open(&f, u->name, path, false, &code))
        return code;
    filter_stats(f.filter, &s);
    (set->json ? filter_print_json : filter_print_text)(&f, &s);
    code = filter_file_verdict(&f);
    filter_file_close(&f);
    return code;
}

const struct usage filter_info_usage = {
    .name = "filter info",
    .synopsis = "filter info FILE [--json]",
    .about = "Shows what the filter in FILE holds and promises, and how much "
             "memory it takes.",
    .table = &info_table,
    .least = 1,
    .most = 1,
    .operand = "a filter's file",
    .run = info_run,
};

/*
 * `urlweir filter predict`: sizes and rates before a filter
 * is made, and what happens when it gets more keys than it was made for.
 *
 * Nothing is allocated: the arithmetic of filter/sizing.h alone, so a billion
 * keys are as quick as ten.
 */

struct predict_settings {
    int64_t capacity;
    double fpr;
    bool json;
    int64_t bits, hashes;
    uint8_t from[5];
};

enum { PREDICT_FPR_AT = 1 }; /* its row below */

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
    buf_addf(&b,
             "For %s keys at a false-positive rate of %g:\n\n"
             "  kind       k  bits a key  size\n",
             COUNT(n), fpr);
    for (int i = 0; i < PLANS; i++)
        buf_addf(&b, "  %-9s %2u  %10.2f  %s\n", plans[i].kind, plans[i].k,
                 plans[i].bits_per_key,
                 SIZE((uint64_t)ceil(plans[i].bits_per_key * (double)n / 8)));
    buf_add_str(&b, "\nA `bloom` of this size that holds\n\n");
    for (int i = 0; i < OVERFILLS; i++) {
        buf_addf(&b,
                 "  %20s keys calls %8.4f %% of new keys `maybe`, a plain one "
                 "%8.4f %%\n",
                 COUNT((uint64_t)llround(overfill[i] * (double)n)),
                 100 * rates->bloom[i], 100 * rates->plain[i]);
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
    buf_addf(&b,
             "%s bits, %s:\n\n  kind    k                  keys  false maybe\n",
             COUNT(bits), SIZE((bits + 7) / 8));
    for (size_t i = 0; i < n; i++) {
        buf_addf(&b, "  %-6s %2u  %20s  %.4g\n", a[i].kind, a[i].k,
                 COUNT(a[i].keys), a[i].fpr);
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

    if (n > 0 && s->from[PREDICT_FPR_AT] == OPTION_FROM_LINE)
        return usage_error(&filter_predict_usage,
                           "--bits and --capacity give the rate: leave --fpr "
                           "out, or one of the two");
    a[0] = n > 0 ? plain_rate(bits, k, n) : plain_keys(bits, k, s->fpr);
    a[1] = n > 0 ? bloom_rate(bits, n) : bloom_keys(bits, s->fpr);
    print_answers(bits, a, k == 0 && bits >= 512 ? 2 : 1, s->json);
    return EXIT_DONE;
}

static int predict_run(const struct usage *u, void *settings,
                       const struct option_list *operands)
{
    const struct predict_settings *s = settings;
    struct plan plans[PLANS];
    struct rates rates;
    uint64_t n;

    (void)operands;
    if (s->bits > 0)
        return predict_bits(s);
    if (s->hashes > 0)
        return usage_error(u, "--hashes needs --bits");
    if (s->capacity < 1)
        return usage_error(u, "--capacity or --bits is needed, at least 1");
    n = (uint64_t)s->capacity;
    make_plans(plans, n, s->fpr);
    overfill_rates(&rates, n, s->fpr);
    (s->json ? predict_print_json : predict_print_text)(plans, n, s->fpr,
                                                        &rates);
    return EXIT_DONE;
}

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
    .run = predict_run,
};
