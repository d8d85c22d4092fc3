/* SPDX-License-Identifier: MIT */
/*
 * filter_stream.c - `urlweir filter add`, `check` and `remove`: keys from
 * stdin, an answer for each on stdout.
 *
 * With --binary keys may contain line ends, so answers do not repeat the key:
 * they come in the order of the keys.
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/format.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/filter/filter_commands.h"
#include "cli/filter/filter_file.h"
#include "filter/redis/redis_bloom.h"
#include "frontier/url/url.h"

/*
 * A filter in Redis, for the `filter` commands.
 *
 * Used in place of a file: `filter add redis://host/0?key=NAME`. The seed of
 * its hash is in its record, so keys are as in a file with the same seed; with
 * the plain layout the keys are the lines themselves, as other programs hash
 * them.
 */

struct filter_redis {
    const char *command; /* for messages: "filter add" */
    struct redis_bloom *bloom;
    struct digest_key key;
    bool by_text;
};

/* ---- what the commands share ---- */

static int said(const char *command, enum status st, const struct buf *why)
{
    struct buf safe;

    buf_init(&safe, 65536);
    format_terminal(&safe, buf_bytes(why));
    fprintf(stderr, "urlweir %s: %s\n", command, buf_str(&safe));
    buf_fini(&safe);
    return st == STATUS_FORMAT || st == STATUS_ARG || st == STATUS_LIMIT
               ? EXIT_USAGE
           : st == STATUS_DAMAGED ? EXIT_DAMAGED
                                  : EXIT_CANNOT;
}

/* Prints what `st` means for this filter; returns an exit status. */
static int filter_redis_failed(const struct filter_redis *f, enum status st)
{
    struct buf why;
    int code;

    buf_init(&why, 4096);
    redis_bloom_why(f->bloom, st, &why);
    code = said(f->command, st, &why);
    buf_fini(&why);
    return code;
}

/* The server may be restarting: we wait for the time in the URL. */
static enum status open_bloom(struct redis_bloom **out, const char *url,
                              struct redis_bloom_options *o, struct buf *why)
{
    struct redis_place place;
    enum status st = redis_url_parse(&place, url, why);

    if (st == STATUS_OK && place.ttl_ms > 0 && o->ttl_ms > 0) {
        buf_add_str(why, "ttl= in the URL ends the filter as a whole, --ttl "
                         "forgets its keys one by one: give one of them");
        st = STATUS_ARG;
    }
    if (st != STATUS_OK)
        return st;
    o->place = &place;
    o->patience_ms = place.retry_ms;
    st = redis_bloom_open(out, o, why);
    o->place = NULL; /* valid only in this call */
    return st;
}

static void filter_redis_close(struct filter_redis *f)
{
    redis_bloom_free(f->bloom);
    f->bloom = NULL;
}

static bool open_as(struct filter_redis *f, const char *command,
                    const char *url, struct redis_bloom_options *o, int *code)
{
    struct redis_bloom_info info;
    struct buf why;
    enum status st;

    *f = (struct filter_redis){.command = command};
    buf_init(&why, 4096);
    st = open_bloom(&f->bloom, url, o, &why);
    if (st != STATUS_OK) {
        *code = said(command, st, &why);
    } else {
        redis_bloom_known(f->bloom, &info);
        f->by_text = info.layout == REDIS_PLAIN;
        digest_key_init(&f->key, info.seed);
        if (!f->by_text && !info.has_seed) {
            fprintf(stderr,
                    "urlweir %s: this filter belongs to crawls, and its keys "
                    "depend on their secrets\n",
                    command);
            *code = EXIT_CANNOT;
            filter_redis_close(f);
            st = STATUS_ARG;
        }
    }
    buf_fini(&why);
    return st == STATUS_OK;
}

/* False: *code is the exit status, and the reason was printed. `renew`: a
 * filter whose time is over is begun anew, also later, by adding. */
static bool filter_redis_open(struct filter_redis *f, const char *command,
                              const char *url, bool renew, int *code)
{
    struct redis_bloom_options o = {.mode = renew ? REDIS_BLOOM_RENEW
                                                  : REDIS_BLOOM_OPEN};

    return open_as(f, command, url, &o, code);
}

int filter_redis_create(const char *command, const char *url,
                        struct redis_bloom_options o)
{
    struct filter_redis f;
    int code = EXIT_DONE;

