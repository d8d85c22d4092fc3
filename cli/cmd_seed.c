/* SPDX-License-Identifier: MIT */
/*
 * cmd_seed.c - `urlweir seed`: more seeds for a crawl that runs.
 *
 * What is no URL is known here, as `urlweir crawl` knows it of its seeds, and
 * not sent; what becomes of the others the crawl answers, batch by batch. Of
 * one that it has answered the line is printed before the next is sent, so that
 * of a long list that was cut short one knows how far it got.
 */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/format.h"
#include "cli/seeds.h"
#include "cli/steer.h"

#define BATCH_URLS  1000
#define BATCH_BYTES ((size_t)1 << 20) /* the service takes 4 MiB */

/* clang-format off */
static const struct option_spec specs[] = {
    {.name = "input", .letter = 'i', .type = OPTION_TEXT, STEER_AT(input),
     .section = "Seeds", .arg = "FILE", .flags = OPTION_LINE_ONLY,
     .help = "read seeds from FILE, one a line, # begins a comment; - is "
             "stdin"},
    STEER_CRAWL_ROW,
    STEER_ROWS,
};
/* clang-format on */
static const struct option_table table = {specs, sizeof specs / sizeof *specs,
                                          offsetof(struct steer_settings,
                                                   from)};

static const struct usage usage = {
    .name = "seed",
    .synopsis = "seed DIR|URL [SEED...] [-i FILE|-] [--crawl NAME]",
    .about = "Adds seeds to a crawl that runs, which opens its scope to them "
             "as to those it was started with. Prints a line for each: ok, "
             "skipped or failed, TAB, the URL, and where there is one TAB and "
             "the reason. Those that are ok are on disk.",
    .table = &table,
    .least = 1,
    .most = SIZE_MAX,
    .operand = "a crawl's directory, or the URL of a service",
};

struct seeding {
    struct steer *t;
    json_t *urls; /* of the batch */
    size_t bytes;
    struct buf path, line;
    bool any_failed;
    int code; /* of a request that failed */
};

/* ---- what is printed ---- */

static void print_row(struct seeding *k, const char *status, struct bytes url,
                      struct bytes reason)
{
    k->any_failed |= strcmp(status, "failed") == 0;
    buf_clear(&k->line);
    if (k->t->s.json) {
        buf_addf(&k->line, "{\"status\":\"%s\",\"url\":", status);
        format_json(&k->line, url);
        if (reason.len > 0) {
            buf_add_str(&k->line, ",\"reason\":");
            format_json(&k->line, reason);
        }
        buf_add_char(&k->line, '}');
    } else {
        buf_addf(&k->line, "%s\t", status);
        format_terminal(&k->line, url);
        if (reason.len > 0) {
            buf_add_char(&k->line, '\t');
            format_terminal(&k->line, reason);
        }
    }
    puts(buf_str(&k->line));
}

static struct bytes text_of(const json_t *o, const char *name)
{
    const json_t *text = json_object_get(o, name);

    return bytes_of(json_string_value(text), json_string_length(text));
}

/* One of the three words, whatever came. */
static const char *status_word(const json_t *result)
{
    struct bytes s = text_of(result, "status");

    return bytes_is(s, "ok")        ? "ok"
           : bytes_is(s, "skipped") ? "skipped"
                                    : "failed";
}

static enum status refuse(void *ctx, struct bytes text, const char *why)
{
    print_row(ctx, "failed", text, bytes_of_str(why));
    return STATUS_OK;
}

/* ---- batches ---- */

static enum status send_batch(struct seeding *k)
{
    json_t *body, *answer = NULL, *one;
    size_t i;

    if (json_array_size(k->urls) == 0)
        return STATUS_OK;
    body = json_pack("{s:O}", "urls", k->urls);
    k->code = steer_ask(k->t, "POST", buf_str(&k->path), body, &answer);
    json_decref(body);
    json_array_clear(k->urls);
    k->bytes = 0;
    if (k->code != EXIT_DONE)
        return STATUS_IO;
    json_array_foreach(json_object_get(answer, "results"), i, one)
    {
        print_row(k, status_word(one), text_of(one, "url"),
                  text_of(one, "reason"));
    }
    json_decref(answer);
    fflush(stdout);
    return STATUS_OK;
}

static enum status take(void *ctx, const struct url *u)
{
    struct seeding *k = ctx;
    struct bytes text = url_text(u);

    json_array_append_new(k->urls, json_stringn(text.at, text.len));
    k->bytes += text.len;
    return json_array_size(k->urls) == BATCH_URLS || k->bytes >= BATCH_BYTES
               ? send_batch(k)
               : STATUS_OK;
}

/* ---- the command ---- */

static int put_seeds(struct steer *t, struct seeding *k)
{
    struct seeds seeds = {.report = stderr,
                          .visit = take,
                          .refuse = refuse,
                          .ctx = k};
    const struct option_list rest = {t->operands.item + 1,
                                     t->operands.count - 1};
    enum status st = seeds_all(&seeds, &rest, t->s.input);

    if (st == STATUS_OK)
        st = send_batch(k);
    if (k->code != EXIT_DONE)
        return k->code;
    if (st != STATUS_OK)
        return EXIT_CANNOT; /* the file, which was said */
    return k->any_failed ? EXIT_SEEDS : EXIT_DONE;
}

static int run(struct steer *t)
{
    struct seeding k = {.t = t};
    int code;

    if (t->operands.count < 2 && t->s.input == NULL)
        return usage_error(t->usage,
                           "no seed: give URLs, or -i FILE with one a line");
    code = steer_connect(t);
    if (code == EXIT_DONE)
        code = steer_choose(t, false);
    if (code != EXIT_DONE)
        return code;
    k.urls = json_array();
    buf_init(&k.path, 4096);
    buf_init(&k.line, (size_t)1 << 20);
    control_crawl_path(&k.path, steer_crawl_name(t->crawl), "seeds");
    code = put_seeds(t, &k);
    buf_fini(&k.line);
    buf_fini(&k.path);
    json_decref(k.urls);
    return code;
}

int cmd_seed(int argc, char **argv)
{
    struct steer t;
    int code = EXIT_DONE;

    if (!steer_begin(&t, &usage, argc, argv, &code))
        return code;
    code = run(&t);
    steer_end(&t);
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == EXIT_DONE) {
        fprintf(stderr, "urlweir seed: cannot write to standard output\n");
        code = EXIT_CANNOT;
    }
    return code;
}
