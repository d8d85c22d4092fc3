/*
 * completion.h - what a shell may complete at each place of a command line.
 *
 * Everything comes from the table of commands and their tables of options, as
 * --help does: names, words of a choice, and whether a value or an operand is a
 * file or a directory, which their names in the help say.
 */
#ifndef URLWEIR_CLI_COMPLETION_COMPLETION_H
#define URLWEIR_CLI_COMPLETION_COMPLETION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/buf.h"
#include "cli/command.h"
#include "cli/command_line.h"

enum completion_kind {
    COMPLETION_NONE,  /* a value that nobody can guess */
    COMPLETION_WORDS, /* one of these words */
    COMPLETION_LIST,  /* some of these words, with commas between them */
    COMPLETION_FILE,
    COMPLETION_DIR
};

/* What the value of an option may be; adds the words to `words`, each followed
 * by a space. */
enum completion_kind completion_of_option(const struct option_spec *s,
                                          struct buf *words);

/* What operand `at`, counted from 0, of a command may be. *last: it may be
 * repeated. False: there is no such operand. */
bool completion_of_operand(const struct usage *u, size_t at,
                           enum completion_kind *kind, struct buf *words,
                           bool *last);

/* Calls `each` for each command, and for each part of those that have parts, a
 * table of parts before its rows; `name` is "crawl", "filter add". */
typedef void completion_command(FILE *to, const char *name,
                                const struct command *c);
void completion_each(FILE *to, completion_command *each);

#endif