    o.mode = REDIS_BLOOM_NEW;
    if (open_as(&f, command, url, &o, &code))
        filter_redis_close(&f);
    return code;
}

static struct redis_keys redis_keys_of(const struct filter_redis *f,
                                       const struct filter_keys *keys)
{
    if (f->by_text)
        return (struct redis_keys){.text = keys->text};
    return (struct redis_keys){.digest = keys->key};
}

/* fresh[i] and maybe[i] as in redis_bloom.h. */
static enum status filter_redis_add(struct filter_redis *f,
                                    const struct filter_keys *keys, bool *fresh)
{
    enum status st =
        redis_bloom_add(f->bloom, redis_keys_of(f, keys), keys->n, fresh);

    if (st == STATUS_NOT_FOUND) { /* its time is over? */
        st = redis_bloom_renew(f->bloom);
        if (st == STATUS_OK)
            st = redis_bloom_add(f->bloom, redis_keys_of(f, keys), keys->n,
                                 fresh);
    }
    return st;
}

/* As redis_bloom_set_ttl(). */
static enum status filter_redis_set_ttl(struct filter_redis *f, int64_t ttl_ms)
{
    return redis_bloom_set_ttl(f->bloom, ttl_ms);
}

static enum status filter_redis_check(struct filter_redis *f,
                                      const struct filter_keys *keys,
                                      bool *maybe)
{
    return redis_bloom_check(f->bloom, redis_keys_of(f, keys), keys->n, maybe);
}

/* ---- info ---- */

static void redis_print_json(const struct redis_bloom_info *i)
{
    json_t *o = json_pack(
        "{s:s, s:s, s:I, s:I, s:I, s:f, s:f, s:f, s:i, s:b, s:b, s:b, s:b}",
        "kind", "redis", "layout",
        i->layout == REDIS_PLAIN ? "plain" : "blocked", "count",
        (json_int_t)i->count, "capacity", (json_int_t)i->expect, "bits",
        (json_int_t)i->bits, "fill", (double)i->bits_set / (double)i->bits,
        "fpr_promised", i->fpr, "fpr_predicted", i->fpr_predicted, "k",
        (int)i->k, "overfull", i->overfull, "foreign", i->foreign, "rebuilding",
        i->rebuilding, "may_be_evicted", i->may_evict);

    if (i->layout == REDIS_PLAIN)
        json_object_set_new(o, "hash", json_string(redis_hash_name(i->hash)));
    if (i->ends_ms >= 0)
        json_object_set_new(o, "ends_in", json_real((double)i->ends_ms / 1000));
    if (i->generations > 0) {
        json_object_set_new(o, "ttl", json_real((double)i->ttl_ms / 1000));
        json_object_set_new(o, "generations", json_integer(i->generations));
    }
    json_dumpf(o, stdout, JSON_REAL_PRECISION(9));
    putchar('\n');
    json_decref(o);
}

static void redis_print_text(const struct redis_bloom_info *i)
{
    struct buf b;

    buf_init(&b, 4096);
    if (i->layout == REDIS_PLAIN)
        buf_addf(&b, "kind           redis, plain layout, %s hash\n",
                 redis_hash_name(i->hash));
    else
        buf_add_str(&b, "kind           redis, blocked layout\n");
    if (i->foreign) {
        buf_addf(&b,
                 "record         none: another program's bitmap\n"
                 "false maybe    %.3g now\n",
                 i->fpr_predicted);
    } else {
        buf_addf(&b,
                 "keys           %s\ncapacity       %s\n"
                 "false maybe    %.3g promised, %.3g now\n",
                 COUNT(i->count), COUNT(i->expect), i->fpr, i->fpr_predicted);
    }
    buf_addf(&b, "size           %s, k = %u\nfill           %.1f %%\n",
             SIZE((i->bits + 7) / 8), i->k,
             100 * (double)i->bits_set / (double)i->bits);
    if (i->ends_ms >= 0)
        buf_addf(&b, "ends in        %s\n", DURATION(i->ends_ms));
    if (i->generations > 0)
        buf_addf(&b, "forgets after  %s, in %u generations\n",
                 DURATION(i->ttl_ms), i->generations);
    if (i->rebuilding)
        buf_add_str(&b, "It is being rebuilt: every key is written twice.\n");
    if (i->may_evict)
        buf_add_str(&b, "The server may evict it: set maxmemory-policy "
                        "noeviction.\n");
    if (!i->is_logged)
        buf_add_str(&b, "The server keeps no append-only file: a crash may "
                        "cost keys.\n");
    if (i->overfull)
        buf_add_str(&b, "It is overfull: it errs at twice its promise or "
                        "more.\n");
    fputs(buf_str(&b), stdout);
    buf_fini(&b);
}

