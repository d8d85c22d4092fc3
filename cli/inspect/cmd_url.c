/* SPDX-License-Identifier: MIT */
/*
 * cmd_url.c - `urlweir url`: one URL per line in, its canonical form out.
 *
 * Every line of input gives exactly one line of output, so that the two can be
 * pasted side by side. A line ends only at LF; the URL Standard decides about
 * everything else in it, zero bytes included. A byte order mark at the start is
 * no part of the first, and a packed list is unpacked (base/file/line_input.h).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/file/line_input.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "frontier/url/surt.h"
#include "frontier/url/url.h"
#include "job/settings/settings.h"
#include "job/url_forms.h"

struct url_settings {
    bool whatwg, surt;
    char *base;
    struct crawl_settings crawl; /* only what gives URLs a form is asked for */
    uint8_t from[8];
};

#define CRAWL_ROWS 3 /* from this row on the options are those of a crawl */
#define INPUT      "Input and form"
#define CRAWL      "The form that a crawl with these options gives its URLs"
#define AT(field)  .at = offsetof(struct url_settings, field)

/* clang-format off */
static const struct option_spec specs[] = {
    {.name = "whatwg", .type = OPTION_FLAG, AT(whatwg), .section = INPUT,
     .help = "print the URL Standard's form instead, with the fragment dropped"},
    {.name = "surt", .type = OPTION_FLAG, AT(surt), .section = INPUT,
     .help = "print the sort-friendly key of the canonical form instead"},
    {.name = "base", .type = OPTION_TEXT, AT(base), .section = INPUT,
     .arg = "URL",
     .help = "what relative lines are relative to"},
    {.name = "drop-params", .type = OPTION_LIST, AT(crawl.drop_params),
     .section = CRAWL, .arg = "NAME,...",
     .flags = OPTION_COMMAS,
     .help = "leave these parameters out of queries; NAME* is a beginning"},
    {.name = "drop-tracking", .type = OPTION_FLAG, AT(crawl.drop_tracking),
     .section = CRAWL,
     .help = "leave out parameters known to follow people and sessions"},
    {.name = "drop-empty-params", .type = OPTION_FLAG,
     AT(crawl.drop_empty_params), .section = CRAWL,
     .help = "leave out parameters whose value is empty (a=)"},
    {.name = "sort-query", .type = OPTION_FLAG, AT(crawl.sort_query),
     .section = CRAWL,
     .help = "sort the parameters of queries by name"},
    {.name = "rewrite", .type = OPTION_TEXT, AT(crawl.rewrite),
     .section = CRAWL, .arg = "FILE",
     .help = "rewrite URLs by the rules in FILE"},
};
/* clang-format on */

#define ROWS (sizeof specs / sizeof *specs)

static const struct option_table table =
    OPTION_TABLE(specs, struct url_settings);

const struct usage url_usage = {
    .name = "url",
    .synopsis = "url [--whatwg|--surt] [--base URL] [options] < URLS",
    .about = "Prints the canonical form of each line of stdin, or `!`, a tab "
             "and the reason why it has none: empty, scheme, relative, host, "
             "host_ipv4, host_ipv6, host_idna, port, length.",
    .table = &table,
    .most = 0,
    .operand = "nothing else",
};

struct url_command {
    struct url_settings settings;
    struct url base, url;
    struct url_form *own; /* made from the crawl's options; NULL: none given */
    struct buf key;
};

static enum status print_line(void *ctx, struct bytes line, bool too_long)
{
    struct url_command *c = ctx;
    const struct url *base = c->settings.base != NULL ? &c->base : NULL;
    struct bytes text;
    enum url_reason r;

    if (too_long)
        r = URL_LENGTH;
    else if (c->settings.whatwg)
        r = url_parse(&c->url, line, base, NULL);
    else
        r = url_canonical(&c->url, line, base, NULL);
    if (r == URL_OK)
        url_form_apply(c->own, &c->url);
    if (r != URL_OK) {
        printf("!\t%s\n", url_reason_text(r));
        return STATUS_OK;
    }
    text = url_text(&c->url);
    if (c->settings.surt) {
        buf_clear(&c->key);
        surt_of(&c->url, &c->key);
        text = buf_bytes(&c->key);
    }
    fwrite(text.at, 1, text.len, stdout);
    putchar('\n');
    return STATUS_OK;
}

static int take_base(struct url_command *c)
{
    enum url_reason r;

    if (c->settings.base == NULL)
        return EXIT_DONE;
    r = url_parse(&c->base, bytes_of_str(c->settings.base), NULL, NULL);
    if (r != URL_OK)
        return usage_error(&url_usage, "--base is not an http(s) URL (%s)",
                           url_reason_text(r));
    return EXIT_DONE;
}

static bool form_is_asked(const struct url_settings *s)
{
    for (size_t i = CRAWL_ROWS; i < ROWS; i++)
        if (option_given(&table, i, s))
            return true;
    return false;
}

static int make_form(struct url_command *c)
{
    struct buf why;
    int failed = EXIT_DONE;

    if (c->settings.whatwg && c->settings.surt)
        return usage_error(&url_usage, "--whatwg and --surt exclude each "
                                       "other");
    if (!form_is_asked(&c->settings))
        return EXIT_DONE;
    if (c->settings.whatwg)
        return usage_error(&url_usage, "--whatwg is the form of the URL "
                                       "Standard, without a crawl's options");
    buf_init(&why, 4096);
    if (url_forms_make(&c->own, &c->settings.crawl, &why) != STATUS_OK)
        failed = usage_error(&url_usage, "%s", buf_str(&why));
    buf_fini(&why);
    return failed;
}

static int print_urls(struct url_command *c)
{
    struct line_input *in = line_input_new(NULL, 0);
    int code = EXIT_DONE;

    if (line_input_each(in, print_line, c) != STATUS_OK) {
        fprintf(stderr, "urlweir url: cannot read %s\n", line_input_error(in));
        code = EXIT_CANNOT;
    }
    line_input_free(in);
    return code;
}

static int command(struct url_command *c)
{
    int code;

    url_init(&c->base);
    url_init(&c->url);
    buf_init(&c->key, SURT_CEILING + 64);
    code = take_base(c);
    if (code == EXIT_DONE)
        code = make_form(c);
    if (code == EXIT_DONE)
        code = print_urls(c);
    buf_fini(&c->key);
    url_fini(&c->url);
    url_fini(&c->base);
    url_form_free(c->own);
    return code;
}

int cmd_url(int argc, char **argv)
{
    struct url_command c = {.own = NULL};
    struct option_list operands;
    int code;

    settings_init(&c.settings.crawl);
    if (command_line_parse(&url_usage, argc, argv, &c.settings, &operands,
                           &code)) {
        code = command(&c);
        option_list_free(&operands);
        option_fini(&table, &c.settings);
    }
    settings_fini(&c.settings.crawl);
    return code;
}
