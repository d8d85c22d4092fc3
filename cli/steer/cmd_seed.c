/* SPDX-License-Identifier: MIT */
/*
 * cmd_seed.c - `urlweir seed`: more seeds for a crawl.
 *
 * Refuses text that is not a URL before it sends anything of it, as `urlweir
 * crawl` does; the crawl decides on the other seeds, batch by batch. Prints the
 * lines of a batch before it sends the next, so that the output of an
 * interrupted run shows how far it got.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "cli/command.h"
#include "cli/steer/steer.h"
#include "job/settings/seeds.h"

#define BATCH_URLS  1000
#define BATCH_BYTES ((size_t)1 << 20) /* the service takes 4 MiB */

/* clang-format off */
static const struct option_spec specs[] = {
    {.name = "input", .letter = 'i', .type = OPTION_TEXT, STEER_AT(input),
     .section = "Seeds", .arg = "FILE",
     .help = "read seeds from FILE, one a line, # begins a comment; it may be "
             "gzip, zstd or bzip2; - is stdin"},
    STEER_CRAWL_ROW,
    STEER_ROWS,
};
/* clang-format on */
static const struct option_table table =
    OPTION_TABLE(specs, struct steer_settings);

struct seeding {
    struct steer *t;
    json_t *urls; /* the batch */
    size_t bytes;
    struct buf line;
    bool any_failed;
    uint64_t known; /* seeds that were known already */
    int code;       /* of a request that failed */
};

/* ---- what is printed ---- */

static void print_row(struct seeding *k, const char *status, struct bytes url,
                      struct bytes reason)
{
    k->any_failed |= strcmp(status, "failed") == 0;
    k->known += strcmp(status, "skipped") == 0;
    buf_clear(&k->line);
    if (k->t->s->json) {
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

/* Takes any other word for "failed". */
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
    k->code = steer_ask(k->t, STEER_SEED, body, &answer);
    json_decref(body);
    json_array_foreach(json_object_get(answer, "results"), i, one)
    {
        print_row(k, status_word(one), text_of(one, "url"),
                  text_of(one, "reason"));
    }
    json_decref(answer);
    json_array_clear(k->urls);
    k->bytes = 0;
    fflush(stdout);
    return k->code == EXIT_DONE ? STATUS_OK : STATUS_IO;
}

static enum status take_seed(void *ctx, struct url *u)
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
                          .visit = take_seed,
                          .refuse = refuse,
                          .ctx = k};
    const struct option_list rest = {t->operands->item + 1,
                                     t->operands->count - 1};
    enum status st = seeds_all(&seeds, &rest, t->s->input);

    if (st == STATUS_OK)
        st = send_batch(k);
    if (k->code != EXIT_DONE)
        return k->code;
    if (st != STATUS_OK)
        return EXIT_CANNOT; /* the file; the reason was printed */
    return k->any_failed ? EXIT_SEEDS : EXIT_DONE;
}

/* A seed that is known is not fetched again, even if it failed. */
static void offer_retry(struct seeding *k)
{
    if (k->known == 0)
        return;
    buf_clear(&k->line);
    format_terminal(&k->line, bytes_of_str(k->t->operands->item[0]));
    fprintf(stderr,
            "urlweir seed: %" PRIu64 " of these were known already; those that "
            "failed are tried again by `urlweir retry %s`, those that were "
            "skipped or denied with --reason REASON\n",
            k->known, buf_str(&k->line));
}

static int add_seeds(struct steer *t)
{
    struct seeding k = {.t = t};
    int code;

    if (t->operands->count < 2 && t->s->input == NULL)
        return usage_error(t->usage,
                           "no seed: give URLs, or -i FILE with one a line");
    k.urls = json_array();
    buf_init(&k.line, (size_t)1 << 20);
    code = steer_connect_or_hold(t);
    if (code == EXIT_DONE)
        code = steer_choose(t, false);
    if (code == EXIT_DONE)
        code = put_seeds(t, &k);
    code = steer_let_go(t, "queued", NULL, code);
    offer_retry(&k);
    buf_fini(&k.line);
    json_decref(k.urls);
    return code;
}

static int add_seeds_run(const struct usage *u, void *settings,
                         const struct option_list *operands)
{
    return steer_run(u, settings, operands, add_seeds);
}

const struct usage seed_usage = {
    .name = "seed",
    .synopsis =
        "seed DIR|URL|kafka://HOST/NAME [SEED...] [-i FILE|-] [--crawl NAME]",
    .about = "Adds seeds to a crawl; they widen its scope as the first seeds "
             "did. Prints a line for each: ok, skipped or failed, TAB, the "
             "URL, and TAB and the reason if there is one. Those that are ok "
             "are on disk. A crawl that has ended fetches them when it is "
             "resumed.",
    .table = &table,
    .least = 1,
    .most = SIZE_MAX,
    .operand = "a crawl's directory, or the URL of a service or of a crawl in "
               "a cluster",
    .run = add_seeds_run,
};