int filter_redis_info(const char *command, const char *url, bool json)
{
    struct redis_bloom_options o = {.mode = REDIS_BLOOM_OPEN};
    struct filter_redis f = {.command = command};
    struct redis_bloom_info info;
    struct buf why;
    int code = EXIT_DONE;
    enum status st;

    buf_init(&why, 4096);
    st = open_bloom(&f.bloom, url, &o, &why);
    if (st == STATUS_OK)
        st = redis_bloom_inspect(f.bloom, &info);
    if (st == STATUS_OK)
        (json ? redis_print_json : redis_print_text)(&info);
    else if (f.bloom != NULL)
        code = filter_redis_failed(&f, st);
    else
        code = said(command, st, &why);
    filter_redis_close(&f);
    buf_fini(&why);
    return code;
}

/* ---- rebuild ---- */

struct rebuild_settings {
    int64_t capacity;
    double fpr;
    bool binary, urls, allow_smaller;
    uint8_t from[5];
};

#define AT(f) .at = offsetof(struct rebuild_settings, f)

/* clang-format off */
static const struct option_spec rebuild_specs[] = {
    FILTER_CAPACITY_ROW(struct rebuild_settings,
                        "number of keys the new filter is made for"),
    FILTER_FPR_ROW(struct rebuild_settings),
    {.name = "binary", .type = OPTION_FLAG, AT(binary), .section = "Keys",
     .help = "each key follows its length in four octets, little-endian"},
    {.name = "urls", .type = OPTION_FLAG, AT(urls), .section = "Keys",
     .help = "the lines are URLs, and their canonical forms are the keys"},
    {.name = "allow-smaller", .type = OPTION_FLAG, AT(allow_smaller),
     .section = "Filter",
     .help = "also if the new filter has none, or less than half, of the keys "
             "that are there"},
};
/* clang-format on */

static const struct option_table rebuild_table =
    OPTION_TABLE(rebuild_specs, struct rebuild_settings);

struct refill {
    struct filter_redis f;
    uint64_t given;
    enum status st;
};

static void redis_refill(void *ctx, const struct filter_keys *keys)
{
    struct refill *r = ctx;

    r->given += keys->n;
    if (r->st == STATUS_OK)
        r->st =
            redis_bloom_refill(r->f.bloom, redis_keys_of(&r->f, keys), keys->n);
}

/* A source that failed must not empty a filter, after which every key would be
 * new. */
static enum status redis_replace(struct refill *r, bool allow_smaller)
{
    struct redis_bloom_info now;
    enum status st = STATUS_REFUSED;

    redis_bloom_known(r->f.bloom, &now);
    if (r->given > 0 || now.count == 0 || allow_smaller)
        st = redis_bloom_swap(r->f.bloom, allow_smaller);
    if (st != STATUS_REFUSED)
        return st;
    redis_bloom_known(r->f.bloom, &now);
    fprintf(stderr,
            "urlweir filter rebuild: %" PRIu64 " keys were read, and the new "
            "filter has %" PRIu64 " where the old one has %" PRIu64
            "; nothing was changed. If that is right, say --allow-smaller\n",
            r->given, now.next_count, now.count);
    (void)!redis_bloom_abort(r->f.bloom);
    return st;
}

/* Without the lines that are no URLs keys may be missing in the new filter. */
static enum status refuse_list(struct filter_keys_report *r)
{
    snprintf(r->error, sizeof r->error,
             "stdin: line %" PRIu64 " is not an http(s) URL (%s)", r->first,
             r->why);
    return STATUS_FORMAT;
}

