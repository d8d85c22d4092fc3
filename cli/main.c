/* SPDX-License-Identifier: MIT */
/* main.c - the table of commands. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cli/suggest.h"

static const struct command commands[] = {
    {"crawl", cmd_crawl, "crawl [SEED...] [-i FILE|-] -o DIR [options]",
     "crawl from seeds into a new directory"},
    {"resume", cmd_resume, "resume DIR [options]",
     "continue a crawl after a stop or a crash"},
    {"status", cmd_status, "status DIR [--json] [--hosts]",
     "show how a crawl or service stands, while it runs and after"},
    {"pause", cmd_pause, "pause DIR|URL [--crawl NAME | --all]",
     "make a running crawl send no more requests, until unpause"},
    {"unpause", cmd_unpause, "unpause DIR|URL [--crawl NAME | --all]",
     "make a paused crawl go on"},
    {"stop", cmd_stop, "stop DIR|URL [--crawl NAME | --all]",
     "stop a running crawl so that it can be resumed"},
    {"seed", cmd_seed, "seed DIR|URL [SEED...] [-i FILE|-] [--crawl NAME]",
     "add seeds to a crawl"},
    {"retry", cmd_retry, "retry DIR|URL [--reason REASONS] [--host HOST]",
     "queue failed URLs of a crawl again"},
    {"refresh", cmd_refresh,
     "refresh DIR|URL [--host HOST] [--match REGEX] [--now]",
     "make done URLs of a crawl due again"},
    {"block", cmd_block,
     "block DIR|URL HOST (--for TIME | --until MOMENT | --off)",
     "hold a host back in a crawl, or let it go"},
    {"delay", cmd_delay, "delay DIR|URL HOST TIME|default",
     "set the delay of a host in a running crawl"},
    {"limit", cmd_limit, "limit DIR|URL HOST N|none",
     "limit how many URLs of a host a running crawl fetches"},
    {"audit", cmd_audit, "audit DIR | --urls FILE",
     "measure what a Bloom-only crawler would have lost"},
    {"diff", cmd_diff,
     "diff OLD NEW | DIR --from MOMENT [--to MOMENT] [options]",
     "compare two crawls: pages that are new, gone, changed, moved"},
    {"explain", cmd_explain, "explain DIR URL [--json]",
     "show every decision taken about one URL"},
    {"export", cmd_export,
     "export DIR [--what urls|pages|hosts|...] [--format jsonl|csv]",
     "write a crawl's or service's data as JSON Lines or CSV"},
    {"dedupe", cmd_dedupe, "dedupe [FILE...] [--state DIR]",
     "print each line whose URL is new; for lists larger than memory"},
    {"serve", cmd_serve,
     "serve DIR [--listen HOST:PORT] [--token-file FILE] [options]",
     "serve a frontier to other crawlers: the URLFrontier API over gRPC"},
    {"filter", cmd_filter,
     "filter create|add|check|remove|merge|info|predict|bench ...",
     "the filter library from the shell"},
    {"verify", cmd_verify, "verify DIR [--repair]",
     "check that store, filter and manifest agree"},
    {"links", cmd_links, "links --url BASE [--content-type TYPE] [--all] FILE",
     "print the links of an HTML file: KIND TAB absolute URL"},
    {"robots", cmd_robots, "robots --agent NAME FILE [--sitemaps] [--delay]",
     "say of each URL on stdin whether a robots.txt allows it"},
    {"sitemap", cmd_sitemap, "sitemap --url BASE FILE",
     "print the entries of a sitemap or feed: loc, lastmod, priority"},
    {"url", cmd_url, "url [--whatwg|--surt] [--base URL]",
     "print the canonical form of each URL on stdin"},
};

#define COMMANDS (sizeof commands / sizeof *commands)

static void help(FILE *to)
{
    fprintf(to,
            "urlweir " URLWEIR_VERSION " - a web crawler and URL frontier\n\n"
            "usage: urlweir COMMAND [options]\n\n");
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(to, "  %-9s %s\n", commands[i].name, commands[i].summary);
    fprintf(to, "\n`urlweir COMMAND --help` tells more; so does "
                "`man urlweir`.\n");
}

/* If our parent closed one of the three, we take its number: else the next file
 * or socket would get it, and receive what we print. We open them in the wrong
 * direction, so that using them is still an error. */
static void hold_standard_files(void)
{
    static const int wrong[] = {O_WRONLY, O_RDONLY, O_RDONLY};

    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", wrong[fd]) != fd)
            return; /* there is no /dev/null, and nothing to be done */
}

static int not_known(const char *word)
{
    const char *names[COMMANDS + 1] = {NULL}, *meant;

    for (size_t i = 0; i < COMMANDS; i++)
        names[i] = commands[i].name;
    meant = suggest_nearest(word, names);
    fprintf(stderr, "urlweir: no command '%s'; ", word);
    if (meant != NULL)
        fprintf(stderr, "did you mean %s? ", meant);
    fprintf(stderr, "`urlweir --help` lists them\n");
    return EXIT_USAGE;
}

static int run_command(const char *name, int argc, char **argv)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(name, commands[i].name) == 0)
            return commands[i].run(argc, argv);
    return not_known(name);
}

/* `urlweir help COMMAND` is `urlweir COMMAND --help`. */
static int help_of(char *name)
{
    char option[] = "--help", *argv[] = {name, option, NULL};

    return run_command(name, 2, argv);
}

/* If the output cannot be written, as on a full disk, a command that otherwise
 * succeeded fails; another exit status is kept. */
static int end(int code)
{
    bool whole = !ferror(stdout);

    errno = 0;
    whole = fflush(stdout) == 0 && whole;
    if (whole || code != EXIT_DONE)
        return code;
    fprintf(stderr, "urlweir: cannot write the output: %s\n",
            errno != 0 ? strerror(errno) : "some of it is lost");
    return EXIT_CANNOT;
}

int main(int argc, char **argv)
{
    hold_standard_files();
    signal(SIGCHLD, SIG_DFL); /* ignored, it hides how children end */
    json_set_alloc_funcs(xmalloc, free);
    fault_init();
    if (argc < 2) {
        help(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "version") == 0) {
        puts("urlweir " URLWEIR_VERSION);
        return end(EXIT_DONE);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        if (argc > 2)
            return end(help_of(argv[2]));
        help(stdout);
        return end(EXIT_DONE);
    }
    return end(run_command(argv[1], argc - 1, argv + 1));
}
