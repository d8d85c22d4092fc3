/* SPDX-License-Identifier: MIT */
/* filter_make.c - `urlweir filter` and its parts `create`, `merge` and
 * `info`. */
#include <inttypes.h>
#include <jansson.h>
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
#include "cli/filter/filter_redis.h"
#include "filter/checkpoint.h"
#include "filter/sizing.h"

#define ROW(name, summary)                                                     \
    {                                                                          \
#name, filter_##name##_command, &filter_##name##_usage, summary, NULL, \
            NULL                                                               \
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

/* Its options are those of its parts. */
static const struct option_table no_options = {NULL, 0, 0};

const struct usage filter_usage = {
    .name = "filter",
    .synopsis = "filter PART ...",
    .about =
        "A filter answers `new` for a key that was certainly never added, and "
        "`maybe` for all others, in a few bits a key. Here it lives in a file; "
        "keys are lines, of any octets. Changes to a file are atomic. FILE may "
        "be a Redis URL, such as redis://localhost/0?key=NAME: create, add, "
        "check and info then work on a filter that processes share.",
    .table = &no_options,
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
    return part != NULL ? part->run(argc - 1, argv + 1) : not_known(argv[1]);
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
};

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

int filter_create_command(int argc, char **argv)
{
    struct create_settings s;
    struct option_list operands = {0};
    int code = EXIT_DONE;

    if (!command_line_parse(&filter_create_usage, argc, argv, &s, &operands,
                            &code))
        return code;
    code = check_kind_options(&s);
    if (code == EXIT_DONE)
        code = fit_fingerprint(&s);
    if (code == EXIT_DONE)
        code = filter_create(operands.item[0], &s);
    option_list_free(&operands);
    option_fini(&create_table, &s);
    return code;
}

/* ---- merge ---- */

static const struct option_table no_table = {NULL, 0, 0};

const struct usage filter_merge_usage = {
    .name = "filter merge",
    .synopsis = "filter merge OUT FILE FILE...",
    .about = "Writes to OUT, which must not exist yet, a filter that holds "
             "the keys of every FILE. All must have the same kind, rate, hash "
             "and seed, and kinds that keep no keys also the same size.",
    .table = &no_table,
    .least = 3,
    .most = 10000,
    .operand = "a filter's file",
};

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

static int merge(const struct option_list *files)
{
    struct filter_file into;
    int code = EXIT_DONE;

    if (!filter_is_free(&filter_merge_usage, files->item[0]))
        return EXIT_CANNOT;
    if (!filter_file_open(&into, filter_merge_usage.name, files->item[1], false,
                          &code))
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

int filter_merge_command(int argc, char **argv)
{
    struct option_list operands = {0};
    char nothing;
    int code = EXIT_DONE;

    if (!command_line_parse(&filter_merge_usage, argc, argv, &nothing,
                            &operands, &code))
        return code;
    code = merge(&operands);
    option_list_free(&operands);
    return code;
}

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

const struct usage filter_info_usage = {
    .name = "filter info",
    .synopsis = "filter info FILE [--json]",
    .about = "Shows what the filter in FILE holds and promises, and how much "
             "memory it takes.",
    .table = &info_table,
    .least = 1,
    .most = 1,
    .operand = "a filter's file",
};

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
    buf_addf(&b, "kind           %s\nkeys           ", s->kind);
    format_count(&b, s->count);
    buf_addf(&b, "\nkeys are       %s",
             s->count > 0 ? keys_words[f->info.id.keys][1] : "none yet");
    buf_add_str(&b, "\ncapacity       ");
    if (s->capacity > 0)
        format_count(&b, s->capacity);
    else
        buf_add_str(&b, "grows");
    buf_add_str(&b, "\nsize           ");
    format_size(&b, s->bits / 8);
    buf_addf(&b, ", %.2f bits a key", bits_per_key(s));
    if (s->key_bits > 0) {
        buf_add_str(&b, "\nkept keys      ");
        format_size(&b, s->key_bits / 8);
        if (s->capacity == 0)
            buf_add_str(&b, ", to grow from");
    }
    if (s->ttl_s > 0) {
        buf_add_str(&b, "\nforgets after  ");
        format_duration(&b, s->ttl_s * 1000);
        buf_addf(&b, ", in %u generations", s->generations);
    }
    buf_addf(&b, "\nfill           %.1f %%", 100 * s->fill);
    buf_addf(&b, "\nfalse maybe    %.3g promised, %.3g now", s->fpr_promised,
             s->fpr_predicted);
    buf_addf(&b, "\nsegments       %" PRIu64, s->segments);
    if (s->stuck > 0)
        buf_addf(&b,
                 "\nstuck          %" PRIu64 ", which removal no longer "
                 "changes",
                 s->stuck);
    buf_add_str(&b, "\nfile           ");
    format_size(&b, f->info.bytes);
    buf_add_str(&b, "\n");
    if (s->overfull)
        buf_add_str(&b, "It is overfull: its promise no longer holds.\n");
    fputs(buf_str(&b), stdout);
    buf_fini(&b);
}

int filter_info_command(int argc, char **argv)
{
    struct info_settings set;
    struct option_list operands = {0};
    struct filter_file f;
    struct filter_stats s;
    int code = EXIT_DONE;

    if (!command_line_parse(&filter_info_usage, argc, argv, &set, &operands,
                            &code))
        return code;
    if (redis_address_is_url(operands.item[0])) {
        code = filter_redis_info(filter_info_usage.name, operands.item[0],
                                 set.json);
    } else if (filter_file_open(&f, filter_info_usage.name, operands.item[0],
                                false, &code)) {
        filter_stats(f.filter, &s);
        (set.json ? filter_print_json : filter_print_text)(&f, &s);
        code = filter_file_verdict(&f);
        filter_file_close(&f);
    }
    option_list_free(&operands);
    return code;
}