static int rebuild(const char *url, const struct rebuild_settings *s)
{
    const struct filter_keys_form form = {.binary = s->binary, .urls = s->urls};
    struct refill r = {.st = STATUS_OK};
    struct filter_keys_report report;
    enum status st;
    int code = EXIT_DONE;

    if (!filter_redis_open(&r.f, filter_rebuild_usage.name, url, false, &code))
        return code;
    st = redis_bloom_rebuild(r.f.bloom, (uint64_t)s->capacity, s->fpr);
    if (st == STATUS_LIMIT || st == STATUS_ARG) {
        code = usage_error(&filter_rebuild_usage,
                           st == STATUS_LIMIT
                               ? "that many keys need more than the 2^32 bits "
                                 "of a Redis string"
                               : "another program's bitmap has no record from "
                                 "which its users would learn of the new size, "
                                 "and of a filter that forgets nobody knows "
                                 "how old its keys are: make another");
        st = STATUS_OK;
    } else if (st == STATUS_OK) {
        st = filter_keys_each(&form, &r.f.key, redis_refill, &r, &report);
        if (st == STATUS_OK && report.refused > 0)
            st = refuse_list(&report);
        if (st != STATUS_OK) {
            fprintf(stderr, "urlweir filter rebuild: %s%s\n",
                    report.error[0] != '\0' ? "" : "stdin: ",
                    report.error[0] != '\0' ? report.error
                    : st == STATUS_IO       ? strerror(errno)
                                            : status_text(st));
            code = EXIT_CANNOT;
            (void)!redis_bloom_abort(r.f.bloom);
            st = STATUS_OK;
        } else {
            st = r.st == STATUS_OK ? redis_replace(&r, s->allow_smaller) : r.st;
        }
    }
    if (st == STATUS_REFUSED)
        code = EXIT_CANNOT;
    else if (st != STATUS_OK)
        code = filter_redis_failed(&r.f, st);
    filter_redis_close(&r.f);
    return code;
}

static int not_redis(const struct usage *u, const char *operand)
{
    return usage_error(u,
                       "%s is not a Redis URL; a filter in a file is made "
                       "again with `filter create` and `filter add`",
                       operand);
}

static int rebuild_run(const struct usage *u, void *settings,
                       const struct option_list *operands)
{
    const struct rebuild_settings *s = settings;

    if (!redis_address_is_url(operands->item[0]))
        return not_redis(u, operands->item[0]);
    if (s->urls && s->binary)
        return usage_error(u, "--urls does not go with --binary");
    if (s->capacity < 1)
        return usage_error(u, "--capacity is needed, at least 1");
    return rebuild(operands->item[0], s);
}

const struct usage filter_rebuild_usage = {
    .name = "filter rebuild",
    .synopsis = "filter rebuild REDIS_URL --capacity N [--fpr P] "
                "[--allow-smaller] < KEYS",
    .about = "Resizes a filter in Redis while others use it. KEYS are all "
             "keys that were ever added to it; keys that others add meanwhile "
             "are written to both filters, and the new one replaces the old "
             "one in one step.",
    .table = &rebuild_table,
    .least = 1,
    .most = 1,
    .operand = "a Redis URL",
    .run = rebuild_run,
};

/* ---- drop ---- */

/* Works for a crawl's filter too, since it needs no keys. */
static int redis_drop(const char *url)
{
    struct redis_bloom_options o = {.mode = REDIS_BLOOM_LEFT};
    struct filter_redis f = {.command = filter_drop_usage.name};
    struct buf why;
    enum status st;
    int code = EXIT_DONE;

    buf_init(&why, 4096);
    st = open_bloom(&f.bloom, url, &o, &why);
    if (st != STATUS_OK)
        code = said(filter_drop_usage.name, st, &why);
    else if ((st = redis_bloom_drop(f.bloom)) == STATUS_ARG)
        code = usage_error(&filter_drop_usage, "this bitmap belongs to another "
                                               "program and is not deleted");
    else if (st != STATUS_OK)
        code = filter_redis_failed(&f, st);
    filter_redis_close(&f);
    buf_fini(&why);
    return code;
}

static int drop_run(const struct usage *u, void *settings,
                    const struct option_list *operands)
{
    (void)settings;
    return redis_address_is_url(operands->item[0])
               ? redis_drop(operands->item[0])
               : not_redis(u, operands->item[0]);
}

const struct usage filter_drop_usage = {
    .name = "filter drop",
    .synopsis = "filter drop REDIS_URL",
    .about = "Deletes a filter in Redis, its record and any rebuild of it. A "
             "crawl that uses it makes another and fills it from its exact "
             "set.",
    .table = &no_options,
    .least = 1,
    .most = 1,
    .operand = "a Redis URL",
    .run = drop_run,
};

