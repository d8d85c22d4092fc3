/* SPDX-License-Identifier: MIT */
/* command.c - messages that all commands print the same way. */
#include "cli/command.h"

#include <stdarg.h>
#include <stdio.h>

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
