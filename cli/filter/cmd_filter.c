/* SPDX-License-Identifier: MIT */
/* cmd_filter.c - `urlweir filter`: the filter library from the shell. */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/filter/filter_commands.h"

#define ROW(name, summary)                                                     \
    {                                                                          \
#name, filter_##name##_command, &filter_##name##_usage, summary, NULL, \
            NULL                                                               \
    }

const struct command filter_parts[] = {
    ROW(create, "make an empty filter"),
    ROW(add, "add keys, one a line of stdin"),
    ROW(check, "print `new` or `maybe`, tab, key for each"),
    ROW(remove, "remove keys from a counting or cuckoo filter"),
    ROW(merge, "write a filter that holds the keys of all files"),
    ROW(info, "show what a filter holds and promises"),
    ROW(predict, "show sizes and rates before making one"),
    ROW(rebuild, "resize a filter in Redis while others use it"),
    ROW(drop, "delete a filter in Redis"),
    ROW(bench, "measure each kind on this machine"),
    {NULL, NULL, NULL, NULL, NULL, NULL},
};

/* Its options are those of its parts. */
static const struct option_table no_options = {NULL, 0, 0};

const struct usage filter_usage = {
    .name = "filter",
    .synopsis = "filter PART ...",
    .about =
        "A filter answers `new` for a key that was certainly never added, and "
        "`maybe` for all others, in a few bits a key. Here it lives in a file; "
        "keys are lines, of any octets. Changes to a file are atomic. FILE may "
        "be a Redis URL, such as redis://localhost/0?key=NAME: create, add, "
        "check and info then work on a filter that processes share.",
    .table = &no_options,
};

static void help(FILE *to)
{
    usage_print_about(&filter_usage, to);
    fputc('\n', to);
    command_list(filter_parts, to);
    fputs("\n`urlweir filter PART --help` tells more.\n", to);
}

static int not_known(const char *word)
{
    const char *meant = command_nearest(filter_parts, word);

    if (meant != NULL)
        return command_usage_error("filter", "no part '%s'; did you mean '%s'?",
                                   word, meant);
    return command_usage_error("filter", "no part '%s'", word);
}

int cmd_filter(int argc, char **argv)
{
    const struct command *part;

    if (argc < 2) {
        help(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        help(stdout);
        return EXIT_DONE;
    }
    part = command_find(filter_parts, argv[1]);
    return part != NULL ? part->run(argc - 1, argv + 1) : not_known(argv[1]);
}
