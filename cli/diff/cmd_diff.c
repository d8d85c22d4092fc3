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
#include "cli/diff/diff_html.h"
#include "cli/diff/diff_print.h"
#include "cli/diff/diff_side.h"
#include "cli/open_crawl.h"
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
    .operand = "a directory of crawl",
};

struct diff_run {
    const struct diff_settings *s;
    struct reader *sides[2]; /* the same one, of one crawl */
    int64_t moments[2];      /* of one crawl; 0: as it is */
    struct record out;
    struct diff_html *html;
    struct diff_counts counts;
    const char *reads; /* the directory that is being read */
};

static enum status take_row(void *ctx, const struct diff_row *row)
{
    struct diff_run *d = ctx;

    if (d->html != NULL)
        diff_html_add(d->html, row);
    return d->s->format != DIFF_FORMAT_TEXT ? diff_print_row(&d->out, row)
                                            : STATUS_OK;
}

/* Says so: a page that is missing there may still come. */
static bool is_unfinished(const struct reader *r)
{
    const char *state = crawl_state(r);

    if (strcmp(state, "finished") == 0)
        return false;
    fprintf(stderr,
            "urlweir diff: the crawl in %s is %s: what it has not fetched yet "
            "counts as unfetched\n",
            r->dir, state);
    return true;
}

static bool is_one(const struct diff_run *d)
{
    return d->sides[0] == d->sides[1];
}

static enum status read_sides(struct diff_run *d, struct line_sort *lines)
{
    enum status st = STATUS_OK;

    for (int i = 0; i < 2 && st == STATUS_OK; i++) {
        const struct diff_side side = {.r = d->sides[i],
                                       .name = i == 0 ? '0' : '1',
                                       .until = d->moments[i]};

        d->reads = side.r->dir;
        st = diff_side_read(&side, lines);
    }
    return st;
}

static enum status compare(struct diff_run *d)
{
    const struct diff_join_options o = {
        .dir = d->s->temp,
        .memory = (size_t)d->s->memory / 2,
        .changed_by = d->s->changed_by,
        .before_unfinished = !is_one(d) && is_unfinished(d->sides[0]),
        .after_unfinished = !is_one(d) && is_unfinished(d->sides[1]),
    };
    struct line_sort *lines = line_sort_new(o.dir, (size_t)d->s->memory / 3);
    enum status st = read_sides(d, lines);

    if (st == STATUS_OK) {
        d->reads = o.dir;
        st = diff_join(lines, &o, &d->counts, take_row, d);
    }
    line_sort_free(lines);
    return st;
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
        st =
            diff_html_write(d->html, d->s->html,
                            is_one(d) ? d->s->since : d->sides[0]->dir,
                            is_one(d) && d->s->until != NULL ? d->s->until
                                                             : d->sides[1]->dir,
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
    enum status st;
    int code;

    record_init(&d->out,
                d->s->format == DIFF_FORMAT_CSV ? RECORD_CSV : RECORD_JSONL);
    if (d->s->html != NULL)
        d->html = diff_html_new();
    st = compare(d);
    if (st == STATUS_OK)
        code = finish(d);
    else
        code = cannot_read("diff", d->reads, st);
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

static int diff_of(struct diff_run *d, const struct option_list *dirs)
{
    struct reader sides[2];
    int code = EXIT_DONE;

    if (!open_crawl(&sides[0], "diff", dirs->item[0], &code))
        return code;
    d->sides[0] = d->sides[1] = &sides[0];
    if (dirs->count == 1) {
        code = run_diff(d);
    } else if (open_crawl(&sides[1], "diff", dirs->item[1], &code)) {
        d->sides[1] = &sides[1];
        code = run_diff(d);
        reader_close(&sides[1]);
    }
    reader_close(&sides[0]);
    d->sides[0] = d->sides[1] = NULL;
    return code;
}

int cmd_diff(int argc, char **argv)
{
    struct diff_settings s;
    struct diff_run d = {.s = &s};
    struct option_list operands = {0};
    int code = EXIT_DONE;

    if (!command_line_parse(&diff_usage, argc, argv, &s, &operands, &code))
        return code;
    code =
        read_moments(&d, operands.count) ? diff_of(&d, &operands) : EXIT_USAGE;
    option_list_free(&operands);
    option_fini(&table, &s);
    return code;
}
