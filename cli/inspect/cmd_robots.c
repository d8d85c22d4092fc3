/* SPDX-License-Identifier: MIT */
/*
 * cmd_robots.c - `urlweir robots`: may these URLs be fetched?
 *
 * Every line of stdin gives exactly one line of output, in the same order. The
 * rules are those a crawl would follow, read by the same code.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "cli/command.h"
#include "cli/lines.h"
#include "cli/suggest.h"
#include "crawler/robots/robots.h"
#include "frontier/url/url.h"

/* A longer line is not stored; its reason is always `length`. */
#define LINE_CEILING (4 * URL_LENGTH_CEILING)

static const char usage[] =
    "usage: urlweir robots --agent NAME FILE [--sitemaps] [--delay] < URLS\n"
    "\n"
    "Prints `allow` or `deny`, a tab and the line itself for each line of\n"
    "stdin, as the robots.txt in FILE says (RFC 9309); or `!`, a tab and the\n"
    "reason why the line is not an http(s) URL.\n"
    "\n"
    "  --agent NAME  the crawler's name; `Foo/1.0` counts as `Foo`\n"
    "  --sitemaps    also print a line `sitemap`, tab, URL first for each "
    "sitemap\n"
    "  --delay       also print a line `delay`, tab, seconds if the group has "
    "one\n"
    "  --help        print this\n";

struct robots_command {
    const char *agent, *file;
    bool sitemaps, delay;
    struct robots *rules;
    struct url url;
};

static void write_bytes(struct bytes s)
{
    fwrite(s.at, 1, s.len, stdout);
}

static void print_line(void *ctx, struct bytes line, bool too_long)
{
    struct robots_command *c = ctx;
    enum url_reason r =
        too_long ? URL_LENGTH : url_parse(&c->url, line, NULL, NULL);

    if (r != URL_OK) {
        printf("!\t%s\n", url_reason_text(r));
        return;
    }
    fputs(robots_allows(c->rules, url_path_query(&c->url), NULL) ? "allow\t"
                                                                 : "deny\t",
          stdout);
    write_bytes(line);
    putchar('\n');
}

static void print_head(const struct robots_command *c)
{
    double delay = robots_crawl_delay(c->rules);

    for (size_t i = 0; c->sitemaps && i < robots_sitemap_count(c->rules); i++) {
        fputs("sitemap\t", stdout);
        write_bytes(robots_sitemap(c->rules, i));
        putchar('\n');
    }
    if (c->delay && delay >= 0)
        printf("delay\t%.12g\n", delay);
}

/* Reads the part of the file that counts. */
static int load(struct robots_command *c)
{
    static char body[ROBOTS_READ_MOST + 1]; /* one octet more shows a cut */
    FILE *f = fopen(c->file, "re");
    size_t n = f != NULL ? fread(body, 1, sizeof body, f) : 0;
    bool failed = f == NULL || ferror(f);

    if (failed)
        fprintf(stderr, "urlweir robots: cannot read %s: %s\n", c->file,
                strerror(errno));
    if (f != NULL)
        fclose(f);
    if (failed)
        return EXIT_CANNOT;
    c->rules = robots_parse(bytes_of(body, n), bytes_of_str(c->agent));
    return EXIT_DONE;
}

static int take_word(struct robots_command *c, const char *word)
{
    static const char *const known[] = {"--agent", "--sitemaps", "--delay",
                                        "--help", NULL};
    const char *meant;

    if (word[0] != '-') {
        if (c->file != NULL)
            return command_usage_error("robots",
                                       "one FILE only; '%s' is one "
                                       "too many",
                                       word);
        c->file = word;
        return EXIT_DONE;
    }
    meant = suggest_nearest(word, known);
    if (meant == NULL)
        return command_usage_error("robots", "no option '%s'", word);
    return command_usage_error("robots", "no option '%s'; did you mean '%s'?",
                               word, meant);
}

static int take_options(struct robots_command *c, int argc, char **argv)
{
    int failed = EXIT_DONE;

    for (int i = 1; i < argc && failed == EXIT_DONE; i++) {
        if (strcmp(argv[i], "--sitemaps") == 0)
            c->sitemaps = true;
        else if (strcmp(argv[i], "--delay") == 0)
            c->delay = true;
        else if (strncmp(argv[i], "--agent=", 8) == 0)
            c->agent = argv[i] + 8;
        else if (strcmp(argv[i], "--agent") == 0 && i + 1 < argc)
            c->agent = argv[++i];
        else if (strcmp(argv[i], "--agent") == 0)
            failed = command_usage_error("robots", "--agent needs a name");
        else
            failed = take_word(c, argv[i]);
    }
    if (failed == EXIT_DONE && c->agent == NULL)
        failed = command_usage_error("robots", "--agent NAME is missing");
    if (failed == EXIT_DONE && c->file == NULL)
        failed = command_usage_error("robots", "FILE is missing");
    return failed;
}

static int check_robots(struct robots_command *c)
{
    int failed = load(c);

    if (failed != EXIT_DONE)
        return failed;
    print_head(c);
    if (lines_each(STDIN_FILENO, LINE_CEILING, print_line, c) != STATUS_OK) {
        fprintf(stderr, "urlweir robots: cannot read stdin: %s\n",
                strerror(errno));
        return EXIT_CANNOT;
    }
    return EXIT_DONE;
}

int cmd_robots(int argc, char **argv)
{
    struct robots_command c = {0};
    int status;

    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(usage, stdout);
            return EXIT_DONE;
        }
    url_init(&c.url);
    status = take_options(&c, argc, argv);
    if (status == EXIT_DONE)
        status = check_robots(&c);
    robots_free(c.rules);
    url_fini(&c.url);
    return status;
}