struct stream_settings {
    bool tell, binary, named, urls;
    char *name;
    int64_t ttl;
    uint8_t from[6];
};

#undef AT
#define AT(f) .at = offsetof(struct stream_settings, f)

/* clang-format off */
static const struct option_spec specs[] = {
    {.name = "binary", .type = OPTION_FLAG, AT(binary), .section = "Keys",
     .help = "each key follows its length in four octets, little-endian; "
             "answers then leave the key out"},
    {.name = "name", .type = OPTION_TEXT, AT(name), .section = "Keys",
     .arg = "NAME",
     .help = "the keys are of this user, tenant or other name: a key of one "
             "name is no key of another"},
    {.name = "named", .type = OPTION_FLAG, AT(named), .section = "Keys",
     .help = "each line is a name, a tab and a key of it"},
    {.name = "urls", .type = OPTION_FLAG, AT(urls), .section = "Keys",
     .help = "the lines are URLs, and their canonical forms are the keys, as a "
             "crawl's --block-filter needs them; # begins a comment"},
    {.name = "tell", .type = OPTION_FLAG, AT(tell), .section = "Keys",
     .help = "print an answer for each key"},
    {.name = "ttl", .type = OPTION_TIME, AT(ttl), .fallback = "0", .min = 0,
     .max = FILTER_TTL_MOST * 1000.0, .section = "Filter", .arg = "T",
     .help = "of a filter that forgets: keep its keys for T from now on"},
};
/* clang-format on */

/* `check` has no --tell: it always answers. */
static const struct option_table change_table =
    OPTION_TABLE(specs, struct stream_settings);
static const struct option_table check_table =
    OPTION_TABLE(specs, struct stream_settings);

struct run {
    struct filter_file file;
    const struct stream_settings *set;
    struct filter_keys_form form;
    const char *yes, *no; /* answers for true and false */
    enum status (*ask)(struct filter *f, const uint64_t *keys, size_t n,
                       bool *answers);
    /* For a filter in Redis; NULL: cannot. */
    enum status (*ask_redis)(struct filter_redis *f,
                             const struct filter_keys *keys, bool *answers);
    struct filter_redis redis; /* bloom == NULL: it is a file */
    bool says;                 /* prints answers */
    struct filter_keys_report report;
    struct url url;
    enum status st;
};

static enum status ask_add(struct filter *f, const uint64_t *keys, size_t n,
                           bool *answers)
{
    return filter_add(f, keys, n, answers);
}

static enum status ask_check(struct filter *f, const uint64_t *keys, size_t n,
                             bool *answers)
{
    filter_check(f, keys, n, answers);
    return STATUS_OK;
}

static enum status ask_remove(struct filter *f, const uint64_t *keys, size_t n,
                              bool *answers)
{
    return filter_remove(f, keys, n, answers);
}

/* Notes in the file that it has other keys than canonical URLs. Once it has,
 * nobody looks any more, and keys that are no URLs at all are told at once. */
static void note_keys(struct run *r, const struct filter_keys *keys)
{
    enum checkpoint_keys *are = &r->file.info.id.keys;

    if (r->form.named || r->form.name != NULL)
        *are = CHECKPOINT_KEYS_OTHER;
    for (size_t i = 0;
         *are != CHECKPOINT_KEYS_OTHER && !r->form.urls && i < keys->n; i++)
        if (url_canonical(&r->url, keys->text[i], NULL, NULL) != URL_OK ||
            !bytes_equal(url_text(&r->url), keys->text[i]))
            *are = CHECKPOINT_KEYS_OTHER;
}

