/* SPDX-License-Identifier: MIT */
/*
 * cmd_audit.c - `urlweir audit`: what a Bloom-only crawler would have lost.
 *
 * Of a crawl's directory, live or finished, or of a list of URLs.
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/audit_text.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/open_crawl.h"
#include "frontier/audit.h"

struct audit_settings {
    char *urls, *lost;
    double fpr;
    struct option_list what_if;
    bool json;
    uint8_t from[5];
};

static const struct option_spec specs[] = {
    {.name = "urls",
     .type = OPTION_TEXT,
     .at = offsetof(struct audit_settings, urls),
     .flags = OPTION_LINE_ONLY,
     .section = "What",
     .arg = "FILE",
     .help = "a list of URLs, one a line, instead of a crawl; `-` is stdin"},
    {.name = "fpr",
     .type = OPTION_FRACTION,
     .at = offsetof(struct audit_settings, fpr),
     .fallback = "0.001",
     .min = 1e-9,
     .max = 0.5,
     .flags = OPTION_LINE_ONLY,
     .section = "What",
     .arg = "P",
     .help = "with --urls: the false-positive rate to promise"},
    {.name = "what-if",
     .type = OPTION_LIST,
     .at = offsetof(struct audit_settings, what_if),
     .flags = OPTION_LINE_ONLY | OPTION_COMMAS,
     .section = "What",
     .arg = "P,...",
     .help = "replay the same URLs through filters of these rates"},
    {.name = "lost",
     .type = OPTION_TEXT,
     .at = offsetof(struct audit_settings, lost),
     .flags = OPTION_LINE_ONLY,
     .section = "Output",
     .arg = "FILE",
     .help = "write the URLs that a Bloom-only crawler would have lost"},
    {.name = "json",
     .type = OPTION_FLAG,
     .at = offsetof(struct audit_settings, json),
     .flags = OPTION_LINE_ONLY,
     .section = "Output",
     .help = "one JSON object (docs/formats/audit.md)"},
};

static const struct option_table table = {specs, sizeof specs / sizeof *specs,
                                          offsetof(struct audit_settings,
                                                   from)};

static const struct usage usage = {
    .name = "audit",
    .synopsis = "audit DIR [--what-if P,...] [--lost FILE] [--json]\n"
                "audit --urls FILE [--fpr P] [--what-if P,...] [--json]",
    .about = "Measures the dedupe miss rate of the filter against what it "
             "promised, for each growth step, with a 95 % Wilson interval, and "
             "checks that it has no false negative.",
    .table = &table,
    .least = 0,
    .most = 1,
    .operand = "a crawl's directory",
};

struct lost_file {
    FILE *to; /* NULL: not wanted */
};

static void write_lost(void *ctx, const struct url_row *row)
{
    struct lost_file *f = ctx;

    if (f->to != NULL)
        fprintf(f->to, "%.*s\n", (int)row->url.len, row->url.at);
}

/* --what-if as numbers; NULL with *code set where one is none. */
static double *rates_of(const struct option_list *l, int *code)
{
    double *rates = calloc(l->count + 1, sizeof *rates);

    for (size_t i = 0; rates != NULL && i < l->count; i++) {
        char *end = NULL;

        rates[i] = strtod(l->item[i], &end);
        if (end == l->item[i] || *end != '\0' || !(rates[i] >= 1e-9) ||
            rates[i] > 0.5) {
            *code = usage_error(&usage,
                                "--what-if '%s': a rate between 1e-9 and 0.5 "
                                "is meant, such as 1e-3",
                                l->item[i]);
            free(rates);
            return NULL;
        }
    }
    return rates;
}

static int audit_a_crawl(const char *dir, const struct audit_settings *s,
                         const struct audit_options *o)
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
        if (s->json)
            audit_print_json(stdout, &a, dir);
        else
            audit_print_text(stdout, &a, dir);
        if (a.false_negatives > 0 || a.missing > 0)
            code = EXIT_SEEDS; /* 5: a false negative was found */
        audit_fini(&a);
    }
    reader_close(&r);
    return code;
}

