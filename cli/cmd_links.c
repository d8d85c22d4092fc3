/* SPDX-License-Identifier: MIT */
/* cmd_links.c - placeholder until its module lands. */
#include "cli/command.h"

int cmd_links(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return EXIT_USAGE;
}
