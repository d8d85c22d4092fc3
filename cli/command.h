/*
 * command.h - the table of commands behind `urlweir NAME`.
 *
 * Each command is one file, cmd_<name>.c, with one function of this shape;
 * main.c holds the table. argv[0] is the command's name.
 */
#ifndef URLWEIR_CLI_COMMAND_H
#define URLWEIR_CLI_COMMAND_H

#include "job/exit_code.h"

struct command {
    const char *name;
    int (*run)(int argc, char **argv); /* returns an enum exit_code */
    const char *usage;                 /* "crawl [SEED...] -o DIR [options]" */
    const char *summary;               /* one line for the list of commands */
};

int cmd_audit(int argc, char **argv);
int cmd_block(int argc, char **argv);
int cmd_crawl(int argc, char **argv);
int cmd_dedupe(int argc, char **argv);
int cmd_delay(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_filter(int argc, char **argv);
int cmd_limit(int argc, char **argv);
int cmd_links(int argc, char **argv);
int cmd_pause(int argc, char **argv);
int cmd_refresh(int argc, char **argv);
int cmd_resume(int argc, char **argv);
int cmd_retry(int argc, char **argv);
int cmd_robots(int argc, char **argv);
int cmd_seed(int argc, char **argv);
int cmd_serve(int argc, char **argv);
int cmd_sitemap(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_stop(int argc, char **argv);
int cmd_unpause(int argc, char **argv);
int cmd_url(int argc, char **argv);
int cmd_verify(int argc, char **argv);

/* Prints "urlweir NAME: message" and a pointer to --help on stderr; returns
 * EXIT_USAGE. */
int command_usage_error(const char *name, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
