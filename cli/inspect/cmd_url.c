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
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "cli/command.h"
#include "cli/suggest.h"
#include "frontier/url/surt.h"
#include "frontier/url/url.h"
#include "job/settings/settings.h"
#include "job/url_forms.h"

/* A longer line is not stored; its reason is always `length`. */
#define LINE_CEILING (4 * URL_LENGTH_CEILING)

static const char usage[] =
    "usage: urlweir url [--whatwg|--surt] [--base URL] [OPTIONS] < URLS\n"
    "\n"
    "Prints the canonical form of each line of stdin, or `!`, a tab and the\n"
    "reason why it has none: empty, scheme, relative, host, host_ipv4,\n"
    "host_ipv6, host_idna, port, length.\n"
    "\n"
    "  --whatwg    the URL Standard's form instead (fragment dropped)\n"
    "  --surt      the sort-friendly key of the canonical form instead\n"
    "  --base URL  what relative lines are relative to\n"
    "  --help      print this\n"
    "\n"
    "The form that a crawl with these options gives its URLs:\n"
    "\n"
    "  --drop-params NAME,...  --drop-tracking  --drop-empty-params\n"
    "  --sort-query  --rewrite FILE\n";

/* The options of a crawl that give URLs another form. */
static const char *const form_options[] = {"drop-params", "drop-tracking",
                                           "drop-empty-params", "sort-query",
                                           "rewrite"};

enum form { FORM_CANONICAL, FORM_WHATWG, FORM_SURT };

struct url_command {
    enum form form;
    struct url base, url;
    bool has_base;
    struct crawl_settings settings; /* for form_options */
    struct url_form *own;           /* made from them; NULL: none is given */
    struct buf line; /* start of the current line, from earlier chunks */
    struct buf key;
};

static void print_line(struct url_command *c, struct bytes line)
{
    const struct url *base = c->has_base ? &c->base : NULL;
    struct bytes text;
    enum url_reason r;

    if (c->form == FORM_WHATWG)
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
    if (c->form == FORM_SURT) {
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

static int refuse_option(const char *option)
{
    static const char *const known[] = {"--whatwg",
                                        "--surt",
                                        "--base",
                                        "--help",
                                        "--drop-params",
                                        "--drop-tracking",
                                        "--drop-empty-params",
                                        "--sort-query",
                                        "--rewrite",
                                        NULL};
    const char *meant = suggest_nearest(option, known);

    if (option[0] != '-')
        return command_usage_error("url", "URLs come from stdin, not '%s'",
                                   option);
    if (meant == NULL)
        return command_usage_error("url", "no option '%s'", option);
    return command_usage_error("url", "no option '%s'; did you mean '%s'?",
                               option, meant);
}

static int take_base(struct url_command *c, const char *text)
{
    enum url_reason r;

    if (text == NULL)
        return command_usage_error("url", "--base needs a URL");
    r = url_parse(&c->base, bytes_of_str(text), NULL, NULL);
    if (r != URL_OK)
        return command_usage_error("url", "--base is not an http(s) URL (%s)",
                                   url_reason_text(r));
    c->has_base = true;
    return EXIT_DONE;
}

static int take_form(struct url_command *c, enum form form)
{
    if (c->form != FORM_CANONICAL && c->form != form)
        return command_usage_error("url", "--whatwg and --surt exclude "
                                          "each other");
    c->form = form;
    return EXIT_DONE;
}

/* The option of form_options that `arg` names, with "=VALUE" or without. */
static const struct option_spec *form_option(const char *arg)
{
    for (size_t i = 0; i < sizeof form_options / sizeof *form_options; i++) {
        size_t n = strlen(form_options[i]);

        if (strncmp(arg, "--", 2) == 0 &&
            strncmp(arg + 2, form_options[i], n) == 0 &&
            (arg[2 + n] == '\0' || arg[2 + n] == '='))
            return &crawl_options.spec[settings_index(form_options[i])];
    }
    return NULL;
}

/* Takes argv[*i], and its value from there or from the next argument. */
static int take_form_option(struct url_command *c, const struct option_spec *o,
                            int argc, char **argv, int *i)
{
    const char *value = strchr(argv[*i], '=');
    struct buf error;
    int failed = EXIT_DONE;

    if (o->type == OPTION_FLAG)
        value = value == NULL ? "true" : value + 1;
    else if (value != NULL)
        value++;
    else if (*i + 1 < argc)
        value = argv[++*i];
    if (value == NULL)
        return command_usage_error("url", "--%s needs a value", o->name);
    buf_init(&error, 4096);
    if (option_set(&crawl_options, settings_index(o->name), &c->settings,
                   bytes_of_str(value), OPTION_FROM_LINE, &error) != STATUS_OK)
        failed =
            command_usage_error("url", "--%s: %s", o->name, buf_str(&error));
    buf_fini(&error);
    return failed;
}

static bool form_is_asked(const struct url_command *c)
{
    for (size_t i = 0; i < sizeof form_options / sizeof *form_options; i++)
        if (option_given(&crawl_options, settings_index(form_options[i]),
                         &c->settings))
            return true;
    return false;
}

static int make_form(struct url_command *c)
{
    struct buf why;
    int failed = EXIT_DONE;

    if (!form_is_asked(c))
        return EXIT_DONE;
    if (c->form == FORM_WHATWG)
        return command_usage_error("url",
                                   "--whatwg is the form of the URL "
                                   "Standard, without a crawl's options");
    buf_init(&why, 4096);
    if (url_forms_make(&c->own, &c->settings, &why) != STATUS_OK)
        failed = command_usage_error("url", "%s", buf_str(&why));
    buf_fini(&why);
    return failed;
}

static int take_options(struct url_command *c, int argc, char **argv)
{
    int failed = EXIT_DONE;

    for (int i = 1; i < argc && failed == EXIT_DONE; i++) {
        const struct option_spec *o = form_option(argv[i]);

        if (o != NULL)
            failed = take_form_option(c, o, argc, argv, &i);
        else if (strcmp(argv[i], "--whatwg") == 0)
            failed = take_form(c, FORM_WHATWG);
        else if (strcmp(argv[i], "--surt") == 0)
            failed = take_form(c, FORM_SURT);
        else if (strncmp(argv[i], "--base=", 7) == 0)
            failed = take_base(c, argv[i] + 7);
        else if (strcmp(argv[i], "--base") == 0)
            failed = take_base(c, i + 1 < argc ? argv[++i] : NULL);
        else
            failed = refuse_option(argv[i]);
    }
    return failed == EXIT_DONE ? make_form(c) : failed;
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

int cmd_url(int argc, char **argv)
{
    struct url_command c = {.form = FORM_CANONICAL};
    int status;

    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(usage, stdout);
            return EXIT_DONE;
        }
    settings_init(&c.settings);
    url_init(&c.base);
    url_init(&c.url);
    buf_init(&c.line, LINE_CEILING);
    buf_init(&c.key, SURT_CEILING + 64);
    status = take_options(&c, argc, argv);
    if (status == EXIT_DONE)
        status = print_urls(&c);
    buf_fini(&c.key);
    buf_fini(&c.line);
    url_fini(&c.url);
    url_fini(&c.base);
    url_form_free(c.own);
    settings_fini(&c.settings);
    return status;
}
