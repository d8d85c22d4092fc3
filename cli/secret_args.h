/*
 * secret_args.h - hides the secrets on a command line.
 *
 * The arguments of a process can be read by all users of the machine (ps, and
 * /proc/PID/cmdline) for as long as it runs. Until they are overwritten they
 * can be seen for a moment, so a file is still the better place for them.
 */
#ifndef URLWEIR_CLI_SECRET_ARGS_H
#define URLWEIR_CLI_SECRET_ARGS_H

#include "job/settings/options.h"

/* Overwrites the values of secret options and the logins of URLs in `argv`,
 * which is that of main. `s` was read from it. */
void secret_args_hide(int argc, char **argv, const struct crawl_settings *s);
/* The logins of URLs alone. */
void secret_args_hide_logins(int argc, char **argv);

#endif
