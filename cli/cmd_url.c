/* SPDX-License-Identifier: MIT */
/* cmd_url.c - placeholder until its module lands. */
#include "cli/command.h"

int cmd_url(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return EXIT_USAGE;
}
