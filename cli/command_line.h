/*
 * command_line.h - reads a command's options and operands, and prints its help.
 *
 * Works from a table of options (config/option.h), small or large:
 *
 *   --name VALUE, --name=VALUE, -n VALUE, -nVALUE     a value
 *   --name, --no-name, -n, several letters as -nm     a flag, on and off
 *   -h, --help, --help all, --help WORD               help on stdout
 *   --                                                only operands follow
 *
 * Options may follow operands; a single `-` is an operand. Names are given in
 * full: an abbreviation that is unambiguous today would be a trap tomorrow. If
 * an option is given twice, the last value counts; lists gather all values. An
 * option name is not taken as a value: write --exclude=--x.
 *
 * An error is one line on stderr, with the option that was probably meant.
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
    const char *synopsis; /* follows `urlweir `; one line for each form, which
                             begins with `name` */
    const char *about;    /* sentences, without line breaks, or "" */
    /* Of a command with many options, the names of those that most people need,
     * and command lines that show them, one a line. NULL: --help prints all
     * options. */
    const char *often, *examples;
    const struct option_table *table;
    unsigned without;     /* options with any of these flags are refused ... */
    const char *because;  /* ... for this reason: "they belong to ..." */
    size_t least, most;   /* operands */
    const char *operand;  /* what one is, for errors: "a directory" */
    const char *too_many; /* said of one too many, after "; "; or NULL */
    bool assigns; /* NAME=VALUE behind the first operand means --NAME=VALUE */
    /* --NAME VALUE of this table means the operand NAME=VALUE, unless `table`
     * has that name; or NULL */
    const struct option_table *assigned;
    /* Runs the command by what its command line said: settings of `table`, and
     * operands. Returns an enum exit_code. NULL: it reads its command line
     * itself (struct command). */
    int (*run)(const struct usage *u, void *settings,
               const struct option_list *operands);
};

extern const struct option_table no_options;

/* Reads the command line, hides logins of URLs in it (the arguments of a
 * process can be read by all users of the machine), and runs the command.
 * Returns its exit status. */
int command_line_run(const struct usage *u, int argc, char **argv);

/* Overwrites the logins of URLs in `argv`, which is that of main. */
void command_line_hide_logins(int argc, char **argv);

/* Reads a whole command line into `settings`, overwriting every field, and
 * `operands`; the caller frees both. False: the command is over, *code is its
 * exit status, and there is nothing to free. */
MUST_CHECK bool command_line_parse(const struct usage *u, int argc, char **argv,
                                   void *settings, struct option_list *operands,
                                   int *code);

/* The same in two steps, for a command that must do something in between: first
 * read the values as given, then put them into settings that already hold
 * values. */
struct command_line {
    struct given *given;
    size_t count;
    struct option_list operands;
};
MUST_CHECK bool command_line_read(struct command_line *c, const struct usage *u,
                                  int argc, char **argv, int *code);
/* The caller frees the settings, also on false. */
MUST_CHECK bool command_line_apply(const struct command_line *c,
                                   const struct usage *u, void *settings,
                                   int *code);
/* The last value given for an option, borrowed; NULL: it was not given. */
const char *command_line_value(const struct command_line *c,
                               const struct usage *u, const char *name);
void command_line_fini(struct command_line *c);

/* The help: what most people need, or "all", or the options in whose name, text
 * or heading `word` is found; false: it is in none. */
bool usage_print(const struct usage *u, const char *word, FILE *to);
/* Its first part, without the options. */
void usage_print_about(const struct usage *u, FILE *to);

/* Prints "urlweir NAME: `text`; see --help" with bytes from outside escaped;
 * returns EXIT_USAGE.
 */
int usage_error(const struct usage *u, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
