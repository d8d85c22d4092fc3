/*
 * secret_args.h - secrets on a command line, taken out of sight.
 *
 * The arguments of a process can be read by all users of the machine (ps, and
 * /proc/PID/cmdline) for as long as it runs. There is a moment before they are
 * overwritten, so that a file is still the better place.
 */
#ifndef URLWEIR_CLI_SECRET_ARGS_H
#define URLWEIR_CLI_SECRET_ARGS_H

#include "job/settings/options.h"

/* Overwrites in `argv`, which is that of main, the values of secret options and
 * the logins of URLs. `s` was read from it. */
void secret_args_hide(int argc, char **argv, const struct crawl_settings *s);

#endif
