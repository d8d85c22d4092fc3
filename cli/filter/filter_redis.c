/* SPDX-License-Identifier: MIT */
/*
 * filter_redis.c - a filter in Redis, for the `filter` commands, and the two
 * commands for Redis only, `rebuild` and `drop`.
 */
#include "cli/filter/filter_redis.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/format.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/filter/filter_commands.h"

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

int filter_redis_failed(const struct filter_redis *f, enum status st)
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

bool filter_redis_open(struct filter_redis *f, const char *command,
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

void filter_redis_close(struct filter_redis *f)
{
    redis_bloom_free(f->bloom);
    f->bloom = NULL;
}

static struct redis_keys redis_keys_of(const struct filter_redis *f,
                                       const struct filter_keys *keys)
{
    if (f->by_text)
        return (struct redis_keys){.text = keys->text};
    return (struct redis_keys){.digest = keys->key};
}

enum status filter_redis_add(struct filter_redis *f,
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

enum status filter_redis_set_ttl(struct filter_redis *f, int64_t ttl_ms)
{
    return redis_bloom_set_ttl(f->bloom, ttl_ms);
}

enum status filter_redis_check(struct filter_redis *f,
                               const struct filter_keys *keys, bool *maybe)
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
        buf_add_str(&b, "keys           ");
        format_count(&b, i->count);
        buf_add_str(&b, "\ncapacity       ");
        format_count(&b, i->expect);
        buf_addf(&b, "\nfalse maybe    %.3g promised, %.3g now\n", i->fpr,
                 i->fpr_predicted);
    }
    buf_add_str(&b, "size           ");
    format_size(&b, (i->bits + 7) / 8);
    buf_addf(&b, ", k = %u\nfill           %.1f %%\n", i->k,
             100 * (double)i->bits_set / (double)i->bits);
    if (i->ends_ms >= 0) {
        buf_add_str(&b, "ends in        ");
        format_duration(&b, i->ends_ms);
        buf_add_str(&b, "\n");
    }
    if (i->generations > 0) {
        buf_add_str(&b, "forgets after  ");
        format_duration(&b, i->ttl_ms);
        buf_addf(&b, ", in %u generations\n", i->generations);
    }
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
};

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

int filter_rebuild_command(int argc, char **argv)
{
    struct rebuild_settings s;
    struct option_list operands = {0};
    int code = EXIT_DONE;

    if (!command_line_parse(&filter_rebuild_usage, argc, argv, &s, &operands,
                            &code))
        return code;
    if (!redis_address_is_url(operands.item[0]))
        code = not_redis(&filter_rebuild_usage, operands.item[0]);
    else if (s.urls && s.binary)
        code = usage_error(&filter_rebuild_usage,
                           "--urls does not go with --binary");
    else if (s.capacity < 1)
        code = usage_error(&filter_rebuild_usage,
                           "--capacity is needed, at least 1");
    else
        code = rebuild(operands.item[0], &s);
    option_list_free(&operands);
    return code;
}

/* ---- drop ---- */

static const struct option_table no_table = {NULL, 0, 0};

const struct usage filter_drop_usage = {
    .name = "filter drop",
    .synopsis = "filter drop REDIS_URL",
    .about = "Deletes a filter in Redis, its record and any rebuild of it. A "
             "crawl that uses it makes another and fills it from its exact "
             "set.",
    .table = &no_table,
    .least = 1,
    .most = 1,
    .operand = "a Redis URL",
};

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

int filter_drop_command(int argc, char **argv)
{
    struct option_list operands = {0};
    char nothing;
    int code = EXIT_DONE;

    if (!command_line_parse(&filter_drop_usage, argc, argv, &nothing, &operands,
                            &code))
        return code;
    code = redis_address_is_url(operands.item[0])
               ? redis_drop(operands.item[0])
               : not_redis(&filter_drop_usage, operands.item[0]);
    option_list_free(&operands);
    return code;
}
