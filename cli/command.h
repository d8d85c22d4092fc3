/*
 * command.h - the table of commands behind `urlweir NAME`.
 *
 * A command is its usage, mostly in a file cmd_*.c: its options, what is told
 * of it, and the function that runs it. What is told of a command comes from the table: the list of `urlweir --help`, its
 * own help, and the completion of the shells.
 */
#ifndef URLWEIR_CLI_COMMAND_H
#define URLWEIR_CLI_COMMAND_H

#include <stdio.h>

#include "job/exit_code.h"

struct usage; /* cli/command_line.h */

/* One command, or one part of `urlweir filter`. A table of them ends with a
 * name that is NULL. */
struct command {
    const char *name;
    const struct usage *usage;
    /* Of a command that reads its command line itself; NULL: usage->run. */
    int (*begin)(int argc, char **argv);
    const char *summary;         /* one line for the list of commands */
    const struct command *parts; /* NULL: it has none */
    const char *heading;         /* above it in the list; NULL: none */
};

extern const struct command command_table[];
extern const struct command filter_parts[];

/* Of a worker of a cluster, for one of its shards: `urlweir shard DIR N COUNT
 * FD`. It is no command for people. */
int cmd_shard(int argc, char **argv);

int cmd_crawl(int argc, char **argv);
int cmd_filter(int argc, char **argv);
int cmd_join(int argc, char **argv);
int cmd_resume(int argc, char **argv);

extern const struct usage audit_usage;
extern const struct usage block_usage;
extern const struct usage completion_usage;
extern const struct usage crawl_usage;
extern const struct usage dedupe_usage;
extern const struct usage delay_usage;
extern const struct usage diff_usage;
extern const struct usage explain_usage;
extern const struct usage export_usage;
extern const struct usage filter_usage;
extern const struct usage import_usage;
extern const struct usage join_usage;
extern const struct usage limit_usage;
extern const struct usage links_usage;
extern const struct usage pause_usage;
extern const struct usage refresh_usage;
extern const struct usage resume_usage;
extern const struct usage resume_served_usage; /* of a service's crawl */
extern const struct usage retry_usage;
extern const struct usage robots_usage;
extern const struct usage seed_usage;
extern const struct usage serve_usage;
extern const struct usage set_usage;
extern const struct usage sitemap_usage;
extern const struct usage status_usage;
extern const struct usage stop_usage;
extern const struct usage unpause_usage;
extern const struct usage url_usage;
extern const struct usage verify_usage;

/* argv[0] is the command's name. Returns an enum exit_code. */
int command_run(const struct command *c, int argc, char **argv);
/* Prints a line for each row of a table: its name and what it does. */
void command_list(const struct command *table, FILE *to);
/* The row of this name in a table; NULL: there is none. */
const struct command *command_find(const struct command *table,
                                   const char *name);
/* The name in a table that was probably meant by an unknown one; NULL if none
 * is near enough. */
const char *command_nearest(const struct command *table, const char *word);

/* Prints "urlweir NAME: message" and a pointer to --help on stderr; returns
 * EXIT_USAGE. */
int command_usage_error(const char *name, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Prints "urlweir NAME: why" on stderr, made safe for a terminal; returns
 * EXIT_CANNOT. */
int command_failed(const char *name, const char *why);

#endif