static void answer(void *ctx, const struct filter_keys *keys)
{
    struct run *r = ctx;
    bool answers[FILTER_KEY_BATCH], stuck[FILTER_KEY_BATCH] = {false};
    enum status st;

    if (r->st != STATUS_OK)
        return;
    if (r->ask == ask_add && r->redis.bloom == NULL)
        note_keys(r, keys);
    st = r->redis.bloom != NULL
             ? r->ask_redis(&r->redis, keys, answers)
             : r->ask(r->file.filter, keys->key, keys->n, answers);
    /* An overfull filter has all its keys, and was logged. */
    if (st != STATUS_OK && st != STATUS_LIMIT)
        r->st = st;
    if (!r->says || r->st != STATUS_OK)
        return;
    if (r->ask == ask_remove)
        filter_find_stuck(r->file.filter, keys->key, keys->n, answers, stuck);
    for (size_t i = 0; i < keys->n; i++) {
        fputs(answers[i] ? r->yes : stuck[i] ? "stuck" : r->no, stdout);
        if (!r->set->binary) {
            putchar('\t');
            fwrite(keys->given[i].at, 1, keys->given[i].len, stdout);
        }
        putchar('\n');
    }
    fflush(stdout);
}

static int read_error(const struct run *r, enum status st)
{
    const char *why = r->report.error[0] != '\0' ? r->report.error
                      : st == STATUS_LIMIT       ? "a key is longer than 16M"
                      : st == STATUS_FORMAT      ? "stdin ends inside a key"
                      : st == STATUS_ARG ? "a line has no tab behind a name"
                      : st == STATUS_IO  ? strerror(errno)
                                         : status_text(st);

    fprintf(stderr, "urlweir %s: %s\n", r->file.command, why);
    return r->report.error[0] == '\0' &&
                   (st == STATUS_LIMIT || st == STATUS_FORMAT ||
                    st == STATUS_ARG)
               ? EXIT_USAGE
               : EXIT_CANNOT;
}

/* Lines of a list of URLs that are none; the others are dealt with. */
static int say_refused(const struct run *r)
{
    const struct filter_keys_report *k = &r->report;

    if (k->refused == 0)
        return EXIT_DONE;
    fprintf(stderr,
            "urlweir %s: %" PRIu64 " line%s and %s left out; the first is line "
            "%" PRIu64 " (%s)\n",
            r->file.command, k->refused,
            k->refused == 1 ? " is not an http(s) URL"
                            : "s are not http(s) URLs",
            k->refused == 1 ? "was" : "were", k->first, k->why);
    return EXIT_SEEDS;
}

/* Processes all keys; saves a change only if all of stdin was valid. */
static int stream(struct run *r, bool change)
{
    enum status st =
        filter_keys_each(&r->form, &r->file.key, answer, r, &r->report);
    int code;

    if (st == STATUS_OK)
        st = r->st;
    if (st != STATUS_OK)
        return read_error(r, st);
    if (ferror(stdout)) {
        fprintf(stderr, "urlweir %s: cannot write answers\n", r->file.command);
        return EXIT_CANNOT;
    }
    code = change ? filter_file_save(&r->file) : EXIT_DONE;
    if (code == EXIT_DONE)
        code = filter_file_verdict(&r->file);
    return code == EXIT_DONE ? say_refused(r) : code;
}

static int no_ttl(const struct usage *u, const char *name)
{
    return usage_error(u, "%s was made without --ttl: its keys stay", name);
}

/* Each batch is stored once it is answered; there is nothing to save. */
static int stream_redis(struct run *r, const struct usage *u, const char *url)
{
    enum status st;
    int code = EXIT_DONE;

    if (r->ask_redis == NULL)
        return usage_error(u, "a filter in Redis cannot remove keys");
    if (!filter_redis_open(&r->redis, u->name, url, r->ask == ask_add, &code))
        return code;
    st = r->set->ttl > 0 ? filter_redis_set_ttl(&r->redis, r->set->ttl)
                         : STATUS_OK;
    if (st != STATUS_OK) {
        code = st == STATUS_ARG ? no_ttl(u, "the filter")
                                : filter_redis_failed(&r->redis, st);
        filter_redis_close(&r->redis);
        return code;
    }
    st = filter_keys_each(&r->form, &r->redis.key, answer, r, &r->report);
    r->file.command = u->name;
    if (r->st != STATUS_OK) {
        code = filter_redis_failed(&r->redis, r->st);
    } else if (st != STATUS_OK) {
        code = read_error(r, st);
    } else if (ferror(stdout)) {
        fprintf(stderr, "urlweir %s: cannot write answers\n", u->name);
        code = EXIT_CANNOT;
    } else {
        code = say_refused(r);
    }
    filter_redis_close(&r->redis);
    return code;
}

