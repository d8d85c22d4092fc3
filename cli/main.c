/* SPDX-License-Identifier: MIT */
/* main.c - finds the command that is meant, and runs it. */
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <libxml/xmlversion.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/kafka/kafka.h"
#include "base/mem.h"
#include "cli/command.h"

static void help(FILE *to)
{
    fprintf(to,
            "urlweir " URLWEIR_VERSION " - a web crawler and URL frontier\n\n"
            "usage: urlweir COMMAND [options]\n\n");
    command_list(command_table, to);
    fprintf(to, "\n`urlweir COMMAND --help` tells more; so does "
                "`man urlweir`.\n");
}

static void version(void)
{
    puts("urlweir " URLWEIR_VERSION);
    printf("%s\nlibxml2/%s SQLite/%s", curl_version(), LIBXML_DOTTED_VERSION,
           sqlite3_libversion());
    if (kafka_version() != NULL)
        printf(" librdkafka/%s\n", kafka_version());
    else
        puts("\nbuilt without Kafka (WITH_KAFKA=no)");
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
    const char *meant = command_nearest(command_table, word);

    fprintf(stderr, "urlweir: no command '%s'; ", word);
    if (strstr(word, "://") != NULL)
        fprintf(stderr, "did you mean `urlweir crawl %s`? ", word);
    else if (meant != NULL)
        fprintf(stderr, "did you mean %s? ", meant);
    fprintf(stderr, "`urlweir --help` lists them\n");
    return EXIT_USAGE;
}

static int run_command(const char *name, int argc, char **argv)
{
    const struct command *c = command_find(command_table, name);

    return c != NULL ? command_run(c, argc, argv) : not_known(name);
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

    if (code == EXIT_CANNOT) /* libraries do not say what they lacked */
        mem_tell_limit();
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
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0 ||
        strcmp(argv[1], "version") == 0) {
        version();
        return end(EXIT_DONE);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        if (argc > 2)
            return end(help_of(argv[2]));
        help(stdout);
        return end(EXIT_DONE);
    }
    if (strcmp(argv[1], "shard") == 0) /* started by a worker, not by people */
        return end(cmd_shard(argc - 1, argv + 1));
    return end(run_command(argv[1], argc - 1, argv + 1));
}