static enum status add_line(struct audit_list *l, struct url *u, char *line,
                            size_t len, uint64_t *bad, FILE *lost)
{
    bool fresh, would_be_lost;
    enum status st;

    while (len > 0 && (line[len - 1] == '\n' || line[len - 1] == '\r'))
        len--;
    if (len == 0)
        return STATUS_OK;
    if (url_canonical(u, bytes_of(line, len), NULL, NULL) != URL_OK) {
        ++*bad;
        return STATUS_OK;
    }
    st = audit_list_add(l, url_text(u), &fresh, &would_be_lost);
    if (st == STATUS_OK && would_be_lost && lost != NULL)
        fprintf(lost, "%s\n", buf_str(&u->text));
    return st;
}

static int audit_a_list(const struct audit_settings *s,
                        const struct audit_options *o, FILE *lost)
{
    bool is_stdin = strcmp(s->urls, "-") == 0;
    FILE *in = is_stdin ? stdin : fopen(s->urls, "re");
    struct audit_list *l = NULL;
    struct audit a;
    struct url u;
    char *line = NULL;
    size_t room = 0;
    ssize_t len;
    uint64_t bad = 0;
    int code = EXIT_DONE;
    enum status st;

    if (in == NULL) {
        fprintf(stderr, "urlweir audit: cannot read %s: %s\n", s->urls,
                strerror(errno));
        return EXIT_CANNOT;
    }
    url_init(&u);
    st = audit_list_new(&l, s->fpr, o);
    while (st == STATUS_OK && (len = getline(&line, &room, in)) >= 0)
        st = add_line(l, &u, line, (size_t)len, &bad, lost);
    if (st == STATUS_OK) {
        audit_list_finish(l, &a);
        if (s->json)
            audit_print_json(stdout, &a, s->urls);
        else
            audit_print_text(stdout, &a, s->urls);
        code = a.false_negatives > 0 ? EXIT_SEEDS : EXIT_DONE;
        audit_fini(&a);
    } else {
        fprintf(stderr, "urlweir audit: %s\n", status_text(st));
        code = EXIT_CANNOT;
    }
    if (bad > 0)
        fprintf(stderr,
                "urlweir audit: %" PRIu64 " lines are no http(s) URL "
                "and were passed over\n",
                bad);
    audit_list_free(l);
    url_fini(&u);
    free(line);
    if (!is_stdin)
        fclose(in);
    return code;
}

static int run(const struct audit_settings *s, const struct option_list *dirs)
{
    struct lost_file lost = {NULL};
    struct audit_options o = {.what_if_count = s->what_if.count,
                              .lost = write_lost,
                              .ctx = &lost};
    double *rates;
    int code = EXIT_DONE;

    if ((s->urls != NULL) == (dirs->count > 0))
        return usage_error(&usage, s->urls != NULL
                                       ? "a directory or --urls, not both"
                                       : "which crawl? give its directory, or "
                                         "--urls FILE");
    rates = rates_of(&s->what_if, &code);
    if (rates == NULL)
        return code;
    o.what_if = rates;
    if (s->lost != NULL && (lost.to = fopen(s->lost, "we")) == NULL) {
        fprintf(stderr, "urlweir audit: cannot write %s: %s\n", s->lost,
                strerror(errno));
        code = EXIT_CANNOT;
    } else if (s->urls != NULL) {
        code = audit_a_list(s, &o, lost.to);
    } else {
        code = audit_a_crawl(dirs->item[0], s, &o);
    }
    if (lost.to != NULL && fclose(lost.to) != 0) {
        fprintf(stderr, "urlweir audit: cannot write %s: %s\n", s->lost,
                strerror(errno));
        code = EXIT_CANNOT;
    }
    free(rates);
    return code;
}

int cmd_audit(int argc, char **argv)
{
    struct audit_settings s;
    struct option_list operands = {0};
    int code = EXIT_DONE;

    if (!command_line_parse(&usage, argc, argv, &s, &operands, &code))
        return code;
    code = run(&s, &operands);
    option_list_free(&operands);
    option_fini(&table, &s);
    return code;
}