static int check_form(const struct usage *u, const struct run *r,
                      const char *path)
{
    if (r->set->named && (r->set->name != NULL || r->set->binary))
        return usage_error(u, "--named goes with neither --name nor --binary");
    if (r->set->urls && (r->set->named || r->set->binary))
        return usage_error(u, "--urls goes with neither --named nor --binary");
    if (r->set->ttl > 0 && r->ask != ask_add)
        return usage_error(u, "--ttl is for adding");
    if ((r->set->named || r->set->name != NULL) && redis_address_is_url(path))
        return usage_error(u, "in Redis each name has a filter of its own: "
                              "give another key=NAME");
    return EXIT_DONE;
}

static int run_stream(const struct usage *u, struct run *r, bool change,
                      const char *path)
{
    int code;

    r->says = !change || r->set->tell;
    r->form = (struct filter_keys_form){r->set->binary, r->set->named,
                                        r->set->name, r->set->urls};
    url_init(&r->url);
    code = check_form(u, r, path);
    if (code != EXIT_DONE) {
        ; /* said already */
    } else if (redis_address_is_url(path)) {
        code = stream_redis(r, u, path);
    } else if (filter_file_open(&r->file, u->name, path, change, &code)) {
        const char *kind = filter_options(r->file.filter)->kind;

        if (r->ask == ask_remove && !filter_kind_named(kind)->removes)
            code = usage_error(u, "a %s filter cannot remove keys", kind);
        else if (r->set->ttl > 0 &&
                 filter_set_ttl(r->file.filter, (r->set->ttl + 999) / 1000) !=
                     STATUS_OK)
            code = no_ttl(u, r->file.path);
        else
            code = stream(r, change);
        filter_file_close(&r->file);
    }
    url_fini(&r->url);
    return code;
}

static int add_run(const struct usage *u, void *settings,
                   const struct option_list *operands)
{
    struct run r = {.set = settings,
                    .yes = "new",
                    .no = "maybe",
                    .ask = ask_add,
                    .ask_redis = filter_redis_add};

    return run_stream(u, &r, true, operands->item[0]);
}

const struct usage filter_add_usage = {
    .name = "filter add",
    .synopsis =
        "filter add FILE [--tell] [--binary | --urls] [--name NAME | --named] "
        "< KEYS",
    .about = "Adds each line of stdin to the filter in FILE; the file is "
             "replaced once all keys are in. With --tell, prints `new` or "
             "`maybe`, a tab and the key for each: whether it was certainly "
             "new at its turn.",
    .table = &change_table,
    .least = 1,
    .most = 1,
    .operand = "a filter's file",
    .run = add_run,
};

static int check_run(const struct usage *u, void *settings,
                     const struct option_list *operands)
{
    struct run r = {.set = settings,
                    .yes = "maybe",
                    .no = "new",
                    .ask = ask_check,
                    .ask_redis = filter_redis_check};

    return run_stream(u, &r, false, operands->item[0]);
}

const struct usage filter_check_usage = {
    .name = "filter check",
    .synopsis = "filter check FILE [--binary | --urls] [--name NAME | --named] "
                "< KEYS",
    .about = "Prints `new` or `maybe`, a tab and the key for each line of "
             "stdin. `new`: it was never added. `maybe`: it was, or this is a "
             "false positive.",
    .table = &check_table,
    .least = 1,
    .most = 1,
    .operand = "a filter's file",
    .run = check_run,
};

static int remove_run(const struct usage *u, void *settings,
                      const struct option_list *operands)
{
    struct run r = {.set = settings,
                    .yes = "removed",
                    .no = "absent",
                    .ask = ask_remove};

    return run_stream(u, &r, true, operands->item[0]);
}

const struct usage filter_remove_usage = {
    .name = "filter remove",
    .synopsis =
        "filter remove FILE [--tell] [--binary | --urls] [--name NAME | "
        "--named] < KEYS",
    .about = "Removes each line of stdin from the filter in FILE, a counting "
             "or cuckoo filter. Remove only keys that were added: removing "
             "any other can make a key that is there `new`, unless the filter "
             "keeps its keys. With --tell, prints `removed` or `absent`, a "
             "tab and the key; `stuck`: it may be there and cannot be taken "
             "out of this filter any more.",
    .table = &change_table,
    .least = 1,
    .most = 1,
    .operand = "a filter's file",
    .run = remove_run,
};
