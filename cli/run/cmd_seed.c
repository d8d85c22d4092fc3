/* SPDX-License-Identifier: MIT */
/*
 * cmd_seed.c - `urlweir seed`: more seeds for a crawl.
 *
 * Refuses text that is not a URL before it sends anything of it, as `urlweir
 * crawl` does; the crawl decides on the other seeds, batch by batch. Prints the
 * lines of a batch before it sends the next, so that the output of an
 * interrupted run shows how far it got. If nobody runs the crawl, opens it
 * here; a resume then fetches the seeds.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "cli/command.h"
#include "cli/control/steer.h"
#include "cli/run/crawl_run.h"
#include "cli/run/stopped_crawl.h"
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
};

struct seeding {
    struct steer *t;
    struct stopped_crawl *stopped; /* NULL: it runs; ask it */
    json_t *urls;                  /* the batch */
    size_t bytes;
    struct buf path, line;
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

static enum status ask_crawl(struct seeding *k)
{
    json_t *body = json_pack("{s:O}", "urls", k->urls), *answer = NULL, *one;
    size_t i;

    k->code = steer_ask(k->t, "POST", buf_str(&k->path), body, &answer);
    json_decref(body);
    if (k->code != EXIT_DONE)
        return STATUS_IO;
    json_array_foreach(json_object_get(answer, "results"), i, one)
    {
        print_row(k, status_word(one), text_of(one, "url"),
                  text_of(one, "reason"));
    }
    json_decref(answer);
    return STATUS_OK;
}

/* Into a crawl that nobody runs. */
static enum status put_here(struct seeding *k)
{
    struct seed seeds[BATCH_URLS];
    size_t n = json_array_size(k->urls);
    enum status st;

    for (size_t i = 0; i < n; i++) {
        const json_t *url = json_array_get(k->urls, i);

        seeds[i] = (struct seed){
            .text = bytes_of(json_string_value(url), json_string_length(url))};
    }
    st = stopped_crawl_seed(k->stopped, seeds, n);
    if (st != STATUS_OK) {
        k->code = crawl_open_failed(st, k->t->operands.item[0]);
        return st;
    }
    for (size_t i = 0; i < n; i++)
        print_row(k,
                  seeds[i].why != NULL ? "failed"
                  : seeds[i].fresh     ? "ok"
                                       : "skipped",
                  seeds[i].text,
                  bytes_of_str(seeds[i].why != NULL ? seeds[i].why : ""));
    return STATUS_OK;
}

static enum status send_batch(struct seeding *k)
{
    enum status st;

    if (json_array_size(k->urls) == 0)
        return STATUS_OK;
    st = k->stopped != NULL ? put_here(k) : ask_crawl(k);
    json_array_clear(k->urls);
    k->bytes = 0;
    fflush(stdout);
    return st;
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
    const struct option_list rest = {t->operands.item + 1,
                                     t->operands.count - 1};
    enum status st = seeds_all(&seeds, &rest, t->s.input);

    if (st == STATUS_OK)
        st = send_batch(k);
    if (k->code != EXIT_DONE)
        return k->code;
    if (st != STATUS_OK)
        return EXIT_CANNOT; /* the file; the reason was printed */
    return k->any_failed ? EXIT_SEEDS : EXIT_DONE;
}

/* Finds the crawl that takes the seeds: connects to it, or opens it here if
 * nobody runs it. */
static int find_crawl(struct seeding *k)
{
    const char *where = k->t->operands.item[0];
    int code = EXIT_DONE;

    if (control_place_is_stopped(where)) {
        if (!stopped_crawl_open(&k->stopped, "seed", where, &code))
            return code;
        return EXIT_DONE;
    }
    code = steer_connect(k->t);
    if (code == EXIT_DONE)
        code = steer_choose(k->t, false);
    if (code == EXIT_DONE)
        control_crawl_path(&k->path, steer_crawl_name(k->t->crawl), "seeds");
    return code;
}

static int let_go(struct seeding *k, int code)
{
    const char *dir = k->t->operands.item[0];
    uint64_t left = 0;
    enum status st;

    if (k->stopped == NULL)
        return code;
    st = stopped_crawl_close(k->stopped, &left);
    if (st != STATUS_OK)
        return code == EXIT_DONE ? crawl_open_failed(st, dir) : code;
    stopped_crawl_say_left("seed", dir, "queued", left);
    return code;
}

/* A seed that is known is not fetched again, even if it failed. */
static void offer_retry(struct seeding *k)
{
    if (k->known == 0)
        return;
    buf_clear(&k->line);
    format_terminal(&k->line, bytes_of_str(k->t->operands.item[0]));
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

    if (t->operands.count < 2 && t->s.input == NULL)
        return usage_error(t->usage,
                           "no seed: give URLs, or -i FILE with one a line");
    k.urls = json_array();
    buf_init(&k.path, 4096);
    buf_init(&k.line, (size_t)1 << 20);
    code = find_crawl(&k);
    if (code == EXIT_DONE)
        code = let_go(&k, put_seeds(t, &k));
    offer_retry(&k);
    buf_fini(&k.line);
    buf_fini(&k.path);
    json_decref(k.urls);
    return code;
}

int cmd_seed(int argc, char **argv)
{
    return steer_command(&seed_usage, argc, argv, add_seeds);
}
