/* SPDX-License-Identifier: MIT */
/*
 * cmd_diff.c - `urlweir diff`: what is new, gone, changed and moved.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/diff/diff_join.h"
#include "cli/diff/diff_print.h"
#include "cli/open_crawl.h"
#include "cli/shards/crawl_dirs.h"
#include "crawler/sitemap/sitemap_hint.h"

enum diff_format { DIFF_FORMAT_TEXT, DIFF_FORMAT_JSONL, DIFF_FORMAT_CSV };

struct diff_settings {
    char *since, *until;
    enum changed_by changed_by;
    uint64_t memory;
    char *temp, *html;
    enum diff_format format;
    bool exit_code;
    uint8_t from[8];
};

static const char *const changed_words[] = {
    [CHANGED_BY_BODY] = "body", [CHANGED_BY_TEXT] = "text", NULL};
static const char *const formats[] = {"text", "jsonl", "csv", NULL};

#define AT(f) .at = offsetof(struct diff_settings, f)

/* clang-format off */
static const struct option_spec specs[] = {
    {.name = "from", .type = OPTION_TEXT, AT(since), .section = "What",
     .arg = "MOMENT",
     .help = "of one crawl: as it was then, such as 2026-12-24T18:00:00Z"},
    {.name = "to", .type = OPTION_TEXT, AT(until), .section = "What",
     .arg = "MOMENT",
     .help = "and as it was then; without it, as it is"},
    {.name = "changed-by", .type = OPTION_CHOICE, AT(changed_by),
     .fallback = "text", .words = changed_words, .section = "What",
     .arg = "WHAT",
     .help = "a page has changed if its body or its visible text is another "
             "one; texts are compared as the crawls took them (--changed-by "
             "words of crawl)"},
    {.name = "memory", .type = OPTION_SIZE, AT(memory), .fallback = "256M",
     .min = 1 << 20, .max = 1e15, .section = "What", .arg = "SIZE",
     .help = "memory to sort in; the rest is sorted on disk"},
    {.name = "temp", .type = OPTION_TEXT, AT(temp), .fallback = "/var/tmp",
     .section = "What", .arg = "DIR",
     .help = "where to sort on disk"},
    {.name = "format", .type = OPTION_CHOICE, AT(format), .fallback = "text",
     .words = formats, .section = "Output", .arg = "FORMAT",
     .help = "counts, or each difference as a JSON object a line or as CSV "
             "with a header line"},
    {.name = "html", .type = OPTION_TEXT, AT(html), .section = "Output",
     .arg = "FILE",
     .help = "write one page with counts by host and path"},
    {.name = "exit-code", .type = OPTION_FLAG, AT(exit_code),
     .section = "Output",
     .help = "exit with 1 if they differ"},
};
/* clang-format on */

static const struct option_table table =
    OPTION_TABLE(specs, struct diff_settings);

const struct usage diff_usage = {
    .name = "diff",
    .synopsis = "diff OLD NEW [--format text|jsonl|csv] [--html FILE] "
                "[--exit-code]\n"
                "diff DIR --from MOMENT [--to MOMENT] [options]",
    .about = "Compares two crawls, or a crawl that fetches its pages again "
             "with itself at another moment, URL by URL: pages that are new, "
             "gone, changed or moved to another URL. Either may be running or "
             "unfinished; what it has not fetched yet is no difference. The "
             "fields are described in docs/formats/diff.md.",
    .table = &table,
    .least = 1,
    .most = 2,
    .operand = "a directory of crawl, or the URL of a crawl in Kafka",
};

struct diff_run {
    const struct diff_settings *s;
    const char *sides[2]; /* the same one, of one crawl */
    bool unfinished[2];
    int64_t moments[2]; /* of one crawl; 0: as it is */
    struct line_sort *lines;
    int side; /* that is being read */
    struct record out;
    struct diff_html *html;
    struct diff_counts counts;
};

static enum status take_row(void *ctx, const struct diff_row *row)
{
    struct diff_run *d = ctx;

    if (d->html != NULL)
        diff_html_add(d->html, row);
    return d->s->format != DIFF_FORMAT_TEXT ? diff_print_row(&d->out, row)
                                            : STATUS_OK;
}

static bool is_one(const struct diff_run *d)
{
    return d->sides[0] == d->sides[1];
}

static bool has_finished(const struct crawl_dir *d, const struct reader *r)
{
    return d->is_shard ? !d->unfinished
                       : strcmp(crawl_state(r), "finished") == 0;
}

/* Said once: a page that is missing there may still come. */
static void note_unfinished(struct diff_run *d, const struct crawl_dir *dir,
                            const struct reader *r)
{
    if (is_one(d) || d->unfinished[d->side] || has_finished(dir, r))
        return;
    d->unfinished[d->side] = true;
    fprintf(stderr,
            "urlweir diff: the crawl in %s is %s: what it has not fetched yet "
            "counts as unfetched\n",
            d->sides[d->side], dir->is_shard ? "unfinished" : crawl_state(r));
}

