/* SPDX-License-Identifier: MIT */
/*
 * cmd_audit.c - `urlweir audit`: what a Bloom-only crawler would have lost.
 *
 * Reads a crawl's directory, live or finished, or a list of URLs.
 */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file/file.h"
#include "base/file/line_input.h"
#include "cli/audit/audit_page.h"
#include "cli/audit/audit_text.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/filter/filter_commands.h"
#include "cli/filter/filter_measure.h"
#include "cli/open_crawl.h"
#include "cli/shards/crawl_dirs.h"
#include "frontier/audit/audit.h"

struct audit_settings {
    char *urls, *lost, *html;
    double fpr;
    struct option_list what_if, filters;
    bool json;
    uint8_t from[7];
};

#define AT(f) .at = offsetof(struct audit_settings, f)

/* clang-format off */
static const struct option_spec specs[] = {
    {.name = "urls", .type = OPTION_TEXT, AT(urls), .section = "What",
     .arg = "FILE",
     .help = "use a list of URLs, one a line, packed or not, instead of a "
             "crawl; `-` is stdin"},
    {.name = "fpr", .type = OPTION_FRACTION, AT(fpr), .fallback = "0.001",
     .min = 1e-9, .max = 0.5, .section = "What", .arg = "P",
     .help = "with --urls: the false-positive rate to promise"},
    {.name = "what-if", .type = OPTION_LIST, AT(what_if),
     .flags = OPTION_COMMAS, .section = "What", .arg = "P,...",
     .help = "replay the same URLs through filters of these rates"},
    {.name = "filters", .type = OPTION_LIST, AT(filters),
     .words = filter_kind_words, .flags = OPTION_COMMAS, .section = "What",
     .arg = "KIND,...",
     .help = "replay them through filters of these kinds, at each rate of "
             "--what-if or at that of the crawl"},
    {.name = "lost", .type = OPTION_TEXT, AT(lost), .section = "Output",
     .arg = "FILE",
     .help = "write the URLs that a Bloom-only crawler would have lost"},
    {.name = "html", .type = OPTION_TEXT, AT(html), .section = "Output",
     .arg = "FILE",
     .help = "write one page with plots; replays all kinds unless --filters "
             "names some"},
    {.name = "json", .type = OPTION_FLAG, AT(json), .section = "Output",
     .help = "one JSON object (docs/formats/audit.md)"},
};
/* clang-format on */

static const struct option_table table =
    OPTION_TABLE(specs, struct audit_settings);

const struct usage audit_usage = {
    .name = "audit",
    .synopsis = "audit DIR|kafka://HOST/NAME [--what-if P,...] [--filters "
                "KIND,...] [options]\n"
                "audit --urls FILE [--fpr P] [options]",
    .about = "Measures the dedupe miss rate of the filter against what it "
             "promised, for each growth step, with a 95 % Wilson interval, and "
             "checks that it has no false negative.",
    .table = &table,
    .least = 0,
    .most = 1,
    .operand = "a crawl's directory, or the URL of a crawl in Kafka",
};

/* Writes the URLs that would have been lost. */
struct lost {
    FILE *to;        /* all of them; NULL: not wanted */
    struct buf page; /* the first of them, for --html */
    uint64_t listed; /* in the page */
};

static void put_lost(struct lost *l, struct bytes url)
{
    if (l->to != NULL)
        fprintf(l->to, "%.*s\n", (int)url.len, url.at);
    if (l->listed < AUDIT_PAGE_LOST) {
        l->listed++;
        buf_add_bytes(&l->page, url);
        buf_add_char(&l->page, '\n');
    }
}

static void visit_lost(void *ctx, const struct url_row *row)
{
    put_lost(ctx, row->url);
}

static int write_page(const char *path, const struct audit *a, const char *what,
                      const struct lost *lost)
{
    struct buf out;
    enum status st;

    buf_init(&out, (size_t)256 << 20);
    audit_page(&out, a, what, &lost->page);
    st = buf_failed(&out);
    if (st == STATUS_OK)
        st = file_replace(path, buf_bytes(&out));
    buf_fini(&out);
    if (st == STATUS_OK)
        return EXIT_DONE;
    fprintf(stderr, "urlweir audit: cannot write %s: %s\n", path,
            status_text(st));
    return EXIT_CANNOT;
}

