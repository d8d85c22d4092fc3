/* SPDX-License-Identifier: MIT */
/*
 * cmd_robots.c - `urlweir robots`: may these URLs be fetched?
 *
 * Every line of stdin gives exactly one line of output, in the same order. The
 * rules are those a crawl would follow, read by the same code.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/file/line_input.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "crawler/robots/robots.h"
#include "frontier/url/url.h"

struct robots_settings {
    char *agent;
    bool sitemaps, delay;
    uint8_t from[3];
};

#define AT(f) .at = offsetof(struct robots_settings, f)

/* clang-format off */
static const struct option_spec specs[] = {
    {.name = "agent", .type = OPTION_TEXT, AT(agent), .section = "Input",
     .arg = "NAME",
     .help = "the crawler's name; `Foo/1.0` counts as `Foo`"},
    {.name = "sitemaps", .type = OPTION_FLAG, AT(sitemaps), .section = "Output",
     .help = "also print a line `sitemap`, tab, URL first for each sitemap"},
    {.name = "delay", .type = OPTION_FLAG, AT(delay), .section = "Output",
     .help = "also print a line `delay`, tab, seconds if the group has one"},
};
/* clang-format on */

static const struct option_table table =
    OPTION_TABLE(specs, struct robots_settings);

const struct usage robots_usage = {
    .name = "robots",
    .synopsis = "robots --agent NAME FILE [--sitemaps] [--delay] < URLS",
    .about = "Prints `allow` or `deny`, a tab and the line itself for each "
             "line of stdin, as the robots.txt in FILE says (RFC 9309); or "
             "`!`, a tab and the reason why the line is not an http(s) URL.",
    .table = &table,
    .least = 1,
    .most = 1,
    .operand = "a file",
};

struct robots_command {
    struct robots_settings settings;
    struct robots *rules;
    struct url url;
};

static void write_bytes(struct bytes s)
{
    fwrite(s.at, 1, s.len, stdout);
}

static enum status print_line(void *ctx, struct bytes line, bool too_long)
{
    struct robots_command *c = ctx;
    enum url_reason r =
        too_long ? URL_LENGTH : url_parse(&c->url, line, NULL, NULL);

    if (r != URL_OK) {
        printf("!\t%s\n", url_reason_text(r));
        return STATUS_OK;
    }
    fputs(robots_allows(c->rules, url_path_query(&c->url), NULL) ? "allow\t"
                                                                 : "deny\t",
          stdout);
    write_bytes(line);
    putchar('\n');
    return STATUS_OK;
}

static void print_head(const struct robots_command *c)
{
    double delay = robots_crawl_delay(c->rules);

    for (size_t i = 0;
         c->settings.sitemaps && i < robots_sitemap_count(c->rules); i++) {
        fputs("sitemap\t", stdout);
        write_bytes(robots_sitemap(c->rules, i));
        putchar('\n');
    }
    if (c->settings.delay && delay >= 0)
        printf("delay\t%.12g\n", delay);
}

/* Reads the part of the file that counts. */
static int load(struct robots_command *c, const char *file)
{
    static char body[ROBOTS_READ_MOST + 1]; /* one octet more shows a cut */
    FILE *f = fopen(file, "re");
    size_t n = f != NULL ? fread(body, 1, sizeof body, f) : 0;
    bool failed = f == NULL || ferror(f);

    if (failed)
        fprintf(stderr, "urlweir robots: cannot read %s: %s\n", file,
                strerror(errno));
    if (f != NULL)
        fclose(f);
    if (failed)
        return EXIT_CANNOT;
    c->rules = robots_parse(bytes_of(body, n), bytes_of_str(c->settings.agent));
    return EXIT_DONE;
}

static int check_robots(struct robots_command *c, const char *file)
{
    struct line_input *in;
    int code = load(c, file);

    if (code != EXIT_DONE)
        return code;
    print_head(c);
    in = line_input_new(NULL, 0);
    if (line_input_each(in, print_line, c) != STATUS_OK) {
        fprintf(stderr, "urlweir robots: cannot read %s\n",
                line_input_error(in));
        code = EXIT_CANNOT;
    }
    line_input_free(in);
    return code;
}

int cmd_robots(int argc, char **argv)
{
    struct robots_command c = {.rules = NULL};
    struct option_list operands;
    int code;

    if (!command_line_parse(&robots_usage, argc, argv, &c.settings, &operands,
                            &code))
        return code;
    url_init(&c.url);
    if (c.settings.agent == NULL)
        code = usage_error(&robots_usage, "--agent NAME is missing");
    else
        code = check_robots(&c, operands.item[0]);
    robots_free(c.rules);
    url_fini(&c.url);
    option_list_free(&operands);
    option_fini(&table, &c.settings);
    return code;
}