static enum status read_side(struct diff_run *d, struct reader *r, int i)
{
    const struct diff_side side = {.r = r,
                                   .name = i == 0 ? '0' : '1',
                                   .until = d->moments[i]};

    return diff_side_read(&side, d->lines);
}

/* Of one crawl, both moments. */
static int read_dir(void *ctx, const struct crawl_dir *dir)
{
    struct diff_run *d = ctx;
    struct reader r;
    int code = EXIT_DONE;
    enum status st;

    if (!open_crawl(&r, "diff", dir->path, &code))
        return code;
    note_unfinished(d, dir, &r);
    st = read_side(d, &r, d->side);
    if (st == STATUS_OK && is_one(d))
        st = read_side(d, &r, 1);
    if (st != STATUS_OK)
        code = cannot_read("diff", dir->path, st);
    reader_close(&r);
    return code;
}

static int read_sides(struct diff_run *d)
{
    int code = EXIT_DONE;

    for (d->side = 0; code == EXIT_DONE && d->side < (is_one(d) ? 1 : 2);
         d->side++)
        code = crawl_dirs_each("diff", d->sides[d->side], bytes_of("", 0),
                               read_dir, d);
    return code;
}

static int compare(struct diff_run *d)
{
    struct diff_join_options o = {
        .dir = d->s->temp,
        .memory = (size_t)d->s->memory / 2,
        .changed_by = d->s->changed_by,
    };
    int code;
    enum status st;

    d->lines = line_sort_new(o.dir, (size_t)d->s->memory / 3);
    code = read_sides(d);
    o.before_unfinished = d->unfinished[0];
    o.after_unfinished = d->unfinished[1];
    if (code == EXIT_DONE) {
        st = diff_join(d->lines, &o, &d->counts, take_row, d);
        if (st != STATUS_OK)
            code = cannot_read("diff", o.dir, st);
    }
    line_sort_free(d->lines);
    return code;
}

/* Returns the exit status of what was found. */
static int finish(struct diff_run *d)
{
    const uint64_t *k = d->counts.kinds;
    enum status st = STATUS_OK;

    if (d->s->format == DIFF_FORMAT_TEXT)
        diff_print_counts(stdout, &d->counts);
    if (fflush(stdout) != 0) {
        fprintf(stderr, "urlweir diff: cannot write the output\n");
        return EXIT_CANNOT;
    }
    if (d->html != NULL)
        st = diff_html_write(d->html, d->s->html,
                             is_one(d) ? d->s->since : d->sides[0],
                             is_one(d) && d->s->until != NULL ? d->s->until
                                                              : d->sides[1],
                             &d->counts);
    if (st != STATUS_OK) {
        fprintf(stderr, "urlweir diff: cannot write %s: %s\n", d->s->html,
                status_text(st));
        return EXIT_CANNOT;
    }
    return d->s->exit_code && k[DIFF_NEW] + k[DIFF_GONE] + k[DIFF_CHANGED] +
                                      k[DIFF_MOVED] >
                                  0
               ? 1
               : EXIT_DONE;
}

static int run_diff(struct diff_run *d)
{
    int code;

    record_init(&d->out,
                d->s->format == DIFF_FORMAT_CSV ? RECORD_CSV : RECORD_JSONL);
    if (d->s->html != NULL)
        d->html = diff_html_new();
    code = compare(d);
    if (code == EXIT_DONE)
        code = finish(d);
    diff_html_free(d->html);
    record_fini(&d->out);
    return code;
}

/* False: that is no moment, and the user was told. */
static bool read_moment(const char *name, const char *text, int64_t *ms)
{
    *ms = text != NULL ? sitemap_date_ms(bytes_of_str(text)) : 0;
    if (*ms > 0 || text == NULL)
        return true;
    (void)command_usage_error("diff",
                              "--%s '%s' is not a moment, such as "
                              "2026-12-24T18:00:00Z",
                              name, text);
    return false;
}

static bool read_moments(struct diff_run *d, size_t directories)
{
    const struct diff_settings *s = d->s;

    if (directories == 1 && s->since == NULL)
        (void)command_usage_error("diff", "give two directories, or --from");
    else if (directories == 2 && (s->since != NULL || s->until != NULL))
        (void)command_usage_error("diff",
                                  "--from and --to are of one directory");
    else
        return read_moment("from", s->since, &d->moments[0]) &&
               read_moment("to", s->until, &d->moments[1]);
    return false;
}

int cmd_diff(int argc, char **argv)
{
    struct diff_settings s;
    struct diff_run d = {.s = &s};
    struct option_list operands = {0};
    int code = EXIT_DONE;

    if (!command_line_parse(&diff_usage, argc, argv, &s, &operands, &code))
        return code;
    d.sides[0] = operands.item[0];
    d.sides[1] = operands.item[operands.count - 1];
    code = read_moments(&d, operands.count) ? run_diff(&d) : EXIT_USAGE;
    option_list_free(&operands);
    option_fini(&table, &s);
    return code;
}