/* Writes all that was asked for. The exit status tells what the audit found. */
static int write_result(const struct audit_settings *s, const struct audit *a,
                        const char *what, const struct lost *lost)
{
    int code = EXIT_DONE;

    if (s->json)
        audit_print_json(stdout, a, what);
    else
        audit_print_text(stdout, a, what);
    if (s->html != NULL)
        code = write_page(s->html, a, what, lost);
    if (a->false_negatives > 0 || a->missing > 0)
        code = EXIT_SEEDS; /* 5: a false negative was found */
    return code;
}

/* Returns --what-if as numbers; NULL with *code set if one is not a valid rate.
 */
static double *rates_of(const struct option_list *l, int *code)
{
    double *rates = calloc(l->count + 1, sizeof *rates);

    for (size_t i = 0; rates != NULL && i < l->count; i++) {
        char *end = NULL;

        rates[i] = strtod(l->item[i], &end);
        if (end == l->item[i] || *end != '\0' || !(rates[i] >= 1e-9) ||
            rates[i] > 0.5) {
            *code = usage_error(&audit_usage,
                                "--what-if '%s': it takes rates between 1e-9 "
                                "and 0.5, such as 1e-3",
                                l->item[i]);
            free(rates);
            return NULL;
        }
    }
    return rates;
}

static int audit_a_crawl(const char *dir, const struct audit_settings *s,
                         const struct audit_options *o, const struct lost *lost)
{
    struct audit a;
    struct reader r;
    int code = EXIT_DONE;
    enum status st;

    if (!open_crawl(&r, "audit", dir, &code))
        return code;
    st = audit_crawl(&a, &r, o);
    if (st != STATUS_OK) {
        fprintf(stderr, "urlweir audit: cannot read %s: %s\n", dir,
                status_text(st));
        code = st == STATUS_DAMAGED ? EXIT_DAMAGED : EXIT_CANNOT;
    } else {
        code = write_result(s, &a, dir, lost);
        audit_fini(&a);
    }
    reader_close(&r);
    return code;
}

/* A list being read. */
struct list {
    struct audit_list *audit;
    struct line_input *in;
    struct url url;
    struct lost *lost;
    uint64_t bad; /* lines that are not a URL */
};

static enum status add_line(void *ctx, struct bytes line, bool too_long)
{
    struct list *l = ctx;
    bool fresh, would_be_lost;
    enum status st;

    if (too_long)
        return STATUS_OK; /* line_input counts it */
    line = line_entry(line);
    if (line.len == 0)
        return STATUS_OK;
    if (url_canonical(&l->url, line, NULL, NULL) != URL_OK) {
        l->bad++;
        return STATUS_OK;
    }
    st = audit_list_add(l->audit, url_text(&l->url), &fresh, &would_be_lost);
    if (st == STATUS_OK && would_be_lost)
        put_lost(l->lost, url_text(&l->url));
    return st;
}

static int audit_a_list(const struct audit_settings *s,
                        const struct audit_options *o, struct lost *lost)
{
    const char *file = s->urls;
    struct list l = {.lost = lost, .in = line_input_new(&file, 1)};
    struct audit a;
    int code = EXIT_DONE;
    enum status st;

    url_init(&l.url);
    st = line_input_check(l.in);
    if (st == STATUS_OK)
        st = audit_list_new(&l.audit, s->fpr, o);
    if (st == STATUS_OK)
        st = line_input_each(l.in, add_line, &l);
    if (st == STATUS_OK)
        st = audit_list_finish(l.audit, &a);
    if (st == STATUS_OK) {
        code = write_result(s, &a, s->urls, lost);
        audit_fini(&a);
    } else {
        const char *why = line_input_error(l.in);

        fprintf(stderr, "urlweir audit: %s%s\n",
                why[0] != '\0' ? "cannot read " : "",
                why[0] != '\0' ? why : status_text(st));
        code = EXIT_CANNOT;
    }
    if (l.bad > 0)
        fprintf(stderr,
                "urlweir audit: %" PRIu64 " lines are not http(s) URLs and "
                "were skipped\n",
                l.bad);
    if (line_input_too_long(l.in) > 0) {
        fprintf(stderr,
                "urlweir audit: %" PRIu64 " lines are over 1 MiB and were "
                "skipped\n",
                line_input_too_long(l.in));
        code = code == EXIT_DONE ? EXIT_CANNOT : code;
    }
    audit_list_free(l.audit);
    url_fini(&l.url);
    line_input_free(l.in);
    return code;
}

