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
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/filter/filter_commands.h"
#include "cli/filter/filter_file.h"
#include "cli/filter/filter_redis.h"
#include "frontier/url/url.h"

struct stream_settings {
    bool tell, binary, named, urls;
    char *name;
    int64_t ttl;
    uint8_t from[6];
};

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
};

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
};

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
};

struct run {
    struct filter_file file;
    struct stream_settings set;
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
        if (!r->set.binary) {
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
    st = r->set.ttl > 0 ? filter_redis_set_ttl(&r->redis, r->set.ttl)
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
    if (r->set.named && (r->set.name != NULL || r->set.binary))
        return usage_error(u, "--named goes with neither --name nor --binary");
    if (r->set.urls && (r->set.named || r->set.binary))
        return usage_error(u, "--urls goes with neither --named nor --binary");
    if (r->set.ttl > 0 && r->ask != ask_add)
        return usage_error(u, "--ttl is for adding");
    if ((r->set.named || r->set.name != NULL) && redis_address_is_url(path))
        return usage_error(u, "in Redis each name has a filter of its own: "
                              "give another key=NAME");
    return EXIT_DONE;
}

static int run_stream(const struct usage *u, struct run *r, bool change,
                      int argc, char **argv)
{
    struct option_list operands = {0};
    int code = EXIT_DONE;

    if (!command_line_parse(u, argc, argv, &r->set, &operands, &code))
        return code;
    r->says = !change || r->set.tell;
    r->form = (struct filter_keys_form){r->set.binary, r->set.named,
                                        r->set.name, r->set.urls};
    url_init(&r->url);
    code = check_form(u, r, operands.item[0]);
    if (code != EXIT_DONE) {
        ; /* said already */
    } else if (redis_address_is_url(operands.item[0])) {
        code = stream_redis(r, u, operands.item[0]);
    } else if (filter_file_open(&r->file, u->name, operands.item[0], change,
                                &code)) {
        const char *kind = filter_options(r->file.filter)->kind;

        if (r->ask == ask_remove && !filter_kind_named(kind)->removes)
            code = usage_error(u, "a %s filter cannot remove keys", kind);
        else if (r->set.ttl > 0 &&
                 filter_set_ttl(r->file.filter, (r->set.ttl + 999) / 1000) !=
                     STATUS_OK)
            code = no_ttl(u, r->file.path);
        else
            code = stream(r, change);
        filter_file_close(&r->file);
    }
    url_fini(&r->url);
    option_list_free(&operands);
    option_fini(u->table, &r->set);
    return code;
}

int filter_add_command(int argc, char **argv)
{
    struct run r = {.yes = "new",
                    .no = "maybe",
                    .ask = ask_add,
                    .ask_redis = filter_redis_add};

    return run_stream(&filter_add_usage, &r, true, argc, argv);
}

int filter_check_command(int argc, char **argv)
{
    struct run r = {.yes = "maybe",
                    .no = "new",
                    .ask = ask_check,
                    .ask_redis = filter_redis_check};

    return run_stream(&filter_check_usage, &r, false, argc, argv);
}

int filter_remove_command(int argc, char **argv)
{
    struct run r = {.yes = "removed", .no = "absent", .ask = ask_remove};

    return run_stream(&filter_remove_usage, &r, true, argc, argv);
}
