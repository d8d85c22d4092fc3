/*
 * command_line.h - reads a command's options and operands, and prints its help.
 *
 * Works from a table of options (config/option.h), small or large:
 *
 *   --name VALUE, --name=VALUE, -n VALUE, -nVALUE     a value
 *   --name, --no-name, -n, several letters as -nm     a flag, on and off
 *   -h, --help                                        help on stdout
 *   --                                                only operands follow
 *
 * Options may follow operands; a single `-` is an operand. Names are given in
 * full: an abbreviation that is unambiguous today would be a trap tomorrow. Of
 * an option given twice the last value holds, save that lists gather. An option
 * name is not taken for a value: write --exclude=--x.
 *
 * What is refused is said on stderr in one line, with what was meant.
 */
#ifndef URLWEIR_CLI_COMMAND_LINE_H
#define URLWEIR_CLI_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/status.h"
#include "config/option.h"

struct usage {
    const char *name;     /* "crawl" */
    const char *synopsis; /* behind `urlweir `; one line for each form, which
                             begins with `name` */
    const char *about;    /* sentences, without line breaks, or "" */
    const struct option_table *table;
    unsigned without;    /* options with any of these flags are refused ... */
    const char *because; /* ... for this reason: "they belong to ..." */
    size_t least, most;  /* operands */
    const char *operand; /* what one is, for errors: "a directory" */
};

/* Read a whole command line into `settings`, of which every field is
 * overwritten, and `operands`, both the caller's to free. False: the command is
 * over, *code is its exit status, and there is nothing to free. */
MUST_CHECK bool command_line_parse(const struct usage *u, int argc, char **argv,
                                   void *settings, struct option_list *operands,
                                   int *code);

/* The same in two steps, for a command that must do something in between: the
 * values as given, then put into settings that hold values already. */
struct command_line {
    struct given *given;
    size_t count;
    struct option_list operands;
};
MUST_CHECK bool command_line_read(struct command_line *c, const struct usage *u,
                                  int argc, char **argv, int *code);
/* On false the settings are still the caller's to free. */
MUST_CHECK bool command_line_apply(const struct command_line *c,
                                   const struct usage *u, void *settings,
                                   int *code);
/* The last value given for an option, borrowed; NULL: it was not given. */
const char *command_line_value(const struct command_line *c,
                               const struct usage *u, const char *name);
void command_line_fini(struct command_line *c);

void usage_print(const struct usage *u, FILE *to);

/* "urlweir NAME: `text`; see --help" with strangers' bytes escaped; EXIT_USAGE.
 */
int usage_error(const struct usage *u, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