/* Chooses the kinds that --filters names; without it a page shows all kinds. */
static void choose_kinds(struct audit_options *o,
                         const struct audit_settings *s)
{
    o->kinds = (const char *const *)s->filters.item;
    o->kind_count = s->filters.count;
    if (s->html == NULL || o->kind_count > 0)
        return;
    o->kinds = filter_kind_words;
    while (filter_kind_words[o->kind_count] != NULL)
        o->kind_count++;
}

static int open_and_audit(const struct audit_settings *s, const char *dir,
                          const struct audit_options *without_lost)
{
    struct lost lost = {.to = NULL};
    struct audit_options o = *without_lost;
    int code;

    if (s->lost != NULL && (lost.to = fopen(s->lost, "we")) == NULL) {
        fprintf(stderr, "urlweir audit: cannot write %s: %s\n", s->lost,
                strerror(errno));
        return EXIT_CANNOT;
    }
    buf_init(&lost.page, (size_t)64 << 20);
    o.lost = visit_lost;
    o.ctx = &lost;
    code = s->urls != NULL ? audit_a_list(s, &o, &lost)
                           : audit_a_crawl(dir, s, &o, &lost);
    if (lost.to != NULL && fclose(lost.to) != 0) {
        fprintf(stderr, "urlweir audit: cannot write %s: %s\n", s->lost,
                strerror(errno));
        code = EXIT_CANNOT;
    }
    buf_fini(&lost.page);
    return code;
}

struct auditing {
    const struct audit_settings *s;
    const struct audit_options *o;
};

/* Of a shard also what went to others: their URLs are in their audits. */
static int audit_dir(void *ctx, const struct crawl_dir *d)
{
    const struct auditing *x = ctx;

    if (d->is_shard && !x->s->json)
        printf("shard %" PRIu32 ": %" PRIu64
               " URLs sent to other shards, %" PRIu64 " received\n",
               d->shard, d->sent, d->received);
    return open_and_audit(x->s, d->path, x->o);
}

static int audit_dirs(const struct audit_settings *s, const char *where,
                      const struct audit_options *o)
{
    struct auditing x = {s, o};

    if ((s->html != NULL || s->lost != NULL) && crawl_dirs_are_shards(where))
        return usage_error(&audit_usage,
                           "--html and --lost are of one directory: of "
                           "DIR/shards/N");
    return crawl_dirs_each("audit", where, bytes_of("", 0), audit_dir, &x);
}

static int audit_all(const struct audit_settings *s,
                     const struct option_list *dirs)
{
    struct audit_options o = {.what_if_count = s->what_if.count,
                              .now = filter_measure_now};
    double *rates;
    int code = EXIT_DONE;

    if ((s->urls != NULL) == (dirs->count > 0))
        return usage_error(&audit_usage,
                           s->urls != NULL
                               ? "give a directory or --urls, not both"
                               : "which crawl? give its directory, or "
                                 "--urls FILE");
    rates = rates_of(&s->what_if, &code);
    if (rates == NULL)
        return code;
    o.what_if = rates;
    choose_kinds(&o, s);
    code = s->urls != NULL ? open_and_audit(s, NULL, &o)
                           : audit_dirs(s, dirs->item[0], &o);
    free(rates);
    return code;
}

int cmd_audit(int argc, char **argv)
{
    struct audit_settings s;
    struct option_list operands = {0};
    int code = EXIT_DONE;

    if (!command_line_parse(&audit_usage, argc, argv, &s, &operands, &code))
        return code;
    code = audit_all(&s, &operands);
    option_list_free(&operands);
    option_fini(&table, &s);
    return code;
}
