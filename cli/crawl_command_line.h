/*
 * crawl_command_line.h - reads the settings of a crawl from its command line.
 */
#ifndef URLWEIR_CLI_CRAWL_COMMAND_LINE_H
#define URLWEIR_CLI_CRAWL_COMMAND_LINE_H

#include <stdbool.h>

#include "base/status.h"
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

#endif
