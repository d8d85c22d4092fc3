/* SPDX-License-Identifier: MIT */
/* command.c - finds commands, and prints what all commands print the same way.
 */
#include "cli/command.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "cli/command_line.h"
#include "config/option.h"

/*
 * The table of commands, in the order of `urlweir --help`.
 */

/* clang-format off */
#define FIRST(name, summary, heading)                                          \
    {#name, &name##_usage, NULL, summary, NULL, heading}
#define ROW(name, summary) FIRST(name, summary, NULL)
/* It reads its command line itself. */
#define OWN(name, summary, heading)                                            \
    {#name, &name##_usage, cmd_##name, summary, NULL, heading}

const struct command command_table[] = {
    OWN(crawl, "crawl from seeds into a new directory", "Crawl"),
    OWN(resume, "continue a crawl after a stop or a crash", NULL),
    ROW(import, "take over what another crawler knew, into a new directory"),

    FIRST(status, "show how a crawl or service stands, while it runs and after",
          "While it runs, and after"),
    ROW(pause, "make a running crawl send no more requests, until unpause"),
    ROW(unpause, "make a paused crawl go on"),
    ROW(stop, "stop a running crawl so that it can be resumed"),
    ROW(set, "change settings of a running crawl"),
    ROW(seed, "add seeds to a crawl"),
    ROW(retry, "queue failed URLs of a crawl again"),
    ROW(refresh, "make done URLs of a crawl due again"),
    ROW(block, "hold a host back in a crawl, or let it go"),
    ROW(delay, "set the delay of a host in a running crawl"),
    ROW(limit, "limit how many URLs of a host a running crawl fetches"),

    FIRST(export, "write a crawl's or service's data as JSON Lines or CSV",
          "What it found"),
    ROW(explain, "show every decision taken about one URL"),
    ROW(diff, "compare two crawls: pages that are new, gone, changed, moved"),
    ROW(audit, "measure what a Bloom-only crawler would have lost"),
    ROW(verify, "check that store, filter and manifest agree"),

    OWN(join, "take part in a crawl of a cluster", "On many machines"),

    FIRST(serve,
          "serve a frontier to other crawlers: URLFrontier over gRPC, JSON",
          "For other programs"),

    FIRST(dedupe,
          "print each line whose URL is new; for lists larger than memory",
          "By themselves"),
    {"filter", &filter_usage, cmd_filter,
     "the filter library from the shell", filter_parts, NULL},
    ROW(url, "print the canonical form of each URL on stdin"),
    ROW(robots, "say of each URL on stdin whether a robots.txt allows it"),
    ROW(links, "print the links of an HTML file: KIND TAB absolute URL"),
    ROW(sitemap,
        "print the entries of a sitemap or feed: loc, lastmod, priority"),
    ROW(completion, "print the completion of these commands for a shell"),
    {NULL, NULL, NULL, NULL, NULL, NULL},
};
/* clang-format on */

int command_run(const struct command *c, int argc, char **argv)
{
    return c->begin != NULL ? c->begin(argc, argv)
                            : command_line_run(c->usage, argc, argv);
}

void command_list(const struct command *table, FILE *to)
{
    for (const struct command *c = table; c->name != NULL; c++)
        fprintf(to, "%s%s%s  %-13s %s\n",
                c->heading != NULL && c > table ? "\n" : "",
                c->heading != NULL ? c->heading : "",
                c->heading != NULL ? "\n" : "", c->name, c->summary);
}

const struct command *command_find(const struct command *table,
                                   const char *name)
{
    for (const struct command *c = table; c->name != NULL; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

const char *command_nearest(const struct command *table, const char *word)
{
    struct bytes text = bytes_of_str(word);
    const char *nearest = NULL;
    size_t best = SIZE_MAX;

    for (const struct command *c = table; c->name != NULL; c++) {
        struct bytes candidate = bytes_of_str(c->name);
        size_t d = nearest_distance(text, candidate);

        if (d < best && nearest_is_alike(text, candidate)) {
            nearest = c->name;
            best = d;
        }
    }
    return nearest;
}

int command_usage_error(const char *name, const char *fmt, ...)
{
    va_list ap;

    fprintf(stderr, "urlweir %s: ", name);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fprintf(stderr, "; see `urlweir %s --help`\n", name);
    return EXIT_USAGE;
}

int command_failed(const char *name, const char *why)
{
    struct buf safe;

    buf_init(&safe, 16384);
    format_terminal(&safe, bytes_of_str(why));
    fprintf(stderr, "urlweir %s: %s\n", name, buf_str(&safe));
    buf_fini(&safe);
    return EXIT_CANNOT;
}
