/* SPDX-License-Identifier: MIT */
/* cmd_filter.c - `urlweir filter`: the filter library from the shell. */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/filter/filter_commands.h"
#include "cli/suggest.h"

static const struct command parts[] = {
    {"create", filter_create_command,
     "create FILE [--kind KIND] --capacity N [--fpr P] [--seed S]",
     "make an empty filter"},
    {"add", filter_add_command, "add FILE [--tell] [--binary] < KEYS",
     "add keys, one a line of stdin"},
    {"check", filter_check_command, "check FILE [--binary] < KEYS",
     "print `new` or `maybe`, tab, key for each"},
    {"remove", filter_remove_command, "remove FILE [--tell] [--binary] < KEYS",
     "remove keys from a counting or cuckoo filter"},
    {"merge", filter_merge_command, "merge OUT FILE FILE...",
     "write a filter that holds the keys of all files"},
    {"info", filter_info_command, "info FILE [--json]",
     "show what a filter holds and promises"},
    {"predict", filter_predict_command,
     "predict --capacity N [--fpr P] [--json]",
     "show sizes and rates before making one"},
    {"rebuild", filter_rebuild_command,
     "rebuild REDIS_URL --capacity N [--fpr P] < KEYS",
     "resize a filter in Redis while others use it"},
    {"drop", filter_drop_command, "drop REDIS_URL", "delete a filter in Redis"},
    {"bench", filter_bench_command,
     "bench [--keys N] [--fpr P] [--kind KIND] [--plot FILE] [--json]",
     "measure each kind on this machine"},
};

#define PARTS (sizeof parts / sizeof *parts)

static void help(FILE *to)
{
    fputs("usage: urlweir filter PART ...\n"
          "\n"
          "A filter answers `new` for a key that was certainly never added, "
          "and\n"
          "`maybe` for all others, in a few bits a key. Here it lives in a "
          "file; keys\n"
          "are lines, of any octets. Changes to a file are atomic.\n"
          "FILE may be a Redis URL, such as redis://localhost/0?key=NAME:\n"
          "create, add, check and info then work on a filter that processes "
          "share.\n"
          "\n",
          to);
    for (size_t i = 0; i < PARTS; i++)
        fprintf(to, "  filter %s\n        %s\n", parts[i].usage,
                parts[i].summary);
    fputs("\n`urlweir filter PART --help` tells more.\n", to);
}

static int not_known(const char *word)
{
    const char *names[PARTS + 1] = {NULL}, *meant;

    for (size_t i = 0; i < PARTS; i++)
        names[i] = parts[i].name;
    meant = suggest_nearest(word, names);
    if (meant != NULL)
        return command_usage_error("filter", "no part '%s'; did you mean '%s'?",
                                   word, meant);
    return command_usage_error("filter", "no part '%s'", word);
}

int cmd_filter(int argc, char **argv)
{
    if (argc < 2) {
        help(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        help(stdout);
        return EXIT_DONE;
    }
    for (size_t i = 0; i < PARTS; i++)
        if (strcmp(argv[1], parts[i].name) == 0)
            return parts[i].run(argc - 1, argv + 1);
    return not_known(argv[1]);
}
