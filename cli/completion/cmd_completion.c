/* SPDX-License-Identifier: MIT */
/* cmd_completion.c - `urlweir completion`: what a shell needs to complete the
 * commands, their options and their operands. */
#include <string.h>

#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/completion/completion.h"

static const struct option_table no_options = {NULL, 0, 0};

const struct usage completion_usage = {
    .name = "completion",
    .synopsis = "completion bash|zsh|fish",
    .about = "Prints the completion of urlweir for a shell, made from the same "
             "tables as --help. `make install` puts it where the shells look. "
             "For one session: `source <(urlweir completion bash)`, also in "
             "zsh, or `urlweir completion fish | source`.",
    .table = &no_options,
    .least = 1,
    .most = 1,
    .operand = "the name of a shell",
};

static const struct {
    const char *name;
    void (*print)(FILE *to);
} shells[] = {
    {"bash", completion_bash},
    {"zsh", completion_zsh},
    {"fish", completion_fish},
};

static int print(const char *shell)
{
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(shells[i].name, shell) == 0) {
            shells[i].print(stdout);
            return EXIT_DONE;
        }
    return usage_error(&completion_usage, "'%s' is not bash, zsh or fish",
                       shell);
}

int cmd_completion(int argc, char **argv)
{
    struct command_line c;
    int code;

    if (!command_line_read(&c, &completion_usage, argc, argv, &code))
        return code;
    code = print(c.operands.item[0]);
    command_line_fini(&c);
    return code;
}
