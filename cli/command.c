/* SPDX-License-Identifier: MIT */
/* command.c - finds commands, and prints what all commands print the same way.
 */
#include "cli/command.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "config/nearest.h"

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
