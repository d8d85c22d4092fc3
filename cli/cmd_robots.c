/* SPDX-License-Identifier: MIT */
/* cmd_robots.c - placeholder until its module lands. */
#include "cli/command.h"

int cmd_robots(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return EXIT_USAGE;
}
