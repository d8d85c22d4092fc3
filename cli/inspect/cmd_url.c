/* SPDX-License-Identifier: MIT */
/*
 * cmd_url.c - `urlweir url`: one URL per line in, its canonical form out.
 *
 * Every line of input gives exactly one line of output, so that the two can be
 * pasted side by side. A line ends only at LF; the URL Standard decides about
 * everything else in it, zero bytes included.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "frontier/url/surt.h"
#include "frontier/url/url.h"
#include "job/settings/settings.h"
#include "job/url_forms.h"

/* A longer line is not stored; its reason is always `length`. */
#define LINE_CEILING (4 * URL_LENGTH_CEILING)

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
    struct buf line;      /* start of the current line, from earlier chunks */
    struct buf key;
};

static void print_line(struct url_command *c, struct bytes line)
{
    const struct url *base = c->settings.base != NULL ? &c->base : NULL;
    struct bytes text;
    enum url_reason r;

    if (c->settings.whatwg)
        r = url_parse(&c->url, line, base, NULL);
    else
        r = url_canonical(&c->url, line, base, NULL);
    if (r == URL_OK)
        url_form_apply(c->own, &c->url);
    if (r != URL_OK) {
        printf("!\t%s\n", url_reason_text(r));
        return;
    }
    text = url_text(&c->url);
    if (c->settings.surt) {
        buf_clear(&c->key);
        surt_of(&c->url, &c->key);
        text = buf_bytes(&c->key);
    }
    fwrite(text.at, 1, text.len, stdout);
    putchar('\n');
}

static void end_line(struct url_command *c, struct bytes rest)
{
    if (c->line.len == 0 && buf_failed(&c->line) == STATUS_OK) {
        print_line(c, rest);
        return;
    }
    buf_add_bytes(&c->line, rest);
    if (buf_failed(&c->line) == STATUS_OK)
        print_line(c, buf_bytes(&c->line));
    else
        printf("!\t%s\n", url_reason_text(URL_LENGTH));
    buf_clear(&c->line);
}

/* False: stdin could not be read, and errno says why. */
static bool read_lines(struct url_command *c)
{
    static char chunk[1 << 16];
    bool open = false; /* a line has begun and has not ended */

    for (;;) {
        ssize_t n = read(STDIN_FILENO, chunk, sizeof chunk);
        struct bytes rest = bytes_of(chunk, n > 0 ? (size_t)n : 0);
        const char *lf;

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            if (open)
                end_line(c, rest);
            return n == 0;
        }
        while ((lf = memchr(rest.at, '\n', rest.len)) != NULL) {
            size_t len = (size_t)(lf - rest.at);

            end_line(c, bytes_of(rest.at, len));
            rest = bytes_of(lf + 1, rest.len - len - 1);
        }
        open = rest.len > 0 || (open && rest.at == chunk);
        buf_add_bytes(&c->line, rest);
    }
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
    if (!read_lines(c)) {
        fprintf(stderr, "urlweir url: cannot read stdin: %s\n",
                strerror(errno));
        return EXIT_CANNOT;
    }
    return EXIT_DONE;
}

static int command(struct url_command *c)
{
    int code;

    url_init(&c->base);
    url_init(&c->url);
    buf_init(&c->line, LINE_CEILING);
    buf_init(&c->key, SURT_CEILING + 64);
    code = take_base(c);
    if (code == EXIT_DONE)
        code = make_form(c);
    if (code == EXIT_DONE)
        code = print_urls(c);
    buf_fini(&c->key);
    buf_fini(&c->line);
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
