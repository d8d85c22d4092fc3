/*
 * crawl_command_line.h - reads the settings of a crawl from its command line.
 */
#ifndef URLWEIR_CLI_CRAWL_COMMAND_LINE_H
#define URLWEIR_CLI_CRAWL_COMMAND_LINE_H

#include <stdbool.h>

#include "base/status.h"
#include "job/settings/options.h"
#include "job/settings/settings.h"

/* Everything `urlweir crawl` needs, from its command line (argv[0] is "crawl")
 * and the file of --config. False: there is nothing to crawl, *code is the exit
 * status (help or an error was printed), and *s needs no fini. */
MUST_CHECK bool settings_of_crawl(struct crawl_settings *s, int argc,
                                  char **argv, int *code);

/* The same for `urlweir resume DIR`, starting from DIR's settings file.
 * *before: the settings in that file, which the caller frees too. */
MUST_CHECK bool settings_of_resume(struct crawl_settings *s,
                                   struct crawl_settings *before, int argc,
                                   char **argv, int *code);

struct command_line;
struct usage;
/* For another command with the options of a crawl: applies the file of
 * --config, then the command line itself. */
MUST_CHECK bool settings_apply(struct crawl_settings *s, const struct usage *u,
                               const struct command_line *c, int *code);
/* Do they fit together? If not, an error was printed. */
MUST_CHECK bool settings_accept(struct crawl_settings *s, const struct usage *u,
                                int *code);

/* Overwrites the values of secret options and the logins of URLs in `argv`,
 * which is that of main. `s` was read from it. */
void secret_args_hide(int argc, char **argv, const struct crawl_settings *s);

#endif
